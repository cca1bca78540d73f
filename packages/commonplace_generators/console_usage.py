"""Lines that show how a command is typed: `Usage: helios users get <email> [--json]    Show one person`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commonplace.reference.model import Parameter
from commonplace_generators.usages import option

MAX_LINE = 600
_OPENING = re.compile(r"(?:^|.*?[\s.:!?(`\"'])(?:usage|syntax)\s*:\s*", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•·–>$]\s+)?")
_WORD = re.compile(r"[/!.]?[A-Za-z0-9?][A-Za-z0-9_.:+?-]*")
_PLACEHOLDER = re.compile(r"[<{].*|'?\{(?:\.{3}|…)\}.*|[A-Z][A-Z0-9_-]*(?:\.\.\.)?|.*(?:\.\.\.|…)", re.DOTALL)
_APART = re.compile(r"\s{2,}[-–—:=>]*\s*|\t\s*|\s+(?:[-–—#]|->|=>|//)\s+")
_SENTENCE = re.compile(r"\.(?:\s+(?=[A-Z])|\s*$)")
_COLON = re.compile(r"\s*:\s+")
_EXAMPLE = re.compile(r"(?:e\.g\.|for example|examples?\b)", re.IGNORECASE)
_CLOSING = {"<": ">", "[": "]", "(": ")", "{": "}"}


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
        rest = (line[opening.end() :] if opening else _BULLET.sub("", line)).strip()
        if len(line) > MAX_LINE or not rest:
            continue
        if rest.count(")") > rest.count("("):  # `(usage: weather <city>)`
            rest = rest[: rest.rindex(")")]
        said, summary, colon = _apart(rest, bool(opening))
        found = tokens(said)
        if found is None and opening:
            yield line.strip()
        for one in _alternatives(found or []):
            if one and _WORD.fullmatch(one[0]):
                yield Way(tuple(one), summary, bool(opening), colon)


def _alternatives(found: list[str]) -> list[list[str]]:
    """`kill <script> or kill <pid>` are two ways, `/model [name] or /m [name]` too."""
    parts: list[list[str]] = [[]]
    for token, following in zip(found, [*found[1:], ""], strict=False):
        if token in {"|", "or", "OR"} and (following == found[0] or following[:1] in {"/", "!"}):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def tokens(said: str) -> list[str] | None:
    """Cut at spaces outside brackets and quotation marks; None where one of these is not closed."""
    found, waiting = [""], ""
    for index, sign in enumerate(said):
        if waiting and sign == waiting[-1]:
            waiting = waiting[:-1]
        elif waiting[-1:] not in {'"', "'"}:
            if sign in _CLOSING and (sign != "<" or said[index + 1 : index + 2].strip()):
                waiting += _CLOSING[sign]
            elif sign == '"' or (sign == "'" and found[-1][-1:] in {"", "="}):
                waiting += sign
            elif sign in ">])}":
                return None
        if sign.isspace() and not waiting:
            found.append("")
        else:
            found[-1] += sign
    return None if waiting else [one.strip("`,;") for one in found if one.strip("`,;")]


def parameters(given: Sequence[str]) -> tuple[list[Parameter], bool]:
    """Of the tokens behind a name, and whether a plain word among them makes an example of the line."""
    found: list[Parameter] = []
    plain = False
    for token, before, following in zip(given, ["", *given], [*given[1:], ""], strict=False):
        value = following if following.startswith("<") and "=" not in token else ""
        if token.startswith("[") and token.rstrip(".…").endswith("]"):
            found += _optional(token.rstrip(".…")[1:-1].strip())
        elif one := option(f"{token} {value}"):
            found.append(one.model_copy(update={"required": True}))
        elif token not in {"...", "…", "|"} and not (token.startswith("<") and re.fullmatch(r"-[^=]+", before)):
            plain = plain or not _PLACEHOLDER.fullmatch(token)
            found.append(Parameter(name=token, place="argument", required=True))
            among = re.findall(r"(?<=[<|])-{1,2}[A-Za-z][\w-]*(?=[|>])", token)  # `<email|--all>`
            found += [one for name in among if (one := option(name))]
    return found, plain


def options_in(text: str) -> Iterator[Parameter]:
    """Lines of a list of options: `  --role=user|admin   Role (required)`."""
    for line in text.splitlines():
        said, summary, _ = _apart(line.strip(" *•"), False)
        if summary and len(line) <= MAX_LINE and (found := option(said, summary)):
            yield found.model_copy(update={"required": "(required" in summary.casefold()})


def _optional(said: str) -> Iterator[Parameter]:
    """Return what may be left out: `--role=a|b`, `-t <n>`, `-l/-a/program`, `dir`."""
    parts = re.split(r"\s*/\s*|\s*\|\s*(?=-)", said) if re.match(r"-[^=\s]*\s*[/|]", said) else [said]
    for part in parts:
        if found := option(part):
            yield found
        elif part and part.casefold().strip(". ") not in {"options", "option", "flags", ""}:
            yield Parameter(name=part if part.startswith("<") else f"<{part}>", place="argument")


def _apart(said: str, usage: bool) -> tuple[str, str, bool]:
    """The way to type it, what is said of it, and whether a colon stands between."""
    depth = 0
    for index, sign in enumerate(said):
        depth += (sign in "<[({") - (sign in ">])}")
        if depth <= 0 < index:
            separator = _APART.match(said, index) or (_SENTENCE.match(said, index) if usage else None)
            if found := separator or _COLON.match(said, index):
                summary = said[found.end() :].strip()
                return said[:index], "" if _EXAMPLE.match(summary) else summary, separator is None
    return said, "", False
