"""Accepted cdk-nag findings. Every one says why, and the reason ends up in the validation report."""

from typing import Any

import aws_cdk as cdk
from constructs import IConstruct

PACK = "AwsSolutions"


def accept(construct: IConstruct, reason: str, *rules: str) -> None:
    """Accepts findings of these rules (`S1`, `IAM5[Resource::*]`) on the construct and everything below it."""
    acknowledgments = (cdk.Acknowledgment(id=f"{PACK}::{PACK}-{rule}", reason=reason) for rule in rules)
    cdk.Validations.of(construct).acknowledge(*acknowledgments)


def accept_warning(construct: IConstruct, reason: str, warning: str) -> None:
    """Accepts a warning of CDK's own."""
    cdk.Validations.of(construct).acknowledge(cdk.Acknowledgment(id=f"Annotation::{warning}", reason=reason))


def accept_wildcards(construct: IConstruct, reason: str, *resources: str) -> None:
    """Accepts resources that end in a star, each by the very text cdk-nag reports it under."""
    stack = cdk.Stack.of(construct)
    accept(construct, reason, *(f"IAM5[Resource::{_as_reported(stack.resolve(resource))}]" for resource in resources))


def _as_reported(resource: Any) -> str:
    """cdk-nag writes references as `<LogicalId.Attribute>` and keeps the text between them."""
    match resource:
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(_as_reported(part) for part in parts)
    return str(resource)
