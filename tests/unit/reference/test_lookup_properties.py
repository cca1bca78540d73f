"""What holds for every name and every text."""

import random
import string
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.reference.commands import taken_by
from commonplace.reference.endpoints import shape
from commonplace.reference.lookup import Lookup
from commonplace.reference.model import ENTRY_TYPES, METHODS, SUGGESTIONS, Asked, Method
from commonplace.reference.shelf import Kept
from commonplace.reference.spelling import one_edit, spelling, unwrapped
from commonplace.reference.usages import ends
from tests.examples import examples
from tests.reference_catalogue import catalogue
from tests.reference_files import helios
from tests.reference_names import with_one_edit
from tests.unit.reference.products import command, endpoint, lookup


@cache
def _large() -> Lookup:
    return Lookup([catalogue(1200), helios()])


@cache
def _taking() -> tuple[str, ...]:
    """What commands begin with that say what they take: any word may be an argument of theirs."""
    entries = [kept.entry for kept in _large().entries if kept.entry.parameters is not None]
    return tuple(f"{entry.called} " for entry in entries if entry.syntax != entry.called)


@cache
def _called() -> frozenset[str]:
    return frozenset(kept.entry.called for kept in _large().entries)


NAMES = st.deferred(lambda: st.sampled_from(sorted(placed.entry.called for placed in _large().commands())))
WORD = st.text(string.ascii_lowercase, min_size=2, max_size=8)
_MARKS = "--json $ ` \" ' <id> {id} [x] ? / // GET curl helios orchard \x00 \u00ad …"
MARKS = st.sampled_from(_MARKS.split(" "))
PIECES = st.one_of(MARKS, WORD, st.text(max_size=5))
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=12).map(" ".join))
SYNTAX = st.one_of(st.sampled_from([*'[]()<>" ', " | ", "...", " -- ", " -x "]), WORD, PIECES)
NAMED = st.lists(WORD, min_size=2, max_size=4, unique=True).map(" ".join)
VALUES = st.from_regex(r"[a-z]{1,8}@[a-z]{1,8}\.org", fullmatch=True)
SEGMENTS = st.lists(st.one_of(WORD.map(lambda word: "{" + word + "}"), WORD), min_size=1, max_size=6)
ASKED = st.builds(
    Asked,
    query=TEXTS,
    type=st.sampled_from([None, *ENTRY_TYPES]),
    category=st.sampled_from([None, "all", "orchard", "Google Workspace", "nothing"]),
    module=st.sampled_from([None, "okta", "nothing"]),
    limit=st.integers(1, 20),
)


@st.composite
def respelt(draw: st.DrawFn) -> tuple[str, str]:
    """A name, and the same with other letter case, separators, spaces around, quotes and a prompt."""
    name = draw(NAMES)
    cased = [draw(st.sampled_from([str.lower, str.upper, str.title]))(word) for word in name.split()]
    joined = cased[0] + "".join(draw(st.sampled_from([" ", "  ", "-", "_", "\t"])) + word for word in cased[1:])
    before, after = draw(st.sampled_from([("", ""), ("`", "`"), ('"', '"'), ("$ ", ""), ("> $ ", " "), ("```", "```")]))
    return name, before + joined + after


@given(respelt())
def test_every_spelling_of_a_name_finds_it(pair: tuple[str, str]) -> None:
    name, spelt = pair
    hit = _large().command(spelt).hit

    assert hit is not None
    assert hit.entry.called == name
    assert (_large().shaped(Asked(spelt)) or ())[0].entry.called == name


@given(TEXTS)
@settings(max_examples=examples(40, soak=3_000), deadline=None)
def test_any_text_is_answered_and_suggestions_exist(text: str) -> None:
    command, found = _large().command(text), _large().endpoint(text)

    for suggestions in (command.suggestions, found.suggestions):
        assert len(suggestions) <= SUGGESTIONS
        assert len(set(suggestions)) == len(suggestions)
        assert _called().issuperset(suggestions)
    if command.hit or command.beginning:
        assert command.suggestions == ()


@given(ASKED)
@settings(max_examples=examples(40, soak=3_000), deadline=None)
def test_what_a_search_names_passes_its_conditions(asked: Asked) -> None:
    passes = _large().matching(asked)
    hits = _large().shaped(asked)
    exact = _large().exact(asked)

    assert len(hits or ()) <= asked.limit
    assert all(passes(Kept(hit.catalogue, hit.placed)) for hit in hits or ())
    assert exact is None or passes(Kept(exact.catalogue, exact.placed))
    suggested = set(_large().suggest(asked.query, asked))
    assert suggested <= {kept.entry.called for kept in _large().entries if passes(kept)}


@given(NAMES, st.text(string.ascii_lowercase, min_size=9, max_size=12))
def test_a_word_that_no_command_has_finds_nothing_wherever_it_stands(name: str, word: str) -> None:
    words = name.split()
    for place in range(1, len(words) + 1):
        made_up = " ".join([*words[:place], word, *words[place:]])
        if not any(spelling(called).startswith(spelling(made_up)) for called in _called()):
            assert _large().command(made_up).hit is None or made_up.startswith(_taking())


@given(NAMES, st.integers(0, 2**32))
@settings(deadline=None)
def test_one_mistake_is_one_edit_and_understood(name: str, seed: int) -> None:
    misspelt = with_one_edit(name, random.Random(seed))
    answer = _large().command(misspelt)
    understood = [hit.entry.called for hit in (answer.hit, *answer.beginning) if hit] or answer.suggestions

    assert one_edit(misspelt, name)
    assert name in understood


@given(NAMED, VALUES)
def test_a_marked_value_after_a_name_that_takes_one_finds_it(name: str, value: str) -> None:
    takes, takes_not = lookup(command(name, "<value>")), lookup(command(name))

    assert takes.command(f"{name} {value}").hit is not None
    assert takes_not.command(f"{name} {value}").hit is None


@given(SEGMENTS, st.sampled_from(METHODS))
def test_a_template_is_found_with_numbers_for_its_parameters(segments: list[str], method: Method) -> None:
    template = "/" + "/".join(segments)
    found = lookup(endpoint(method, template))
    concrete = "/" + "/".join("42" if segment.startswith("{") else segment for segment in segments)

    for path in (template, concrete, shape(template).replace("{}", "{other}"), f"https://x.example{concrete}/?page=2"):
        assert [hit.entry.path_template for hit in found.endpoint(path).hits] == [template]
    assert found.endpoint(template + "/42").hits == ()


@given(TEXTS)
def test_normal_forms_stay_what_they_are(text: str) -> None:
    assert spelling(spelling(text)) == spelling(text)
    assert unwrapped(unwrapped(text)) == unwrapped(text)


@given(st.lists(SYNTAX, max_size=12).map("".join), st.lists(WORD, max_size=30))
@settings(deadline=None)
def test_any_usage_is_read_and_matched(usage: str, line: list[str]) -> None:
    for pattern in taken_by(command("tool", usage)).patterns:
        reached = ends(pattern, len(line), lambda *_: True)
        assert reached <= set(range(len(line) + 1))
