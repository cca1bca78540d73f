"""What agents reach: the MCP server's function."""

from constructs import Construct

from infra.functions import Platform, PythonFunction
from infra.identity import IdentityState, let_guard
from infra.models import let_search
from infra.providers import memory_mb
from infra.search_engine import SearchEngine
from infra.secrets import Secrets
from infra.store import State

MCP_PATHS = ("/mcp", "/mcp/{proxy+}")


class Mcp(PythonFunction):
    """Answers each request by itself, so that any instance may answer the next. Reads what REST reads."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        platform: Platform,
        *,
        state: State,
        engine: SearchEngine,
        secrets: Secrets,
        identity: IdentityState,
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
            snap_start=configuration.snap_start,
        )
        let_search(self, configuration, state, engine)
        let_guard(self, identity, state)
        if secrets.github_writer:
            self.allow(["secretsmanager:GetSecretValue"], [secrets.github_writer.secret_arn])
