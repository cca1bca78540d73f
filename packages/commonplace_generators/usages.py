"""How calls are written: usage lines, `tool get <email> [--json]`, and rows of options, `-o, --output <file>`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from commonplace.reference.model import Parameter
from commonplace.reference.usages import REPEATED, Group, parsed, tokens

MAX_USAGE = 3_000
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]*|\?")
_ARGUMENT = re.compile(r"[<\[({].*|-{1,2}[A-Za-z?].*|\.{3}|…|\||.*[>\])}](?:\.\.\.|…)?|[A-Z][A-Z0-9_-]*(?:\.\.\.)?")
_PLAIN = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_OPTION = re.compile(r"(?P<name>-{1,2}(?:\[no-?\])?[A-Za-z0-9?@#](?:[\w:.-]*\w)?)(?P<rest>.*)", re.DOTALL)
_SPELLINGS = re.compile(r"(?:,\s*|\s*\|\s*|\s*/\s*|\s+)(?=-{1,2}[A-Za-z0-9?@#\[])")
_PLACEHOLDER = re.compile(r"[<\[{].*|[A-Z][A-Z0-9_:.|=/-]*(?:\.\.\.)?|.*<.*>.*|.*=.*|[a-z]+[_-][a-z_-]+", re.DOTALL)
_ANYTHING = re.compile(r"(?:sub-?)?(?:commands?|cmd)|arg(?:ument)?s?", re.IGNORECASE)
"""Stands for a word, and is none: `[command]`."""
_ANY_OPTIONS = re.compile(r"[\[<]*(?:[\w -]*[ -])?(?:options?|flags?)[\]>.…]*", re.IGNORECASE)
_DEFAULT = re.compile(r"=(?P<value>'[^']*'|\"[^\"]*\"|\[[^\]]*\]|[^\s<\[{=A-Z]*):")
_TAG = re.compile(r"\[(?:(?P<type>string|number|array)\]|choices:)")
_REQUIRED = re.compile(r"[\[(]required[\])]|(?:^|\. )Required\.", re.IGNORECASE)
_GUESSED = (None, "<list>", "<number>", "<value>")
"""What a default tells of the value: a usage that names it says more."""
Known = Mapping[str, Parameter]
"""Options by every spelling."""


def name_of(syntax: str) -> tuple[str, ...]:
    """The words before the first placeholder or option."""
    words: list[str] = []
    for word in syntax.split():
        if not _WORD.fullmatch(word) or (words and _ARGUMENT.fullmatch(word)):
            break
        words.append(word)
    return tuple(words)


def option(term: str, said: str = "") -> Parameter | None:
    """A row of a list of options: `-o, --output <file>`, `-m MESSAGE, --message MESSAGE`, `--all=false:`.

    None for what is no option.
    """
    parts = [_OPTION.fullmatch(part) for part in _SPELLINGS.split(" ".join(term.split()))]
    if not parts or parts[0] is None:
        return None
    found = [part for part in parts if part is not None]
    value = next((part["rest"] for part in reversed(found) if part["rest"].strip(", ").strip(".")), "")
    default = _DEFAULT.fullmatch(value)
    if default:
        type, said = _by_default(default["value"]), f"{said} (default: {default['value']})"
    else:
        type, more = _value(value)
        said = f"{more} {said}"
    tag = _TAG.search(said)
    if tag and type is None:
        type = f"<{tag['type'] or 'value'}>"
    return _called([part["name"] for part in found], type, said)


def _called(spellings: Iterable[str], type: str | None, said: str = "") -> Parameter:
    names = [each for one in spellings for each in _both(one)]
    names.sort(key=lambda name: not name.startswith("--"))
    return Parameter(
        name=names[0][:300],
        place="option",
        aliases=list(dict.fromkeys(name[:300] for name in names[1:] if name != names[0]))[:50],
        type=type[:300] if type else None,
        required=_REQUIRED.search(said) is not None,
        description=" ".join(said.split())[:1_000],
    )


def _both(name: str) -> list[str]:
    """`--[no-]status` is `--status` and `--no-status`."""
    plain = re.sub(r"\[no-?\]", "", name)
    return [name] if plain == name else [plain, re.sub(r"[\[\]]", "", name)]


def _value(rest: str) -> tuple[str | None, str]:
    """Return what stands for the value, and what is said behind it where no column parts them."""
    told = rest.strip(", ")
    if not told.strip(".…"):
        return None, ""
    if rest.startswith("[") or re.match(r"\s*\S+\[=", rest):  # `--color[=<when>]`, `--dry-run string[="client"]`
        return f"[={told.strip('[]').removeprefix('=').partition('[=')[0].strip('.') or '<value>'}]", ""
    first = next(tokens(told.removeprefix("="), whole=True), "")
    more = told.removeprefix("=")[len(first) :].strip()
    if more and re.match(r"[A-Za-z]+ \S", more) and (told.startswith("=") or first.endswith(">")):
        return first.rstrip(".") or "<value>", more
    value = told.removeprefix("=").strip(".") or "<value>"
    return f"[={value}]" if value in ("true", "false") else value, ""


def _by_default(value: str) -> str | None:
    """cobra and Go write `--all=false:`: a flag has a truth value."""
    if value in ("true", "false"):
        return None
    return "<list>" if value.startswith("[") else "<number>" if re.fullmatch(r"-?\d+", value) else "<value>"


def taken(usage: str, words: Sequence[str], known: Known) -> list[Parameter]:
    """Arguments and options of a usage of these words; `known` are those of the page's lists."""
    items = _items(usage, words)
    return list(_of_group(Group(optional=False, ways=[items]), required=True, known=known)) if items else []


def head_of(usage: str, words: Sequence[str]) -> tuple[str, ...] | None:
    """The plain words of a usage behind these ones and options; None where it is no usage of them."""
    items = _items(usage, words)
    if items is None:
        return None
    while items and _has_options(items[0]):
        items.pop(0)
    return tuple(takewhile(lambda one: isinstance(one, str) and _PLAIN.fullmatch(one), items))  # type: ignore[arg-type]


def opened(usage: str, words: Sequence[str]) -> Iterator[str]:
    """`git stash [push [<pathspec>...]]` may be typed with and without what is in its brackets."""
    yield usage
    *before, last = _items(usage, words) or [""]
    if isinstance(last, Group) and len(last.ways) == 1 and all(map(_has_options, before)):
        first = last.ways[0][0] if last.ways[0] else ""
        if not isinstance(first, str) or _ANYTHING.fullmatch(first) or _ANY_OPTIONS.fullmatch(first):
            return
        if _PLAIN.fullmatch(first) and f"[{first}" in usage:
            start, _, rest = usage.rpartition(f"[{first}")
            yield f"{start}{first}{rest.rstrip().removesuffix(']')}"


def _has_options(item: "str | Group") -> bool:
    """Return whether it is `[-v | --verbose]`, `[--ref <ref>]`, `[<options>]`, which may stand before a command."""
    first = item.ways[0][0] if isinstance(item, Group) and item.optional and item.ways[0] else ""
    return isinstance(first, str) and (first.startswith("-") or _ANY_OPTIONS.fullmatch(first) is not None)


def _items(usage: str, words: Sequence[str]) -> "list[str | Group] | None":
    """What a usage has behind the words of a command, options between them included; None where it is another's."""
    dashed = "-".join(words)  # `git-cvsimport`
    items = parsed(usage[:MAX_USAGE]).ways
    rest, wanted, found = list(items[0]), [dashed] if items[0][:1] == [dashed] else list(words), list[str | Group]()
    while wanted and rest:
        one = rest.pop(0)
        if one == wanted[0]:
            wanted.pop(0)
        elif isinstance(one, Group) and one.optional:
            found.append(one)
        else:
            return None
    return None if wanted else [*found, *rest]


def merged(parameters: Iterable[Parameter]) -> list[Parameter]:
    """Each once: the first with its spelling, and what others say besides."""
    found: dict[str, Parameter] = {}
    spelt: dict[str, str] = {}
    for one in parameters:
        names = [key(one), *one.aliases]
        first = next((spelt[name] for name in names if name in spelt), names[0])
        known = found.get(first, one)
        found[first] = known.model_copy(
            update={
                "name": f"{known.name}..." if _repeats(one) and not _repeats(known) else known.name,
                "aliases": list(
                    dict.fromkeys((*known.aliases, *(name for name in _spellings(one) if name != known.name)))
                ),
                "type": known.type if known.type not in _GUESSED else one.type or known.type,
                "description": known.description or one.description,
            }
        )
        spelt |= dict.fromkeys((first, *names), first)
    return list(found.values())


def _spellings(one: Parameter) -> list[str]:
    return [one.name, *one.aliases] if one.place == "option" else one.aliases


def _repeats(one: Parameter) -> bool:
    return one.place == "argument" and one.name.endswith(REPEATED)


def key(one: Parameter) -> str:
    """Return what a parameter is known by: an argument whatever its brackets are."""
    return one.name if one.place == "option" else re.sub(r"[\W_]+", " ", one.name).strip().casefold() or one.name


def _of_group(group: Group, *, required: bool, known: Known, within: bool = False) -> Iterator[Parameter]:
    found = [
        one
        for way in group.ways
        for one in _of_way(way, required=required and len(group.ways) == 1, known=known, within=within)
    ]
    while found:
        one = found.pop(0)
        if found and len(group.ways) > 1 and _abbreviates(one.name, found[0].name):
            found[0] = found[0].model_copy(update={"aliases": [one.name, *found[0].aliases]})
        else:
            yield one


def _abbreviates(short: str, long: str) -> bool:
    """`-q | --quiet` are one option, `-d | -D` are two."""
    return len(short) == 2 and short[0] == "-" and long[:2] == "--" and long[2:3].casefold() == short[1].casefold()


def _of_way(way: list["str | Group"], *, required: bool, known: Known, within: bool) -> list[Parameter]:
    found: list[Parameter] = []
    items = list(way)
    if within and any(isinstance(one, str) and _ANY_OPTIONS.fullmatch(one.rstrip(";,:")) for one in items):
        return found  # `[build flags]`
    while items:
        item = items.pop(0)
        following = items[0] if items and isinstance(items[0], str) else ""
        if isinstance(item, Group):
            inner = list(_of_group(item, required=required and not item.optional, known=known, within=True))
            found += inner
            if following and inner and not item.optional and all(_takes_next(one.name, known) for one in inner):
                items.pop(0)  # `(-c | -C) <commit>`
        elif item in REPEATED:
            if found and found[-1].place == "argument" and not found[-1].name.endswith(REPEATED):
                found[-1] = found[-1].model_copy(update={"name": f"{found[-1].name}..."})
        elif (part := _OPTION.fullmatch(item)) is not None:
            if within and _is_cluster(item):
                found += [_called([f"-{letter}"], None) for letter in item[1:]]
                continue
            type, name = _value(part["rest"])[0], _both(part["name"])[0]
            valued = _takes_next(name, known) if name in known else within or _PLACEHOLDER.fullmatch(following)
            if type is None and valued and following and not following.startswith(("-", *REPEATED)):
                type = following
                items.pop(0)
            found.append(_called([part["name"]], type).model_copy(update={"required": required}))
        elif not _ANY_OPTIONS.fullmatch(item) and re.search(r"\w", item):
            found.append(Parameter(name=item[:300], place="argument", required=required))
    return found


def _takes_next(name: str, known: Known) -> bool:
    return name in known and known[name].takes_next


def _is_cluster(word: str) -> bool:
    """`-46AaCf`: letters that are options each, in the order of the alphabet."""
    letters = word[1:]
    digits = [sign for sign in letters if sign.isdigit()]
    plain = [sign.casefold() for sign in letters if not sign.isdigit()]
    return len(letters) > 2 and letters.isalnum() and plain == sorted(plain) and digits == sorted(digits)
