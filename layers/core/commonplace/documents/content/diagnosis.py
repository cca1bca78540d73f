"""Why a file is not published: the line, what is written there, and the cure. Pure.

What is near to `publish: true` between two lines `---` at the top of a file is told apart from a page that says it is
private, or says nothing. Nothing here publishes: that is the gate's decision (`reader`). Of the file's own words none
is quoted but the line of `publish` or `draft`, or of what stands for `---`: the report of the sync keeps it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from commonplace.repository.markdown import ParsedFile
from commonplace.repository.problems import Problem

LINES_READ = 60
"""At the top of a file, where frontmatter that went wrong still stands."""
LONGEST_SHOWN = 80

WRITE = "write `publish: true` in the frontmatter, the block between two lines `---` at the top of the file"
_ALONE = "write `publish: true`"
_FENCE = "begin and end the frontmatter with a line of three hyphens, `---`, and nothing else on it"

_LINE_END = re.compile(r"\r\n|\n|\r")
_INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060\u00ad\u200e\u200f"
_QUOTES = "“”‘’„‟«»‹›`´"
_NO = {"false", "no", "off", "n", "0", "never", "private", "nein", "non"}
_YES = {"true", "ture", "treu", "yes", "on", "y", "1", "ok", "ja", "oui", "si", "sí", "sim", "да", "x", "✓", "✔", "✅"}
_LIKE_PUBLISH = ("publish", "published", "publishing", "publishes", "publishable", "ispublished", "public", "ispublic")
_ALIKE = 0.8

_SAYS_PUBLISH = re.compile(rf"\s*[\"'{_QUOTES}]?publish(?:ed)?[\"'{_QUOTES}]?\s*[:=：]\s*(?P<value>.*)", re.IGNORECASE)
_FENCE_LIKE = re.compile(r"\s*(?:[-—–]|(?:[-‐‑‒–—―−_=*~+;]{2,}|`{3,}|<!--+)\s*(?:\w+)?)\s*(?:--+>)?\s*\Z")
_NO_SPACE = re.compile(r"publish(?::(?!\s*$)(?! )|\s*[=：])", re.IGNORECASE)


def of_a_page(raw: bytes, file: ParsedFile) -> Problem:
    """Of a file with frontmatter that can be read, and whose gate is shut."""
    lines = _lines(raw)
    found = _publish(file, lines) or _draft(file) or _elsewhere(file, lines)
    return found if found.code == "no-publish" or found.written else _quoting(found, lines)


def of_a_text(raw: bytes) -> Problem:
    """Of a file that does not begin with frontmatter."""
    if not raw.strip():
        return Problem("empty-file", "the file is empty", "write a page, or delete the file")
    lines = _lines(raw[: LINES_READ * 4000])[:LINES_READ]
    lines = list(_before_code(lines))
    at = next((number for number, line in enumerate(lines) if _wants_publication(line)), None)
    if at is None:
        hint = f"to publish it, {WRITE}"
        return Problem("no-frontmatter", "the file has no frontmatter", hint, 1)
    above = [(number, line) for number, line in enumerate(lines[:at]) if line.strip(_INVISIBLE).strip()]
    fence = next((number for number, line in above if number and line.rstrip() == "---"), None)
    if fence is not None:
        return _before(lines, fence)
    if (
        above
        and above[0][1].rstrip() != "---"
        and (_FENCE_LIKE.match(above[0][1]) or above[0][1].strip(f"{_INVISIBLE} \t") == "---")
    ):
        return _quoting(_fence(*above[0]), lines)
    hint = "put a line `---` before the first field, at the very top of the file, and another after the last field"
    return _quoting(Problem("publish-outside", "the fields are not between two lines `---`", hint, at + 1), lines)


def _before_code(lines: Sequence[str]) -> Iterator[str]:
    """The lines above the first block of code, unless the file begins with it."""
    text_above = False
    for line in lines:
        if text_above and line.startswith(("```", "~~~")):
            return
        text_above = text_above or not line.isspace()
        yield "" if text_above and line.startswith("    ") else line


def of_unreadable(raw: bytes, problem: Problem) -> Problem:
    """The problem of a file that cannot be read, with a cure for a slip in the line of `publish`, and for tabs."""
    if problem.code == "invalid-utf8":
        utf16 = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
        return replace(problem, message="the file is UTF-16, not UTF-8", line=1) if utf16 else problem
    lines = _lines(raw)[:2000]
    for number, line in enumerate(lines[1:LINES_READ], 2):
        if line.rstrip() == "---":
            break
        if _NO_SPACE.match(line):
            message = "`publish` is not followed by a colon and a space"
            return _quoting(replace(problem, message=message, hint=_ALONE, line=number, column=None), lines)
    if problem.code == "unclosed-frontmatter":
        ending = next((number for number, line in enumerate(lines[1:LINES_READ], 2) if _FENCE_LIKE.match(line)), None)
        message = "the frontmatter is never closed: this line is not made of three hyphens alone"
        return _quoting(replace(problem, message=message, line=ending), lines) if ending else problem
    if problem.line and problem.line <= len(lines) and lines[problem.line - 1].startswith("publish:"):
        return replace(problem, hint=f"{_ALONE}, or `publish: false`")
    if problem.line and problem.line <= len(lines) and "\t" in lines[problem.line - 1]:
        return replace(problem, hint="there is a tab in this line: indent with spaces")
    return problem


def _publish(file: ParsedFile, lines: Sequence[str]) -> Problem | None:
    """What the field `publish`, or one that looks like it, says instead of `true`."""
    values = {name: value for name, value in file.frontmatter.items() if _plain(name) == "publish"}
    for name, value in values.items():
        if value is True and name == "publish":
            continue
        line = file.lines.get(name)
        if _says_no(value):
            return Problem("publish-false", f"it says `{name}: {_short(value)}`", _ALONE, line, field="publish")
        if value is True:
            message = f"the field is called `publish`, in lower case and without anything around it, not `{name}`"
            return Problem("publish-misspelt", message, _ALONE, line, field="publish")
        written = lines[line - 1] if line and line <= len(lines) else ""
        return Problem("publish-not-true", _instead_of_true(value, written), _ALONE, line, field="publish")
    if values:
        return None
    for name, value in file.frontmatter.items():
        if _says_yes(value) and _resembles_publish(name):
            message = f"the field is called `publish`, not `{name}`"
            return Problem("publish-misspelt", message, _ALONE, file.lines.get(name), field="publish")
    return None


def _draft(file: ParsedFile) -> Problem | None:
    """Anything but `false` in `draft` blocks a page that says `publish: true`."""
    for name, value in file.frontmatter.items():
        if _plain(name) != "draft" or value is None or value is False or "publish" not in file.frontmatter:
            continue
        line, cure = file.lines.get(name), "write `draft: false`, or remove the line"
        if value is True:
            return Problem("draft", "it says `publish: true`, and that it is a draft", cure, line, field="draft")
        message = "`draft` is neither `true` nor `false`, so the page is not published"
        return Problem("draft-not-understood", message, cure, line, field="draft")
    return None


def _elsewhere(file: ParsedFile, lines: Sequence[str]) -> Problem:
    """There is no `publish` among the fields: it may be indented, a comment, or below the frontmatter."""
    block = lines[: file.body_line - 1]
    for number, line in enumerate(block, 1):
        if line[:1].isspace() and _wants_publication(line):
            message = "`publish` is indented, which makes it a part of the field above"
            return Problem("publish-outside", message, "begin the line with `publish`", number, field="publish")
        if line.lstrip().startswith("#") and _wants_publication(line.lstrip("# \t")):
            return Problem("publish-false", "`publish` is a comment", "remove the `#`", number, field="publish")
    for number, line in enumerate(lines[file.body_line - 1 : file.body_line + LINES_READ - 1], file.body_line):
        if line.lstrip().startswith(("```", "~~~")):
            break
        if not line[:1].isspace() and _wants_publication(line):
            message = "`publish` is below the frontmatter, in the text"
            return Problem("publish-outside", message, "move the line up between the two lines `---`", number)
    return Problem("no-publish", "the frontmatter has no field `publish`", f"to publish it, {_ALONE} there", 1)


def _before(lines: Sequence[str], fence: int) -> Problem:
    """What stands above the frontmatter."""
    above = lines[:fence]
    seen = [line for line in above if line.strip(_INVISIBLE).strip()]
    if seen:
        at = above.index(seen[0]) + 1
        message = "text precedes the frontmatter"
        return Problem("frontmatter-not-first", message, "move it below the second line `---`", at)
    hidden = any(set(line) & set(_INVISIBLE) for line in above)
    message = f"{'an invisible character and ' if hidden else ''}{_counted(fence)} before the frontmatter"
    found = Problem("frontmatter-not-first", message, "let the file begin with the line `---`", 1)
    return _quoting(found, lines) if hidden else found


def _fence(number: int, line: str) -> Problem:
    text = line.strip()
    if text == "---":
        message = "the line above the frontmatter is indented"
    elif text.strip(_INVISIBLE) == "---":
        message = "an invisible character precedes the frontmatter"
        return Problem("frontmatter-not-first", message, "delete it: type the line `---` again", number + 1)
    elif text.startswith("+++"):
        message = "the frontmatter is TOML, and only YAML is read"
    elif text.startswith("```"):
        message = "the frontmatter is a block of code"
    elif text.startswith("<!--"):
        message = "the frontmatter is a comment"
    elif set(text) == {"-"}:
        message = f"the line above the frontmatter has {_hyphens(len(text))}, not three"
    else:
        message = "the line above the frontmatter is not made of three hyphens"
    return Problem("frontmatter-fence", message, _FENCE, number + 1)


def _instead_of_true(value: Any, written: str) -> str:
    if value is None:
        return "`publish` is empty"
    if isinstance(value, list | dict):
        return "`publish` is a list, not the value `true`"
    if set(written) & set(_QUOTES):
        return "`true` stands in typographic quotes, which makes it a text"
    text = str(value)
    if text.strip().casefold() == "true" and text.isprintable() and text == text.strip():
        return "`true` stands in quotes, which makes it a text"
    if "true" in text.casefold() and not text.isascii():
        return "an invisible character stands beside `true`, which makes it a text"
    return "`publish` is not the value `true`, and no other word publishes"


def is_private(frontmatter: Mapping[str, Any]) -> bool:
    """Return whether a field that is nearly called `publish` says no, or one called `private` says yes."""
    return any(
        (_says_no(value) and _resembles_publish(name)) or (_plain(name) == "private" and _says_yes(value))
        for name, value in frontmatter.items()
    )


def _resembles_publish(name: str) -> bool:
    plain = re.sub(r"[^a-z]", "", _plain(name))
    return plain in _LIKE_PUBLISH or SequenceMatcher(None, plain, "publish").ratio() > _ALIKE


def _wants_publication(line: str) -> bool:
    found = _SAYS_PUBLISH.match(line.strip(_INVISIBLE))
    return found is not None and _says_yes(found["value"])


def _says_yes(value: Any) -> bool:
    """Whether it is `true`, a word like it, or a slip in it: `published: in 1998` says something else."""
    word = re.split(r"\s#|,\s*(?:\Z|\w+:)", str(value).casefold())[0].strip(f"{_INVISIBLE}{_QUOTES}\"' \t\u00a0[]")
    return word in _YES or (len(word) <= 6 and SequenceMatcher(None, word, "true").ratio() > _ALIKE)


def _says_no(value: Any) -> bool:
    return value is False or (not isinstance(value, bool) and str(value).strip().casefold() in _NO)


def _plain(name: str) -> str:
    return name.strip().strip(_INVISIBLE + _QUOTES + "\u00a0").strip().casefold()


def _quoting(problem: Problem, lines: Sequence[str]) -> Problem:
    if problem.line is None or problem.line > len(lines):
        return problem
    return replace(problem, written=visible(lines[problem.line - 1]))


def visible(line: str) -> str:
    """The line on one screen line, invisible characters written out."""
    shown = "".join(
        letter if letter.isprintable() and letter not in _INVISIBLE else _named(letter) for letter in line.rstrip(" ")
    )
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[: LONGEST_SHOWN - 1]}…"


def _named(letter: str) -> str:
    return "<tab>" if letter == "\t" else f"<U+{ord(letter):04X}>"


def _lines(raw: bytes) -> list[str]:
    return _LINE_END.split(raw.decode("utf-8", "replace"))


def _short(value: Any) -> str:
    return "false" if value is False else str(value).strip()[:20]


def _counted(lines: int) -> str:
    return f"{lines} empty line{'s stand' if lines > 1 else ' stands'}"


def _hyphens(count: int) -> str:
    return f"{count} hyphen{'' if count == 1 else 's'}"
