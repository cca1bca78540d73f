"""What an operator may choose about the index."""

import json

import pytest

from commonplace.search.opensearch.mapping import analysed_rule
from commonplace.search.opensearch.settings import VALID, IndexParameters


def test_nothing_said_means_the_defaults() -> None:
    assert IndexParameters.parse("{}") == IndexParameters.parse("") == IndexParameters()
    assert IndexParameters().engine == "lucene"


def test_every_parameter_can_be_said() -> None:
    told = {
        "engine": "faiss",
        "m": 32,
        "efConstruction": 256,
        "efSearch": 500,
        "shards": 2,
        "replicas": 1,
        "refreshInterval": "500ms",
        "synonyms": ["DAO, decentralized autonomous organization", "Café => coffee house"],
    }

    read = IndexParameters.parse(json.dumps(told))

    assert told.keys() == VALID.keys()
    assert read == IndexParameters("faiss", 32, 256, 500, 2, 1, "500ms", tuple(told["synonyms"]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("engine", "nmslib"),
        ("m", 1),
        ("m", True),
        ("efConstruction", "100"),
        ("efSearch", 10_001),
        ("shards", 0),
        ("replicas", -1),
        ("refreshInterval", "soon"),
        ("refreshInterval", 1),
        ("synonyms", "a, b"),
        ("synonyms", ["alone"]),
        ("synonyms", ["a, "]),
        ("synonyms", ["a => b => c"]),
        ("synonyms", [["a", "b"]]),
    ],
)
def test_a_bad_value_is_refused_with_what_is_valid(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"^{name} is ") as refusal:
        IndexParameters.parse(json.dumps({name: value}))

    assert VALID[name].valid in str(refusal.value)


@pytest.mark.parametrize("text", ["[]", "1", "{", "null"])
def test_anything_but_an_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="JSON object with any of: engine"):
        IndexParameters.parse(text)


def test_an_unknown_name_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(ValueError, match=r"^efsearch: no such parameter .*efSearch \(a whole number from 1"):
        IndexParameters.parse('{"efsearch": 5}')


def test_rules_are_put_in_the_words_of_the_index() -> None:
    assert analysed_rule("#DAO, Decentralized-Autonomous  Organisation") == "dao, decentr autonom organiz"
    assert analysed_rule("CAFÉ => coffee_house, ﬁka") == "cafe => coffe hous, fika"
