"""The indexes of a collection by role, and one-step changes of roles."""

import logging

from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.search.migration import Facts, Generation, Role
from commonplace.search.model import EmbeddingProvider, IndexMismatch
from commonplace.search.opensearch import indices, mapping, search
from commonplace.search.opensearch.bulk import Refresh, refresh_index
from commonplace.search.opensearch.client import WRITE_SECONDS, OpenSearchClient, Refused
from commonplace.search.opensearch.engine import OpenSearchEngine
from commonplace.search.opensearch.indices import Aliases, OneIndex, Roles
from commonplace.search.opensearch.settings import IndexParameters

logger = logging.getLogger(__name__)

UNREADABLE = Facts(schema="unknown", chunker="unknown", model="unknown", mapping="unknown")
"""The facts of an index that does not tell its own."""


class OpenSearchGenerations:
    """`Generations` over the aliases `stem`, `stem-next` and `stem-previous`."""

    def __init__(
        self,
        client: OpenSearchClient,
        stem: str,
        provider: EmbeddingProvider | None,
        parameters: IndexParameters | None = None,
        *,
        refresh: Refresh = "false",
    ) -> None:
        self._client = client
        self._stem = stem
        self._provider = provider
        self._parameters = parameters or IndexParameters()
        indices.check(client, provider, self._parameters)
        self._aliases = Aliases(client, stem)
        self._refresh = refresh

    def wanted(self) -> Facts:
        return mapping.facts(self._provider, self._parameters, serverless=self._client.serverless)

    def all(self) -> list[Generation]:
        roles = self._aliases.roles()
        by_role: list[tuple[str | None, Role]] = [
            (roles.current, "current"),
            (roles.upcoming, "next"),
            (roles.previous, "previous"),
            *((name, "spare") for name in roles.spare),
        ]
        return [self._generation(name, role) for name, role in by_role if name]

    def create_next(self, *, anew: bool = False) -> Generation:
        roles = self._aliases.roles()
        if roles.upcoming and not anew and self._facts(roles.upcoming) == self.wanted():
            return self._generation(roles.upcoming, "next")
        if roles.upcoming:
            self._delete(roles.upcoming)
        taken = tuple(name for name in roles.every if name != roles.upcoming)
        made = indices.create_next(self._client, self._stem, self._provider, self._parameters, taken)
        return self._generation(made, "next")

    def engine(self, name: str) -> OpenSearchEngine:
        return OpenSearchEngine(
            self._client,
            self._stem,
            self._provider,
            self._parameters,
            refresh=self._refresh,
            directory=OneIndex(self._client, name),
        )

    def settle(self, name: str) -> None:
        if not self._client.serverless:
            settings = {"index": mapping.serving_settings(self._parameters)}
            self._client.indices.put_settings(index=name, body=settings, request_timeout=WRITE_SECONDS)
        refresh_index(self._client, name)

    def swap(self) -> tuple[str | None, str]:
        roles = self._aliases.roles()
        if roles.upcoming is None:
            raise InvalidInput("There is no next index.", hint="Build it first.", step="build")
        self._move(roles, current=roles.upcoming, upcoming=None, previous=roles.current)
        return roles.current, roles.upcoming

    def rollback(self) -> tuple[str, str]:
        roles = self._aliases.roles()
        if roles.previous is None or roles.current is None:
            raise InvalidInput("There is no previous index to go back to.", hint="See which there are.", step="status")
        self._move(roles, current=roles.previous, upcoming=roles.current, previous=None)
        return roles.current, roles.previous

    def drop(self, name: str) -> None:
        roles = self._aliases.roles()
        if name == roles.current:
            raise InvalidInput(f"{name} is the index that answers.", hint="Swap to another one first.")
        if name not in roles.every:
            raise InvalidInput(
                f"There is no index {name}.", hint="There are: " + (", ".join(roles.every) or "none at all") + "."
            )
        self._delete(name)

    def _move(self, roles: Roles, *, current: str, upcoming: str | None, previous: str | None) -> None:
        """Gives the roles to these indexes, in one change of the cluster's state: readers see all of it or nothing."""
        aliases = indices.role_aliases(self._stem)
        before = zip(aliases, (roles.current, roles.upcoming, roles.previous), strict=True)
        after = zip(aliases, (current, upcoming, previous), strict=True)
        # `must_exist`: when somebody else has moved them meanwhile, nothing of this happens.
        taken = [
            {"remove": {"index": name, "alias": alias, "must_exist": True}}
            for alias, name in before
            if name is not None
        ]
        given = [{"add": {"index": name, "alias": alias}} for alias, name in after if name is not None]
        try:
            self._client.indices.update_aliases(body={"actions": taken + given}, request_timeout=WRITE_SECONDS)
        except Refused as refused:
            raise Unavailable(f"The roles of the indexes have changed meanwhile ({refused}).") from refused
        logger.info("indexes changed roles", extra={"current": current, "next": upcoming, "previous": previous})

    def _generation(self, name: str, role: Role) -> Generation:
        return Generation(name, role, self._facts(name), search.count(self._client, name))

    def _facts(self, name: str) -> Facts:
        try:
            return self._aliases.opened(name).facts
        except IndexMismatch:
            return UNREADABLE

    def _delete(self, name: str) -> None:
        try:
            self._client.indices.delete(index=name, request_timeout=WRITE_SECONDS)
        except Refused as refused:
            if not refused.is_gone:
                raise Unavailable(f"The index {name} could not be deleted ({refused}).") from refused
        logger.info("an index was deleted", extra={"index": name})
