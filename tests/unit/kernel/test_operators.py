"""The operators' key: unguessable, recognised, and known by its hash alone."""

from hashlib import sha256

import pytest

from commonplace.kernel.operator_key import fresh_key, is_operators_key, key_hash


def test_a_fresh_key_is_its_own_and_no_other() -> None:
    key, other = fresh_key(), fresh_key()
    assert key != other
    assert is_operators_key(key, key_hash(key))
    assert not is_operators_key(other, key_hash(key))


def test_a_key_shows_what_it_is_and_holds_256_random_bits() -> None:
    key = fresh_key()
    assert key.startswith("cpo_")
    assert len(key) == len("cpo_") + 43


def test_the_hash_is_what_any_tool_computes() -> None:
    assert key_hash("cpo_example") == sha256(b"cpo_example").hexdigest()


def test_a_hash_in_capitals_is_the_same_hash() -> None:
    assert is_operators_key("cpo_example", key_hash("cpo_example").upper())


@pytest.mark.parametrize("key", ["", "cpo_example", key_hash("cpo_example"), "\udcff"])
def test_without_a_hash_nothing_is_the_key(key: str) -> None:
    assert not is_operators_key(key, None)


@pytest.mark.parametrize("key", ["", "cpo_exampl", "cpo_example ", key_hash("cpo_example"), "\udcff"])
def test_what_is_nearly_the_key_is_not_the_key(key: str) -> None:
    assert not is_operators_key(key, key_hash("cpo_example"))
