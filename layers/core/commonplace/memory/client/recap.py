"""The summary of a story: what it was, and what was learned, each thing in few words."""

import re
from collections.abc import Iterable, Sequence

MAX_LEAD = 160
MAX_RECAP = 4_000
"""Characters. A summary is read whole; what it leaves out stands in its facts."""

_SENTENCE = re.compile(r"(.+?[.!?])(?=\s|\Z)", re.DOTALL)


def recap(
    story: str, title: str, date: str, about: Iterable[str], sections: Sequence[tuple[str, Sequence[str]]]
) -> str:
    """`STORY-016 (File upload): …`, then a line for each section that says something."""
    head = f"{story} ({title})" if title else story
    lines = [f"{head}, {date}." if date else f"{head}."]
    lines += about
    lines += [f"{name.rstrip(':')}: {'; '.join(map(lead, texts))}." for name, texts in sections if texts]
    text = "\n".join(lines)
    return text if len(text) <= MAX_RECAP else text[: MAX_RECAP - 1].rstrip() + "…"


def lead(text: str) -> str:
    """The first sentence of a text, without its full stop, cut where it is long."""
    line = text.partition("\n")[0].strip()
    found = _SENTENCE.match(line)
    said = (found[1] if found and len(found[1]) >= 20 else line).rstrip(".:; ")
    return said if len(said) <= MAX_LEAD else said[: MAX_LEAD - 1].rsplit(" ", 1)[0] + "…"
