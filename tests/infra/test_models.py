import json
from collections.abc import Callable

import pytest

from infra.configuration import ConfigurationError, from_context
from tests.infra.templates import Template, as_list


def test_what_bedrock_has_answered_is_kept_in_the_cache_whatever_the_engine(prod: Template) -> None:
    variables = prod.environment(prod.function("index"))
    assert (variables["SEARCH_ENGINE"], "CACHE_TABLE" in variables) == ("embedded", True)
    allowed = [each for each in prod.statements("IndexRole") if "*#vectors" in json.dumps(each)]
    assert [sorted(each["Action"]) for each in allowed] == [
        ["dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:UpdateItem"]
    ]


def test_openai_has_a_secret_of_its_own_that_only_those_who_need_vectors_can_read(
    synthesized: Callable[..., Template], template: Template
) -> None:
    stack = synthesized(
        engine="embedded",
        embeddingProvider="openai:text-embedding-3-small:512",
        openAiBaseUrl="https://eu.example.org/v1",
    )
    output = stack.body["Outputs"]["OpenAiSecretArn"]["Value"]
    for name in ("index", "site", "console", "rest", "mcp"):
        variables = stack.environment(stack.function(name))
        assert variables["EMBEDDING_PROVIDER"] == "openai:text-embedding-3-small:512"
        assert variables["OPENAI_BASE_URL"] == "https://eu.example.org/v1"
        assert "OPENAI_SECRET_ARN" in variables
    readers = [each for each in stack.statements() if output in as_list(each["Resource"])]
    assert [each["Action"] for each in readers] == ["secretsmanager:GetSecretValue"] * 5
    for name in ("sync-run", "webhook", "auth"):
        assert "OPENAI" not in json.dumps(stack.environment(stack.function(name)))

    assert "OpenAiSecretArn" not in template.body["Outputs"]
    assert "OPENAI" not in json.dumps(template.body)


def test_the_secret_for_openai_starts_without_a_key(large: Template) -> None:
    (secret,) = [
        each
        for each in large.body["Resources"].values()
        if each["Type"] == "AWS::SecretsManager::Secret" and "OpenAI" in each["Properties"]["Description"]
    ]
    assert (secret["Properties"]["SecretString"], secret["DeletionPolicy"]) == (
        '{"apiKey": ""}',
        "RetainExceptOnCreate",
    )
    assert "OPENAI_SECRET_ARN" in large.environment(large.function("index-build"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"embeddingProvider": "openai:mine"}, "embeddingProvider"),
        ({"embeddingProvider": "openai:text-embedding-3-small:4096"}, "embeddingProvider"),
        (
            {"embeddingProvider": "openai", "openAiBaseUrl": "http://127.0.0.1:11434/v1"},
            "openAiBaseUrl is an https URL",
        ),
        ({"embeddingProvider": "openai", "openAiBaseUrl": "https://o.example/v1/"}, "openAiBaseUrl is an https URL"),
        ({"openAiBaseUrl": "https://o.example/v1"}, "openai, which is not chosen"),
    ],
)
def test_a_model_of_openai_that_cannot_be_asked_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        from_context(given)


def test_an_address_for_openai_goes_with_the_model_to_come_as_well() -> None:
    chosen = {"engine": "opensearch", "embeddingProviderNext": "openai", "openAiBaseUrl": "https://o.example/v1"}
    assert from_context(chosen).asks_openai
    assert not from_context({}).asks_openai
