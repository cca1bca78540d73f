"""Values that must not be anywhere, and the search for them in everything that was written: in any coding that a store,
a log or a library may have brought them into, and as a hash of what was sent.
"""

import base64
import gzip
import hashlib
import json
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import re2

SHORTEST = 6
"""Bytes: what is shorter is found by chance."""
HASHES = (hashlib.md5, hashlib.sha1, hashlib.sha256)
DEEP = 3
"""So many times a coding is looked through for another one."""

_PACKED = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{24,}={0,2}")
_SEPARATORS = re.compile(r"[\W_]+")


@dataclass
class Canaries:
    """What was planted. `texts` are whole texts that were sent: of them no hash may be kept either."""

    values: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    _forms: dict[bytes, str] = field(default_factory=dict)
    _known: tuple[int, int] = (0, 0)
    _any: Any = None

    def in_bytes(self, data: bytes) -> set[str]:
        """Those values, or the beginnings of those texts, that this holds in any coding."""
        self._compile()
        found: set[str] = set()
        for one in opened(data):
            folded = one.lower()
            if self._any is not None and self._any.search(folded):
                found |= {whose for form, whose in self._forms.items() if form in folded}
        return found

    def in_text(self, text: str) -> set[str]:
        return self.in_bytes(text.encode("utf-8", "backslashreplace"))

    def in_folder(self, folder: Path) -> dict[str, set[str]]:
        """By file. Databases are read row by row as well: long values lie in pieces in them."""
        found = {}
        for file in sorted(one for one in folder.rglob("*") if one.is_file() and not one.is_symlink()):
            data = file.read_bytes()
            told = self.in_bytes(data)
            if data.startswith(b"SQLite format 3"):
                told |= self.in_text(rows(file))
            if told:
                found[str(file.relative_to(folder))] = told
        return found

    def _compile(self) -> None:
        """One expression of all forms, which is searched for in the time of a single one."""
        if self._known == (len(self.values), len(self.texts)):
            return
        self._known = len(self.values), len(self.texts)
        self._forms = {form.lower(): value for value in self.values for form in (*codings(value), *hashes(value))}
        self._forms |= {form.lower(): text[:40] for text in self.texts for form in hashes(text)}
        options = re2.Options()
        options.encoding, options.max_mem = re2.Options.Encoding.LATIN1, 1 << 29
        self._any = re2.compile(b"|".join(map(re2.escape, self._forms)), options)


def codings(value: str) -> Iterator[bytes]:
    """The value as it may stand somewhere."""
    bare = _SEPARATORS.sub("", value)
    for text in dict.fromkeys((value, value.upper(), bare) if len(bare) >= SHORTEST else (value, value.upper())):
        plain = text.encode()
        yield plain
        yield text.encode("utf-16-le")
        yield text.encode("utf-16-be")
        yield plain.hex().encode()
        yield quote(text, safe="").encode()
        yield json.dumps(text)[1:-1].encode()
        yield repr(text)[1:-1].encode()
        for shift in range(3):
            # The middle of it, whatever stands before and after.
            coded = base64.b64encode(b"\0" * shift + plain)[4 if shift else 0 : -4]
            if len(coded) >= SHORTEST:
                yield coded
                yield coded.translate(bytes.maketrans(b"+/", b"-_"))


def hashes(text: str) -> Iterator[bytes]:
    """Of the text, and without its white space around."""
    for one in dict.fromkeys((text, text.strip())):
        for hash in HASHES:
            digest = hash(one.encode()).digest()
            yield digest
            yield digest.hex().encode()
            yield base64.b64encode(digest)
            yield base64.urlsafe_b64encode(digest).rstrip(b"=")


def opened(data: bytes, deep: int = DEEP) -> Iterator[bytes]:
    """This, and what is packed or coded in it."""
    yield data
    if not deep:
        return
    for place in _PACKED.finditer(data):
        with suppress(OSError, EOFError, zlib.error):
            start = data[place.start() :]
            unpack = zlib.decompressobj(31 if start.startswith(gzip.compress(b"")[:2]) else 15)
            yield from opened(unpack.decompress(start), deep - 1)
    for coded in _BASE64.finditer(data):
        with suppress(ValueError):
            text = coded[0].rstrip(b"=")
            yield from opened(base64.urlsafe_b64decode(text.replace(b"+", b"-").replace(b"/", b"_") + b"=="), deep - 1)


def rows(file: Path) -> str:
    """Every value of every table of a database, bytes as they would read as text."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        database.text_factory = lambda data: data.decode("utf-8", "backslashreplace")
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return "\n".join(_told(value) for name in names for row in _rows(database, name) for value in row)


def _rows(database: sqlite3.Connection, table: str) -> Iterable[tuple[object, ...]]:
    quoted = table.replace('"', '""')
    with suppress(sqlite3.Error):  # a virtual table whose module is not there; what it keeps is in others
        yield from database.execute(f'SELECT * FROM "{quoted}"')


def _told(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
