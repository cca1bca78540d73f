"""Slugs: names as parts of URLs, for ids, attachment names, and suggestions for broken links."""

import re
import unicodedata

_MARKDOWN_SUFFIX = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i", "ħ": "h", "ŋ": "ng"}
    | dict.fromkeys("'’‘ʼ`´", "")
)
"""Latin letters that Unicode does not take apart, and apostrophes, which leave no gap: `don't` is `dont`."""


def is_markdown(path: str) -> bool:
    """Whether the name ends like a Markdown file, in any letter case."""
    return _MARKDOWN_SUFFIX.search(path) is not None


def without_suffix(path: str) -> str:
    """The path without its Markdown suffix, taken off once: `index.md.md` keeps one."""
    return _MARKDOWN_SUFFIX.sub("", path, count=1)


def stem(path: str) -> str:
    """The file's name without folders and Markdown suffix, as written."""
    return without_suffix(path.rpartition("/")[2])


def slug(text: str) -> str:
    """`[a-z0-9-]`, case-folded, accents taken off: `Café Tech & the Future` is `cafe-tech-the-future`.

    Empty when nothing of the text can be kept (emoji, scripts other than Latin).
    """
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_UNDECOMPOSED))
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    return re.sub(r"[^a-z0-9]+", "-", letters.casefold()).strip("-")
