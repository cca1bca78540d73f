"""Texts of programs: cleaned of the marks of their parsers, their first sentence, and the examples in them."""

import re
from collections.abc import Iterator

from commonplace.reference.model import Example
from commonplace_generators.commands import sentence
from commonplace_generators.usages import name_of

_MARKS = re.compile(r"^\s*[\b]\s*$\n?|[\x00-\x08\x0b\x0e-\x1f\x7f]", re.MULTILINE)
_MARKUP = re.compile(r"\[/?(?:bold|dim|italic|underline|red|green|blue|yellow|cyan|magenta|b|i|u)(?: [a-z ]+)?\]")
_ROLE = re.compile(r":[a-z]+:`~?([^`]*)`")
_PROMPT = re.compile(r"[$%>]\s+")
_COMMENT = re.compile(r"(?:#|//)\s*")
_BESIDE = re.compile(r"\s{2,}(?:#\s*)?(?=[A-Za-z])|\s+#\s+")
"""What is said of an example behind it."""


def cleaned(said: str | None) -> str:
    """Without click's marks, Rich's markup, Sphinx's roles, and what stands behind a form feed: click hides it."""
    text = "\n\n".join(_as_it_is(part) for part in (said or "").partition("\f")[0].split("\n\n"))
    return _ROLE.sub(r"`\1`", _MARKUP.sub("", _MARKS.sub("", text))).strip()


def _as_it_is(paragraph: str) -> str:
    """click's mark says that the lines of a paragraph are not to be joined: they are indented."""
    mark, _, lines = paragraph.partition("\n")
    return "\n".join(f"    {line}" for line in lines.splitlines()) if mark.strip(" \t") == "\b" else paragraph


def summary_of(text: str) -> str:
    """The first sentence of the first paragraph."""
    return sentence(text.partition("\n\n")[0])


def examples_in(text: str, words: tuple[str, ...], summary: str) -> tuple[Example, ...]:
    """Lines that call the command, indented, behind a prompt, or below "Examples", with what is said of them."""
    return tuple(Example(description=said or summary, code=code) for said, code in _called(text, words))


def without(text: str, examples: tuple[Example, ...]) -> str:
    """A text without the list of examples that were read out of it."""
    codes = {one.code for one in examples}
    kept: list[str] = []
    listing = False
    for line in text.splitlines():
        heads = line.strip().casefold().rstrip(":") in {"example", "examples"}
        said = not line.strip() or _COMMENT.match(line.strip()) or _parted(line)[0] in codes
        listing = bool(codes) and (heads or (listing and bool(said)))
        if not listing:
            kept.append(line)
    return "\n".join(kept).strip()


def _called(text: str, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    section, comment = False, ""
    for line in text.replace("\\\n", "").splitlines():
        said = line.strip()
        if said.casefold().rstrip(":") in {"example", "examples"}:
            section, comment = True, ""
        elif section and (found := _COMMENT.match(said)):
            comment = said[found.end() :]
        elif said:
            code, beside = _parted(line)
            indented = section or line.startswith(("  ", "\t", "`")) or _PROMPT.match(said)
            if indented and _calls(code, words, anywhere=section) and len(code) < 500 and not code.endswith((".", ":")):
                yield beside or comment, code
            elif section:
                comment = said.rstrip(":")


def _parted(line: str) -> tuple[str, str]:
    """A line of code, and what is said of it behind it."""
    said = line.strip().strip("`")
    prompt = _PROMPT.match(said)
    code, *beside = _BESIDE.split(said[prompt.end() :] if prompt else said, maxsplit=1)
    return " ".join(code.split()).strip("` "), " ".join(beside).strip()


def _calls(code: str, words: tuple[str, ...], *, anywhere: bool) -> bool:
    """Return whether a line begins with the command; below "Examples" it may stand behind `sudo`, or a pipe."""
    begins = name_of(code)[: len(words)] == words or code.split()[: len(words)] == list(words)
    return begins or (
        anywhere and " ".join(words) in code and re.search(rf"[|;&]\s*{re.escape(words[0])}|^sudo ", code) is not None
    )
