"""What reviewers read of a proposal. A stranger's words stand in it, so none of them may do anything there.

GitHub acts on text: `@name` calls people, `fixes #1` closes issues on merge, addresses of issues count like numbers.
In a fenced block nothing of that holds; a title goes into commit messages, where only letters are safe.
"""

import re
import unicodedata
from collections.abc import Mapping

_SAFE_MARKS = frozenset(" .,'’!?()&–-")
_ISSUE = re.compile(r"\bgh-(?=\d)", re.IGNORECASE)
_BACKTICKS = re.compile("`+")

NEXT_STEPS = (
    "To publish it: review the text and the fields, set `publish: true`, and merge. "
    "The knowledge base shows it after the next sync. To decline it, close this pull request."
)


def pull_request_title(kind: str, title: str) -> str:
    """`Draft pattern: Rotating stewardship`, without characters that mean something to GitHub."""
    kept = (char if char in _SAFE_MARKS or unicodedata.category(char)[0] in "LMN" else " " for char in title)
    words = " ".join(_ISSUE.sub("gh ", "".join(kept)).split())
    return f"{kind}: {words or 'untitled'}"


def pull_request_body(introduction: str, facts: Mapping[str, str], author: str | None) -> str:
    """Markdown: what this is, the facts as they were given, and what a reviewer does next."""
    told = dict(facts) | ({"Proposed by": author} if author else {})
    text = "\n".join(f"{name}: {value}" for name, value in told.items())
    return f"{introduction}\n\n{_fenced(text)}\n\n{NEXT_STEPS}\n"


def _fenced(text: str) -> str:
    """A code block that no run of backticks in the text can end."""
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    return f"{fence}text\n{text}\n{fence}"
