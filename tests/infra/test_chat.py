"""A deployment's chat: nothing unless it is chosen; then one function, its REST API, and the least it needs."""

from collections.abc import Callable
from fnmatch import fnmatch
from typing import Any

import pytest

from commonplace.chat.capability import FUNCTION
from infra.configuration import ConfigurationError, from_context
from tests.infra.templates import Template, as_list
from tests.infra.test_edge import second

NAME = f"commonplace-dev-{FUNCTION}"


def function(template: Template) -> dict[str, Any]:
    (found,) = [one for one in template.properties("AWS::Lambda::Function") if one.get("FunctionName") == NAME]
    return found


def actions(template: Template, words: str) -> set[str]:
    """Return what the function may do with resources whose name has these words in it."""
    return {
        action
        for each in template.statements("ChatFunctionRole")
        if words in str(each["Resource"])
        for action in as_list(each["Action"])
    }


def test_without_a_model_there_is_nothing_of_it(template: Template) -> None:
    assert not template.properties("AWS::ApiGateway::RestApi")
    assert NAME not in {one.get("FunctionName") for one in template.properties("AWS::Lambda::Function")}
    assert "CHAT_MODEL" not in str(template.properties("AWS::Lambda::Function"))
    assert "#chat#" not in str(template.body)


def test_the_function_has_environments_of_its_own_and_runs_the_loop(committed: Template) -> None:
    found = function(committed)
    assert found["ReservedConcurrentExecutions"] == 8
    variables = found["Environment"]["Variables"]
    assert variables["AWS_LAMBDA_EXEC_WRAPPER"] == "/var/task/stream"
    assert (variables["CHAT_MODEL"], variables["CHAT_ENVIRONMENTS"]) == ("none", "8")
    assert "SnapStart" not in found


def test_its_methods_stream_and_the_http_api_has_the_same_paths(committed: Template) -> None:
    for method in committed.properties("AWS::ApiGateway::Method"):
        assert method["Integration"]["ResponseTransferMode"] == "STREAM"
        assert method["Integration"]["TimeoutInMillis"] == 320_000
    routes = {one["RouteKey"] for one in committed.properties("AWS::ApiGatewayV2::Route")}
    assert {"ANY /api/v1/chat", "ANY /api/v1/chat/{proxy+}"} <= routes
    headers = [one["ResponseParameters"] for one in committed.properties("AWS::ApiGateway::GatewayResponse")]
    assert headers == [{"gatewayresponse.header.Retry-After": "'10'"}] * 2


def test_it_reaches_conversations_and_no_other_records(committed: Template) -> None:
    keys = [
        key
        for each in committed.statements("ChatFunctionRole")
        if "StateRecords" in str(each["Resource"])
        for key in as_list(each["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"])
    ]
    for own in ("garden#chat#a", "garden#chat#a#c", "garden#chatbudget#a"):
        assert any(fnmatch(own, key) for key in keys), own
    for others in ("garden#memory", "garden#hive#items", "garden#gov#messages", "organisations"):
        assert not any(fnmatch(others, key) for key in keys), others
    assert actions(committed, "SecretsGithubWriter") == {"secretsmanager:GetSecretValue"}
    assert not actions(committed, "SecretsGithub8") | actions(committed, "IdentitySigning")
    assert not {one for one in actions(committed, "") if one.startswith("bedrock:")}


@pytest.mark.parametrize(
    ("model", "allowed"),
    [
        ("bedrock:amazon.nova-lite-v1:0", ["foundation-model/amazon.nova-lite-v1:0"]),
        (
            "bedrock:eu.amazon.nova-lite-v1:0",
            ["inference-profile/eu.amazon.nova-lite-v1:0", "foundation-model/amazon.nova-lite-v1:0"],
        ),
    ],
)
def test_it_may_call_the_one_model_of_bedrock(
    model: str, allowed: list[str], synthesized: Callable[..., Template]
) -> None:
    template = synthesized(engine="embedded", chatModel=model)
    statements = [one for one in template.statements("ChatFunctionRole") if "bedrock:InvokeModel" in str(one["Action"])]
    assert [str(one["Resource"]).rpartition(name)[1] for one, name in zip(statements, allowed, strict=True)] == allowed
    assert all("bedrock:InvokeModelWithResponseStream" in one["Action"] for one in statements)


def test_a_model_of_openai_has_a_secret_of_its_own_and_a_layer(synthesized: Callable[..., Template]) -> None:
    template = synthesized(
        engine="embedded", chatModel="openai:gpt", chatBaseUrl="https://llm.example.org/v1", chatEnvironments="4"
    )
    found = function(template)
    variables = found["Environment"]["Variables"]
    assert variables["CHAT_BASE_URL"] == "https://llm.example.org/v1"
    assert "CHAT_SECRET_ARN" in variables
    assert found["ReservedConcurrentExecutions"] == 4
    assert "OpenaiPackages" in str(found["Layers"])
    assert actions(template, "ChatModelKey") == {"secretsmanager:GetSecretValue"}
    readers = [name for name in ("Mcp", "Rest", "Console", "Site") if "ChatModelKey" in str(template.statements(name))]
    assert readers == []


def test_the_front_door_leads_its_path_to_the_api_that_streams(synthesized: Callable[..., Template]) -> None:
    edge = {"edge": "true", "region": "eu-central-1", "engine": "embedded"}
    template = synthesized(**edge, chatModel="none")
    ((first, *_),) = [
        [one for one in each["DistributionConfig"]["CacheBehaviors"] if one["PathPattern"].startswith("/api")]
        for each in second(template).properties("AWS::CloudFront::Distribution")
    ]
    assert (first["PathPattern"], first["Compress"]) == ("/api/v1/chat*", False)


def test_an_address_without_its_model_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="chatBaseUrl is the address of chatModel openai"):
        from_context({"chatBaseUrl": "https://llm.example.org/v1", "chatModel": "none"})
    with pytest.raises(ConfigurationError, match="none, bedrock:MODEL or openai:MODEL"):
        from_context({"chatModel": "ollama"})
