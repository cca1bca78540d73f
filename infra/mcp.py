"""What agents reach: the MCP server's function."""

from constructs import Construct

from infra.configuration import Configuration
from infra.functions import Platform, PythonFunction
from infra.guarding import guard_environment
from infra.identity import IdentityState, let_guard
from infra.models import let_search
from infra.providers import memory_mb
from infra.reading import reader_environment
from infra.search_engine import SearchEngine
from infra.secrets import Secrets
from infra.store import State, Store

MCP_PATHS = ("/mcp", "/mcp/{proxy+}")


class Mcp(PythonFunction):
    """Answers each request by itself, so that any instance may answer the next. Reads what REST reads.

    `base_url` is the public origin: behind the front door a function sees another host than its callers do.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        platform: Platform,
        *,
        store: Store,
        state: State,
        engine: SearchEngine,
        secrets: Secrets,
        identity: IdentityState,
        base_url: str,
    ) -> None:
        configuration = platform.configuration
        super().__init__(
            scope,
            construct_id,
            platform,
            name="mcp",
            description="Answers agents over the Model Context Protocol",
            source="functions/mcp",
            memory_mb=memory_mb(configuration.providers, 1769),  # one whole processor: imports are what a start takes
            timeout_seconds=29,
            environment={
                **reader_environment(configuration, store, state, engine),
                **guard_environment(configuration, identity, state, base_url),
                **_surface(configuration),
                **_writing(configuration, secrets),
            },
            snap_start=configuration.snap_start,
        )
        let_search(self, configuration, state, engine)
        let_guard(self, identity, state)
        if secrets.github_writer:
            self.allow(["secretsmanager:GetSecretValue"], [secrets.github_writer.secret_arn])


def _surface(configuration: Configuration) -> dict[str, str]:
    surface = {
        "MCP_TOOLSETS": configuration.mcp_toolsets,
        "MCP_READ_ONLY": _flag(configuration.mcp_read_only),
        "MCP_FULL_TEXT_TIER": configuration.full_text_tier,
        "MCP_URI_HOST": configuration.uri_host,
        "MCP_NAME_AUTHORS": _flag(configuration.name_authors),
        "MCP_RATE_LIMIT_READS": str(configuration.rate_limit_mcp_reads),
        "MCP_RATE_LIMIT_WRITES": str(configuration.rate_limit_mcp_writes),
        "MCP_RATE_LIMIT_SEARCHES": str(configuration.rate_limit_mcp_searches),
        "MCP_RATE_LIMITS": configuration.mcp_rate_limits,
        "MCP_SERVICE_RATE_FACTOR": str(configuration.service_rate_factor),
        "MCP_ACCOUNT_RATE_FACTOR": str(configuration.account_rate_factor),
        "MCP_LISTENS_PER_ACCOUNT": str(configuration.listens_per_account),
        "MCP_LISTENS": str(configuration.listens),
    }
    origins = configuration.mcp_allowed_origins
    return surface | ({"MCP_ALLOWED_ORIGINS": origins} if origins else {})


def _writing(configuration: Configuration, secrets: Secrets) -> dict[str, str]:
    """Drafts become pull requests; without the secret there is nothing that opens them."""
    if not secrets.github_writer:
        return {}
    return {
        "GITHUB_API_URL": configuration.github_api_url,
        "GITHUB_WRITER_SECRET_ARN": secrets.github_writer.secret_arn,
    }


def _flag(value: bool) -> str:
    return "true" if value else "false"
