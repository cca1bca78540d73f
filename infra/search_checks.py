"""Which choices of engine and models go together."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from infra.providers import located
from infra.readers import ConfigurationError

if TYPE_CHECKING:
    from infra.configuration import Configuration


def check_search(chosen: Configuration) -> None:
    """Raises ConfigurationError."""
    if len({located(folder).name for folder in chosen.model_folders}) < len(chosen.model_folders):
        raise ConfigurationError("folders of ONNX models need different names: a function sees them side by side")
    if chosen.embedding_provider_next and chosen.engine == "embedded":
        raise ConfigurationError(
            "embeddingProviderNext needs engine opensearch; the embedded index is built anew in place: "
            "set embeddingProvider"
        )
    if chosen.embedding_provider_next == chosen.embedding_provider:
        raise ConfigurationError("embeddingProviderNext is the model to change to, and embeddingProvider is that one")
    if chosen.open_ai_base_url and not chosen.asks_openai:
        raise ConfigurationError("openAiBaseUrl is the address of embeddingProvider openai, which is not chosen")
    if bool(chosen.open_search_endpoint) != bool(chosen.open_search_arn):
        raise ConfigurationError("openSearchEndpoint and openSearchArn name one domain or collection: set both")
    if chosen.open_search_arn:
        service = {"domain": "es", "serverless": "aoss"}[chosen.open_search_service]
        if chosen.open_search_arn.split(":")[2] != service:
            raise ConfigurationError(f"openSearchArn is not one of a {chosen.open_search_service} (openSearchService)")
    if chosen.open_search_nodes % chosen.open_search_zones:
        raise ConfigurationError(
            f"openSearchNodes is a multiple of openSearchZones ({chosen.open_search_zones}), "
            f"not {chosen.open_search_nodes}: every zone gets as many nodes"
        )
    if chosen.open_search_service == "serverless":
        parameters = json.loads(chosen.open_search_parameters or "{}")
        if parameters.get("engine", "faiss") != "faiss":
            raise ConfigurationError("openSearchParameters: a serverless collection knows the k-NN engine faiss only")
