"""The committed template with one function more: the bare one, in the same host, behind routes of its own."""

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

SOURCE = "bench/baseline"
ROUTES = ("GET /bare/{name}", "GET /host/{name}")


def with_bare_function(template: Mapping[str, Any], bodies: Path) -> dict[str, Any]:
    """Memory, time, logging and gateway are those of the REST function. `bodies` is the folder it answers from."""
    changed: dict[str, Any] = copy.deepcopy(dict(template))
    resources = changed["Resources"]
    ours = _the_one(resources, "AWS::Lambda::Function", lambda found: _source(found) == "functions/rest")
    route = _the_one(resources, "AWS::ApiGatewayV2::Route", lambda found: found["Properties"]["RouteKey"] == "$default")
    resources["BareFunction"] = {
        "Type": "AWS::Lambda::Function",
        "Metadata": {"commonplace:source": SOURCE},
        "Properties": {
            **ours["Properties"],
            "FunctionName": "bare",
            "Environment": {"Variables": {"BARE_BODIES": str(bodies)}},
        },
    }
    resources["BareIntegration"] = {
        "Type": "AWS::ApiGatewayV2::Integration",
        "Properties": {
            "ApiId": route["Properties"]["ApiId"],
            "IntegrationType": "AWS_PROXY",
            "IntegrationUri": {"Fn::GetAtt": ["BareFunction", "Arn"]},
            "PayloadFormatVersion": "2.0",
        },
    }
    target = {"Fn::Join": ["", ["integrations/", {"Ref": "BareIntegration"}]]}
    for number, key in enumerate(ROUTES):
        resources[f"BareRoute{number}"] = {
            "Type": "AWS::ApiGatewayV2::Route",
            "Properties": {**route["Properties"], "RouteKey": key, "Target": target},
        }
    return changed


def _the_one(resources: Mapping[str, Any], kind: str, wanted: Callable[[Any], bool]) -> Any:
    (found,) = (resource for resource in resources.values() if resource["Type"] == kind and wanted(resource))
    return found


def _source(resource: Mapping[str, Any]) -> str | None:
    source: str | None = resource.get("Metadata", {}).get("commonplace:source")
    return source
