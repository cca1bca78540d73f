"""Where a new document goes: folder, file name, and the branch of its pull request."""

import hashlib
import json
import re
import unicodedata

from commonplace.documents.content.exclusions import Exclusions
from commonplace.documents.content.ontology import ONTOLOGY, Ontology
from commonplace.kernel.errors import InvalidInput
from commonplace.repository.slugs import slug

MAX_FILE_NAME_BYTES = 120
SUFFIX = ".md"
BRANCH_PREFIX = "commonplace/draft"
_SLUG_CHARACTERS = 40
_HASH_DIGITS = 24

_SYNC = Exclusions()
_KEPT = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd", "Nl", "No"})
"""Letters, digits and the marks they carry, of every script (Unicode general categories)."""
_NOTHING = dict.fromkeys([*map(ord, "'’‘ʼ`´\u034f"), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
"""Apostrophes, which leave no gap, and marks that only choose how the character before them is drawn."""
_RESERVED = re.compile(r"(?:index|readme|con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\Z")
"""Front pages of folders, which are nobody's to propose, and names that Windows cannot check out."""


def content_type_of(authored: str, ontology: Ontology = ONTOLOGY) -> str:
    """The concrete type that is meant; other spellings are accepted. Raises InvalidInput, naming the valid types."""
    name, *below = ontology.expand(authored)
    if ontology.types[name].abstract:
        concrete = ", ".join(each for each in below if not ontology.types[each].abstract)
        raise InvalidInput(f"`{name}` is a group of types, not a type of its own.", hint=f"Use one of: {concrete}.")
    return name


def folder_of(content_type: str, ontology: Ontology = ONTOLOGY) -> str:
    """The folder that implies the type: the newest of its folders that the sync reads. Raises InvalidInput if none."""
    read = (folder for folder in reversed(ontology.types[content_type].prefixes) if not _is_left_out(folder))
    folder = next(read, None)
    if folder is None:
        hint = f"Its pages are proposed on GitHub. Use one of: {', '.join(proposable(ontology))}."
        raise InvalidInput(f"`{content_type}` has no folder of its own.", hint=hint)
    return folder


def proposable(ontology: Ontology = ONTOLOGY) -> tuple[str, ...]:
    """Types that title, text and a folder are enough for, in the table's order."""
    return tuple(
        name
        for name, spec in ontology.types.items()
        if not (spec.abstract or needs_more(name, ontology) or all(map(_is_left_out, spec.prefixes)))
    )


def needs_more(content_type: str, ontology: Ontology = ONTOLOGY) -> bool:
    """Whether the type has a required field besides the title."""
    fields = ontology.types[content_type].fields.values()
    return any(field.required and field.name != "title" for field in fields)


def file_name(title: str) -> str:
    """A readable name of at most 120 bytes: `Café Tech & the Future` becomes `café-tech-the-future.md`.

    Letters, marks and digits of every script stay, in lower case and NFC; everything else is a hyphen. So no name
    leads out of its folder, begins with a dot, or is one that another file system could not hold.
    """
    plain = unicodedata.normalize("NFC", title.translate(_NOTHING).lower())
    words = "".join(char if unicodedata.category(char) in _KEPT else " " for char in plain).split()
    name = _cut("-".join(filter(None, map(_without_leading_marks, words))), MAX_FILE_NAME_BYTES - len(SUFFIX))
    if not name:
        return f"untitled-{digest(title)[:10]}{SUFFIX}"
    if _RESERVED.match(name):
        return f"{name}-page{SUFFIX}"
    return name + SUFFIX


def branch_of(title: str, *asked: str | None, key: str | None) -> str:
    """The branch of a request: `asked` says who asks for what, `key` is the caller's own name of the request.

    With a key, the branch is the key's and the caller's alone, whatever is asked for; and shows nothing of either.
    """
    readable = "" if key is not None else slug(title)[:_SLUG_CHARACTERS].strip("-")
    return "-".join(part for part in (BRANCH_PREFIX, readable, digest(*asked)[:_HASH_DIGITS]) if part)


def digest(*parts: object) -> str:
    """A hash of these parts, in hexadecimal: JSON keeps `("ab", "c")` and `("a", "bc")` apart."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _without_leading_marks(word: str) -> str:
    """A mark at the beginning would combine with the hyphen or the slash before it."""
    first = next((index for index, char in enumerate(word) if unicodedata.category(char)[0] != "M"), len(word))
    return word[first:]


def _cut(text: str, most_bytes: int) -> str:
    return text.encode()[:most_bytes].decode(errors="ignore").rstrip("-")


def _is_left_out(folder: str) -> bool:
    return _SYNC.excludes(f"{folder}/page{SUFFIX}")
