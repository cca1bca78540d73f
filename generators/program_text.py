"""Texts of programs, as their parsers keep them: cleaned, cut into summary and description, with their examples."""

import re
from collections.abc import Iterator

from commonplace.reference.model import Example
from generators.commands import sentence
from generators.console_usage import name_of

_MARKS = re.compile(r"^\s*[\b]\s*$\n?|[\x00-\x08\x0b\x0e-\x1f\x7f]", re.MULTILINE)
_MARKUP = re.compile(r"\[/?(?:bold|dim|italic|underline|red|green|blue|yellow|cyan|magenta|b|i|u)(?: [a-z ]+)?\]")
_ROLE = re.compile(r":[a-z]+:`~?([^`]*)`")
_PROMPT = re.compile(r"(?:[$%>]|#)\s+")


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
    first = text.partition("\n\n")[0]
    return sentence(first)


def examples_in(text: str, words: tuple[str, ...], summary: str) -> tuple[Example, ...]:
    """Lines that call the command: indented, behind a prompt, or below the word "Examples"."""
    return tuple(Example(description=summary or " ".join(words), code=code) for code in _called(text, words))


def without(text: str, examples: tuple[Example, ...]) -> str:
    """A text without the list of examples that were read out of it."""
    codes = {one.code for one in examples}
    kept: list[str] = []
    listing = False
    for line in text.splitlines():
        said = line.strip()
        heads = said.casefold().rstrip(":") in {"example", "examples"}
        listing = bool(codes) and (heads or (listing and (not said or _code(said) in codes)))
        if not listing:
            kept.append(line)
    return "\n".join(kept).strip()


def _code(said: str) -> str:
    prompt = _PROMPT.match(said)
    return (said[prompt.end() :] if prompt else said).partition("  # ")[0].strip("` ")


def _called(text: str, words: tuple[str, ...]) -> Iterator[str]:
    section = False
    for line in text.splitlines():
        section = line.strip().casefold().startswith("example") if line.strip().endswith(":") else section
        said = line.strip().strip("`")
        code = _code(said)
        indented = section or line.startswith(("  ", "\t", "`")) or _PROMPT.match(said)
        follows = name_of(code)[: len(words)] == words or code.split()[: len(words)] == list(words)
        if indented and follows and len(code) < 500 and not code.endswith((".", ":")):
            yield code
