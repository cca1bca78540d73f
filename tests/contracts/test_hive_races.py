"""Many callers of the hive at the very same moment, each with a service of its own over the same tables.

DynamoDB Local is atomic of itself; moto is not, so there the calls wait for each other and only whole ones interleave.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from commonplace.hive.model import Contributed, Contribution, ItemId, Outcome
from commonplace.kernel.audit import Author
from commonplace.kernel.audit_store import DynamoAudit
from commonplace.kernel.errors import Conflict, NotFound
from tests.examples import examples
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.one_at_a_time import OneAtATime
from tests.fakes.redaction import WordRedactor
from tests.hive_world import World, embedded

CALLERS = 32
RIVALS = examples(8, soak=32)
TEXT = "Lock rows in one order, or two transactions wait for each other."


def agent(number: int, organisation: str = "acme") -> Author:
    return Author(organisation=organisation, account=f"{number:032x}", name=f"agent-{number}")


ACME, OTHER, THIRD = agent(1), agent(2, "other"), agent(3, "third")


@pytest.fixture(params=["moto", pytest.param("DynamoDB Local", marks=pytest.mark.real)])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    client: Any = (
        OneAtATime(request.getfixturevalue("dynamodb"))
        if request.param == "moto"
        else request.getfixturevalue("dynamodb_local")
    )
    model = FakeEmbeddings()
    return World(client, embedded(tmp_path, model), model, WordRedactor())


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What each came to: its answer, or the refusal."""
    barrier = Barrier(len(calls))

    def one(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        except (Conflict, NotFound) as refusal:
            return refusal

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def events(world: World, organisation: str = "acme") -> list[str]:
    audit = DynamoAudit(world.client, world.activity, "hive")
    return sorted(record.event for record in audit.read(organisation, limit=1_000))


def queue(world: World, organisation: str = "acme") -> list[Contribution]:
    return list(world.store.pending(organisation))


def seen_by(world: World, author: Author, id: ItemId) -> bool:
    return id in world.store.visible(author.organisation, [id])


def test_one_of_32_who_contribute_the_same_text_queues_it(world: World) -> None:
    outcomes = at_once([partial(world.contribute, agent(number), TEXT) for number in range(CALLERS)])

    assert [outcome.duplicate for outcome in outcomes].count(False) == 1
    assert {outcome.id for outcome in outcomes} == {one.id for one in queue(world)}
    assert len(queue(world)) == 1
    assert events(world) == ["hive.contribute"]
    assert world.store.stats("acme").pending == world.store.stats("acme").contributed == 1


def test_organisations_who_contribute_the_same_text_queue_one_each(world: World) -> None:
    authors = [agent(number, f"org-{number % 4}") for number in range(RIVALS)]
    at_once([partial(world.contribute, author, TEXT) for author in authors])

    for organisation in {author.organisation for author in authors}:
        assert len(queue(world, organisation)) == 1


def test_of_two_reviewers_one_decides_and_the_other_is_told(world: World) -> None:
    id = world.contribute(ACME, TEXT).id
    outcomes = at_once(
        [
            lambda: world.reviews().approve(agent(7), id),
            lambda: world.reviews().reject(agent(8), id, "Known to everybody."),
        ]
    )

    (decided,) = (one for one in outcomes if isinstance(one, Contribution))
    (told,) = (one for one in outcomes if isinstance(one, Conflict))
    assert told.details["decidedBy"] == decided.decided_by
    assert told.details["status"] == decided.status
    assert queue(world) == []
    stored = world.store.get("acme", id)
    assert stored is not None
    assert stored.status == decided.status
    assert [event for event in events(world) if event != "hive.contribute"] in (["hive.approve"], ["hive.reject"])


def test_one_of_many_decisions_counts(world: World) -> None:
    id = world.contribute(ACME, TEXT).id
    reviewers = [agent(number) for number in range(RIVALS)]
    approvals = [
        partial(world.reviews().approve, one, id, public=bool(place % 2)) for place, one in enumerate(reviewers)
    ]
    refusals = [partial(world.reviews().reject, one, id, "") for one in reviewers]
    outcomes = at_once([*approvals, *refusals])

    assert len([one for one in outcomes if isinstance(one, Contribution)]) == 1
    stats = world.store.stats("acme")
    assert (stats.pending, stats.approved + stats.rejected, stats.contributed) == (0, 1, 1)


def test_what_is_published_and_deleted_at_once_is_gone_for_everybody(world: World) -> None:
    for round in range(4):
        id = world.approved(ACME, f"{TEXT} Round {round}.")
        publish = partial(world.hive().publish, ACME, id, is_public=True)
        at_once([publish, partial(world.hive().delete, ACME, id), publish])

        assert world.store.get("acme", id) is None
        assert not seen_by(world, ACME, id)
        assert not seen_by(world, OTHER, id)
        assert list(world.store.published()) == []
        assert not world.contribute(OTHER, f"{TEXT} Round {round}.").duplicate
    assert id not in str(world.client.scan(TableName=world.records, ConsistentRead=True)["Items"])


def test_what_is_published_and_withdrawn_at_once_is_one_of_the_two(world: World) -> None:
    id = world.approved(ACME, TEXT)
    at_once([partial(world.hive().publish, ACME, id, is_public=bool(number % 2)) for number in range(RIVALS)])

    stored = world.store.get("acme", id)
    assert stored is not None
    assert seen_by(world, OTHER, id) == stored.is_public
    assert [one.id for one in world.store.published()] == ([id] if stored.is_public else [])
    assert world.store.stats("acme").published == int(stored.is_public)


def test_what_is_approved_and_deleted_at_once_is_gone(world: World) -> None:
    id = world.contribute(ACME, TEXT).id
    at_once([partial(world.hive().delete, ACME, id), partial(world.reviews().approve, agent(7), id, public=True)])

    assert world.store.get("acme", id) is None
    assert queue(world) == []
    assert not seen_by(world, OTHER, id)
    stats = world.store.stats("acme")
    assert (stats.pending, stats.approved, stats.published) == (0, 0, 0)


def test_a_text_that_is_deleted_and_contributed_at_once_is_there_once_or_not(world: World) -> None:
    first = world.contribute(ACME, TEXT).id
    outcomes = at_once(
        [partial(world.hive().delete, ACME, first), *(partial(world.contribute, agent(n), TEXT) for n in range(RIVALS))]
    )

    made = {one.id for one in outcomes if isinstance(one, Contributed)}
    waiting = {one.id for one in queue(world)}
    assert len(waiting) <= 1
    assert waiting <= made
    assert first not in waiting
    assert world.store.stats("acme").pending == len(waiting)
    if not waiting:
        assert not world.contribute(ACME, TEXT).duplicate


def test_organisations_who_publish_the_same_text_at_once_stay_whole(world: World) -> None:
    authors = (ACME, OTHER, THIRD)
    ids = [world.approved(author, TEXT) for author in authors]
    at_once(
        [partial(world.hive().publish, author, id, is_public=True) for author, id in zip(authors, ids, strict=True)]
    )

    shown = {one.id for one in world.store.published()}
    assert shown
    for author, id in zip(authors, ids, strict=True):
        stored = world.store.get(author.organisation, id)
        assert stored is not None
        assert stored.is_public == (id in shown)
        assert seen_by(world, agent(9, "fourth"), id) == (id in shown)
    assert world.contribute(agent(9, "fourth"), TEXT).id in shown
    for author, id in zip(authors, ids, strict=True):
        world.hive().delete(author, id)
    assert not world.contribute(agent(9, "fourth"), TEXT).duplicate


def test_an_agent_reports_once_in_a_run_and_an_organisation_counts_once_a_day(world: World) -> None:
    id = world.approved(ACME, TEXT, public=True)

    def report(author: Author, outcome: Outcome = "solved", run: str | None = None) -> Callable[[], Any]:
        return lambda: world.hive().report(author, id, outcome, run)

    once = at_once([report(OTHER)] * RIVALS)
    assert [one.repeated for one in once].count(False) == 1
    flood = at_once([report(agent(number + 10, "other"), run=f"run-{number}") for number in range(RIVALS)])
    assert not any(one.counted for one in flood)
    many = at_once([report(agent(0, f"org-{number}")) for number in range(RIVALS)])
    assert all(one.counted for one in many)
    _, counts = world.store.visible("acme", [id])[id]
    assert (counts.helpful, counts.not_helpful) == (1 + RIVALS, 0)


def test_every_fetch_of_many_is_counted(world: World) -> None:
    id = world.approved(ACME, TEXT, public=True)
    at_once([partial(world.hive().fetch, OTHER, id)] * RIVALS)
    assert world.store.stats("other").retrieved == world.store.stats("acme").served == RIVALS


def test_of_reviewers_who_mask_and_decide_at_once_no_text_is_lost_or_kept(world: World) -> None:
    id = world.contribute(ACME, f"{TEXT} Said Hanna of the second floor.").id
    outcomes = at_once(
        [
            partial(world.reviews().mask, agent(7), id, "Hanna", "NAME"),
            partial(world.reviews().approve, agent(8), id),
            partial(world.reviews().flag, agent(9), id, sensitive=True),
        ]
    )

    stored = world.store.get("acme", id)
    assert stored is not None
    assert stored.intact
    if isinstance(outcomes[0], Contribution):
        assert "Hanna" not in world.written()


def test_near_duplicates_at_once_are_all_queued(world: World) -> None:
    texts = [f"{TEXT} Seen by team number {number}." for number in range(RIVALS)]
    at_once([partial(world.contribute, agent(number), text) for number, text in enumerate(texts)])
    assert sorted(one.content for one in queue(world)) == sorted(texts)


def test_many_texts_of_one_agent_at_once_are_all_queued_and_counted(world: World) -> None:
    texts = [f"Learned as number {number} of many, all at the same moment." for number in range(CALLERS)]
    at_once([partial(world.contribute, ACME, text) for text in texts])
    assert sorted(one.content for one in queue(world)) == sorted(texts)
    stats = world.store.stats("acme")
    assert (stats.pending, stats.contributed, [one.pending for one in stats.contributors]) == (
        CALLERS,
        CALLERS,
        [CALLERS],
    )
