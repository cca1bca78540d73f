"""A resolver of CloudFormation templates: references, intrinsic functions, and the order of resources.

Builders (`resources.py`) decide what a resource becomes. Anything unknown here raises: a template that half works would
be tested and then deployed.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from commonplace_local.cloud.environment import ACCOUNT, REGION

PSEUDO = {
    "AWS::Region": REGION,
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::StackName": "laptop",
    "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/laptop/0",
}
_HASH = re.compile(r"[0-9A-F]{8}$")
_PLACEHOLDER = re.compile(r"\$\{(!?)([^}]+)\}")

Attributes = Mapping[str, str]
"""The attributes of a resource: `Ref`, and those of `Fn::GetAtt`."""

Builder = Callable[["Stack", str, dict[str, Any]], Attributes]


class TemplateError(Exception):
    """The template says something that the laptop cloud cannot do."""


def stem(logical_id: str) -> str:
    """A logical id without the hash that CDK puts at its end: the part that stays when a construct moves."""
    return _HASH.sub("", logical_id) or logical_id


def choose(wanted: str, logical_ids: Iterable[str], what: str) -> str:
    """The one logical id that is meant: by itself or its stem, else the only one that starts with or contains it."""
    ids = list(logical_ids)
    if not wanted and len(ids) == 1:
        return ids[0]
    for matches in (
        [name for name in ids if wanted in (name, stem(name))],
        [name for name in ids if stem(name).lower().startswith(wanted.lower())],
        [name for name in ids if wanted.lower() in stem(name).lower()],
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            break
    raise LookupError(f"No single {what} is called {wanted!r}. There are: {', '.join(map(stem, ids)) or 'none'}.")


class Stack:
    """A template on its way to becoming resources. Each is made at its first reference, once."""

    def __init__(self, template: Mapping[str, Any], builders: Mapping[str, Builder]) -> None:
        self.resources: Mapping[str, Mapping[str, Any]] = template["Resources"]
        self._parameters: Mapping[str, Mapping[str, Any]] = template.get("Parameters", {})
        self._builders = builders
        self._made: dict[str, Attributes] = {}
        self._making: list[str] = []
        for logical_id, resource in self.resources.items():
            if resource["Type"] not in builders:
                raise TemplateError(
                    f"{logical_id} is of type {resource['Type']}, which the laptop cloud does not know. "
                    "Add a builder to cloud/resources.py, or list the type there as one without effect here."
                )
            if "Condition" in resource:
                raise TemplateError(f"{logical_id} has a Condition, which the laptop cloud does not evaluate.")

    def make(self, types: Callable[[str], bool] = lambda _: True) -> None:
        """Make every resource whose type is chosen, and what those refer to."""
        for logical_id, resource in self.resources.items():
            if types(resource["Type"]):
                self.resource(logical_id)

    def resource(self, logical_id: str) -> Attributes:
        if logical_id in self._made:
            return self._made[logical_id]
        if logical_id not in self.resources:
            raise TemplateError(f"The template refers to {logical_id}, which it does not contain.")
        if logical_id in self._making:
            raise TemplateError(f"Resources refer to each other in a circle: {' -> '.join(self._making)}.")
        self._making.append(logical_id)
        resource = self.resources[logical_id]
        self._made[logical_id] = self._builders[resource["Type"]](self, logical_id, resource.get("Properties", {}))
        self._making.pop()
        return self._made[logical_id]

    def value(self, node: Any) -> Any:
        """The node with every reference and intrinsic function replaced by what it stands for."""
        match node:
            case {"Ref": str(name)}:
                return self._ref(name)
            case {"Fn::GetAtt": [str(name), str(attribute)]}:
                return self._attribute(name, attribute)
            case {"Fn::GetAtt": str(text)}:
                return self._attribute(*text.split(".", 1))
            case {"Fn::Join": [str(separator), parts]}:
                return separator.join(str(part) for part in self.value(parts))
            case {"Fn::Select": [index, items]}:
                return self.value(items)[int(index)]
            case {"Fn::Split": [str(separator), text]}:
                return str(self.value(text)).split(separator)
            case {"Fn::Sub": str(text)}:
                return self._substituted(text, {})
            case {"Fn::Sub": [str(text), dict(values)]}:
                return self._substituted(text, self.value(values))
            case dict():
                intrinsic = next((name for name in node if name.startswith("Fn::") or name == "Condition"), None)
                if intrinsic is not None and (intrinsic != "Condition" or len(node) == 1):
                    raise TemplateError(f"The laptop cloud does not know {intrinsic} as it is used in {node!r}.")
                return {name: self.value(item) for name, item in node.items() if item != {"Ref": "AWS::NoValue"}}
            case list():
                return [self.value(item) for item in node if item != {"Ref": "AWS::NoValue"}]
        return node

    def _ref(self, name: str) -> str:
        if name in PSEUDO:
            return PSEUDO[name]
        if name in self._parameters:
            if "Default" not in self._parameters[name]:
                raise TemplateError(f"The parameter {name} has no default, and nobody gives it a value here.")
            return str(self._parameters[name]["Default"])
        return self._attribute(name, "Ref")

    def _attribute(self, logical_id: str, attribute: str) -> str:
        attributes = self.resource(logical_id)
        if attribute not in attributes:
            kind = self.resources[logical_id]["Type"]
            raise TemplateError(
                f"The laptop cloud does not know the attribute {attribute} of {logical_id} ({kind}); "
                f"it knows {', '.join(attributes)}."
            )
        return attributes[attribute]

    def _substituted(self, text: str, values: Mapping[str, Any]) -> str:
        def replace(match: re.Match[str]) -> str:
            literal, name = match.groups()
            if literal:
                return "${" + name + "}"
            if name in values:
                return str(values[name])
            return str(self._attribute(*name.split(".", 1)) if "." in name else self._ref(name))

        return _PLACEHOLDER.sub(replace, text)
