"""What every object store does: S3 and the fake that stands for it."""

import pytest

from commonplace.kernel.objects import ListedObject, ObjectStore, PreconditionFailed
from commonplace.kernel.s3 import S3ObjectStore
from tests.aws_fixture import BUCKET
from tests.fakes.store import FakeObjectStore


@pytest.fixture(params=["S3", "fake"])
def objects(request: pytest.FixtureRequest) -> ObjectStore:
    if request.param == "fake":
        return FakeObjectStore()
    return S3ObjectStore(request.getfixturevalue("s3"), BUCKET)


@pytest.mark.parametrize("key", ["raw/" + "x" * 1021, "raw/" + "é" * 511, "raw/\udce9.md"])
def test_a_key_that_s3_refuses_is_refused(objects: ObjectStore, key: str) -> None:
    with pytest.raises(ValueError, match=r"bytes|surrogates"):
        objects.put(key, b"text")
    assert list(objects.list("raw/")) == []


def test_the_longest_key_is_taken(objects: ObjectStore) -> None:
    objects.put("raw/" + "é" * 510, b"text")

    assert len(list(objects.list("raw/"))) == 1


def test_an_absent_object_is_none(objects: ObjectStore) -> None:
    assert objects.get("content/concept/a.json") is None


def test_what_is_put_is_got_with_its_etag(objects: ObjectStore) -> None:
    etag = objects.put("content/concept/a.json", b"one")

    found = objects.get("content/concept/a.json")
    assert found is not None
    assert (found.body, found.etag) == (b"one", etag)
    assert '"' not in etag


def test_equal_bytes_have_equal_etags_and_other_bytes_others(objects: ObjectStore) -> None:
    assert objects.put("raw/a", b"one") == objects.put("raw/b", b"one") != objects.put("raw/c", b"two")


def test_an_unchanged_object_is_not_read_again(objects: ObjectStore) -> None:
    etag = objects.put("metadata/manifest.json", b"one")

    assert objects.get_if_changed("metadata/manifest.json", etag) is None

    objects.put("metadata/manifest.json", b"two")
    changed, unknown = (objects.get_if_changed("metadata/manifest.json", known) for known in (etag, None))
    assert changed is not None
    assert unknown is not None
    assert changed.body == unknown.body == b"two"


def test_asking_whether_an_absent_object_changed_is_a_key_error(objects: ObjectStore) -> None:
    for etag in (None, "abc"):
        with pytest.raises(KeyError):
            objects.get_if_changed("metadata/manifest.json", etag)


def test_a_creation_fails_where_something_is(objects: ObjectStore) -> None:
    objects.put("operations/lock", b"one", if_absent=True)

    with pytest.raises(PreconditionFailed):
        objects.put("operations/lock", b"two", if_absent=True)
    found = objects.get("operations/lock")
    assert found is not None
    assert found.body == b"one"


def test_a_replacement_fails_unless_the_expected_version_is_there(objects: ObjectStore) -> None:
    with pytest.raises(PreconditionFailed):
        objects.put("metadata/manifest.json", b"two", if_match="0" * 32)
    assert objects.get("metadata/manifest.json") is None

    first = objects.put("metadata/manifest.json", b"one")
    objects.put("metadata/manifest.json", b"two", if_match=first)
    with pytest.raises(PreconditionFailed):
        objects.put("metadata/manifest.json", b"three", if_match=first)
    found = objects.get("metadata/manifest.json")
    assert found is not None
    assert found.body == b"two"


def test_listing_is_by_prefix_and_in_key_order(objects: ObjectStore) -> None:
    for key in ("raw/b", "raw/a/c", "rawer", "content/x"):
        objects.put(key, key.encode())

    listed = list(objects.list("raw/"))
    assert [item.key for item in listed] == ["raw/a/c", "raw/b"]
    found = objects.get("raw/b")
    assert found is not None
    assert listed[1] == ListedObject("raw/b", found.etag, 5)


def test_deleting_takes_what_is_there_and_forgives_what_is_not(objects: ObjectStore) -> None:
    objects.put("raw/a", b"one")
    objects.put("raw/b", b"two")

    objects.delete(["raw/a", "raw/never"])
    objects.delete([])

    assert [item.key for item in objects.list("")] == ["raw/b"]
