"""A replayed history ends well on an awkward repository, and what is wrong with store or index is found."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from commonplace.documents.index_source import StoredDocuments
from commonplace.search.embeddings import embed_records
from commonplace.search.model import RecordId
from commonplace.search.models.local import LocalEmbeddings
from commonplace_local.dev.source import clone
from tests.acceptance import history
from tests.acceptance.history import settled
from tests.acceptance.machine import Machine
from tests.acceptance.truth import Statement
from tests.integration.awkward import awkward

pytestmark = pytest.mark.laptop


def false(statements: list[Statement]) -> list[str]:
    return [item.text for item in statements if not item.holds]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("machine")
    with Machine(clone(awkward(folder / "garden").folder), folder / "data") as machine:
        commits = history.chosen(machine, 3)
        assert false([*history.in_order(machine, commits, random.Random(0), lambda line: None)]) == []
        assert false([*settled(machine)]) == []
        yield machine


def test_a_few_pushes_are_evenly_spaced_with_the_largest_and_the_last(machine: Machine) -> None:
    commits = machine.branch.first_parents()
    assert history.chosen(machine, 3) == [commits[number] for number in (0, 1, 3, 6)]
    assert history.chosen(machine, 99) == commits


def test_an_object_without_an_owner_is_found(machine: Machine) -> None:
    machine.objects.put("raw/docs/orphan.md", b"orphan")
    try:
        assert false([*settled(machine)]) == ["raw copies, none without an owner"]
    finally:
        machine.objects.delete(["raw/docs/orphan.md"])


def test_old_text_under_a_new_version_in_the_index_is_found(machine: Machine) -> None:
    reading = StoredDocuments(machine.objects).read([RecordId("article/late")])
    (record,) = reading.records.values()
    old = replace(record, version=record.version + 1, chunks=(replace(record.chunks[0], text="Old text."),))
    machine.engine.write(embed_records([old], LocalEmbeddings()), ())
    assert false([*settled(machine)]) == ["documents whose text in the index is the store's"]


def test_a_store_that_the_last_push_did_not_reach_is_found(machine: Machine) -> None:
    machine.branch.move(machine.branch.first_parents()[2])
    machine.hint("schedule")
    machine.run()
    assert {"the commit that is published is the head", "bodies, every byte"} <= set(false([*settled(machine)]))
