"""*Connected apps*: the clients that act for a person, and their removal by the person or an operator."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from commonplace.identity.access_tokens import subject_hash
from commonplace.identity.audit import revoked
from commonplace.identity.ports import GrantStore, SignInStore
from commonplace.identity.records import Grant
from commonplace.kernel.audit import NOWHERE


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Connections:
    """Grants as people see them. Every revocation counts at once, and forgets the consent to that client too.

    `key` and `organisation` as in `Consents`.
    """

    grants: GrantStore
    signins: SignInStore
    key: Callable[[], bytes]
    clock: Callable[[], float]
    organisation: str = NOWHERE

    def of(self, subject: str) -> Sequence[Grant]:
        """The grants of this person that live, the newest first."""
        return self.grants.of_subject(subject_hash(self.key(), subject))

    def revoke(self, subject: str, grant_id: str, network: str = "") -> bool:
        """One grant of this person; False when it is not theirs or had ended."""
        grant = next((grant for grant in self.of(subject) if grant.id == grant_id), None)
        return grant is not None and self._end(grant, "person", network)

    def revoke_all(self, subject: str, network: str = "") -> int:
        """Return how many ended. No consent of this person is remembered any longer."""
        ended = sum(self._end(grant, "person", network) for grant in self.of(subject))
        self.signins.forget(subject_hash(self.key(), subject))
        return ended

    def revoke_for_operator(self, grant_id: str) -> bool:
        grant = self.grants.grant(grant_id)
        return grant is not None and self._end(grant, "operator", "")

    def revoke_client(self, client_id: str) -> int:
        """Every grant of a client that an operator removes; how many ended."""
        found = [grant for grant in self.grants.all() if grant.client_id == client_id]
        return sum(self._end(grant, "client_removed", "") for grant in found)

    def _end(self, grant: Grant, because: str, network: str) -> bool:
        # The consent first: if the second write fails, the person asks again and both are gone.
        self.signins.forget(grant.subject_hash, grant.client_id)
        now = int(self.clock())
        record = revoked(grant, because, now, network, self.organisation)
        return self.grants.revoke(grant.id, because, now, [record])
