"""Lines that show how a command is typed: `Usage: helios users get <email> [--json]    Show one person`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from commonplace.reference.model import Parameter

MAX_LINE = 600
_OPENING = re.compile(r"(?:^|.*?[\s.:!?(`\"'])(?:usage|syntax)\s*:\s*", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•·–>$]\s+)?")
_WORD = re.compile(r"[/!.]?[A-Za-z0-9?][A-Za-z0-9_.:+?-]*")
_PLACEHOLDER = re.compile(r"[A-Z][A-Z0-9_-]+(?:\.\.\.)?|\.{3}|.*(?:\.\.\.|…)")
_OPTION = re.compile(r"(-{1,2}[A-Za-z0-9?][\w.-]*)(?:(?:=|\s+|(?=<|\[))(.+))?", re.DOTALL)
_APART = re.compile(r"\s{2,}[-–—:=>]*\s*|\t\s*|\s+(?:[-–—#]|->|=>|//)\s+")
_COLON = re.compile(r"\s*:\s+")
_SENTENCE = re.compile(r"\.(?:\s+(?=[A-Z])|\s*$)")
_EXAMPLE = re.compile(r"(?:e\.g\.|for example|examples?\b)", re.IGNORECASE)
_CLOSING = {"<": ">", "[": "]", "(": ")", "{": "}"}
_REST = {"options", "option", "flags", "..."}


@dataclass(frozen=True, slots=True)
class Way:
    """A way to type a command."""

    tokens: tuple[str, ...]
    summary: str = ""
    usage: bool = False
    """Whether the product calls it the usage."""
    colon: bool = False
    """Whether its summary stands behind a colon, as prose may too."""

    @property
    def text(self) -> str:
        return " ".join(self.tokens)


def ways(text: str) -> Iterator[Way | str]:
    """Those of each line; in place of one that is cut off in the middle, its line."""
    for line in text.splitlines():
        opening = _OPENING.match(line)
        rest = line[opening.end() :] if opening else _BULLET.sub("", line)
        if len(line) > MAX_LINE or not rest.strip():
            continue
        said, summary, colon = _apart(rest.strip(), bool(opening))
        found = tokens(said)
        if found is None:
            if opening:
                yield line.strip()
            continue
        first, *others = _alternatives(found)
        for one in (first, *others):
            if one and _WORD.fullmatch(one[0]):
                yield Way(tuple(one), summary, bool(opening), colon)


def name_of(syntax: str) -> tuple[str, ...]:
    """The words before the first placeholder or option."""
    words = syntax.split()
    count = next(
        (at for at, word in enumerate(words) if not _WORD.fullmatch(word) or (at and _PLACEHOLDER.fullmatch(word))),
        None,
    )
    return tuple(words[:count])


def tokens(said: str) -> list[str] | None:
    """Cut at spaces outside brackets and quotation marks; None where one of these is not closed."""
    found: list[str] = []
    word = waiting = ""
    for index, sign in enumerate(said):
        if waiting and sign == waiting[-1]:
            waiting = waiting[:-1]
        elif waiting[-1:] in {'"', "'"}:
            pass
        elif sign in _CLOSING and (sign != "<" or said[index + 1 : index + 2].strip()):
            waiting += _CLOSING[sign]
        elif sign == '"' or (sign == "'" and word[-1:] in {"", "="}):
            waiting += sign
        elif sign in ">])}" and sign not in waiting:
            return None
        if sign.isspace() and not waiting:
            found, word = [*found, word], ""
        else:
            word += sign
    return None if waiting else [one.strip("`,;") for one in (*found, word) if one.strip("`,;")]


def parameters(given: Sequence[str]) -> tuple[list[Parameter], bool]:
    """Of the tokens behind a name, and whether a plain word among them makes an example of the line."""
    found: list[Parameter] = []
    plain = False
    for index, token in enumerate(given):
        option = _OPTION.fullmatch(token)
        following = given[index + 1] if index + 1 < len(given) else ""
        if option and not option[2] and following.startswith("<") and not token.startswith("--no-"):
            found.append(_option(token, following))
        elif option:
            found.append(_option(token, option[2]))
        elif token.startswith("[") and token.rstrip(".…").endswith("]"):
            found += [replace_required(one, False) for one in _inside(token.rstrip(".…")[1:-1])]
        elif index and (before := _OPTION.fullmatch(given[index - 1])) and not before[2] and token.startswith("<"):
            continue
        elif token not in {"...", "…", "|"}:
            plain |= re.fullmatch(r"[<({\"'].*|[A-Z][A-Z0-9_-]*(?:\.\.\.)?|.*(?:\.\.\.|…)", token, re.DOTALL) is None
            found.append(Parameter(name=token, place="argument", required=True))
            among = re.findall(r"(?<=[<|])(-{1,2}[A-Za-z][\w-]*)(?=[|>])", token)  # `<email|--all>`
            found += [replace_required(_option(one, None), False) for one in among]
    return found, plain


def replace_required(one: Parameter, required: bool) -> Parameter:
    return one.model_copy(update={"required": required})


def merged(own: Iterable[Parameter], described: Iterable[Parameter], further: Iterable[Parameter]) -> list[Parameter]:
    """Each once. Required is what the way that is told first needs, or what is said to be."""
    found = {one.name: one for one in reversed(list(own))}
    found = dict(reversed(found.items()))
    for one in described:
        known = found.get(one.name, one)
        update = {"type": known.type or one.type, "description": known.description or one.description}
        required = known.required or one.required
        found[one.name] = known.model_copy(update={**update, "required": required, "aliases": one.aliases})
    also = {alias for one in found.values() for alias in one.aliases}
    for one in further:
        if one.name not in also:
            found.setdefault(one.name, replace_required(one, False))
    return list(found.values())


def options_in(text: str) -> Iterator[Parameter]:
    """Lines of a list of options: `  --role=user|admin   Role (required)`."""
    for line in text.splitlines():
        said, summary, _ = _apart(line.strip(" *•"), False)
        if summary and len(line) <= MAX_LINE and (found := option(said, summary)):
            yield found


def option(said: str, summary: str = "") -> Parameter | None:
    """`-o, --output <file>`."""
    found = tokens(said) if said.startswith("-") else None
    values = [one for one in found or () if one[0] in "<["]
    names = [named for one in found or () if one[0] not in "<[" and (named := _OPTION.fullmatch(one))]
    if not names or len(names) + len(values) < len(found or ()):
        return None
    name, *aliases = sorted((one[1] for one in names), key=lambda one: not one.startswith("--"))
    value = next((one[2] for one in names if one[2]), values[0] if values else None)
    return Parameter(
        name=name,
        place="option",
        aliases=aliases,
        type=value,
        description=summary,
        required="(required" in summary.casefold(),
    )


def _option(said: str, value: str | None) -> Parameter:
    name = said.partition("=")[0].partition("<")[0].strip()
    return Parameter(name=name, place="option", type=value.strip() if value else None, required=True)


def _inside(said: str) -> Iterator[Parameter]:
    """What may be left out: `--role=a|b`, `-t <n>`, `-l/-a/program`, `dir`."""
    if said.casefold().strip(". ") in _REST or not said.strip():
        return
    if said.lstrip().startswith("-"):
        parts = re.split(r"\s*(?:/|\||,)\s*(?=-)", said.strip())
        for part in parts:
            found = _OPTION.fullmatch(part.strip())
            name, _, other = part.partition("/")
            if found and not ("/" in name or (other and not found[2])):
                yield _option(found[1], found[2])
            elif (first := _OPTION.fullmatch(name.strip())) is not None:
                yield _option(first[1], None)
                yield Parameter(name=f"<{other.strip()}>", place="argument")
    else:
        yield Parameter(name=said if said.startswith("<") else f"<{said}>", place="argument")


def _apart(said: str, usage: bool) -> tuple[str, str, bool]:
    """The way to type it, what is said of it, and whether a colon stands between."""
    depth = 0
    for index, sign in enumerate(said):
        depth += (sign in "<[({") - (sign in ">])}")
        if depth > 0 or not index:
            continue
        separator = _APART.match(said, index) or (_SENTENCE.match(said, index) if usage else None)
        colon = _COLON.match(said, index)
        if found := separator or colon:
            summary = said[found.end() :].strip()
            return said[:index], "" if _EXAMPLE.match(summary) else summary, separator is None
    return said, "", False


def _alternatives(found: list[str]) -> list[list[str]]:
    """`kill <script> or kill <pid>` are two ways."""
    parts: list[list[str]] = [[]]
    for token in found:
        if token.casefold() == "or" and parts[-1]:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
