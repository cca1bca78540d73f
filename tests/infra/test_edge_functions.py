"""The functions at the edge, run under Node.js with events as CloudFront sends them."""

import json
import subprocess
from typing import Any

import pytest

from commonplace.web.origin import ORIGIN_HEADER, VIEWER_HEADER
from infra.edge_distribution import FUNCTIONS
from infra.node import provide_node

pytestmark = pytest.mark.node

RENAMED = "x-amzn-remapped-www-authenticate"
CHALLENGE = (
    'Bearer scope="knowledge:read", resource_metadata="https://kb.example.org/.well-known/oauth-protected-resource/mcp"'
)


def run(file: str, event: dict[str, Any]) -> Any:
    """What the handler of the file makes of the event; a Lambda exports it, a CloudFront Function declares it."""
    if provide_node() is None:
        pytest.skip("the functions at the edge were NOT run: there is no Node.js")
    script = f"""
        const module = {{ exports: {{}} }}, exports = module.exports;
        {(FUNCTIONS / file).read_text(encoding="utf-8")}
        const run = exports.handler || handler;
        Promise.resolve(run({json.dumps(event)})).then((answer) => console.log(JSON.stringify(answer)));
    """
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def answered(status: str, **headers: str) -> dict[str, Any]:
    """An event of Lambda@Edge at the origin's response."""
    found = {
        name.replace("_", "-"): [{"key": name.replace("_", "-"), "value": value}] for name, value in headers.items()
    }
    config = {"distributionDomainName": "d1.cloudfront.net", "distributionId": "E1", "eventType": "origin-response"}
    request = {"method": "POST", "uri": "/mcp", "clientIp": "203.0.113.9", "headers": {}, "querystring": ""}
    response = {"status": status, "statusDescription": "", "headers": found}
    return {"Records": [{"cf": {"config": config, "request": request, "response": response}}]}


def asked(**headers: str) -> dict[str, Any]:
    """An event of a CloudFront Function at the viewer's request."""
    given = {name.replace("_", "-"): {"value": value} for name, value in headers.items()}
    request = {"method": "GET", "uri": "/mcp", "querystring": {}, "headers": given, "cookies": {}}
    return {
        "version": "1.0",
        "context": {"distributionDomainName": "d1.cloudfront.net", "eventType": "viewer-request", "requestId": "r"},
        "viewer": {"ip": "2001:db8::7"},
        "request": request,
    }


@pytest.mark.parametrize("status", ["401", "403", "400"])
def test_a_renamed_challenge_gets_its_name_back(status: str) -> None:
    response = run("restore_challenge.js", answered(status, **{RENAMED: CHALLENGE, "content-type": "application/json"}))
    assert response["status"] == status
    assert response["headers"]["www-authenticate"] == [{"key": "WWW-Authenticate", "value": CHALLENGE}]
    assert RENAMED not in response["headers"]
    assert "content-type" in response["headers"]


def test_a_challenge_that_kept_its_name_stands_as_it_is() -> None:
    given = answered("401", **{"www-authenticate": CHALLENGE, RENAMED: "Bearer"})
    response = run("restore_challenge.js", given)
    assert [each["value"] for each in response["headers"]["www-authenticate"]] == [CHALLENGE]
    assert RENAMED not in response["headers"]


def test_several_challenges_are_all_restored() -> None:
    event = answered("401")
    event["Records"][0]["cf"]["response"]["headers"][RENAMED] = [
        {"key": RENAMED, "value": "Bearer"},
        {"key": RENAMED, "value": "Basic"},
    ]
    response = run("restore_challenge.js", event)
    assert [each["value"] for each in response["headers"]["www-authenticate"]] == ["Bearer", "Basic"]


def test_an_answer_without_a_challenge_passes_as_it_is() -> None:
    event = answered("200", **{"content-type": "application/json"})
    assert run("restore_challenge.js", event) == event["Records"][0]["cf"]["response"]


def test_the_caller_is_whom_cloudfront_sees_whatever_it_says_itself() -> None:
    request = run("tell_viewer.js", asked(**{VIEWER_HEADER: "192.0.2.1", "accept": "*/*"}))
    assert request["headers"][VIEWER_HEADER] == {"value": "2001:db8::7"}
    assert request["headers"]["accept"] == {"value": "*/*"}


def test_a_guessed_value_of_the_door_ends_at_the_edge() -> None:
    assert ORIGIN_HEADER not in run("tell_viewer.js", asked(**{ORIGIN_HEADER: "guess"}))["headers"]


def test_they_fit_where_they_have_to_fit() -> None:
    assert len((FUNCTIONS / "tell_viewer.js").read_bytes()) <= 10_240
    restore = (FUNCTIONS / "restore_challenge.js").read_text(encoding="utf-8")
    assert len(restore) <= 4_096
    assert restore.isascii()
