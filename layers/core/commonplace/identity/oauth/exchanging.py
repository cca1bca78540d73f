"""Authorization codes into tokens, in the order of checks that burns no code by mistake and takes none twice.

The code is found by its hash and its client, and the presenter proves to be who asked for it, before anything acts on
its grant: who has seen a code and holds no verifier can neither use it nor end what came of it. It is used up last, in
the write that stores the refresh token, so that a request that is wrong in any way leaves it to who can use it
(RFC 6749, section 4.1.3; RFC 7636; RFC 9700, section 4.5; OAuth 2.1, section 4.1.3).
"""

import base64
import hashlib
import re
from collections.abc import Callable

from commonplace.identity import secrets
from commonplace.identity.oauth.answering import Answers, Form, Json, holder_of, wanted_scopes
from commonplace.identity.oauth.audit import issued, reused
from commonplace.identity.oauth.errors import OAuthError, invalid_grant
from commonplace.identity.oauth.opening import kept_token
from commonplace.identity.ports import GrantStore
from commonplace.identity.records import IDLE_SECONDS, Client, Code, Grant
from commonplace.kernel.audit import NOWHERE
from commonplace.kernel.writes import Lost

REPLAYED = "code_replayed"

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


class Exchange:
    """The authorization code grant."""

    def __init__(
        self,
        *,
        store: GrantStore,
        answers: Answers,
        clock: Callable[[], float],
        idle_seconds: int = IDLE_SECONDS,
        organisation: str = NOWHERE,
    ) -> None:
        self._store = store
        self._answers = answers
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._organisation = organisation

    def redeem(self, form: Form, client: Client, network: str) -> Json:
        """Raises OAuthError, Unavailable: then the code is as good as before, unless it was used before."""
        now = int(self._clock())
        presented = form.get("code", "")
        if not presented:
            raise OAuthError("invalid_request", "code is missing.")
        code, grant = self._found(presented, client)
        _check_proof(form, code)
        if code.used_at is not None:
            raise self._replayed(grant, now, network)
        if code.expires_at <= now or not grant.alive(now):
            raise invalid_grant("code_expired")
        self._answers.check_resource(form, code.resource)
        scopes = wanted_scopes(form, grant.scopes)
        holder = holder_of(presented, code.sealed_grant, grant)
        standing = self._answers.standing(holder, fresh=False)
        token = secrets.fresh(secrets.REFRESH)
        answer = self._answers.answer(holder, standing, scopes, now, refresh_token=token)
        kept = kept_token(token, grant, holder.secret, now + self._idle_seconds)
        record = issued("grant", grant, answer["scope"].split(), standing, now=now, network=network)
        try:
            self._store.redeem(code, kept, now, [record])
        except Lost:
            raise self._lost(code, grant, now, network) from None
        return answer

    def _found(self, presented: str, client: Client) -> tuple[Code, Grant]:
        code = self._store.code(secrets.digest(presented))
        if code is None:
            raise invalid_grant("code_unknown")
        if code.client_id != client.id:
            raise invalid_grant("code_of_another", code.grant_id)
        grant = self._store.grant(code.grant_id)
        if grant is None or grant.client_id != client.id:
            raise invalid_grant("grant_over")
        return code, grant

    def _lost(self, code: Code, grant: Grant, now: int, network: str) -> OAuthError:
        """Somebody else used the code, or the grant ended, while we looked."""
        kept = self._store.code(code.hash)
        if kept is not None and kept.used_at is not None:
            return self._replayed(grant, now, network)
        return invalid_grant("grant_over")

    def _replayed(self, grant: Grant, now: int, network: str) -> OAuthError:
        self._store.revoke(grant.id, REPLAYED, now, [reused(grant, REPLAYED, now, network, self._organisation)])
        return invalid_grant(REPLAYED)


def _check_proof(form: Form, code: Code) -> None:
    """The redirect URI of the request, and the verifier of its challenge (RFC 7636, section 4.6)."""
    named = form.get("redirect_uri", "")
    if (named or code.redirect_given) and not secrets.same(named, code.redirect_uri):
        raise invalid_grant("redirect_differs", code.grant_id)
    verifier = form.get("code_verifier", "")
    if not verifier:
        raise OAuthError("invalid_request", "code_verifier is missing.")
    if not _VERIFIER.fullmatch(verifier):
        raise invalid_grant("verifier_malformed", code.grant_id)
    told = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    if not code.challenge or not secrets.same(told, code.challenge):
        raise invalid_grant("verifier_wrong", code.grant_id)
