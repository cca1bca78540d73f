"""Words that mean the same, and words in their several forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.reference.synonyms import DEFAULT, NOUNS, VERBS, Synonyms, stem


@pytest.mark.parametrize(
    "forms",
    [
        "user users",
        "create creates created creating creation",
        "delete deletes deleted deleting deletion",
        "suspend suspends suspended suspending",
        "policy policies",
        "address addresses",
        "deploy deploys deployed deployment deployments",
        "stop stops stopped stopping",
        "configure configured configuration",
        "authenticate authenticated authentication",
        "licence licences",
    ],
)
def test_forms_of_a_word_become_one(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    "different",
    ["user use", "status state", "group grow", "role roll", "process procedure", "import important", "logs login"],
)
def test_words_that_only_look_alike_stay_two(different: str) -> None:
    one, other = different.split()
    assert stem(one) != stem(other)


@pytest.mark.parametrize("word", ["gw", "e3", "502", "oauth2", "straße", "日本語", "", "s"])
def test_what_is_no_english_word_of_some_length_stays_as_it_is(word: str) -> None:
    assert stem(word) == word


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=20))
def test_a_stem_is_never_empty_and_never_longer(word: str) -> None:
    assert 1 <= len(stem(word)) <= len(word)


def test_the_table_of_the_seed_is_the_default() -> None:
    assert set(DEFAULT["get"]) == {"list", "show", "view", "display", "retrieve", "fetch"}
    assert set(DEFAULT["users"]) == {"user", "people", "members", "employees"}
    assert dict(DEFAULT) == {**VERBS, **NOUNS}


def test_synonyms_hold_in_every_direction() -> None:
    synonyms = Synonyms([DEFAULT])
    assert (stem("list"),) in synonyms.of((stem("get"),))
    assert (stem("get"),) in synonyms.of((stem("displaying"),))
    assert (stem("users"),) in synonyms.of((stem("employees"),))
    assert not synonyms.of(("bicycle",))


def test_a_catalogue_adds_words_and_phrases() -> None:
    synonyms = Synonyms([DEFAULT, {"gw": ["google workspace"], "get": ["print"]}])
    google_workspace = (stem("google"), stem("workspace"))
    assert synonyms.longest == 2
    assert synonyms.of(google_workspace) == (("gw",),)
    assert google_workspace in synonyms.of(("gw",))
    assert {(stem("list"),), (stem("print"),)} <= set(synonyms.of((stem("get"),)))


def test_a_phrase_too_long_to_be_asked_for_has_no_synonym() -> None:
    synonyms = Synonyms([{"sso": ["signing in once for everything there is"]}])
    assert synonyms.of(("sso",)) == ()
