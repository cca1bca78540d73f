"""Refresh tokens: each is spent for an heir, a lost answer can be had again, and a second use ends the family.

presented                           answer
newest                              spend it, mint an heir
spent, heir unused, within 60 s     the same heir again: derived from the token and a salt, never stored
spent, heir unused, later           void that heir, mint another
spent, heir used; or a void heir    reuse: the grant ends
"""

from collections.abc import Callable
from dataclasses import replace
from secrets import token_hex

from commonplace.identity import secrets
from commonplace.identity.oauth.answering import Answers, Form, Json, holder_of, wanted_scopes
from commonplace.identity.oauth.audit import issued, reused
from commonplace.identity.oauth.errors import OAuthError, invalid_grant, temporarily_unavailable
from commonplace.identity.oauth.opening import kept_token
from commonplace.identity.ports import GrantStore
from commonplace.identity.records import IDLE_SECONDS, RETRY_SECONDS, Client, Grant, Refresh
from commonplace.kernel.audit import NOWHERE
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.writes import Lost

ATTEMPTS = 4
"""Each judges what it finds anew: whoever was faster has changed it."""

REUSED = "refresh_reused"


class Rotation:
    """The refresh grant (RFC 6749, section 6; RFC 9700, section 4.14)."""

    def __init__(
        self,
        *,
        store: GrantStore,
        answers: Answers,
        key: Callable[[], bytes],
        clock: Callable[[], float],
        idle_seconds: int = IDLE_SECONDS,
        organisation: str = NOWHERE,
    ) -> None:
        self._store = store
        self._answers = answers
        self._key = key
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._organisation = organisation

    def refresh(self, form: Form, client: Client, network: str) -> Json:
        """Raises OAuthError, Unavailable: then the presented token is as good as before."""
        presented = form.get("refresh_token", "")
        if not presented:
            raise OAuthError("invalid_request", "refresh_token is missing.")
        for _ in range(ATTEMPTS):
            try:
                return self._once(presented, form, client, network)
            except Lost:
                continue
        raise temporarily_unavailable(Unavailable("Others refresh this token all the time."))

    def _once(self, presented: str, form: Form, client: Client, network: str) -> Json:
        now = int(self._clock())
        token, grant = self._found(presented, client, now)
        heir = self._store.refresh(token.heir) if token.heir else None
        if token.phase == "void" or (token.phase == "spent" and (heir is None or heir.phase != "current")):
            self._store.revoke(grant.id, REUSED, now, [reused(grant, REUSED, now, network, self._organisation)])
            raise invalid_grant(REUSED)
        scopes = wanted_scopes(form, grant.scopes)
        self._answers.check_resource(form, grant.resource)
        holder = holder_of(presented, token.sealed_grant, grant)
        standing = self._answers.standing(holder, fresh=True)
        again, salt = self._same_heir(presented, token, now), token_hex(16)
        follower = again or secrets.heir(self._key(), presented, salt)
        # Signed before anything is written: where no key can be had, nothing has happened.
        answer = self._answers.answer(holder, standing, scopes, now, refresh_token=follower)
        reason = "retried" if again else ""
        record = issued("refresh", grant, answer["scope"].split(), standing, now=now, network=network, reason=reason)
        if again and heir:
            self._store.retried(token, heir, now, [record])
            return answer
        kept = kept_token(follower, grant, holder.secret, now + self._idle_seconds)
        spent = replace(token, phase="spent", heir=kept.hash, salt=salt, spent_at=now)
        self._store.rotate(spent, kept, heir, now, [record])
        return answer

    def _found(self, presented: str, client: Client, now: int) -> tuple[Refresh, Grant]:
        token = self._store.refresh(secrets.digest(presented))
        if token is None or token.expires_at <= now:
            raise invalid_grant("refresh_unknown")
        if token.client_id != client.id:
            raise invalid_grant("refresh_of_another", token.grant_id)
        grant = self._store.grant(token.grant_id)
        if grant is None or not grant.alive(now) or grant.client_id != client.id:
            raise invalid_grant("grant_over")
        return token, grant

    def _same_heir(self, presented: str, token: Refresh, now: int) -> str | None:
        if token.phase != "spent" or token.salt is None or token.spent_at is None:
            return None
        follower = secrets.heir(self._key(), presented, token.salt)
        soon = now - token.spent_at <= RETRY_SECONDS
        return follower if soon and secrets.digest(follower) == token.heir else None
