"""Resolving a template: references, intrinsic functions, and refusing what is not known."""

from typing import Any

import pytest

from commonplace_local.cloud.template import Stack, TemplateError, choose, stem


def stack(resources: dict[str, Any], **more: Any) -> tuple[Stack, list[str]]:
    made: list[str] = []

    def thing(stack: Stack, logical_id: str, properties: dict[str, Any]) -> dict[str, str]:
        stack.value(properties)
        made.append(logical_id)
        return {"Ref": logical_id.lower(), "Arn": f"arn:{logical_id}"}

    return Stack({"Resources": resources, **more}, {"Thing": thing}), made


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ("text", "text"),
        ({"Ref": "One"}, "one"),
        ({"Ref": "AWS::Region"}, "us-east-1"),
        ({"Ref": "Size"}, "7"),
        ({"Fn::GetAtt": ["One", "Arn"]}, "arn:One"),
        ({"Fn::GetAtt": "One.Arn"}, "arn:One"),
        ({"Fn::Join": ["/", ["a", {"Ref": "One"}, 3]]}, "a/one/3"),
        ({"Fn::Select": [1, {"Fn::Split": [":", {"Fn::GetAtt": ["One", "Arn"]}]}]}, "One"),
        ({"Fn::Sub": "${AWS::Partition}-${One}-${One.Arn}-${!Literal}"}, "aws-one-arn:One-${Literal}"),
        ({"Fn::Sub": ["${x}-${One}", {"x": {"Ref": "One"}}]}, "one-one"),
        ({"a": [{"Ref": "AWS::NoValue"}, 1], "b": {"Ref": "AWS::NoValue"}}, {"a": [1]}),
        ({"Condition": {"StringEquals": {"a": "b"}}, "Effect": "Allow"}, None),
    ],
)
def test_values_are_resolved(node: Any, value: Any) -> None:
    made, _ = stack({"One": {"Type": "Thing"}}, Parameters={"Size": {"Type": "Number", "Default": 7}})
    assert made.value(node) == (node if value is None else value)


def test_a_resource_is_made_once_at_its_first_reference() -> None:
    made, order = stack(
        {"A": {"Type": "Thing", "Properties": {"x": {"Ref": "C"}, "y": {"Ref": "C"}}}, "C": {"Type": "Thing"}}
    )
    made.make()
    assert order == ["C", "A"]


@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        ({"Fn::ImportValue": "x"}, "does not know Fn::ImportValue"),
        ({"Fn::If": ["a", "b", "c"]}, "does not know Fn::If"),
        ({"Ref": "Nobody"}, "refers to Nobody"),
        ({"Fn::GetAtt": ["One", "Colour"]}, "attribute Colour of One"),
        ({"Ref": "Empty"}, "has no default"),
    ],
)
def test_what_is_not_known_is_refused_with_a_sentence(node: Any, sentence: str) -> None:
    made, _ = stack({"One": {"Type": "Thing"}}, Parameters={"Empty": {"Type": "String"}})
    with pytest.raises(TemplateError, match=sentence):
        made.value(node)


def test_an_unknown_type_is_refused_before_anything_is_made() -> None:
    with pytest.raises(TemplateError, match="AWS::Magic::Wand"):
        stack({"A": {"Type": "Thing"}, "B": {"Type": "AWS::Magic::Wand"}})


def test_a_conditional_resource_is_refused() -> None:
    with pytest.raises(TemplateError, match="Condition"):
        stack({"A": {"Type": "Thing", "Condition": "Sometimes"}})


def test_a_circle_is_refused() -> None:
    made, _ = stack(
        {
            "A": {"Type": "Thing", "Properties": {"x": {"Ref": "B"}}},
            "B": {"Type": "Thing", "Properties": {"x": {"Ref": "A"}}},
        }
    )
    with pytest.raises(TemplateError, match="A -> B"):
        made.make()


def test_the_stem_is_what_stays_when_a_construct_moves() -> None:
    assert stem("IndexFunctionA8B5B251") == "IndexFunction"
    assert stem("Plain") == "Plain"


IDS = ["IndexFunctionA8B5B251", "SyncRunFunction5060F9EB", "SyncStoreFunction027475A2"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("Index", IDS[0]), ("SyncRunFunction", IDS[1]), ("syncstore", IDS[2]), (IDS[1], IDS[1]), ("Store", IDS[2])],
)
def test_a_short_name_finds_the_one_it_means(wanted: str, found: str) -> None:
    assert choose(wanted, IDS, "function") == found


@pytest.mark.parametrize("wanted", ["Sync", "Nobody", ""])
def test_a_name_that_means_none_or_several_is_refused_with_the_valid_ones(wanted: str) -> None:
    with pytest.raises(LookupError, match="IndexFunction, SyncRunFunction, SyncStoreFunction"):
        choose(wanted, IDS, "function")
