"""The order of an import."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory import validation
from commonplace.memory.jobs import Plan, plan
from commonplace.memory.model import Import
from commonplace.memory.validation import Refused


def item(content: str = "text", ref: str | None = None, parent: str | None = None) -> Import:
    entry = validation.new_entry(content=content, entry_type="fact", roles=["dev"])
    return Import(entry=entry, ref=ref, parent_ref=parent)


def order(planned: Plan) -> list[int]:
    return [one.place for one in planned.order]


def test_entries_without_parents_keep_their_order() -> None:
    planned = plan([item("a"), item("b"), item("c")])
    assert order(planned) == [0, 1, 2]
    assert [one.name for one in planned.order] == ["0", "1", "2"]


def test_parent_comes_before_its_children_wherever_it_stands() -> None:
    planned = plan([item("child", parent="p"), item("other"), item("parent", ref="p")])
    assert order(planned) == [2, 0, 1]
    assert planned.order[1].parent_hash == planned.order[0].hash


def test_parent_that_is_not_in_the_import_is_an_error_of_the_child_and_of_its_children() -> None:
    planned = plan([item("a", ref="a", parent="nobody"), item("b", parent="a"), item("c")])
    assert order(planned) == [2]
    assert [place for place, _ in planned.problems] == [0, 1]
    assert "parent_ref" in planned.problems[0][1]
    assert "parent" in planned.problems[1][1]


def test_circle_is_an_error_of_its_members_and_of_those_below() -> None:
    planned = plan(
        [
            item("below", parent="a"),
            item("a", "a", "b"),
            item("b", "b", "c"),
            item("c", "c", "a"),
            item("self", "s", "s"),
        ]
    )
    problems = dict(planned.problems)
    assert order(planned) == []
    assert all("ancestor" in problems[place] for place in (1, 2, 3, 4))
    assert "Its parent" in problems[0]


def test_second_entry_of_a_name_is_an_error_that_says_whose_it_is() -> None:
    planned = plan([item("a", "x"), item("b", "x"), item("c", parent="x")])
    assert order(planned) == [0, 2]
    assert "entries[0]" in planned.problems[0][1]


def test_entry_that_was_refused_is_nobodys_parent() -> None:
    planned = plan([Refused("It is wrong."), item("child", parent="p")])
    assert dict(planned.problems)[0] == "It is wrong."
    assert order(planned) == []


def test_long_chain_needs_no_deep_recursion() -> None:
    chain = [item(f"n{n}", ref=f"n{n}", parent=f"n{n + 1}") for n in range(5_000)] + [item("n5000", ref="n5000")]
    assert order(plan(chain)) == list(range(5_000, -1, -1))


REFS: Any = st.none() | st.sampled_from("abcde")


@given(st.lists(st.tuples(st.sampled_from("xyz"), REFS, REFS) | st.just(None), max_size=12))
def test_every_entry_is_planned_once_after_its_parent_or_has_a_problem(told: list[tuple[str, Any, Any] | None]) -> None:
    items = [Refused("no") if each is None else item(*each) for each in told]
    planned = plan(items)
    assert sorted([*order(planned), *(place for place, _ in planned.problems)]) == list(range(len(items)))
    done: set[str] = set()
    for one in planned.order:
        assert one.parent_hash is None or one.parent_hash in done
        done.add(one.hash)
