"""Slugs: names as parts of URLs, for ids, attachment names, and suggestions for broken links."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

FRONT_PAGES = ("index", "readme")
"""Stems of the page that stands for its folder, in any letter case; the first wins where a folder has both."""

HOME_PAGES = (*FRONT_PAGES, "home")
"""Stems of the page at the top that stands for the whole."""

_MARKDOWN_SUFFIX = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_APOSTROPHES = dict.fromkeys(map(ord, "'’‘ʼ`´"))  # They leave no gap: `don't` is `dont`


def is_markdown(path: str) -> bool:
    """Return whether the name ends like a Markdown file, in any letter case."""
    return _MARKDOWN_SUFFIX.search(path) is not None


def without_suffix(path: str) -> str:
    """Return the path without its Markdown suffix, taken off once: `index.md.md` keeps one."""
    return _MARKDOWN_SUFFIX.sub("", path, count=1)


def stem(path: str) -> str:
    """Return the file's name without folders and Markdown suffix, as written."""
    return without_suffix(path.rpartition("/")[2])


def front_pages(paths: Iterable[str]) -> dict[str, str]:
    """Folder -> the path of the page that stands for it. The top of the repository is the folder `""`."""
    fronts = [path for path in paths if is_markdown(path) and stem(path).casefold() in FRONT_PAGES]
    # The spelling that wins comes last: `index.md`, other spellings of it, then those of `README.md`.
    fronts.sort(
        key=lambda path: (not path.endswith("index.md"), FRONT_PAGES.index(stem(path).casefold()), path), reverse=True
    )
    return {path.rpartition("/")[0]: path for path in fronts}


def home_pages(paths: Iterable[str]) -> list[str]:
    """Return the pages at the top that may stand for the whole, first choice first."""
    tops = [path for path in paths if "/" not in path and is_markdown(path) and stem(path).casefold() in HOME_PAGES]
    return sorted(tops, key=lambda path: (HOME_PAGES.index(stem(path).casefold()), path))


def slug(text: str) -> str:
    """`[a-z0-9-]`, case-folded, accents taken off: `Café Tech & the Future` is `cafe-tech-the-future`.

    Letters and digits of other scripts are transliterated: `Низкая вода` is `nizkaya-voda`. Empty when nothing of the
    text can be kept (emoji, punctuation).
    """
    folded = unicodedata.normalize("NFKC", text.casefold().translate(_APOSTROPHES)).casefold()
    return re.sub(r"[^a-z0-9]+", "-", "".join(map(_latin, folded))).strip("-")


@lru_cache(maxsize=4_096)
def _latin(char: str) -> str:
    bare = "".join(part for part in unicodedata.normalize("NFKD", char) if not unicodedata.combining(part))
    if bare.isascii():
        return bare
    if unicodedata.category(char)[0] not in "LMN":
        return " "
    from anyascii import anyascii

    # Its signs for soft letters and long vowels are no gaps between words: `большой` is `bolshoy`.
    return "".join(filter(str.isalnum, anyascii(char))).lower()
