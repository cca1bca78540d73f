"""Comments in Markdown: Obsidian's `%%…%%`, HTML's `<!--…-->`, and definitions `[//]: # (…)` that only carry a note.

Whatever reads a body for an index, an excerpt, a title or an agent reads `visible(body)`. The bytes stay as written.
No Markdown parser is loaded, and the time is linear in the length of the text.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

_SAME = r"\n(?![ \t>]*(?:\n|\Z|[-*+|][ \t]|\#{1,6}[ \t]|\d{1,9}[.)][ \t]|```|~~~))"
"""A line end inside of a paragraph: neither a blank line nor the beginning of another block follows."""
_NOTE = rf"(?:\\.|(?!\n[ \t>]*\[){_SAME}|[^\n\\"
"""What a note may hold, before its own closing mark: line ends too, but not the beginning of another definition."""
_MARK = re.compile(
    rf"""
    \A(?P<first>(?:[ ]{{4}}|[ ]{{0,3}}\t)[^\n]*)
    |^(?P<quote>[ \t]*>)?[ \t>]*(?:(?:[-*+]|\d{{1,9}}[.)])[ \t][ \t>]*)*+(?:
        (?P<fence>`{{3,}}(?![^\n]*`)|~{{3,}})[^\n]*
        (?:\n(?(quote)(?=[ \t]*>))(?![ \t>]*(?P=fence)[`~]*[ \t]*$)[^\n]*)*+(?:\n(?(quote)(?=[ \t]*>))[^\n]*)?
        |(?P<formula>\$\$(?:[^$\\]|\\.?|\$(?!\$))*+\$\$)
        |(?P<block>%%|<!--)
        |(?P<definition>\[[^\]\n]+\]:[ \t]*(?:<?\#>?|<>)[ \t]+(?:\({_NOTE})])*+\)|"{_NOTE}"])*+"|'{_NOTE}'])*+'))[ \t]*$
    )
    |^[ \t]*\n(?P<indented>(?:[ ]{{4}}|[ ]{{0,3}}\t)[^\n]*)
    |\\[\\`$%<]
    |(?<!`)(?P<ticks>`{{1,9}})(?!`)(?:[^`\n]++|{_SAME}|(?!(?P=ticks)(?!`))`++)*+(?P=ticks)(?!`)
    |\$\$(?:[^$\\\n]|\\.?|\$(?!\$)|{_SAME})*+\$\$
    |(?<![\d$])\$(?![\s$])(?:[^$\\\n]|\\.?|{_SAME})*+(?<!\s)\$(?!\d)
    |(?P<inline>%%|<!--)
    """,
    re.MULTILINE | re.VERBOSE,
)
"""Code and formulas, which are left alone, and the beginnings of comments."""
_CLOSING = {"%%": re.compile("%%"), "<!--": re.compile("-->")}
_BLANK = re.compile(r"\n[ \t>]*\n")
_QUOTE_END = re.compile(r"\n(?![ \t]*>)|\Z")
_CODE_END = re.compile(r"\n(?![ ]{4}|[ ]{0,3}\t|[ ]*(?:\n|\Z))|\Z")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)]|\[\^[^\]\n]+\]:|:)[ \t]")
"""A line under which indented text is no code."""


def visible(text: str, *, html: bool = True) -> str:
    """Return the text without its comments; their line ends stay, so that lines keep their numbers.

    Without `html` only `%%…%%` goes: a parser of Markdown needs the rest to see where blocks end.
    """
    if not any(mark in text for mark in ("%%", "<!--", "]:")):
        return text
    found = _comments(text.replace("\r\n", " \n").replace("\r", "\n"))
    kept, at = [], 0
    for start, end in sorted((start, end) for mark, start, end in found if html or mark == "%%"):
        if end > at:
            kept += [text[at:start], *re.findall(r"\r\n|\n|\r", text[max(at, start) : end])]
            at = end
    return "".join([*kept, text[at:]])


def _comments(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the mark of each comment, and where it begins and ends, as Obsidian and CommonMark (4.6, 6.6) find them.

    One that begins a block ends with its mark, wherever that is, and without it with the text or the quote. Another
    ends in its paragraph; two lone marks `%%` of different paragraphs hide what is between them.
    """
    flush = [line.start() for line in re.finditer(r"^\S", text, re.MULTILINE)]
    nearest: dict[re.Pattern[str], int] = {}
    alone: int | None = None

    def ahead(pattern: re.Pattern[str], at: int) -> int:
        """Return where the next one begins; searched once for all that come before it."""
        if nearest.get(pattern, -1) < at:
            found = pattern.search(text, at)
            nearest[pattern] = found.start() if found else len(text) + 1
        return nearest[pattern]

    at = 0
    while found := _MARK.search(text, at):
        at = found.end()
        if found["first"] or found["indented"]:
            above = bisect_left(flush, found.start()) - 1
            in_item = above >= 0 and _ITEM.match(text, flush[above])
            at = found.start("indented") if in_item else ahead(_CODE_END, at)
        elif found["definition"]:
            yield "[", *found.span("definition")
        elif mark := found["block"] or found["inline"]:
            start, closing = at - len(mark), _CLOSING[mark]
            # `<!-->` is a whole comment.
            close = ahead(closing, start + 2)
            if close <= len(text) and (found["block"] or close < ahead(_BLANK, at)):
                at = close + len(closing.pattern)
                yield mark, start, at
            elif found["block"]:
                at = ahead(_QUOTE_END, at) if found["quote"] else len(text)
                yield mark, start, at
            elif mark == "%%":
                if alone is not None:
                    yield mark, alone, at
                alone = start if alone is None else None
