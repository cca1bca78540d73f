"""Two organisations with colliding content, tags, ids, keys, handles, parents and refs: nothing leads from one to the
other, through any of the tools.

Whatever one of them does, three things hold: what is kept of the other stays as it was; no id and no word of the other
is in any answer; and every answer is the one it would have had if the other had never been there.
"""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from commonplace.memory.operations import MemoryServices
from commonplace.memory.tools.toolset import memory_toolset
from tests.contracts.isolation import ORGANISATIONS, Together, asked, comparable, other_than, together
from tests.examples import examples

CONTENTS = (
    "Specific routes come before parameterized routes.",
    "SPECIFIC routes come before  parameterized routes.",
    "Clear references before an entity is deleted.",
    "Write tests beside the code.",
    "Story of routes and tests: split it.",
)
SECRETS = {"acme": "The pearl is in the northern vault.", "other": "The ruby is in the southern tower."}
"""What only one of them ever says."""

NOBODY = "00000000-0000-4000-8000-000000000000"

TOOLS = (
    "kb_search",
    "kb_get",
    "kb_get_related",
    "kb_list",
    "kb_stats",
    "kb_add",
    "kb_update",
    "kb_delete",
    "kb_bulk_import",
    "kb_rate",
    "kb_rebuild_embeddings",
)


@dataclass(frozen=True)
class Id:
    """An id that was made for one of the two: the caller's own, or the other's."""

    own: bool
    number: int


@dataclass(frozen=True)
class Handle:
    """As `Id`, of work that goes on by itself, or has."""

    own: bool
    number: int


@dataclass(frozen=True)
class Secret:
    """The caller's own secret, as content; either secret, as a question."""

    own: bool = True


@dataclass(frozen=True)
class Step:
    organisation: str
    tool: str
    arguments: dict[str, Any]


IDS = st.builds(Id, st.booleans(), st.integers(0, 7))
PARENTS = st.none() | st.none() | IDS
HANDLES = st.builds(Handle, st.booleans(), st.integers(0, 2)) | st.builds(Handle, st.just(False), st.just(0)) | IDS
TEXTS = st.sampled_from(CONTENTS) | st.just(Secret())
TAGS = st.lists(st.sampled_from(["routing", "tests", "delete"]), max_size=3)
ROLES = st.lists(st.sampled_from(["pm", "dev", "qa", "all"]), min_size=1, max_size=2)
CONFIDENCE = st.sampled_from([0.2, 0.8, 1.0])
METADATA = st.sampled_from([{}, {"gate": "PASS"}, {"gate": None}])
REFS = st.sampled_from(["a", "b"])
WIDER = st.sampled_from([{}] * 24 + [{"organisation": "acme"}, {"organisation": "other"}, {"tenant": "other"}])
"""Arguments that no tool has: they may be refused or ignored, and must widen nothing."""


def given_as(required: dict[str, Any], optional: dict[str, Any]) -> Any:
    asked = st.fixed_dictionaries(required, optional=optional)
    return st.builds(lambda one, other: {**one, **other}, asked, WIDER)


ENTRY: dict[str, Any] = {"content": TEXTS, "entry_type": st.sampled_from(["fact", "summary"]), "roles": ROLES}
STORIES = st.sampled_from(["STORY-1", "STORY-2"])
MORE: dict[str, Any] = {
    "source_story": STORIES,
    "tags": TAGS,
    "confidence": CONFIDENCE,
    "parent_id": PARENTS,
    "metadata": METADATA,
}
IMPORTED = st.lists(
    st.fixed_dictionaries(ENTRY, optional=MORE | {"ref": REFS, "parent_ref": REFS}), min_size=1, max_size=5
)
ARGUMENTS: dict[str, Any] = {
    "kb_search": given_as(
        {"query": st.sampled_from([*CONTENTS, Secret(own=True), Secret(own=False)]), "limit": st.just(50)},
        {"tags": TAGS, "role": st.sampled_from(["dev", "all"]), "min_confidence": st.just(0)},
    ),
    "kb_get": given_as({"id": IDS}, {"history": st.booleans()}),
    "kb_get_related": given_as({"entry_id": IDS}, {"limit": st.just(50)}),
    "kb_list": given_as({}, {"tags": TAGS, "limit": st.just(100), "order_by": st.just("updated_at")}),
    "kb_stats": given_as({}, {"metrics": st.booleans()}),
    "kb_add": given_as(ENTRY, MORE | {"idempotency_key": st.sampled_from(["one", "two"]), "recurs_of": IDS}),
    "kb_update": given_as(
        {"id": IDS},
        {
            "content": TEXTS,
            "tags": TAGS,
            "confidence": CONFIDENCE,
            "metadata": METADATA,
            "expected_version": st.just(1),
        },
    ),
    "kb_delete": given_as({"id": IDS}, {"undo": st.booleans()}),
    "kb_bulk_import": given_as({"entries": IMPORTED}, {"skip_existing": st.booleans()})
    | given_as({"handle": HANDLES}, {}),
    "kb_rate": given_as({"id": IDS, "relevance": st.integers(0, 5)}, {}),
    "kb_rebuild_embeddings": given_as({"batch_size": st.just(1)}, {"clear_cache": st.booleans()})
    | given_as({"handle": HANDLES}, {}),
}


def calls(*tools: str) -> Any:
    """Calls of these tools by either of the two."""
    return st.sampled_from(tools).flatmap(
        lambda tool: st.builds(Step, st.sampled_from(ORGANISATIONS), st.just(tool), ARGUMENTS[tool])
    )


BEGINNINGS = calls("kb_add", "kb_add", "kb_bulk_import")
WORK = [Step(name, "kb_rebuild_embeddings", {"batch_size": 1, "clear_cache": False}) for name in ORGANISATIONS]
"""So that each of them has a handle of the other's to try."""
EVENTS = st.sampled_from(["index follows", "work goes on", "hurry", "no hurry", "model away", "model back"])
STEPS = calls(*TOOLS) | calls(*TOOLS) | calls(*TOOLS) | EVENTS


def test_the_tools_here_are_all_there_are() -> None:
    tools = memory_toolset(MemoryServices(memory=None)).tools  # type: ignore[arg-type]
    assert sorted(tool.name for tool in tools) == sorted(TOOLS) == sorted(ARGUMENTS)


BEGUN = st.lists(BEGINNINGS, min_size=3, max_size=6)
GONE_ON = st.lists(STEPS, min_size=4, max_size=12)
# A failing example of so many calls takes minutes to shrink, and reads no better then.
EXAMPLES = settings(
    max_examples=examples(25, soak=600),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@EXAMPLES
@given(BEGUN, GONE_ON, st.booleans())
def test_nothing_leads_from_one_organisation_to_another(
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
    begun: list[Step],
    gone_on: list[Step | str],
    hurried: bool,
) -> None:
    keep_apart("embedded", tmp_path_factory, request, [*begin(begun, hurried), *gone_on])


@pytest.mark.real
@settings(EXAMPLES, max_examples=examples(3))
@given(BEGUN, GONE_ON, st.booleans())
def test_nothing_leads_from_one_organisation_to_another_on_opensearch(
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
    begun: list[Step],
    gone_on: list[Step | str],
    hurried: bool,
) -> None:
    keep_apart("opensearch", tmp_path_factory, request, [*begin(begun, hurried), *gone_on])


def begin(begun: list[Step], hurried: bool) -> list[Step | str]:
    return ["hurry" if hurried else "no hurry", *begun, *WORK, "index follows"]


def keep_apart(
    kind: str, folders: pytest.TempPathFactory, request: pytest.FixtureRequest, steps: list[Step | str]
) -> None:
    """Does the steps in one deployment and looks at each; then each organisation's own, where it is alone."""
    done: list[Step | str] = []
    answers: dict[str, list[Any]] = {name: [] for name in ORGANISATIONS}
    with together(kind, folders.mktemp("shared"), request.getfixturevalue) as world:
        for step in steps:
            if isinstance(step, str):
                happen(world, step, ORGANISATIONS)
                done.append(step)
            else:
                made = Step(step.organisation, step.tool, told(world, step.organisation, step.arguments))
                answers[made.organisation].append(looked_at(world, made))
                done.append(made)
    for organisation in ORGANISATIONS:
        with together(kind, folders.mktemp("alone"), request.getfixturevalue) as world:
            assert answers[organisation] == alone(world, organisation, done)


def looked_at(world: Together, step: Step) -> Any:
    """The answer to a call that has left the other's things as they were, and tells nothing of them."""
    other = other_than(step.organisation)
    before, audited = world.state(other), len(world.store.audit.records)
    result = asked(world, step.organisation, step.tool, step.arguments)
    assert world.state(other) == before
    assert {record.organisation for record in world.store.audit.records[audited:]} <= {step.organisation}
    assert strange(world, other, step, result) == []
    return comparable(step.tool, result)


def alone(world: Together, organisation: str, done: list[Step | str]) -> list[Any]:
    """What this organisation is answered when the other is not there."""
    answers: list[Any] = []
    for step in done:
        if isinstance(step, str):
            happen(world, step, (organisation,))
        elif step.organisation == organisation:
            answers.append(comparable(step.tool, asked(world, organisation, step.tool, step.arguments)))
    return answers


def happen(world: Together, event: str, organisations: tuple[str, ...]) -> None:
    match event:
        case "index follows":
            world.settle()
        case "work goes on":
            for organisation in organisations:
                others = {name: world.state(name) for name in ORGANISATIONS if name != organisation}
                if not away(world):
                    world.carry_on_all(organisation)
                assert {name: world.state(name) for name in others} == others
        case "hurry" | "no hurry":
            world.hurried = event == "hurry"
        case _:
            world.embedder.failing = event == "model away"  # type: ignore[union-attr]


def away(world: Together) -> bool:
    return bool(world.embedder.failing)  # type: ignore[union-attr]


def told(world: Together, organisation: str, value: Any) -> Any:
    """The arguments with real ids in the place of those that they stand for."""
    match value:
        case Id():
            made = world.ids[organisation if value.own else other_than(organisation)]
            return made[value.number % len(made)] if made else NOBODY
        case Handle():
            handles = world.handles(organisation if value.own else other_than(organisation))
            return handles[value.number % len(handles)] if handles else NOBODY
        case Secret():
            return SECRETS[organisation if value.own else other_than(organisation)]
        case dict():
            return {name: told(world, organisation, one) for name, one in value.items()}
        case list():
            return [told(world, organisation, one) for one in value]
        case _:
            return value


def strange(world: Together, other: str, step: Step, result: dict[str, Any]) -> list[str]:
    """What the answer tells of the other, except what the caller has said itself."""
    answer, said = json.dumps(result), json.dumps(step.arguments)
    theirs = [*world.ids[other], "ruby" if other == "other" else "pearl"]
    return [one for one in theirs if one in answer and one not in said]
