"""Embedding and rerank models: what functions are told of them, and which of Bedrock's they may call."""

from collections.abc import Mapping

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_dynamodb as dynamodb

from commonplace.adapters.bedrock.embeddings import CohereEmbeddings, TitanEmbeddings
from commonplace.adapters.bedrock.rerank import AMAZON, COHERE
from infra.configuration import Configuration
from infra.functions import PythonFunction
from infra.nag import accept
from infra.providers import deployed

EMBEDDINGS: Mapping[str, str] = {
    "bedrock-titan": f"{TitanEmbeddings.name}:{TitanEmbeddings.revision}",
    "bedrock-cohere": f"{CohereEmbeddings.name}:{CohereEmbeddings.revision}",
}
RERANKERS: Mapping[str, str] = {"bedrock-cohere": COHERE, "bedrock-amazon": AMAZON}

VECTORS = "vector#*"
RANKINGS = "rerank#*"
"""Partitions of the cache table (`commonplace.adapters.dynamodb_cache`)."""


def embedding_environment(configuration: Configuration) -> dict[str, str]:
    """The same for whoever writes the index and whoever searches it: vectors of two models cannot be compared."""
    environment = {"EMBEDDING_PROVIDER": deployed(configuration.embedding_provider)}
    if configuration.embedding_provider_next:
        environment["EMBEDDING_PROVIDER_NEXT"] = deployed(configuration.embedding_provider_next)
    if configuration.bedrock_region:
        environment["BEDROCK_REGION"] = configuration.bedrock_region
    return environment


def ranking_environment(configuration: Configuration) -> dict[str, str]:
    """What makes one ranking of two, and the ranking better. Left out where the code's own default stands."""
    environment = {}
    if configuration.rerank_provider != "none":
        environment["RERANK_PROVIDER"] = deployed(configuration.rerank_provider)
    if configuration.fusion:
        environment["FUSION"] = configuration.fusion
    if configuration.operator_key_hash:
        environment["OPERATOR_KEY_HASH"] = configuration.operator_key_hash
    return environment


def allow_embedding(function: PythonFunction, configuration: Configuration) -> None:
    """The configured models, by name."""
    named = (configuration.embedding_provider, configuration.embedding_provider_next or "none")
    models = [EMBEDDINGS[kind] for each in named if (kind := each.partition(":")[0]) in EMBEDDINGS]
    if models:
        function.allow(["bedrock:InvokeModel"], [_model(function, configuration, model) for model in models])


def allow_reranking(function: PythonFunction, configuration: Configuration) -> None:
    """`Rerank` knows no resource; which model it may use is decided by `InvokeModel`."""
    if model := RERANKERS.get(configuration.rerank_provider):
        function.allow(["bedrock:InvokeModel"], [_model(function, configuration, model)])
        function.allow(["bedrock:Rerank"], ["*"])
        accept(function.role, "Rerank knows no resource; InvokeModel names the one model.", "IAM5[Resource::*]")


def allow_vectors(function: PythonFunction, table: dynamodb.TableV2) -> None:
    """Vectors of text that has not changed, so that a second index costs no second embedding."""
    function.allow_items(table, ["BatchGetItem", "BatchWriteItem"], VECTORS)


def allow_rankings(function: PythonFunction, table: dynamodb.TableV2) -> None:
    function.allow_items(table, ["GetItem", "PutItem"], RANKINGS)


def _model(function: PythonFunction, configuration: Configuration, model: str) -> str:
    return Stack.of(function).format_arn(
        service="bedrock",
        region=configuration.bedrock_region,
        account="",
        resource="foundation-model",
        resource_name=model,
        arn_format=ArnFormat.SLASH_RESOURCE_NAME,
    )
