"""The ports to the authorization server's table. Every single use is one conditional write; every read consistent.

Whatever has expired counts as absent, however late the store deletes it. Methods that change something write their
audit records in the same transaction. All raise Unavailable when the store does not respond or throttles.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from commonplace.identity.records import (
    Challenge,
    Client,
    Code,
    Grant,
    PendingRequest,
    ProviderSession,
    Refresh,
    Remembered,
    Session,
)
from commonplace.kernel.audit import Audit


class ClientStore(Protocol):
    """Clients that registered or were registered, and metadata documents that were fetched."""

    def client(self, client_id: str) -> Client | None: ...

    def add_client(self, client: Client, audit: Audit = ()) -> None:
        """Raises Lost when there is one of that id."""
        ...

    def renew_client(self, client_id: str, expires_at: int) -> None:
        """Does nothing for a client that is gone, or whose registration lasts longer already."""
        ...

    def remove_client(self, client_id: str, audit: Audit = ()) -> bool:
        """False when there was none."""
        ...

    def clients(self) -> Iterator[Client]:
        """Every one that is registered, for operators."""
        ...

    def document(self, url: str) -> tuple[Client | None, int] | None:
        """The client of a metadata document, or None in its place where the fetch failed lately; and until when."""
        ...

    def keep_document(self, url: str, client: Client | None, expires_at: int) -> None: ...

    def forget_document(self, url: str) -> None: ...

    def once(self, kind: str, value: str, expires_at: int) -> bool:
        """Return whether this is the first time: of a `jti` and the like, by hash."""
        ...


class GrantStore(Protocol):
    """Grants, and the codes and refresh tokens that lead to them."""

    def open(self, grant: Grant, code: Code | None = None, refresh: Refresh | None = None, audit: Audit = ()) -> None:
        """Stores a new grant with what leads to it. Older grants beyond the cap of a person and client are revoked."""
        ...

    def code(self, code_hash: str) -> Code | None: ...

    def refresh(self, token_hash: str) -> Refresh | None: ...

    def grant(self, grant_id: str) -> Grant | None: ...

    def redeem(self, code: Code, refresh: Refresh | None, now: int, audit: Audit = ()) -> None:
        """Marks the code used and stores the refresh token. Raises Lost: used, or its grant revoked, meanwhile."""
        ...

    def rotate(self, spent: Refresh, heir: Refresh, voided: Refresh | None, now: int, audit: Audit = ()) -> None:
        """Spends a token for its heir, and voids an heir that never was used. Raises Lost."""
        ...

    def retried(self, spent: Refresh, heir: Refresh, now: int, audit: Audit = ()) -> None:
        """Notes that the same heir is given again. Raises Lost when it is not current, or its grant revoked."""
        ...

    def revoke(self, grant_id: str, because: str, now: int, audit: Audit = ()) -> bool:
        """Ends the grant with everything of it, at once. False when it had ended before, or never was."""
        ...

    def revoke_token(self, grant_id: str, jti: str, expires_at: int, audit: Audit = ()) -> None:
        """Ends one access token. Entries of tokens that have expired are dropped."""
        ...

    def touch(self, grant_id: str, now: int, network: str) -> None:
        """Notes a use; best effort, and not more often than every five minutes."""
        ...

    def of_subject(self, subject_hash: str) -> Sequence[Grant]:
        """The person's grants that live, the newest first."""
        ...

    def all(self) -> Iterator[Grant]:
        """Every grant that lives, for operators."""
        ...


class SignInStore(Protocol):
    """The port to pending requests, challenges, sessions and consents."""

    def put_pending(self, handle_hash: str, pending: PendingRequest) -> None: ...

    def pending(self, handle_hash: str) -> PendingRequest | None: ...

    def take_pending(self, handle_hash: str) -> PendingRequest | None:
        """Out of the store, by one atomic delete: of two callers one gets it."""
        ...

    def put_challenge(self, challenge: Challenge) -> None: ...

    def take_challenge(self, challenge_id: str) -> Challenge | None:
        """Take the challenge as `take_pending` does."""
        ...

    def put_session(self, session: Session) -> None: ...

    def session(self, session_hash: str) -> Session | None: ...

    def end_session(self, session_hash: str) -> None: ...

    def put_provider_session(self, session: ProviderSession) -> None: ...

    def provider_session(self, session_id: str) -> ProviderSession | None: ...

    def replace_provider_session(self, session: ProviderSession) -> None:
        """In place of the version before. Raises Lost when that is there no more."""
        ...

    def end_provider_session(self, session_id: str) -> None: ...

    def remember(self, consent: Remembered) -> None: ...

    def remembered(self, subject_hash: str, client_id: str, redirect_uri: str, resource: str) -> Remembered | None: ...

    def forget(self, subject_hash: str, client_id: str | None = None) -> None:
        """Consents of this person, for one client or for all."""
        ...
