"""Names derived from paths: which paths hold content, ids of documents, names of attachments.

Ids and names are a function of the published paths alone. Each path takes the first of these ids that no other path of
its type takes:

1. the slug of the file name's stem             `docs/rpp/Field Notes.md`  ->  `field-notes`
2. the slug of the whole path                   `docs-rpp-field-notes`
3. that, and a short hash of the path           `docs-rpp-field-notes-1f6c0a92b3`
4. that, with the whole hash

Where several paths share a name, *all* of them move to the next one, so neither the order of pushes nor the age of a
document matters, and a qualified id stays when more files of the same name appear. A slug that is empty or longer than
200 bytes has the hash from the start.
"""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

from commonplace.documents.content.keys import raw_key
from commonplace.kernel.objects import MAX_KEY_BYTES
from commonplace.repository.problems import Problem
from commonplace.repository.slugs import is_markdown, slug, stem, without_suffix

DEFAULT_EXCLUDES: tuple[str, ...] = (
    "archive/",
    "attachments/",
    "drafts/",
    "templates/",
    "tmp/",
    "tools/",
    "**/.*/",
    "**/.*",
    "**/node_modules/",
)
"""Tool folders at the top, and hidden folders and files anywhere (`.obsidian/`, `.trash/`, `.draft.md`)."""

ID_RULE_VERSION = "2"
"""Part of the pipeline's fingerprint: another value means that every id is assigned anew."""

MAX_ATTACHMENT_BYTES = 4_500_000
"""A Lambda answers at most 6 MB, and binary bodies travel as base64."""

MAX_ID_BYTES = 200
_SHORT_HASH = 10
_MARKDOWN_ELSEWHERE = re.compile(r"\.(?:mdx|mdown|mkdn?|mdwn|mdtxt|mdtext|rmd|qmd|txt|text)\Z", re.IGNORECASE)
"""Suffixes under which editors keep Markdown, and which are not read."""
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_OF_TOOLS = re.compile(r"(?:.*/)?(?:\.[^/]*|node_modules)/")
_TOP_RUNG = 3


class Exclusions:
    """Patterns over repository paths, letter case ignored.

    `tmp/` is the folder at the top and everything in it, `**/tmp/` is such a folder anywhere, a pattern without a
    final `/` is one file. `*` and `?` match within a segment, `**` across segments. Raises ValueError for a pattern
    that would leave out everything.
    """

    def __init__(self, patterns: Iterable[str] = DEFAULT_EXCLUDES, elsewhere: Iterable[str] = ()) -> None:
        """`elsewhere`: folders that another source of the branch reads, and nobody misses here."""
        self._elsewhere = Exclusions(elsewhere) if (elsewhere := tuple(elsewhere)) else None
        self.patterns = (*patterns, *elsewhere)
        self._regex = re.compile("|".join(map(_regex, self.patterns)) or r"(?!)")

    def excludes(self, path: str) -> bool:
        return self._regex.match(path.casefold()) is not None

    def is_content(self, path: str) -> bool:
        """Whether a file may be a document; the publish gate has the last word."""
        return is_markdown(path) and not self.excludes(path)

    def is_misplaced(self, path: str) -> bool:
        """Whether an editor may believe that a file is a document, which its folder or its suffix rules out."""
        if self.is_content(path) or _OF_TOOLS.match(path) or (self._elsewhere and self._elsewhere.excludes(path)):
            return False
        return is_markdown(path) or is_markdown_by_another_suffix(path)

    def by(self, path: str) -> str | None:
        """The pattern that leaves the path out."""
        return next((one for one in self.patterns if re.match(_regex(one), path.casefold())), None)

    @cached_property
    def fingerprint(self) -> str:
        """Changes when the patterns do; their order does not count."""
        return hashlib.sha256("\n".join(sorted(self.patterns)).encode()).hexdigest()[:16]


def is_markdown_by_another_suffix(path: str) -> bool:
    return _MARKDOWN_ELSEWHERE.search(path) is not None


def is_servable(path: str, size: int) -> bool:
    """Whether a file can be an attachment: neither too large to be answered nor hidden (`.obsidian/`, `.htpasswd`)."""
    return size <= MAX_ATTACHMENT_BYTES and not any(part.startswith(".") for part in path.split("/"))


def unstorable(path: str) -> Problem | None:
    """Return why no document can be made of a file of this name, on any store; None when one can."""
    hint = "rename the file"
    if _UNPRINTABLE.search(path):
        return Problem("not-stored", "the file's name has a line end or a control character in it", hint)
    if len(raw_key(path).encode()) > MAX_KEY_BYTES:
        return Problem("not-stored", f"the file's path has more than {MAX_KEY_BYTES:,} bytes", hint)
    return None


def _regex(pattern: str) -> str:
    body = pattern.casefold().removeprefix("/")
    if not body.strip("/*"):
        raise ValueError(f"an exclusion may not leave out everything: {pattern!r}")
    anywhere = body.startswith("**/")
    translated = (
        re.escape(body.removeprefix("**/")).replace(r"\*\*", ".*").replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    )
    ending = "" if body.endswith("/") else r"\Z"
    return ("(?:.*/)?" if anywhere else "") + translated + ending


def assign_ids(content_types: Mapping[str, str]) -> dict[str, str]:
    """Path -> content type becomes path -> id, unique per type, whatever the order of the paths."""
    by_type: dict[str, list[str]] = defaultdict(list)
    for path, content_type in content_types.items():
        by_type[content_type].append(path)
    ids: dict[str, str] = {}
    for paths in by_type.values():
        ids |= _climb(paths, _document_id)
    return ids


def assign_names(paths: Iterable[str]) -> dict[str, str]:
    """Attachment path -> unique name: the file's own, in NFC, with as many folders before it as tell it from others."""
    return _climb(list(dict.fromkeys(paths)), _attachment_name)


def _climb(paths: list[str], name_on: Callable[[str, int], str]) -> dict[str, str]:
    """Names on the lowest rungs on which no two are equal. The names of a path stay the same from some rung on."""
    rungs = dict.fromkeys(paths, 0)
    names = {path: name_on(path, 0) for path in paths}
    while crowded := _crowded(names):
        for path in crowded:
            rungs[path] += 1
            names[path] = name_on(path, rungs[path])
    return names


def _crowded(names: Mapping[str, str]) -> list[str]:
    """Paths that share their name with another one."""
    owners: dict[str, list[str]] = defaultdict(list)
    for path, name in names.items():
        owners[name].append(path)
    return [path for sharing in owners.values() if len(sharing) > 1 for path in sharing]


def _document_id(path: str, rung: int) -> str:
    name = slug(stem(path)) if rung == 0 else slug(without_suffix(path))
    return _with_hash(name, path, rung)


def _attachment_name(path: str, rung: int) -> str:
    segments = path.split("/")
    if rung >= len(segments):
        return path  # two spellings of one name, which NFC makes equal
    return unicodedata.normalize("NFC", "/".join(segments[-1 - rung :]))


def _with_hash(name: str, path: str, rung: int) -> str:
    """The name as it is while it is fit and alone; else as much of it as fits, and a hash of the path."""
    if rung < 2 and name and len(name) <= MAX_ID_BYTES:
        return name
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
    if rung < _TOP_RUNG:
        digest = digest[:_SHORT_HASH]
    room = MAX_ID_BYTES - len(digest) - 1
    return f"{name[:room].rstrip('-') or 'untitled'}-{digest}"
