"""What a `commonplace dev` takes of the shell's environment: which embedding model, and how the memory is searched."""

from collections.abc import Mapping

from local.errors import CommandError

MEMORY = ("KB_DEFAULT_SEARCH_LIMIT", "KB_MIN_CONFIDENCE", "KB_BATCH_SIZE", "KB_FUSION")
OPENAI = ("KB_EMBEDDING_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL")
HERE = ("local", "none", "onnx", "openai")
"""Models that work without an AWS account."""


def model_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What the functions are given; the key goes along only where OpenAI is chosen. Raises CommandError."""
    from commonplace.adapters import wiring
    from commonplace.kernel.environment import SettingsError
    from commonplace.settings import RetrievalSettings

    given = _given(environ, "EMBEDDING_PROVIDER", *OPENAI, *MEMORY)
    if "KB_EMBEDDING_MODEL" in given:
        given.setdefault("EMBEDDING_PROVIDER", "openai")
    try:
        settings = RetrievalSettings.from_environ({"STAGE": "dev", "INDEX_LOCATION": "file:///index", **given})
        kind = settings.embedding_provider.kind
        if kind not in HERE:
            raise SettingsError(f"EMBEDDING_PROVIDER is {kind}. On a laptop it must be one of: {', '.join(HERE)}.")
        if kind == "openai":
            wiring.embedding_providers(settings)
    except SettingsError as error:
        raise CommandError(str(error), "docs/models.md says how models are chosen.") from error
    return given if kind == "openai" else {name: value for name, value in given.items() if name not in OPENAI}


def _given(environ: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: value for name in names if (value := environ.get(name, "").strip())}
