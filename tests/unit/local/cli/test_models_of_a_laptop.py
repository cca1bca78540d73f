import pytest

from commonplace_local.dev.settings import model_environment
from commonplace_local.errors import CommandError

KEY = {"OPENAI_API_KEY": "sk-0123456789"}


@pytest.mark.parametrize(
    "chosen",
    [
        {"EMBEDDING_PROVIDER": "openai", **KEY},
        {"EMBEDDING_PROVIDER": "openai:mine:768", "OPENAI_BASE_URL": "http://127.0.0.1:11434/v1"},
        {"EMBEDDING_PROVIDER": "openai", "KB_EMBEDDING_MODEL": "text-embedding-3-large", "KB_BATCH_SIZE": "50", **KEY},
        {"EMBEDDING_PROVIDER": "none"},
        {"KB_MIN_CONFIDENCE": "0.3", "KB_DEFAULT_SEARCH_LIMIT": "5"},
        {},
    ],
)
def test_what_the_shell_says_of_models_and_memory_is_what_the_functions_are_told(chosen: dict[str, str]) -> None:
    assert model_environment(chosen | {"PATH": "/bin", "EMBEDDING_PROVIDER_NEXT": "local", "KB_EMPTY": " "}) == chosen


def test_a_model_that_is_named_for_the_memory_alone_chooses_openai() -> None:
    given = {"KB_EMBEDDING_MODEL": "text-embedding-3-small", **KEY}
    assert model_environment(given) == {**given, "EMBEDDING_PROVIDER": "openai"}


def test_a_key_that_is_not_needed_stays_in_the_shell() -> None:
    assert model_environment(KEY) == {}
    assert model_environment(KEY | {"EMBEDDING_PROVIDER": "local"}) == {"EMBEDDING_PROVIDER": "local"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"EMBEDDING_PROVIDER": "openai"}, "OPENAI_API_KEY is not set"),
        ({"EMBEDDING_PROVIDER": "magic"}, "EMBEDDING_PROVIDER is malformed"),
        ({"EMBEDDING_PROVIDER": "bedrock-titan"}, "On a laptop it must be one of: local, none, minilm, onnx, openai"),
        ({"EMBEDDING_PROVIDER": "openai", "OPENAI_API_KEY": "a key"}, "OPENAI_API_KEY is malformed"),
        ({"KB_BATCH_SIZE": "1000"}, "KB_BATCH_SIZE is malformed"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(given: dict[str, str], said: str) -> None:
    with pytest.raises(CommandError, match=said) as raised:
        model_environment(given)
    assert "a key" not in str(raised.value).replace("needs a key", "")
