"""The search for planted values finds them wherever they were hidden, and nothing where there is none."""

import base64
import gzip
import hashlib
import json
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.canaries import Canaries

VALUE = "ngozi.adichie@tallbridge-works.se"
CANARIES = Canaries({VALUE, "+234 803 123 4567", "Müller-Öztürk"}, {f"Ask {VALUE} for it."})


@pytest.mark.parametrize(
    "hide",
    [
        str.encode,
        lambda value: value.upper().encode(),
        lambda value: value.encode("utf-16-le"),
        lambda value: value.encode("utf-16-be"),
        lambda value: base64.b64encode(f"x{value}yz".encode()),
        lambda value: base64.urlsafe_b64encode(f"xy{value}".encode()),
        lambda value: value.encode().hex().encode(),
        lambda value: quote(value, safe="").encode(),
        lambda value: b"before" + gzip.compress(f"a {value} b".encode()),
        lambda value: b"before" + zlib.compress(f"a {value} b".encode()) + b"after",
        lambda value: base64.b64encode(zlib.compress(json.dumps({"a": value}).encode())),
        lambda value: hashlib.sha256(value.encode()).hexdigest().encode(),
        lambda value: hashlib.md5(value.encode()).digest(),
    ],
)
@pytest.mark.parametrize("value", sorted(CANARIES.values))
def test_a_value_is_found_in_any_coding(hide: Callable[[str], bytes], value: str) -> None:
    assert value in CANARIES.in_bytes(b"noise " + hide(value) + b" noise")


def test_a_value_is_found_without_its_separators_and_a_text_by_its_hash() -> None:
    assert CANARIES.in_text("call 2348031234567") == {"+234 803 123 4567"}
    assert CANARIES.in_text(hashlib.sha256(f"Ask {VALUE} for it.".encode()).hexdigest()) == {
        f"Ask {VALUE} for it."[:40]
    }


def test_nothing_is_found_where_nothing_is() -> None:
    assert CANARIES.in_bytes(gzip.compress(b"Ask [EMAIL] for it, or call [PHONE].") + b"\x78\x9c broken") == set()


def test_a_value_is_found_in_the_rows_of_a_database(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "index.sqlite")) as database:
        database.execute("CREATE TABLE texts (body)")
        database.execute("INSERT INTO texts VALUES (?)", ("x" * 4_000 + VALUE + "y" * 9_000,))
        database.commit()
    assert CANARIES.in_folder(tmp_path) == {"index.sqlite": {VALUE}}
