"""Lines of entries that say what they take: usages as the helps of programs write them, and parameters."""

from typing import Any

import pytest

from commonplace.reference.lookup import Lookup
from commonplace.reference.model import Asked, Entry, Example, Parameter, UnknownOption
from tests.unit.reference.products import command, lookup, product


def told(name: str, arguments: str = "", *options: str, usages: tuple[str, ...] = (), **more: Any) -> Entry:
    """`options` are written `--name -n <value>`, arguments `[NAME]...`."""
    parameters = []
    for option in options:
        first, *rest = option.split()
        if not first.startswith("-"):
            parameters.append(Parameter(name=first, place="argument"))
            continue
        values = [one for one in rest if not one.startswith("-")]
        aliases = [one for one in rest if one.startswith("-")]
        parameters.append(Parameter(name=first, place="option", aliases=aliases, type=values[0] if values else None))
    return command(name, arguments, usages=list(usages), parameters=parameters, **more)


PROGRAMS = lookup(
    told("uv", "[OPTIONS] <COMMAND>", "--directory <DIR>", "--quiet -q", "--help -h"),
    told("uv add", "[OPTIONS] <PACKAGES|--requirements <REQUIREMENTS>>", "[PACKAGES]...", "--dev"),
    told("uv sync", "[OPTIONS]", "--frozen", "--no-dev", "--extra <EXTRA>"),
    told("uv run", "[OPTIONS] [COMMAND]", "--module -m"),
    told("uv tool", "[OPTIONS] <COMMAND>"),
    told("uv tool install", "[OPTIONS] <PACKAGE>"),
    told("uv python", "[OPTIONS] <COMMAND>"),
    told("uv python uninstall", "[OPTIONS] <TARGETS>..."),
    told("docker", "[OPTIONS] COMMAND", "--context -c string", "--debug -D"),
    told("docker run", "[OPTIONS] IMAGE [COMMAND] [ARG...]", "--env -e list", "--interactive -i", "--tty -t", "--rm"),
    told("docker image", "COMMAND"),
    told("docker image build", "[OPTIONS] PATH | URL | -", "--tag -t list", aliases=["docker build"]),
    told("docker config create", "[OPTIONS] CONFIG file|-"),
    told("kubectl", "[flags] [options]"),
    told("kubectl options", "[flags] [options]", "--namespace -n string"),
    told("kubectl get", "[(-o|--output=)json|yaml] (TYPE[.VERSION] [NAME | -l label] | TYPE/NAME ...) [options]",
         "--all-namespaces -A false:", "--output -o string"),
    told("kubectl exec", "(POD | TYPE/NAME) [-c CONTAINER] [flags] -- COMMAND [args...] [options]", "-i false:"),
    told("kubectl apply", "(-f FILENAME | -k DIRECTORY) [options]", "--filename -f []"),
    told("kubectl apply view-last-applied", "(TYPE [NAME] | TYPE/NAME | -f FILENAME) [options]"),
    told("kubectl rollout", "SUBCOMMAND [options]"),
    told("git", "[-C <path>] [--no-pager] <command> [<args>]", "-C <path>", "--no-pager"),
    told("git switch", "[<options>] [<branch>]", "--create -c <branch>", "--progress", "--orphan <new-branch>"),
    told("git commit", "[--amend] [-m <msg>] [-u<mode>] [--] [<pathspec>...]",
         "--amend", "--message -m <message>", "--all -a", "--untracked-files -u [=<mode>]"),
    told("git log", "[<options>] [<revision-range>] [[--] <path>...]", "--quiet -q", "--decorate-refs <pattern>"),
    told("git show", "[<options>] [<object>...]"),
    told("git stash", "list [<log-options>]", usages=(
        "git stash show [-u] [<stash>]",
        "git stash [push [-p | --patch] [(-m | --message) <message>] [--] [<pathspec>...]]",
        "git stash clear",
        "git stash store [(-m | --message) <message>] <commit>",
    )),
    told("git remote", "[-v | --verbose]"),
    told("git remote add", "[-t <branch>] <name> <url>"),
    told("npm run", "<command> [-- <args>]", "--if-present"),
    told("npm install", "[<package-spec> ...]", "-D|--save-dev", "-E|--save-exact", aliases=["npm i", "i"]),
    told("npm install-test", "[<package-spec> ...]"),
    told("npm audit", "[fix|signatures]"),
    told("npm org rm", "orgname username"),
    told("tar", "[-x] [-z] [-f FILE] [FILE]...", "-x", "-z", "-f FILE", "-n <number>"),
)  # fmt: skip


def _answer(line: str, found: Lookup = PROGRAMS) -> tuple[str, tuple[UnknownOption, ...]] | None:
    hit = found.command(line).hit
    return (hit.entry.called, hit.unknown_options) if hit else None


@pytest.mark.parametrize(
    ("line", "called"),
    [
        ("uv add requests", "uv add"),
        ("uv add requests flask", "uv add"),
        ("uv tool install ruff", "uv tool install"),
        ("uv run pytest -q --no-header", "uv run"),
        ("uv -q --directory app sync", "uv sync"),
        ("docker run ubuntu", "docker run"),
        ("docker run -it --rm alpine sh", "docker run"),
        ("docker run -e A=1 ubuntu ls -la --color", "docker run"),
        ("docker --context far -D image build .", "docker image build"),
        ("docker build -t web .", "docker image build"),
        ("docker config create web nginx.conf", "docker config create"),
        ("kubectl get pods", "kubectl get"),
        ("kubectl get pods web-0 -o yaml", "kubectl get"),
        ("kubectl -n staging get pods", "kubectl get"),
        ("kubectl get pods --namespace=staging", "kubectl get"),
        ("kubectl exec web-0 -i -- ls --all", "kubectl exec"),
        ("kubectl apply -f deployment.yaml", "kubectl apply"),
        ("kubectl get pods | grep web", "kubectl get"),
        ("git switch main", "git switch"),
        ("git switch -c feature/x", "git switch"),
        ("git switch --no-progress main", "git switch"),
        ("git -C dir switch main", "git switch"),
        ("git --no-pager log main", "git log"),
        ("git log -5", "git log"),
        ("git commit --no-untracked-files", "git commit"),
        ("git log --graph --all", "git log"),
        ("git show --graph", "git show"),
        ("git commit -am 'Say why'", "git commit"),
        ("git commit -uno --message=x", "git commit"),
        ("git stash", "git stash"),
        ("git stash list", "git stash"),
        ("git stash push -m work src", "git stash"),
        ("git remote add upstream https://example.org/a.git", "git remote add"),
        ("npm run build", "npm run"),
        ("npm run build -- --watch", "npm run"),
        ("npm install jest", "npm install"),
        ("npm i express -D", "npm install"),
        ("npm audit fix", "npm audit"),
        ("npm org rm acme ada", "npm org rm"),
        ("tar -xzf all.tar", "tar"),
        ("tar -n5 -x", "tar"),
        ("sudo docker run ubuntu", "docker run"),
        ("CI=1 npm run build && echo done", "npm run"),
        ("uv sync --help", "uv sync"),
    ],
)
def test_a_line_is_a_use_of_the_command_that_takes_it(line: str, called: str) -> None:
    assert _answer(line) == (called, ())


@pytest.mark.parametrize(
    "line",
    [
        "uv install requests",
        "uv sync now",
        "uv python remove 3.11",
        "uv tool instal ruff",
        "docker containers list",
        "docker image delete web",
        "docker start",
        "kubectl restart deployment web",
        "kubectl apply everything",
        "kubectl apply view-last-aplied pod",
        "kubectl rollout rollback deployment/web",
        "git undo",
        "git stash restore",
        "kubectl options everything",
        "git remote create upstream https://example.org/a.git",
        "npm audit repair",
        "npm lockfile regenerate",
        "i",
        "run",
    ],
)  # fmt: skip
def test_a_word_in_the_place_of_a_subcommand_is_no_argument(line: str) -> None:
    assert _answer(line) is None


@pytest.mark.parametrize(
    ("line", "name", "nearest"),
    [
        ("uv sync --frozn", "--frozn", "--frozen"),
        ("uv sync --no-devel", "--no-devel", "--no-dev"),
        ("uv sync --turbo", "--turbo", None),
        ("docker run --turbo ubuntu", "--turbo", None),
        ("uv sync --directory x --quite", "--quite", "--quiet"),
        ("docker run --evn A=1 nginx", "--evn", "--env"),
        ("docker run -rm nginx", "-rm", "--rm"),
        ("kubectl get pods --all-namespace", "--all-namespace", "--all-namespaces"),
        ("kubectl get pods --pods-all-namespaces", "--pods-all-namespaces", "--all-namespaces"),
        ("git commit --amend-all", "--amend-all", "--amend"),
        ("npm install --save-dve jest", "--save-dve", "--save-dev"),
        ("npm install --save-dve=x jest", "--save-dve", "--save-dev"),
    ],
)
def test_an_option_that_does_not_exist_is_said_with_the_nearest(line: str, name: str, nearest: str | None) -> None:
    found = _answer(line)

    assert found is not None
    assert [one.name for one in found[1]] == [name]
    assert found[1][0].nearest[:1] == ((nearest,) if nearest else ())


def test_an_option_is_near_that_is_contracted_or_said_to_do_it() -> None:
    parameters = [
        Parameter(name="--detach", place="option", aliases=["-d"], description="Runs in the background. Prints an id."),
        Parameter(name="--message", place="option", type="<text>", description="What to say"),
        Parameter(name="--help", place="option"),
    ]
    found = lookup(command("tool run", "[OPTIONS]", parameters=parameters))

    assert _answer("tool run --background", found) == ("tool run", (UnknownOption("--background", ("--detach",)),))
    assert _answer("tool run --msg hello", found) == ("tool run", (UnknownOption("--msg", ("--message",)),))
    assert _answer("tool run --id", found) == ("tool run", (UnknownOption("--id", ()),))


def test_nothing_is_said_of_options_that_were_not_read() -> None:
    unread = lookup(command("tool list", "[--json]"), command("tool show", "[OPTIONS]", parameters=[]))

    assert _answer("tool list --jso", unread) == ("tool list", ())
    assert _answer("tool show --jso", unread) == ("tool show", ())


def test_what_a_program_says_of_its_arguments_is_so_though_it_lists_no_parameters() -> None:
    found = lookup(
        command("kube cordon", "NODE [options]", source="auto-generated:kube --help"),
        command("kube events", source="auto-generated:kube --help"),
        command("kube plugin", source="auto-generated:kube --help"),
        command("kube plugin list", source="auto-generated:kube --help"),
        command("hand cordon", "NODE"),
    )

    assert _answer("kube cordon green", found) == ("kube cordon", ())
    assert _answer("kube cordon green blue", found) is None
    assert _answer("kube events anything", found) == ("kube events", ())
    assert _answer("kube plugin frobnicate", found) is None
    assert _answer("hand cordon green", found) is None
    assert _answer("hand cordon node-7", found) == ("hand cordon", ())


def test_examples_show_how_many_arguments_there_may_be() -> None:
    example = Example(description="Two at once", code="$ kube delete pod web-0 web-1 --now\nkube plugin list")
    found = lookup(
        told("kube delete", "TYPE [NAME] [options]", "--now", examples=[example]),
        told("kube plugin", "[options]", examples=[example]),
        told("kube plugin list"),
    )

    assert _answer("kube delete pod one two", found) == ("kube delete", ())
    assert _answer("kube delete pod one two three", found) is None
    assert _answer("kube plugin install", found) is None


def test_options_of_an_alias_are_those_of_the_command() -> None:
    assert _answer("npm i --save-dve jest") == (
        "npm install",
        (UnknownOption("--save-dve", ("--save-dev",)),),
    )


def test_an_alias_that_is_told_of_two_names_the_one_that_is_called_most_like_it() -> None:
    aliases = ["dock container ls", "dock container list", "dock ps"]
    found = lookup(
        told("dock ps", "[OPTIONS]", "--all -a", aliases=aliases), told("dock container ls", aliases=aliases)
    )

    assert _answer("dock container list", found) == ("dock container ls", ())
    assert _answer("dock container list -a", found) == ("dock container ls", ())


def test_a_line_without_its_root_names_what_is_there_once() -> None:
    assert _answer("image build") == ("docker image build", ())
    assert _answer("tool install") == ("uv tool install", ())


def test_a_search_says_unknown_options_too() -> None:
    hits = PROGRAMS.shaped(Asked("uv sync --frozn"))
    assert hits is not None
    assert [one.name for one in hits[0].unknown_options] == ["--frozn"]


def test_options_are_those_of_the_same_product() -> None:
    other = product(told("uv", "[OPTIONS]", "--frozn"), name="other")
    found = Lookup([product(told("uv sync", "[OPTIONS]", "--frozen")), other])

    answer = _answer("uv sync --frozn", found)
    assert answer is not None
    assert [one.name for one in answer[1]] == ["--frozn"]


def test_the_longest_name_of_one_product_hides_no_command_of_another() -> None:
    first = product(told("tool deploy web", "[OPTIONS]"), name="first")
    second = product(told("tool deploy", "TARGET [HOST]"), name="second")

    answer = Lookup([first, second]).command("tool deploy web here")

    assert answer.hit is not None
    assert answer.hit.catalogue.name == "second"


PARTIAL = lookup(
    told("tide", "[OPTIONS] COMMAND", "--quiet -q"),
    told("tide moor", "[OPTIONS] BOAT", "--line <n>", "--legend", "--help", partial=["arguments"]),
    told("tide draw", "[OPTIONS]", "--scale <n>", "--help", partial=["options", "arguments"]),
    told("tide chart", "[OPTIONS] COMMAND", partial=["commands"]),
    told("tide chart print", "", partial=["arguments"]),
    told("tide keep", "[fix|drop]", partial=["arguments"]),
)


def _unlisted(line: str) -> tuple[str, list[str], list[str]] | None:
    hit = PARTIAL.command(line).hit
    if hit is None:
        return None
    return hit.entry.called, [one.name for one in hit.unlisted], [one.name for one in hit.unknown_options]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("tide moor gull", ("tide moor", [], [])),
        ("tide moor gull north quay", ("tide moor", ["north", "quay"], [])),
        ("tide moor gull --lin 3", ("tide moor", [], ["--lin"])),
        ("tide moor gull --no-legend", ("tide moor", ["--no-legend"], [])),
        ("tide draw --scal 3 --hidden", ("tide draw", ["--scal", "--hidden"], [])),
        ("tide < list moor gull; tide nothing", ("tide moor", [], [])),
        ("tide chart fold", ("tide chart", ["fold"], [])),
        ("tide chart prnt", None),
        ("tide fold", None),
        ("tide keep mend", None),
        ("tide keep fix", ("tide keep", [], [])),
    ],
)  # fmt: skip
def test_what_a_part_does_not_list_is_named_and_what_all_of_it_does_not_is_refused(
    line: str, answer: tuple[str, list[str], list[str]] | None
) -> None:
    assert _unlisted(line) == answer


def test_a_refused_word_is_answered_with_the_nearest() -> None:
    assert PARTIAL.command("tide chart prnt").suggestions[:2] == ("tide chart", "tide chart print")
