"""Items as records of the index, and the events that announce a change of one."""

import json
from dataclasses import replace
from typing import cast

import pytest

from commonplace.hive.capability import HIVE
from commonplace.hive.index_source import ITEMS, StoredItems, of_item, record_id, record_of
from commonplace.hive.model import ItemId
from commonplace.search.near_duplicates import FEWEST_WORDS
from commonplace.search.records import RecordId
from commonplace.search.source import FOR_EVER
from tests.fakes.hive_items import CONTRIBUTED, FakeItems, item
from tests.unit.search.records import TEST_EVENT

ID = "hv_01JD0000000000000000000001"
TEXT = "Pin the resolver before upgrading."


def body(pk: str, sk: str = ID, table: str = "records") -> str:
    return json.dumps({"table": table, "pk": pk, "sk": sk})


def source(*items: object) -> StoredItems:
    kept = FakeItems()
    kept.put(*items)  # type: ignore[arg-type]
    return StoredItems(cast(Any, kept))


def test_the_room_declares_the_records_that_its_index_is_made_of() -> None:
    assert HIVE.indexed_records == (ITEMS,)


def test_a_message_names_the_record_of_an_item() -> None:
    assert of_item(body("acme#hive#items")) == f"acme/{ID}"
    assert source().named(body("acme#hive#items")) == (RecordId(f"acme/{ID}"),)


@pytest.mark.parametrize(
    "told",
    [
        body("acme#hive#pending"),
        body("acme#memory#entries"),
        body("#hive#items"),
        body("a/b#hive#items"),
        body("acme#hive#items#hive#items"),
        body("acme#hive#items", ""),
        body("acme#hive#items", table="identity"),
        "not JSON",
        TEST_EVENT,
    ],
)
def test_what_names_no_item_is_not_claimed(told: str) -> None:
    assert of_item(told) is None
    with pytest.raises(ValueError, match="no item"):
        source().named(told)


def test_a_record_says_who_may_find_it_and_when_it_holds() -> None:
    one = item("acme", ID, TEXT, is_public=True, invalid_at="2026-12-01T00:00:00.000000Z", revision=7)

    record = record_of(one)

    assert (record.id, record.version, record.organisation, record.public) == (f"acme/{ID}", 7, "acme", True)
    assert (record.valid_from, record.valid_until) == (CONTRIBUTED, "2026-12-01T00:00:00.000000Z")
    assert (record.content_type, record.confidence, record.title) == ("general", 0.8, "")


def test_framework_language_and_version_are_found_as_tags_are() -> None:
    one = item("acme", ID, TEXT, tags=("pip", "django"), framework="django", language="python", version="5.1")

    assert record_of(one).tags == ("pip", "django", "python", "5.1")


@pytest.mark.parametrize("words", [3, FEWEST_WORDS + 5])
def test_equal_texts_share_a_fingerprint_however_short(words: int) -> None:
    text = " ".join(f"word{number}" for number in range(words))
    one, same, other = (
        record_of(item(name, ID, said)).fingerprint
        for name, said in (("acme", text), ("globex", text.upper()), ("acme", f"quite different {text[::-1]}"))
    )

    assert one == same
    assert one != other


def test_all_items_are_published_under_their_revisions_and_what_waits_is_not() -> None:
    made = source(
        item("acme", "hv_1", TEXT, revision=3),
        item("globex", "hv_2", TEXT),
        item("acme", "hv_3", TEXT, status="pending"),
    )

    published = made.published()

    assert published.versions == {"acme/hv_1": 3, "globex/hv_2": 1}
    assert published.horizon(RecordId("acme/hv_3")) == FOR_EVER == made.horizon()(RecordId("acme/hv_3"))


def test_what_is_read_is_there_missing_or_damaged() -> None:
    damaged = replace(item("acme", "hv_2", TEXT), content="something else")
    made = source(item("acme", "hv_1", TEXT), damaged, item("acme", "hv_3", TEXT, status="rejected"))

    ids = [record_id(*pair) for pair in (("acme", ItemId("hv_1")), ("acme", ItemId("hv_2")), ("acme", ItemId("hv_3")))]
    reading = made.read([*ids, RecordId("globex/hv_9")])

    assert list(reading.records) == ["acme/hv_1"]
    assert reading.unreadable == ["acme/hv_2"]
    assert reading.missing == ["acme/hv_3", "globex/hv_9"]


def test_an_item_is_not_read_under_the_name_of_another_organisation() -> None:
    made = source(item("acme", "hv_1", TEXT))

    assert made.read([RecordId("globex/hv_1")]).missing == ["globex/hv_1"]
