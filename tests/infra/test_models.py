import json
from collections.abc import Callable

from tests.infra.templates import Template


def test_what_bedrock_has_answered_is_kept_in_the_cache_whatever_the_engine(
    synthesized: Callable[..., Template],
) -> None:
    stack = synthesized(embeddingProvider="bedrock-titan:256")

    variables = stack.environment(stack.function("index"))
    assert (variables["SEARCH_ENGINE"], "CACHE_TABLE" in variables) == ("embedded", True)
    allowed = [each for each in stack.statements() if "*#vectors" in json.dumps(each)]
    assert [sorted(each["Action"]) for each in allowed] == [["dynamodb:BatchGetItem", "dynamodb:BatchWriteItem"]]
