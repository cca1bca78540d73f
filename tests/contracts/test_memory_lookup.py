"""Lists, figures and relations of the store on DynamoDB are those of a plain model, whatever was done before."""

from collections import Counter
from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.kernel.audit import AuditRecord
from commonplace.memory.facets import position
from commonplace.memory.model import ENTRY_TYPES, ROLES, Entry, EntryId, Listing, content_hash
from commonplace.memory.store import DynamoEntries
from tests.aws_fixture import TABLE
from tests.dynamodb_fixture import new_table
from tests.examples import examples
from tests.fakes.memories import ACME, memory_over

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

AUDIT = AuditRecord(event="memory.test", outcome="ok", at=1_800_000_000, organisation="acme", subject="s")
TAGS, STORIES, FILES = ("a", "b", "c"), (None, "S-1", "S-2"), (None, "docs/a.md")
ROLES_GIVEN: tuple[tuple[Any, ...], ...] = (("dev",), ("all",), ("pm", "qa"), ("dev", "all"))
DAYS = tuple(f"2026-11-{day:02d}T00:00:00.000000Z" for day in range(10, 18))

SHAPES = st.fixed_dictionaries(
    {
        "entry_type": st.sampled_from(ENTRY_TYPES),
        "roles": st.sampled_from(ROLES_GIVEN),
        "tags": st.lists(st.sampled_from(TAGS), unique=True).map(tuple),
        "confidence": st.sampled_from((0.0, 0.3, 0.35, 1.0)),
        "source_story": st.sampled_from(STORIES),
        "source_file": st.sampled_from(FILES),
    }
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "add", "add", "replace", "delete", "touch"]), st.integers(0, 9), SHAPES),
    min_size=4,
    max_size=25,
)
ASKED = st.builds(
    Listing,
    role=st.sampled_from((None, *ROLES)),
    tags=st.lists(st.sampled_from(TAGS), unique=True).map(tuple),
    entry_type=st.sampled_from((None, *ENTRY_TYPES)),
    source_story=st.sampled_from(STORIES),
    source_file=st.sampled_from(FILES),
    since=st.sampled_from((None, "2026-11-12", DAYS[4])),
    until=st.sampled_from((None, "2026-11-14", DAYS[5])),
    order_by=st.sampled_from(("created_at", "updated_at", "confidence")),
    order=st.sampled_from(("asc", "desc")),
    limit=st.sampled_from((1, 3, 100)),
    offset=st.sampled_from((0, 2)),
)


def meets(asked: Listing, entry: Entry) -> bool:
    return (
        (asked.role in (None, "all") or asked.role in entry.roles or "all" in entry.roles)
        and set(asked.tags) <= set(entry.tags)
        and asked.entry_type in (None, entry.entry_type)
        and asked.source_story in (None, entry.source_story)
        and asked.source_file in (None, entry.source_file)
        and (asked.since or "") <= entry.created_at
        and (asked.until is None or entry.created_at[: len(asked.until)] <= asked.until)
    )


def model_list(kept: dict[EntryId, Entry], asked: Listing) -> list[Entry]:
    passing = [entry for entry in kept.values() if meets(asked, entry)]
    return sorted(passing, key=lambda one: (getattr(one, asked.order_by), one.id), reverse=asked.order == "desc")


def model_related(kept: dict[EntryId, Entry], own: Entry) -> list[tuple[EntryId, str]]:
    """With so few entries every tag relates."""
    newest = sorted(kept.values(), key=lambda one: (one.created_at, one.id), reverse=True)
    nearest = sorted(newest, key=lambda one: -len(set(own.tags) & set(one.tags)))
    found: dict[EntryId, str] = {}
    for relation, belongs in (
        ("sibling", lambda one: own.parent_id in kept and one.parent_id == own.parent_id),
        ("parent", lambda one: one.id == own.parent_id),
        ("child", lambda one: one.parent_id == own.id),
        ("tags", lambda one: len(set(own.tags) & set(one.tags)) > 1),
    ):
        for one in nearest:
            if one.id != own.id and belongs(one):
                found.setdefault(one.id, relation)
    return list(found.items())


def shown(kept: dict[EntryId, Entry], entry: Entry) -> Entry:
    return entry if entry.parent_id in kept else replace(entry, parent_id=None)


def done(store: DynamoEntries, kept: dict[EntryId, Entry], steps: list[tuple[str, int, dict[str, Any]]]) -> None:
    for number, (what, which, shape) in enumerate(steps):
        ids = sorted(kept)
        some = ids[which % len(ids)] if ids else None
        content = f"text {number}"
        values = {**shape, "content": content, "content_hash": content_hash(content), "parent_id": some}
        if what == "add":
            day = DAYS[which % len(DAYS)]
            entry = Entry(organisation="acme", id=EntryId(f"e{number:02d}"), created_at=day, updated_at=day, **values)
            store.add("acme", [entry], AUDIT)
            kept[entry.id] = entry
        elif some and what == "replace":
            was = kept[some]
            changed = replace(
                was, **values, updated_at=DAYS[-1 - which % len(DAYS)], version=2, revision=was.revision + 1
            )
            store.replace("acme", changed, was, AUDIT)
            kept[some] = changed
        elif some and what == "delete":
            store.delete("acme", some, AUDIT)
            children = [one for one in kept.values() if one.parent_id == some and one.id != some]
            del kept[some]
            if which % 2:
                store.forget_parent("acme", [one.id for one in children], some)
                kept |= {one.id: replace(one, parent_id=None, revision=one.revision + 1) for one in children}
        elif some and what == "touch":
            store.touch("acme", [some])
            kept[some] = replace(kept[some], revision=kept[some].revision + 1)


@settings(
    max_examples=examples(8, soak=200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(STEPS, st.lists(ASKED, min_size=20, max_size=20))
def test_every_answer_is_that_of_a_plain_model(
    dynamodb: "DynamoDBClient", steps: list[tuple[str, int, dict[str, Any]]], asked: list[Listing]
) -> None:
    store = DynamoEntries(dynamodb, new_table(dynamodb, "records"), TABLE)
    memory = memory_over(store)
    kept: dict[EntryId, Entry] = {}
    done(store, kept, steps)

    for listing in (*asked, Listing()):
        expected = model_list(kept, listing)
        answer = memory.list(ACME, listing)
        page = expected[listing.offset : listing.offset + listing.limit]
        assert [*answer.entries] == [shown(kept, entry) for entry in page], listing
        assert answer.total == len(expected), listing
        if page and len(page) < len(expected):
            behind = replace(listing, after=position(page[-1], listing.order_by), offset=0)
            rest = memory.list(ACME, behind)
            assert [one.id for one in rest.entries] == [
                one.id for one in expected[listing.offset + len(page) :][: listing.limit]
            ]
            assert rest.total == len(expected)
    for entry in kept.values():
        related = memory.related(ACME, entry.id, 50)
        assert [(one.entry.id, one.relation) for one in related] == model_related(kept, entry)
        assert all(one.entry == shown(kept, kept[one.entry.id]) for one in related)
    stats = memory.stats(ACME)
    entries = list(kept.values())
    roles = Counter(role for entry in entries for role in entry.roles)
    assert stats.total_entries == len(entries)
    assert dict(stats.by_type) == {each: sum(one.entry_type == each for one in entries) for each in ENTRY_TYPES}
    assert dict(stats.by_role) == {role: roles[role] for role in ROLES}
    assert stats.last_updated == max((one.updated_at for one in entries), default=None)
    mean = fsum(one.confidence for one in entries) / len(entries) if entries else 0.0
    assert stats.avg_confidence == round(mean, 4)
