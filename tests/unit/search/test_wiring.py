import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace.kernel import aws
from commonplace.kernel.environment import SettingsError
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import RETRY_DELAYS
from commonplace.search import providers
from commonplace.search.filters import Filters
from commonplace.search.models.guarded import GuardedEmbeddings, GuardedReranker
from commonplace.search.models.local import LocalEmbeddings
from commonplace.search.models.onnx import OnnxEmbeddings, OnnxReranker
from commonplace.search.models.openai import OpenAiEmbeddings
from commonplace.search.query import Query
from commonplace.search.rerank import MemoryRerankCache
from commonplace.search.settings import IndexSettings, RetrievalSettings
from commonplace.search.store import DynamoRerankCache, DynamoVectorMemory
from commonplace.web.settings import RestSettings
from tests.fakes.onnx_models import cross_encoder, encoder

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = {
    "STAGE": "dev",
    "CONTENT_BUCKET": "content",
    "ACTIVITY_TABLE": "activity",
    "GITHUB_REPOSITORY": "octo-org/notes",
    "GITHUB_BRANCH": "main",
    "INDEX_LOCATION": "file:///nowhere/documents.sqlite",
}
OPENSEARCH = {"SEARCH_ENGINE": "opensearch", "OPENSEARCH_ENDPOINT": "http://127.0.0.1:9"}


@pytest.fixture(autouse=True)
def aws_credentials(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    given = {"AWS_ACCESS_KEY_ID": "1", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "eu-central-1"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    aws._session.cache_clear()
    yield
    aws._session.cache_clear()


def reader(**variables: str) -> RestSettings:
    return RestSettings.from_environ(ENVIRONMENT | variables)


def writer(**variables: str) -> IndexSettings:
    return IndexSettings.from_environ(ENVIRONMENT | variables)


def inside(guarded: Any) -> Any:
    return guarded._provider if isinstance(guarded, GuardedEmbeddings) else guarded._reranker


def test_the_default_is_the_model_that_is_bundled() -> None:
    (model,) = providers.embedding_providers(reader())
    assert isinstance(model, LocalEmbeddings)
    assert providers.reranker(reader()) is None


def test_no_model_is_no_provider_and_one_index_of_words() -> None:
    assert providers.embedding_providers(reader(EMBEDDING_PROVIDER="none")) == []
    assert providers.indexed_models(writer(EMBEDDING_PROVIDER="none")) == [None]


def test_during_a_change_of_model_there_are_two_and_each_once() -> None:
    both = reader(EMBEDDING_PROVIDER="local", EMBEDDING_PROVIDER_NEXT="bedrock-titan:256")
    assert [model.dimension for model in providers.embedding_providers(both)] == [256, 256]
    assert [model.name for model in providers.embedding_providers(both)][1] == "amazon.titan-embed-text-v2"

    done = reader(EMBEDDING_PROVIDER="bedrock-titan:256", EMBEDDING_PROVIDER_NEXT="bedrock-titan:256")
    assert len(providers.embedding_providers(done)) == 1
    first = writer(EMBEDDING_PROVIDER="none", EMBEDDING_PROVIDER_NEXT="local")
    assert [model and model.name for model in providers.indexed_models(first)] == [None, LocalEmbeddings.name]


@pytest.mark.parametrize(
    ("chosen", "name", "dimension"),
    [
        ("bedrock-titan", "amazon.titan-embed-text-v2", 1024),
        ("bedrock-titan:512", "amazon.titan-embed-text-v2", 512),
        ("bedrock-cohere", "cohere.embed-v4", 1024),
        ("bedrock-cohere:1536", "cohere.embed-v4", 1536),
    ],
)
def test_bedrocks_models_are_guarded_and_tried_once_by_botocore(chosen: str, name: str, dimension: int) -> None:
    (model,) = providers.embedding_providers(reader(EMBEDDING_PROVIDER=chosen))

    assert isinstance(model, GuardedEmbeddings)
    assert (model.name, model.dimension) == (name, dimension)
    config = inside(model)._client.meta.config
    assert config.retries["total_max_attempts"] == 1
    assert (config.connect_timeout, config.read_timeout) == (1, providers.QUERY_READ_SECONDS)


def test_the_writer_of_the_index_is_more_patient() -> None:
    (model,) = providers.indexed_models(writer(EMBEDDING_PROVIDER="bedrock-titan"))
    assert inside(model)._client.meta.config.read_timeout == providers.INDEX_READ_SECONDS


def test_openais_model_is_guarded_and_takes_as_many_texts_as_are_configured() -> None:
    given = {"EMBEDDING_PROVIDER": "openai", "OPENAI_API_KEY": "sk-0123456789", "KB_BATCH_SIZE": "40"}
    (model,) = providers.embedding_providers(reader(**given))

    assert isinstance(model, GuardedEmbeddings)
    assert isinstance(inside(model), OpenAiEmbeddings)
    assert (model.name, model.dimension) == ("text-embedding-3-small", 1536)
    assert (inside(model).texts_per_call, inside(model)._read_seconds) == (40, providers.QUERY_READ_SECONDS)
    assert inside(model)._key() == "sk-0123456789"


def test_a_caller_of_the_memory_waits_longer_and_no_longer_than_a_request_may_take() -> None:
    (model,) = providers.embedding_providers(
        reader(EMBEDDING_PROVIDER="bedrock-titan"), read_seconds=providers.MEMORY_READ_SECONDS
    )
    assert inside(model)._client.meta.config.read_timeout == providers.MEMORY_READ_SECONDS
    assert sum(RETRY_DELAYS) + 4 * (providers.MEMORY_READ_SECONDS + aws.MODEL_CONNECT_TIMEOUT_SECONDS) < 29


def test_openai_is_not_asked_without_a_key_but_a_service_of_this_machine_is() -> None:
    with pytest.raises(SettingsError, match=r"^OPENAI_API_KEY is not set, nor OPENAI_SECRET_ARN\."):
        providers.embedding_providers(reader(EMBEDDING_PROVIDER="openai"))
    here = reader(EMBEDDING_PROVIDER="openai:nomic-embed-text:768", OPENAI_BASE_URL="http://127.0.0.1:11434/v1")
    (model,) = providers.embedding_providers(here)
    assert (model.name, model.dimension, inside(model)._key()) == ("nomic-embed-text", 768, None)


def test_the_key_of_the_secret_is_read_when_it_is_first_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    arn = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:openai"
    (model,) = providers.embedding_providers(reader(EMBEDDING_PROVIDER="openai", OPENAI_SECRET_ARN=arn))
    secret: Any = inside(model)._key.__self__
    monkeypatch.setattr(secret, "_client", Vault('{"apiKey": "sk-of-the-secret"}'))
    assert inside(model)._key() == "sk-of-the-secret"


class Vault:
    def __init__(self, text: str) -> None:
        self._text = text

    def get_secret_value(self, SecretId: str, VersionStage: str) -> dict[str, str]:
        assert SecretId.endswith(":openai")
        return {"SecretString": self._text}


def test_bedrock_is_called_in_the_region_that_is_configured_else_in_our_own() -> None:
    (own,) = providers.embedding_providers(reader(EMBEDDING_PROVIDER="bedrock-cohere"))
    (other,) = providers.embedding_providers(reader(EMBEDDING_PROVIDER="bedrock-cohere", BEDROCK_REGION="us-east-1"))

    assert (inside(own)._client.meta.region_name, inside(own)._model) == ("eu-central-1", "eu.cohere.embed-v4:0")
    assert (inside(other)._client.meta.region_name, inside(other)._model) == ("us-east-1", "us.cohere.embed-v4:0")


@pytest.mark.parametrize(
    ("chosen", "model"), [("bedrock-cohere", "cohere.rerank-v3-5:0"), ("bedrock-amazon", "amazon.rerank-v1:0")]
)
def test_bedrocks_rerankers_are_guarded_and_named_by_region(chosen: str, model: str) -> None:
    reranker = providers.reranker(reader(RERANK_PROVIDER=chosen))

    assert isinstance(reranker, GuardedReranker)
    assert reranker.name == model
    assert inside(reranker)._arn == f"arn:aws:bedrock:eu-central-1::foundation-model/{model}"


def test_models_from_a_folder_are_opened_when_they_are_wired(tmp_path: Path) -> None:
    encoder(tmp_path / "encoder")
    cross_encoder(tmp_path / "judge")
    chosen = reader(EMBEDDING_PROVIDER=f"onnx:{tmp_path}/encoder", RERANK_PROVIDER=f"onnx:{tmp_path}/judge")

    (model,) = providers.embedding_providers(chosen)
    assert isinstance(model, OnnxEmbeddings)
    assert isinstance(providers.reranker(chosen), OnnxReranker)
    with pytest.raises(SettingsError, match="does not exist"):
        providers.embedding_providers(reader(EMBEDDING_PROVIDER=f"onnx:{tmp_path}/none"))


def test_the_embedded_index_is_its_own_memory_and_with_a_slow_model_the_table_stands_behind_it(tmp_path: Path) -> None:
    location = (tmp_path / "documents.sqlite").as_uri()
    engine: Any = providers.search_engine(writer(INDEX_LOCATION=location), None, LocalEmbeddings(), read_only=False)

    own: Any = providers.vector_memory(writer(), engine)
    quick: Any = providers.vector_memory(writer(CACHE_TABLE="cache"), engine)
    both: Any = providers.vector_memory(writer(CACHE_TABLE="cache", EMBEDDING_PROVIDER="openai"), engine)

    assert own is quick is engine
    assert (both._first is engine, type(both._second)) == (True, DynamoVectorMemory)


def test_an_opensearch_index_has_the_table_for_its_memory_or_none() -> None:
    engine: Any = None
    assert isinstance(providers.vector_memory(writer(**OPENSEARCH, CACHE_TABLE="cache"), engine), DynamoVectorMemory)
    assert providers.vector_memory(writer(**OPENSEARCH), engine) is None


def test_rerank_orders_are_kept_in_the_table_where_there_is_one() -> None:
    assert isinstance(providers.rerank_cache(reader(CACHE_TABLE="cache")), DynamoRerankCache)
    assert isinstance(providers.rerank_cache(reader()), MemoryRerankCache)
    kept: Any = providers.rerank_cache(reader(CACHE_TABLE="cache"))
    config = kept._table._client.meta.config
    assert (config.connect_timeout, config.read_timeout, config.retries["total_max_attempts"]) == (0.5, 0.5, 1)


@pytest.mark.parametrize("missing", ["INDEX_LOCATION", "OPENSEARCH_ENDPOINT"])
def test_an_engine_without_its_place_is_refused(missing: str) -> None:
    kind: Any = "embedded" if missing == "INDEX_LOCATION" else "opensearch"
    with pytest.raises(SettingsError, match=missing):
        providers.search_engine(RetrievalSettings(search_engine=kind), None, None, read_only=True)


def test_opensearch_is_asked_only_when_something_is_searched() -> None:
    settings = reader(**OPENSEARCH, OPENSEARCH_PARAMETERS='{"m": 24}')
    engine = providers.search_engine(settings, None, LocalEmbeddings(), read_only=True)

    with pytest.raises(Unavailable):
        engine.candidates(Query.of("tide"), None, Filters(), 5)
    assert providers.open_search_connection(settings) is providers.open_search_connection(settings)


def test_parameters_that_cannot_be_are_refused_when_the_engine_is_wired() -> None:
    with pytest.raises(SettingsError, match=r"^OPENSEARCH_PARAMETERS is malformed\. m is a whole number"):
        providers.search_engine(reader(**OPENSEARCH, OPENSEARCH_PARAMETERS='{"m": "x"}'), None, None, read_only=True)


def test_requests_to_a_domain_are_signed_in_our_region_and_need_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = reader(**OPENSEARCH | {"OPENSEARCH_ENDPOINT": "https://search.example.org"})
    assert providers.open_search_connection(settings)

    monkeypatch.delenv("AWS_DEFAULT_REGION")
    aws._session.cache_clear()
    providers.connection_to.cache_clear()
    with pytest.raises(ValueError, match="region"):
        providers.open_search_connection(settings)


LOCAL_ONLY = """
import sys
from commonplace.search import providers
from commonplace.search.settings import RetrievalSettings

settings = RetrievalSettings(index_location="file:///nowhere/documents.sqlite")
(model,) = providers.embedding_providers(settings)
engine = providers.search_engine(settings, None, model, read_only=True)
providers.vector_memory(settings, engine)
providers.rerank_cache(settings)
found = {"commonplace.search.models.openai"} & set(sys.modules)
found |= {"onnxruntime", "commonplace.search.opensearch.engine", "numpy", "tokenizers", "moto"} & set(sys.modules)
found |= {name for name in sys.modules if name.startswith("commonplace.search.models.bedrock")}
print(sorted(found))
"""


def test_what_was_not_chosen_is_not_imported() -> None:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "layers" / "core")}
    command = [sys.executable, "-c", LOCAL_ONLY]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (answer.stdout.strip(), answer.stderr) == ("[]", "")
