"""The items of contributions, and the writes from one state to the next."""

from dataclasses import replace
from typing import Any, get_args

from hypothesis import assume, given
from hypothesis import strategies as st

from commonplace.hive import minhash
from commonplace.hive.model import CATEGORIES, Contribution, ItemId, Status, content_hash
from commonplace.hive.records import POINTERS, ContributionTable, figures, places
from commonplace.kernel.environment import ORGANISATION
from commonplace.kernel.table import deserialize, serialize

MAX_WRITES = 100
"""Of one transaction (TransactWriteItems); one more is its audit record."""
AT = "2026-11-23T08:00:00.000000Z"
NOTHING: Any = None
"""A client that is not called."""
TABLE = ContributionTable(NOTHING, "records")


@st.composite
def contributions(draw: st.DrawFn, organisation: str = "acme") -> Contribution:
    status: Status = draw(st.sampled_from(get_args(Status)))
    text = draw(st.sampled_from(["The same text.", "Another text of a few more words than the first one has."]))
    content = "" if status == "rejected" else text
    return Contribution(
        organisation=organisation,
        id=ItemId(draw(st.sampled_from(["hv_1", "hv_2"]))),
        status=status,
        content=content,
        content_hash=content_hash(content) if content else "",
        category=draw(st.sampled_from(CATEGORIES)),
        confidence=0.8,
        contributed_at=AT,
        valid_at=AT,
        account=draw(st.sampled_from(["a" * 32, "b" * 32])),
        agent="otter",
        signature=minhash.signature(content),
        is_public=status == "approved" and draw(st.booleans()),
        decided_at=AT if status != "pending" else None,
        revision=draw(st.integers(1, 3)),
    )


ORGANISATIONS = st.from_regex(ORGANISATION, fullmatch=True)


@given(st.data(), ORGANISATIONS, ORGANISATIONS)
def test_two_organisations_never_share_a_key(data: st.DataObject, one: str, other: str) -> None:
    assume(one != other)
    mine, theirs = data.draw(contributions(one)), data.draw(contributions(other))
    assert all(pk.startswith((f"{one}#hive#", POINTERS)) for pk, _ in places(mine))
    # Under the reserved name the id, which is nobody else's, ends every key.
    shared = places(mine).keys() & places(replace(theirs, id=ItemId("hv_3"))).keys()
    assert shared == set()
    assert not one.startswith("public#")


def stored(one: Contribution) -> dict[tuple[str, str], dict[str, Any]]:
    """Its items, as they come back from a table."""
    return {where: deserialize(serialize(item)) for where, item in places(one).items()}


@given(contributions(), contributions())
def test_a_change_leaves_the_items_of_what_is_and_no_others(was: Contribution, now: Contribution) -> None:
    now = replace(now, id=was.id, account=was.account, revision=was.revision + 1)
    kept = stored(was)
    for write in TABLE.changed((was, now)):
        ((kind, request),) = write.items()
        plain = deserialize(request.get("Item") or request["Key"])
        where = plain.pop("pk"), plain.pop("sk")
        if kind == "Delete":
            del kept[where]
        elif kind == "Put":
            kept[where] = plain
    assert kept == stored(now)


@given(contributions(), contributions())
def test_figures_add_up(was: Contribution, now: Contribution) -> None:
    now = replace(now, id=was.id, account=was.account, revision=was.revision + 1)
    total = figures(None)
    for before, after in ((None, was), (was, now), (now, None)):
        for write in TABLE.changed((before, after)):
            if update := write.get("Update"):
                values = deserialize(update["ExpressionAttributeValues"])
                total.update({name[1:]: value for name, value in values.items() if isinstance(value, int)})
    assert {name: number for name, number in total.items() if number} == {"contributed": 1}


def test_the_largest_change_fits_into_a_transaction() -> None:
    content = " ".join(f"word{number}" for number in range(2_000))
    one = Contribution(
        organisation="acme",
        id=ItemId("hv_1"),
        status="approved",
        content=content,
        content_hash=content_hash(content),
        category="general",
        confidence=0.8,
        contributed_at=AT,
        valid_at=AT,
        account="a" * 32,
        agent="otter",
        signature=minhash.signature(content),
        is_public=True,
        decided_at=AT,
    )
    other = replace(
        one, content="Other.", content_hash=content_hash("Other."), signature=minhash.signature("Other words.")
    )
    assert len(minhash.bands(one.signature)) > 1
    for was, now in ((None, one), (one, None), (one, replace(other, revision=2))):
        assert len(TABLE.changed((was, now))) < MAX_WRITES
