"""Which clients act for a person, and their end: *connected apps*, for the person and for operators."""

from collections.abc import Callable, Sequence

from commonplace.audit.records import NOWHERE
from commonplace.identity.records import Grant
from commonplace.identity.stores import GrantStore, SignInStore


class Connections:
    """Grants as people see them. Every revocation counts at once, and forgets the consent to that client too."""

    def __init__(
        self,
        *,
        grants: GrantStore,
        signins: SignInStore,
        key: Callable[[], bytes],
        clock: Callable[[], float],
        organisation: str = NOWHERE,
    ) -> None: ...

    def of(self, subject: str) -> Sequence[Grant]:
        """The grants of this person that live, the newest first."""
        raise NotImplementedError

    def revoke(self, subject: str, grant_id: str, network: str = "") -> bool:
        """One grant of this person; False when it is not theirs or had ended."""
        raise NotImplementedError

    def revoke_all(self, subject: str, network: str = "") -> int:
        """How many ended."""
        raise NotImplementedError

    def revoke_for_operator(self, grant_id: str) -> bool:
        raise NotImplementedError

    def revoke_client(self, client_id: str) -> int:
        """Every grant of a client that an operator removes; how many ended."""
        raise NotImplementedError
