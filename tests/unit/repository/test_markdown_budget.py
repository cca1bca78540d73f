"""Time of everything that reads or renders a Markdown body, over inputs that were made to make it long."""

import gc
import math
from time import process_time
from types import SimpleNamespace
from typing import Any

import pytest

from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.graph import Graph
from commonplace.documents.content.library import NOTHING_PUBLISHED
from commonplace.documents.content.normalise import normalise
from commonplace.documents.content.reader import Published, contents_of, judge
from commonplace.documents.rendering.model import Rendered
from commonplace.documents.rendering.references import Shelf
from commonplace.documents.rendering.text import render
from commonplace.documents.tools.extracts import Extracts
from commonplace.kernel.markdown_budget import BASE_WORK, MAX_BLOCK_LENGTH, WORK_PER_CHARACTER, Work
from commonplace.redaction.structure import read_structure
from commonplace.repository.dialect import dialect
from commonplace.repository.links import Contents, read_contents
from commonplace.repository.markdown import ParsedFile
from commonplace.search.chunks import chunk_body, is_listing
from commonplace.search.text import plain

LARGEST_RATIO = 2.5
"""Of the CPU that twice the text takes: 2 where time grows with the text, 4 where it grows with its square."""
DOUBLINGS = 3
"""Judged at once: a busy neighbour on the same core makes any measurement up to twice as long."""
LENGTH = 2_500
ATTEMPTS = 20

HEX_DUMP = "aa:bb:"
UNITS = {
    "brackets": "[",
    "wiki links": "[[",
    "wiki links with a bar": "[[a|",
    "wiki links half closed": "[[a]",
    "embeds": "![[a",
    "images": "![",
    "inline footnotes": "^[",
    "footnote references": "[^",
    "link labels": "[a][",
    "destinations": "[a](",
    "destinations in angle brackets": "[a](<b",
    "destinations with spaces": "[a](b c",
    "titles": '[a](b "',
    "titles in parentheses": "[a](b (",
    "parentheses": "[a](((",
    "closing brackets": "]",
    "closed brackets": "[a]",
    "autolinks": "<http:",
    "autolinks of any scheme": "<a:b ",
    "hex dump": HEX_DUMP,
    "colons": "a: ",
    "bare addresses": "http://a ",
    "addresses with underscores": "_www.a" * 100 + "! ",
    "addresses in a row": "(http://a",
    "www": "www.",
    "mail": "a@",
    "mail addresses": "a@b.c_",
    "mailto": "mailto:a ",
    "xmpp": "xmpp:a@b",
    "tags": "<a ",
    "tags with attributes": '<a b="',
    "closing tags": "</a",
    "HTML comments": "<!--",
    "HTML comments, oddly closed": "<!-- ---> ",
    "HTML comments in blocks": "<!--\n",
    "processing instructions": "<?",
    "declarations": "<!a ",
    "CDATA": "<![CDATA[",
    "divisions": "<div>",
    "preformatted": "<pre>\n\n",
    "links in HTML": "<p><a href=x>\n",
    "links in HTML never closed": "<a href=",
    "images in HTML": "<img src=",
    "emphasis": "*a **b ",
    "emphasis opened": "**a",
    "emphasis closed": "a** ",
    "emphasis mixed": "*_",
    "words with marks": "a*b_c",
    "strikethrough": "~~a ",
    "tildes": "~",
    "highlights": "==a ",
    "equals signs": "=",
    "code": "` a",
    "code of several lengths": "`a``b```c",
    "formulas": "$a ",
    "display formulas": "$$a ",
    "escaped formulas": "\\$a",
    "blocks of formulas": "$$a\na\n\n",
    "comments": "%%a ",
    "blocks of comments": "%%\n",
    "entities": "&amp",
    "numeric entities": "&#1",
    "backslashes": "\\",
    "hard breaks": "a\\\n",
    "lines": "a\n",
    "paragraphs": "a\n\n",
    "quotes": ">",
    "quotes, a line each": "> a\n",
    "lists": "- a\n",
    "lists in lists": "- ",
    "numbered lists": "1. a\n",
    "tasks": "- [ ] a\n",
    "headings": "# a\n",
    "underlined headings": "a\n=\n",
    "rules": "* * *",
    "dashes": "-",
    "table cells": "|a",
    "table rules": "---|",
    "tables": "|a|b|\n|-|-|\n\n",
    "definitions": "a\n: b\n",
    "definition markers": ": ",
    "link definitions": "[a]: b\n",
    "link definitions with titles": '[a]: b "c\n',
    "footnotes": "[^a]: b\n\n",
    "fences": "```\n",
    "callouts": "> [!note] a\n\n",
    "block ids": "a ^b\n\n",
    "spaces": " ",
    "words far apart": "a" + " " * 40,
    "tabs": "\t",
    "zero width spaces": "\u200b",
    "carriage returns": "\r",
    "NUL": "\0",
    "conflict markers": "<<<<<<< a\n=======\n>>>>>>> b\n",
}


def repeated(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


def _rows(length: int) -> str:
    side = math.isqrt(length // 5)
    return "|a" * side + "|\n" + "|-" * side + "|\n" + "a\n" * (length // 4)


SHAPES = {
    "nested brackets": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "nested footnotes": lambda n: "^[" * (n // 3) + "]" * (n // 3),
    "nested images": lambda n: "![" * (n // 6) + "](a)" * (n // 6),
    "nested links": lambda n: "[a" * (n // 6) + "](a)" * (n // 6),
    "nested emphasis": lambda n: "*a " * (n // 6) + "b* " * (n // 6),
    "nested highlights": lambda n: "==a " * (n // 8) + " b==" * (n // 8),
    "quotes of growing depth": lambda n: "".join(">" * at + "a\n" for at in range(math.isqrt(2 * n))),
    "lists of growing depth": lambda n: "".join(" " * at + "- a\n" for at in range(math.isqrt(2 * n))),
    "ticks of growing length": lambda n: " ".join("`" * at for at in range(1, math.isqrt(2 * n))),
    "footnote references to a footnote": lambda n: "[^x]: y\n\n" + "[^" * (n // 2),
    "many footnotes": lambda n: "".join(f"[^{at}]: b\n\n[^{at}]\n\n" for at in range(n // 20)),
    "many definitions": lambda n: "".join(f"[{at}]: b\n" for at in range(n // 10)),
    "equal headings": lambda n: "# a\n\n" * (n // 5),
    "a table of short rows": _rows,
    "a long row": lambda n: "a|b\n-|-\n" + "|" * n,
    "dashes before a word": lambda n: "-" * n + " x",
    "angle brackets in an address": lambda n: "[a](" + "<a>" * (n // 3),
    "spaces in a heading": lambda n: "# a" + " " * n + "b",
    "spaces in a cell": lambda n: "a|b" + " " * n + "c",
    "a long tag": lambda n: "[^x]: y\n\n[^x] <" + "a" * n + ">",
    "marks of mail before a bang": lambda n: "_www.a" * (n // 6) + "!",
}
TEXTS = {name: (lambda n, unit=unit: repeated(unit, n)) for name, unit in UNITS.items()} | SHAPES

PAGE: Any = SimpleNamespace(path="a.md", ref="article/a", title="A")
SHELF = Shelf(Catalogue(NOTHING_PUBLISHED), Graph(), None, lambda _: None)  # type: ignore[arg-type]


def read(text: str) -> Contents:
    return read_contents(ParsedFile({}, text, 1))


def page(text: str) -> Rendered:
    return render(SHELF, PAGE, text)


def everything(text: str) -> None:
    """What a sync, the index, a page and an agent's question do with one body."""
    verdict = judge(f"---\npublish: true\n---\n{text}".encode())
    if isinstance(verdict, Published):
        normalise("a.md", verdict.file)
        contents_of(verdict.file)
    for chunk in chunk_body(text):
        is_listing(chunk)
        plain(chunk.text)
    plain(text)
    page(text)
    read_structure(text)
    Extracts("a", [text], ["a"])


def seconds(text: str) -> float:
    gc.collect()
    gc.disable()
    try:
        begun = process_time()
        everything(text)
        return process_time() - begun
    finally:
        gc.enable()


@pytest.mark.parametrize("name", TEXTS)
def test_twice_the_text_is_about_twice_the_work(name: str) -> None:
    short, long = math.inf, math.inf
    for _ in range(ATTEMPTS):
        short = min(short, seconds(TEXTS[name](LENGTH)))
        long = min(long, seconds(TEXTS[name](LENGTH * 2**DOUBLINGS)))
        if long <= short * LARGEST_RATIO**DOUBLINGS:
            return
    pytest.fail(f"{name}: {short:.4f} s became {long:.4f} s of CPU, eight times as much text")


def paragraphs(unit: str, count: int = 80, length: int = 49_990) -> str:
    return "\n\n".join([repeated(unit, length)] * count)


@pytest.mark.parametrize("unit", ["[", "[[", "![", "^[", HEX_DUMP, "- a\n", "|a|\n|-|\n\n"])
def test_beyond_the_budget_a_file_is_text_and_the_line_is_named(unit: str) -> None:
    text = f"[First](first.md)\n\n{paragraphs(unit, 20)}\n\n[Last](last.md)\n"
    found = read(text)
    (problem,) = [one for one in found.problems if one.code == "too-much-markup"]
    assert problem.line is not None
    assert 3 <= problem.line < text.count("\n")
    assert problem.hint
    assert "first.md" in {link.target for link in found.links}
    assert "last.md" not in {link.target for link in found.links}
    assert read(text) == found


@pytest.mark.parametrize("unit", ["[", HEX_DUMP, "[[A]] ", "[a](b.md) ", "*a* "])
def test_work_is_bounded_by_the_budget(unit: str) -> None:
    text, env = paragraphs(unit, 20), dict[str, Work]()
    dialect().parse(text, env)
    largest_step = MAX_BLOCK_LENGTH
    assert 0 < env["work"].spent <= BASE_WORK + WORK_PER_CHARACTER * len(text) + largest_step


def test_a_text_and_its_beginning_end_at_the_same_place() -> None:
    text = paragraphs("[[A]] b ", 40, 4_000).replace("\n\n", "\n\n[a](b.md)\n\n") + paragraphs("[")
    whole, beginning = read(text), read(text[:400_000])
    assert whole.problems == beginning.problems
    assert whole.links == beginning.links


def test_a_page_shows_as_links_what_the_sync_has_found() -> None:
    text = paragraphs("[[A]] ", 100, 3_000)
    found, shown = read(text), page(text)
    assert [one.code for one in found.problems] == ["too-much-markup"]
    assert shown.html.count('class="broken-link"') == len(found.links) > 1000


def test_prose_stays_below_the_budget() -> None:
    sentence = "The *tide* comes [twice a day](tides.md), and `ebb` is what [[Ebb|goes]]: see http://example.org/a.\n"
    text, env = (sentence * 8 + "\n") * 200, dict[str, Work]()
    dialect().parse(text, env)
    assert env["work"].ended is None
    assert env["work"].spent < WORK_PER_CHARACTER * len(text)


def test_a_paragraph_that_is_too_long_is_named() -> None:
    (problem,) = read("a\n\n" + "b " * 30_000 + "\n\n[c](c.md)\n").problems
    assert (problem.code, problem.line) == ("too-much-markup", 3)
