"""Making indexes and looking them up: what is refused, and what happens when another process is faster."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.search.migration import Facts
from commonplace.search.model import IndexMismatch
from commonplace.search.opensearch import indices, mapping
from commonplace.search.opensearch.bulk import write_alias
from commonplace.search.opensearch.client import OpenSearchClient
from commonplace.search.opensearch.engine import OpenSearchEngine, OpenSearchGenerations
from commonplace.search.opensearch.indices import Aliases, mismatch
from commonplace.search.opensearch.settings import IndexParameters
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.opensearch.scripted import Answer, Asked, Scripted, scripted

FAISS = IndexParameters(engine="faiss")
PROVIDER = FakeEmbeddings()
FIRST, SECOND = (indices.index_name("docs", mapping.facts(PROVIDER, IndexParameters()), number) for number in (1, 2))
FACTS = Facts(schema="1", chunker="1", model="fake@1/64", mapping="abc")
EXISTS: Answer = (400, {"error": {"type": "resource_already_exists_exception", "reason": "exists"}, "status": 400})


def cluster(held: dict[str, dict[str, Any]]) -> Callable[[Asked], Answer]:
    """A cluster of these indexes: their aliases and what they were built under."""

    def answer(asked: Asked) -> Answer:
        if asked.path.endswith("/_alias"):
            return 200, {name: {"aliases": {alias: {} for alias in told["aliases"]}} for name, told in held.items()}
        name = asked.path.split("/")[1]
        if asked.path.endswith("/_mapping"):
            return (200, {name: {"mappings": {"_meta": held[name]["meta"]}}}) if name in held else (404, {})
        if asked.method == "PUT" and name in held:
            return EXISTS
        if asked.path.endswith("/_count"):
            return 200, {"count": 3}
        return 200, {}

    return answer


def index(*aliases: str, **facts: str) -> dict[str, Any]:
    told = mapping.index_body(PROVIDER, IndexParameters())["mappings"]["_meta"]
    return {"aliases": aliases, "meta": {**told, "commonplace": {**told["commonplace"], **facts}}}


def test_an_index_is_made_with_its_role_and_a_way_to_write_it_in_one_step() -> None:
    script = Scripted()

    indices.create_first(scripted(script), "docs", PROVIDER, IndexParameters())

    (asked,) = script.asked
    assert (asked.method, asked.path) == ("PUT", f"/{FIRST}")
    assert json.loads(asked.body or b"")["aliases"] == {f"{FIRST}-writes": {}, "docs": {}}


def test_the_index_of_a_faster_writer_is_as_good() -> None:
    indices.create_first(scripted(Scripted([EXISTS])), "docs", PROVIDER, IndexParameters())


def test_an_index_that_cannot_be_made_is_unavailable() -> None:
    refusal: Answer = (400, {"error": {"type": "validation_exception", "reason": "too many shards"}})

    with pytest.raises(Unavailable, match="too many shards"):
        indices.create_first(scripted(Scripted([refusal])), "docs", PROVIDER, IndexParameters())


def test_an_index_built_anew_takes_the_next_name_that_is_free() -> None:
    script = Scripted([EXISTS])

    made = indices.create_next(scripted(script), "docs", PROVIDER, IndexParameters(), taken=())

    assert made == SECOND
    assert indices.create_next(scripted(Scripted()), "docs", PROVIDER, IndexParameters(), taken=(FIRST,)) == SECOND


@pytest.mark.parametrize(
    "answer",
    [
        (400, {"error": {"type": "illegal_argument_exception", "reason": "Document ID is not supported"}}),
        (
            200,
            {"items": [{"index": {"status": 400, "error": {"type": "x", "reason": "Document ID is not supported"}}}]},
        ),
    ],
)
def test_a_collection_that_takes_no_ids_is_refused_before_an_index_is_made(answer: Answer) -> None:
    script = Scripted(otherwise=lambda asked: answer if asked.path == "/_bulk" else (200, {}))

    with pytest.raises(Unavailable, match="Document ID is not supported") as refusal:
        indices.create_first(scripted(script, serverless=True), "docs", PROVIDER, FAISS)

    assert [asked.method for asked in script.asked] == ["PUT", "POST", "DELETE"]
    assert all("-probe-" in asked.path for asked in script.asked if asked.path != "/_bulk")
    assert "managed domain" in (refusal.value.hint or "")


def test_a_collection_that_takes_ids_gets_an_index_without_what_it_does_not_know() -> None:
    def answer(asked: Asked) -> Answer:
        return (200, {"items": [{"index": {"status": 201}}]}) if asked.path == "/_bulk" else (200, {})

    script = Scripted(otherwise=answer)

    indices.create_first(scripted(script, serverless=True), "docs", PROVIDER, FAISS)

    body = json.loads(script.asked[-1].body or b"")
    assert body["settings"]["index"] == {"knn": True}
    assert "method" not in body["mappings"]["properties"]["chunks"]["properties"]["vector"]


def test_roles_are_those_of_the_aliases_of_this_collection() -> None:
    held = {
        FIRST: index("docs", f"{FIRST}-writes"),
        SECOND: index("docs-next"),
        "docs-two-0123456789ab": index("docs-two"),
        "docs-ba9876543210": index(),
    }
    roles = Aliases(scripted(Scripted(otherwise=cluster(held))), "docs").roles()

    assert (roles.current, roles.upcoming, roles.previous) == (FIRST, SECOND, None)
    assert roles.spare == ("docs-ba9876543210",)
    assert roles.served == (FIRST, SECOND)


def test_everybody_chooses_the_same_index_when_two_hold_one_alias(caplog: pytest.LogCaptureFixture) -> None:
    roles = Aliases(
        scripted(Scripted(otherwise=cluster({SECOND: index("docs"), FIRST: index("docs")}))), "docs"
    ).roles()

    assert roles.current == FIRST
    assert "several indexes hold one alias" in caplog.text


def test_a_reader_looks_for_another_index_every_two_seconds() -> None:
    now = [0.0]
    held = {FIRST: index("docs")}
    script = Scripted(otherwise=cluster(held))
    aliases = Aliases(scripted(script), "docs", clock=lambda: now[0])

    def name() -> str | None:
        opened = aliases.current()
        return opened.name if opened else None

    assert name() == FIRST
    held[SECOND] = held.pop(FIRST)
    now[0] = 1.9
    assert name() == FIRST
    now[0] = 2.0
    assert name() == SECOND
    searched = aliases.searched()
    assert searched is not None
    assert searched.name == SECOND


def test_writes_go_on_beside_an_index_that_nobody_can_read() -> None:
    held = {FIRST: index("docs"), SECOND: index("docs-previous", schema="of another version")}
    script = Scripted(otherwise=cluster(held))

    engine(scripted(script)).write((), ())

    assert not [asked for asked in script.asked if asked.path == "/_bulk"]


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("model", "embedding model other"),
        ("chunker", "another version of the chunker"),
        ("schema", "another version of Commonplace"),
        ("mapping", "another mapping"),
    ],
)
def test_a_writer_is_told_which_fact_differs(fact: str, said: str) -> None:
    wanted = mapping.facts(PROVIDER, IndexParameters())

    told = mismatch([replace(wanted, **{fact: "other"})], wanted)

    assert said in told.message
    assert "Rebuild the index" in (told.hint or "")


def test_an_index_of_another_model_takes_no_write() -> None:
    held = {FIRST: index("docs", model="another@1/64")}

    with pytest.raises(IndexMismatch, match="another@1/64, not with fake@1/64"):
        engine(scripted(Scripted(otherwise=cluster(held)))).write((), ())


def test_roles_change_in_one_request_that_fails_when_they_have_changed() -> None:
    held = {FIRST: index("docs"), SECOND: index("docs-next"), "docs-ba9876543210": index("docs-previous")}
    script = Scripted(otherwise=cluster(held))

    old, new = generations(scripted(script)).swap()

    (asked,) = [asked for asked in script.asked if asked.path == "/_aliases"]
    actions = json.loads(asked.body or b"")["actions"]
    assert (old, new) == (FIRST, SECOND)
    assert [action["remove"] for action in actions if "remove" in action] == [
        {"index": FIRST, "alias": "docs", "must_exist": True},
        {"index": SECOND, "alias": "docs-next", "must_exist": True},
        {"index": "docs-ba9876543210", "alias": "docs-previous", "must_exist": True},
    ]
    assert [action["add"] for action in actions if "add" in action] == [
        {"index": SECOND, "alias": "docs"},
        {"index": FIRST, "alias": "docs-previous"},
    ]


def test_there_is_nothing_to_swap_or_to_go_back_to_without_an_index_for_it() -> None:
    alone = generations(scripted(Scripted(otherwise=cluster({FIRST: index("docs")}))))

    with pytest.raises(InvalidInput, match="no next index"):
        alone.swap()
    with pytest.raises(InvalidInput, match="no previous index"):
        alone.rollback()


def test_the_index_that_answers_is_never_dropped() -> None:
    script = Scripted(otherwise=cluster({FIRST: index("docs"), SECOND: index()}))

    with pytest.raises(InvalidInput, match="answers"):
        generations(scripted(script)).drop(FIRST)
    with pytest.raises(InvalidInput, match="no index docs-x"):
        generations(scripted(script)).drop("docs-x")
    generations(scripted(script)).drop(SECOND)

    assert [asked.path for asked in script.asked if asked.method == "DELETE"] == [f"/{SECOND}"]


def test_the_index_under_way_is_gone_on_with_unless_it_is_to_be_made_anew() -> None:
    held = {FIRST: index("docs"), SECOND: index("docs-next")}
    script = Scripted(otherwise=cluster(held))

    resumed = generations(scripted(script)).create_next()

    assert (resumed.name, resumed.role, resumed.documents) == (SECOND, "next", 3)
    assert not [asked for asked in script.asked if asked.method in ("PUT", "DELETE")]


def engine(told: OpenSearchClient) -> OpenSearchEngine:
    return OpenSearchEngine(told, "docs", PROVIDER)


def generations(told: OpenSearchClient) -> OpenSearchGenerations:
    return OpenSearchGenerations(told, "docs", PROVIDER)


def test_equal_facts_give_equal_names_and_other_facts_other_ones() -> None:
    named = {
        indices.index_name("docs", replace(FACTS, **{field: "another"})) for field in ("schema", "chunker", "model")
    }

    assert indices.index_name("docs", FACTS) == indices.index_name("docs", replace(FACTS))
    assert len(named | {indices.index_name("docs", FACTS)}) == 4


def test_an_index_built_anew_has_a_number() -> None:
    first, second = indices.index_name("docs", FACTS), indices.index_name("docs", FACTS, 2)

    assert second == f"{first}-2"
    assert indices.is_index_of("docs", first)
    assert indices.is_index_of("docs", second)


def test_other_names_that_begin_with_the_stem_are_not_its_indexes() -> None:
    index = indices.index_name("docs", FACTS)
    others = [*indices.role_aliases("docs"), write_alias(index), "docs-probe-0a1b2c3d"]

    assert not [name for name in (*others, indices.index_name("docs-two", FACTS)) if indices.is_index_of("docs", name)]
