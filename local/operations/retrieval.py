"""What the index function of a deployment is told of its index, under the names of the outputs."""

from collections.abc import Mapping

OUTPUTS = {
    "STAGE": "Stage",
    "SEARCH_ENGINE": "SearchEngine",
    "INDEX_LOCATION": "IndexLocation",
    "OPENSEARCH_ENDPOINT": "OpenSearchEndpoint",
    "OPENSEARCH_SERVICE": "OpenSearchService",
    "OPENSEARCH_INDEX": "OpenSearchIndex",
    "OPENSEARCH_PARAMETERS": "OpenSearchParameters",
    "EMBEDDING_PROVIDER": "EmbeddingProvider",
    "EMBEDDING_PROVIDER_NEXT": "EmbeddingProviderNext",
    "RERANK_PROVIDER": "RerankProvider",
    "FUSION": "Fusion",
    "BEDROCK_REGION": "BedrockRegion",
    "OPENAI_SECRET_ARN": "OpenAiSecretArn",
    "OPENAI_BASE_URL": "OpenAiBaseUrl",
    "KB_EMBEDDING_MODEL": "OpenAiModel",
    "KB_BATCH_SIZE": "BatchSize",
}
"""Variable -> output. The stack has no such outputs: there the function itself is asked."""


def outputs_of(variables: Mapping[str, str]) -> dict[str, str]:
    """What `commonplace dev` writes down of a function's environment."""
    return {output: variables[name] for name, output in OUTPUTS.items() if variables.get(name)}


def variables_of(outputs: Mapping[str, str]) -> dict[str, str]:
    """The environment again."""
    return {name: outputs[output] for name, output in OUTPUTS.items() if outputs.get(output)}
