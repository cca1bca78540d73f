"""New grants, and what leads to them: only who holds a code or a token of a grant can read what the grant knows."""

from dataclasses import dataclass
from typing import Literal

from commonplace.identity import secrets
from commonplace.identity.accounts import Profile
from commonplace.identity.issuing import subject_hash
from commonplace.identity.records import CODE_SECONDS, AuthorizationRequest, Code, Grant, Refresh, Source
from commonplace.identity.scopes import permission_of

PROFILE, GRANT = "profile", "grant"
"""Purposes of what is sealed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is granted, to whom, until when."""

    client_id: str
    client_name: str
    resource: str
    scopes: tuple[str, ...]
    seconds: int
    """How long the grant lasts, used or not."""
    client_source: Source = "operator"
    redirect_uri: str = ""
    resource_scopes: tuple[str, ...] | None = None
    organisation: str | None = None
    """Of agents."""


def new_grant(
    kind: Literal["person", "agent"], profile: Profile, terms: Terms, *, key: bytes, now: int, network: str
) -> tuple[Grant, str]:
    """The grant, and its secret."""
    secret = secrets.fresh()
    grant = Grant(
        id=secrets.digest(secret),
        kind=kind,
        subject_hash=subject_hash(key, profile.subject, terms.organisation),
        client_id=terms.client_id,
        client_name=terms.client_name,
        resource=terms.resource,
        scopes=terms.scopes,
        created_at=now,
        expires_at=now + terms.seconds,
        client_source=terms.client_source,
        redirect_uri=terms.redirect_uri,
        permission=permission_of(terms.scopes),
        resource_scopes=terms.resource_scopes,
        organisation=terms.organisation,
        sealed_profile=secrets.seal(secret, PROFILE, profile.as_json()),
        last_used_at=now,
        last_used_from=network,
    )
    return grant, secret


def new_code(grant: Grant, secret: str, request: AuthorizationRequest) -> tuple[str, Code]:
    """The code as the client gets it, and as it is kept."""
    code = secrets.fresh(secrets.CODE)
    kept = Code(
        hash=secrets.digest(code),
        grant_id=grant.id,
        client_id=grant.client_id,
        redirect_uri=request.redirect_uri,
        redirect_given=request.redirect_given,
        challenge=request.challenge,
        resource=grant.resource,
        scopes=grant.scopes,
        sealed_grant=secrets.seal(code, GRANT, {"secret": secret}),
        expires_at=min(grant.created_at + CODE_SECONDS, grant.expires_at),
    )
    return code, kept


def kept_token(token: str, grant: Grant, secret: str, expires_at: int) -> Refresh:
    """A refresh token as it is kept; it ends with its grant at the latest."""
    return Refresh(
        hash=secrets.digest(token),
        grant_id=grant.id,
        client_id=grant.client_id,
        sealed_grant=secrets.seal(token, GRANT, {"secret": secret}),
        expires_at=min(expires_at, grant.expires_at),
    )
