"""A synthesized template, and the questions that tests ask of it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from cfnlint.api import lint
from cfnlint.config import ManualArgs
from cfnlint.core import get_rules
from cfnlint.rules import RulesCollection

from commonplace_local.locks import held

Resource = dict[str, Any]

_NAMES = {
    "AWS::SecretsManager::Secret": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:{}",
    "AWS::Lambda::Alias": "arn:aws:lambda:eu-central-1:123456789012:function:{}:live",
    "AWS::StepFunctions::StateMachine": "arn:aws:states:eu-central-1:123456789012:stateMachine:{}",
}

_ATTRIBUTES = {
    "ApiEndpoint": "https://abc.execute-api.eu-central-1.amazonaws.com",
    "DomainEndpoint": "search-commonplace-dev-abc.eu-central-1.es.amazonaws.com",
    "CollectionEndpoint": "https://abc.eu-central-1.aoss.amazonaws.com",
}


@dataclass(frozen=True)
class Template:
    """The template, and cdk-nag's report on it."""

    body: dict[str, Any]
    report: dict[str, Any]
    folder: Path

    def of(self, kind: str) -> dict[str, Resource]:
        """Logical id -> resource of one CloudFormation type."""
        return {name: each for name, each in self.body["Resources"].items() if each["Type"] == kind}

    def properties(self, kind: str) -> list[dict[str, Any]]:
        return [each["Properties"] for each in self.of(kind).values()]

    def function(self, name: str) -> dict[str, Any]:
        """Properties of the function of that name without its prefix."""
        (found,) = [
            each for each in self.properties("AWS::Lambda::Function") if each["FunctionName"].endswith(f"-{name}")
        ]
        return found

    def environment(self, properties: dict[str, Any]) -> dict[str, str]:
        """A function's variables with made-up names in place of references."""
        return {key: self._text(value) for key, value in properties["Environment"]["Variables"].items()}

    def statements(self, role: str = "") -> Iterator[dict[str, Any]]:
        """Identity-policy statements, of the roles whose logical id begins so.

        CDK puts what is too long for a role's own policy (10,240 characters) into a managed one.
        """
        for properties in (*self.properties("AWS::IAM::Policy"), *self.properties("AWS::IAM::ManagedPolicy")):
            if any(each["Ref"].startswith(role) for each in properties["Roles"]):
                yield from properties["PolicyDocument"]["Statement"]

    def _text(self, value: Any) -> str:
        match value:
            case {"Ref": name}:
                return _NAMES.get(self.body["Resources"][name]["Type"], "{}").format(name.lower())
            case {"Fn::Join": [separator, parts]}:
                return str(separator).join(self._text(part) for part in parts)
            case {"Fn::GetAtt": [_, attribute]}:
                return str(_ATTRIBUTES.get(attribute, attribute))
        return str(value)


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def objects_under(statement: dict[str, Any]) -> list[str]:
    """The keys of objects that a statement is about, as patterns that begin with a slash."""
    joined = [resource["Fn::Join"][1] for resource in as_list(statement["Resource"]) if "Fn::Join" in resource]
    return [str(parts[-1]) for parts in joined if str(parts[-1]).startswith("/")]


def reaches(statement: dict[str, Any], prefix: str) -> bool:
    """Whether the statement covers any object, or the listing of any, under the prefix."""
    listed = statement.get("Condition", {}).get("StringLike", {}).get("s3:prefix", [])
    patterns = [*objects_under(statement), *(f"/{pattern}" for pattern in as_list(listed))]
    starts = [pattern.partition("*")[0] for pattern in patterns]
    return any(start.startswith(f"/{prefix}") or f"/{prefix}".startswith(start) for start in starts)


REPORT = "validation-report.json"


def synthesize(folder: Path, **context: str) -> Template:
    """One synthesis without bundles. Findings of cdk-nag are in the report instead of an exception."""
    from infra.stack import WITHOUT_BUNDLES, application

    app, _ = application(folder, {**WITHOUT_BUNDLES, **context})
    try:
        app.synth()
    except RuntimeError:
        if not (folder / REPORT).exists():
            raise
    return _read(folder)


def synthesize_once(run: Path, **context: str) -> Template:
    """The synthesis of this context by whichever process of the test run asks first; `run` is the run's own folder."""
    folder = run / f"cdk-{sha256(json.dumps(context, sort_keys=True).encode()).hexdigest()}"
    with held(folder.with_suffix(".lock")):
        return _read(folder) if (folder / REPORT).exists() else synthesize(folder, **context)


def _read(folder: Path) -> Template:
    (file,) = (file for file in folder.glob("*.template.json") if not file.name.endswith("-edge.template.json"))
    return Template(json.loads(file.read_text()), json.loads((folder / REPORT).read_text()), folder)


def lint_findings(text: str) -> list[str]:
    """What cfn-lint has to say of a template."""
    found = lint(text, rules=_lint_rules(), config=ManualArgs(ignore_checks=[*_NOT_LINTED]))
    return [f"{match.rule.id} {match.message} (line {match.linenumber})" for match in found]


_NOT_LINTED = ("W3005",)
"""CDK writes a DependsOn even where a reference says it already."""


@cache
def _lint_rules() -> RulesCollection:
    return get_rules([], [*_NOT_LINTED], [])
