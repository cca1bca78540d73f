"""Small files for tests, written where they are used."""

from typing import Any

import yaml

from commonplace.documents.content.normalise import Normalised, normalise
from commonplace.documents.content.reader import Published, Unpublished, Verdict, judge
from commonplace.repository.markdown import ParsedFile


def markdown(body: str = "Text.\n", **frontmatter: Any) -> bytes:
    """A published file with these fields."""
    block = yaml.safe_dump({"publish": True, **frontmatter}, allow_unicode=True, sort_keys=False)
    return f"---\n{block}---\n{body}".encode()


def published(raw: bytes) -> ParsedFile:
    """What a file says that must be published."""
    verdict = judge(raw)
    assert isinstance(verdict, Published), verdict
    return verdict.file


def normalised(raw: bytes, path: str = "notes/a.md") -> Normalised:
    return normalise(path, published(raw))


def codes(document: Normalised) -> set[tuple[str | None, str]]:
    """(field, code) of everything reported."""
    return {(problem.field, problem.code) for problem in document.problems}


def reason(verdict: Verdict) -> str:
    """Why a file is not published that must not be."""
    assert isinstance(verdict, Unpublished), verdict
    return verdict.reason
