"""How OpenAI's embeddings are chosen: by the product's own variables, and by those of seed 001 ("Configuration")."""

import pytest

from commonplace.kernel.environment import SettingsError
from commonplace.search.settings import EmbeddingChoice, OpenAiSettings, RetrievalSettings

ENVIRONMENT = {"STAGE": "dev", "INDEX_LOCATION": "file:///index.sqlite"}
SMALL, LARGE, ADA = "text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"
ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:openai-abc"


def settings(**variables: str) -> RetrievalSettings:
    return RetrievalSettings.from_environ(ENVIRONMENT | variables)


@pytest.mark.parametrize(
    ("chosen", "model", "dimension"),
    [
        ("openai", SMALL, 1536),
        (f"openai:{SMALL}", SMALL, 1536),
        (f"openai:{SMALL}:512", SMALL, 512),
        (f"openai:{LARGE}", LARGE, 3072),
        (f"openai:{ADA}:1536", ADA, 1536),
        ("openai:nomic-ai/nomic-embed-text-v1.5:768", "nomic-ai/nomic-embed-text-v1.5", 768),
    ],
)
def test_a_model_has_its_own_number_of_dimensions_or_the_one_that_is_given(
    chosen: str, model: str, dimension: int
) -> None:
    found = settings(EMBEDDING_PROVIDER=chosen).embedding_provider
    assert found == EmbeddingChoice("openai", dimension, model=model)


@pytest.mark.parametrize(
    "chosen",
    [
        "openai:",
        "openai:1536",
        f"openai:{SMALL}:1537",
        f"openai:{SMALL}:0",
        f"openai:{ADA}:512",
        "openai:nomic-embed-text",
        "openai:two words:768",
        "openai:model:768:1",
        "OpenAI",
    ],
)
def test_a_model_that_cannot_be_is_refused(chosen: str) -> None:
    with pytest.raises(SettingsError, match=r"^EMBEDDING_PROVIDER is malformed\. It must be .*openai\[:MODEL"):
        settings(EMBEDDING_PROVIDER=chosen)


@pytest.mark.parametrize(
    ("variables", "chosen"),
    [
        ({"KB_EMBEDDING_MODEL": SMALL}, f"openai:{SMALL}"),
        ({"KB_EMBEDDING_MODEL": LARGE, "EMBEDDING_PROVIDER": "openai"}, f"openai:{LARGE}"),
        ({"KB_EMBEDDING_MODEL": "mine:768"}, "openai:mine:768"),
        ({"KB_EMBEDDING_MODEL": LARGE, "EMBEDDING_PROVIDER": f"openai:{ADA}"}, f"openai:{ADA}"),
        ({"KB_EMBEDDING_MODEL": SMALL, "EMBEDDING_PROVIDER": "local"}, "local"),
        ({"KB_EMBEDDING_MODEL": " "}, "local"),
        ({}, "local"),
    ],
)
def test_the_seeds_variable_names_the_model_where_nothing_else_does(variables: dict[str, str], chosen: str) -> None:
    assert settings(**variables).embedding_provider == EmbeddingChoice.parse(chosen)


def test_how_the_service_is_reached_is_read_beside_it() -> None:
    given = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1/", "OPENAI_SECRET_ARN": ARN, "KB_BATCH_SIZE": "50"}
    assert settings(**given).openai == OpenAiSettings(
        base_url="http://127.0.0.1:9/v1", secret_arn=ARN, texts_per_call=50
    )
    assert settings().openai == OpenAiSettings()
    assert (OpenAiSettings().base_url, OpenAiSettings().texts_per_call) == ("https://api.openai.com/v1", 100)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KB_EMBEDDING_MODEL", "a model"),
        ("KB_EMBEDDING_MODEL", "mine"),
        ("KB_BATCH_SIZE", "0"),
        ("KB_BATCH_SIZE", "101"),
        ("KB_BATCH_SIZE", "many"),
        ("OPENAI_BASE_URL", "http://api.openai.example/v1"),
        ("OPENAI_SECRET_ARN", "sk-0123456789"),
    ],
)
def test_a_malformed_variable_is_named_with_its_valid_values(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} is malformed. It must be "):
        settings(**{name: value})


def test_the_key_is_quoted_nowhere() -> None:
    assert "sk-0123456789" not in repr(settings(OPENAI_API_KEY="sk-0123456789"))
    with pytest.raises(SettingsError, match=r"^OPENAI_API_KEY is malformed\.") as raised:
        settings(OPENAI_API_KEY="sk-0123456789 and more")
    assert "0123456789" not in f"{raised.value!r}{raised.value.__cause__!r}"


@pytest.mark.parametrize(
    ("chosen", "following", "slow"),
    [
        ("local", None, False),
        ("none", None, False),
        ("openai", None, True),
        ("bedrock-titan", None, True),
        ("onnx:/model", None, True),
        ("local", "openai", True),
    ],
)
def test_vectors_of_slow_models_are_worth_a_table(chosen: str, following: str | None, slow: bool) -> None:
    more = {"EMBEDDING_PROVIDER_NEXT": following} if following else {}
    assert settings(EMBEDDING_PROVIDER=chosen, **more).slow_to_embed == slow
