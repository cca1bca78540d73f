"""Sign-in with Ethereum (EIP-4361): the text to sign, the ports that verify it and name its signer, and the sign-in.

A challenge is taken once, signed and judged (seed 000, sections 2.2 and 2.6).
"""

import logging
import re
import secrets as random
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, asdict, dataclass
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

from commonplace.identity import secrets
from commonplace.identity.accounts import Profile, Standing, Standings
from commonplace.identity.ports import SignInStore
from commonplace.identity.records import CHALLENGE_SECONDS, Challenge
from commonplace.kernel.audit import NOWHERE, AuditLog, AuditRecord, Outcome
from commonplace.kernel.errors import BadRequest, CommonplaceError, Forbidden, Reasoned
from commonplace.kernel.limits import Limiter, Quota

logger = logging.getLogger(__name__)

MAX_TEXT_CHARACTERS = 1_000
"""The bound of a text that a client wrote. The parser takes time that grows with the square of the length."""
MAX_AGE = timedelta(minutes=10)
MAX_AHEAD = timedelta(seconds=60)
"""A client's clock may differ so far from ours."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_SIGNATURE = re.compile(r"0x(?:[0-9a-fA-F]{2}){65,8192}")
_NONCE_LINE = re.compile(r"^Nonce: ([A-Za-z0-9]{8,64})$", re.MULTILINE)
_UNSPEAKABLE = re.compile(r"[^A-Za-z0-9 :/?#@!$&'()*+,;=._~\[\]-]")  # EIP-4361: reserved, unreserved and space


NO_CHAIN = "no_chain"
"""The reason of a BadSignature where contracts cannot be called, because no chain is configured."""

_ID = re.compile(r"[0-9a-f]{32}")
_PURPOSE = "wallet"
MAX_STATE_CHARACTERS = 200
MIN_COOKIE_CHARACTERS, MAX_COOKIE_CHARACTERS = 32, 200

_WITHOUT_A_CHAIN = (
    "No chain is asked here, so only a wallet that signs with the key of its own address can sign in. "
    "Contract wallets need an endpoint of their chain, which the operator names."
)


class BadSignature(Reasoned):
    """The wallet did not sign this, or not for us. `reason` is for records: a stable code, nothing of the caller's."""


class BadText(Reasoned):
    """A text that a client wrote is none of EIP-4361, or not one that we take. `reason` as of BadSignature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The values that a signed text must contain to be accepted."""

    scheme: str
    """A text need not name it, but may name no other."""
    domain: str
    uri: str
    chain_id: int
    nonce: str
    now: datetime
    """With a time zone."""
    foreign: bool = False
    """The client wrote the text: then its form and its times are judged as well (`check_times`)."""

    @classmethod
    def of(cls, base_url: str, chain_id: int, nonce: str, now: float, *, foreign: bool = False) -> Self:
        """Return the terms of a deployment, by its own origin: never by the Host of a request. `now` is in epoch
        seconds."""
        return cls(
            scheme=urlsplit(base_url).scheme,
            domain=domain_of(base_url),
            uri=uri_of(base_url),
            chain_id=chain_id,
            nonce=nonce,
            now=datetime.fromtimestamp(now, UTC),
            foreign=foreign,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A wallet's ENS name and records: written by their owner, for display, never for a decision."""

    name: str | None = None
    avatar: str | None = None
    """An https URL, never fetched here."""
    github: str | None = None


NAMELESS = Named()


class SignatureCheck(Protocol):
    """Judges a signed text: a key's own signature, a contract's (EIP-1271), one of a contract to be (EIP-6492)."""

    def check(self, text: str, signature: str, terms: Terms) -> str:
        """The address that signed (EIP-55). The signature has the form that `is_signature` asks for.

        Raises BadSignature, BadText for a foreign text alone, and Unavailable when the chain must be asked and
        does not answer.
        """
        ...


class Names(Protocol):
    """Looks up what a wallet calls itself."""

    def of(self, address: str) -> Named:
        """NAMELESS for whoever has no name, or when it cannot be found out soon. Raises nothing."""
        ...


def message_text(
    *, base_url: str, site_name: str, address: str, chain_id: int, nonce: str, now: float, life: int
) -> str:
    """The text of EIP-4361 for a wallet to sign. `now` in epoch seconds, `life` in seconds."""
    issued = datetime.fromtimestamp(now, UTC)
    return "\n".join(
        [
            f"{domain_of(base_url)} wants you to sign in with your Ethereum account:",
            address,
            "",
            f"Sign in to {_spoken(site_name)}.",
            "",
            f"URI: {uri_of(base_url)}",
            "Version: 1",
            f"Chain ID: {chain_id}",
            f"Nonce: {nonce}",
            f"Issued At: {_written(issued)}",
            f"Expiration Time: {_written(issued + timedelta(seconds=life))}",
        ]
    )


def domain_of(base_url: str) -> str:
    """The host, with its port where it is not the scheme's own: what wallets compare with the page's origin."""
    return urlsplit(base_url).netloc.lower()


def uri_of(base_url: str) -> str:
    """Return what every sign-in text names as its subject."""
    return f"{base_url}/authorize"


def is_address(value: Any) -> bool:
    return isinstance(value, str) and _ADDRESS.fullmatch(value) is not None


def is_signature(value: Any) -> bool:
    """`0x` and 65 to 8,192 bytes of hex. That leaves out `0x` alone, by which Safe means "approved on chain"."""
    return isinstance(value, str) and len(value) <= 2 + 2 * 8_192 and _SIGNATURE.fullmatch(value) is not None


def nonce_in(text: Any) -> str:
    """The nonce of a text that a client wrote, found without parsing it. Raises BadText, at once for a long one."""
    if not isinstance(text, str):
        raise BadText("text_missing")
    if len(text) > MAX_TEXT_CHARACTERS:
        raise BadText("text_too_long")
    found = _NONCE_LINE.findall(text)
    if len(found) != 1:
        raise BadText("text_nonce")
    return str(found[0])


def check_times(issued: datetime, expires: datetime | None, now: datetime) -> None:
    """Refuse a text of a client's own that does not end, or is not new. Raises BadText."""
    if expires is None:
        raise BadText("text_without_expiry")
    if not now - MAX_AGE <= issued <= now + MAX_AHEAD:
        raise BadText("text_age")


def are_installed() -> bool:
    """Return False where a laptop lacks the extra `wallets`, whose packages judge signatures; a deployment has it."""
    return find_spec("siwe") is not None


def checksummed(address: str) -> str:
    """The one form in which an address names an account (EIP-55). `is_address` must hold."""
    from eth_hash.auto import keccak

    digits = address[2:].lower()
    told = keccak(digits.encode()).hex()
    return "0x" + "".join(one.upper() if int(by, 16) >= 8 else one for one, by in zip(digits, told, strict=False))


def _spoken(name: str) -> str:
    """A name in the characters that the text may have."""
    return " ".join(_UNSPEAKABLE.sub(" ", name).split())[:60] or "this site"


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class SignInRefused(Forbidden):
    """The wallet is not signed in. `reason` is for records and telemetry; the caller sees none but NO_CHAIN."""

    def __init__(self, reason: str) -> None:
        if reason == NO_CHAIN:
            super().__init__(_WITHOUT_A_CHAIN, hint="Use another wallet, or configure an endpoint of its chain.")
        else:
            super().__init__("The signature was not accepted.", hint="Start the sign-in again and sign the new text.")
        self.reason = reason


class SignInUnreadable(BadRequest):
    """The request to sign in is malformed. `reason` as of SignInRefused."""

    def __init__(self, reason: str) -> None:
        super().__init__("The request is malformed.", hint="Send {id, signature} for the text of /siwe/nonce.")
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInSettings:
    """The settings of the sign-in of a deployment."""

    base_url: str
    """The public origin: no path, no trailing slash."""
    site_name: str
    chain_id: int = 10
    organisation: str = NOWHERE
    """Under which sign-ins are recorded that came to nothing, or whose account belongs to none."""
    tries_per_minute: int = 30
    """Challenges, and answers to them, of one network each; 0 switches the limit off, as below."""
    sign_ins_per_hour: int = 30
    """The sign-ins of one account."""


@dataclass(frozen=True, slots=True)
class _ChallengeText:
    """The contents of a challenge."""

    nonce: str = ""
    text: str = ""
    """Exactly what is to be signed (EIP-4361); empty for a bare nonce, whose text the client writes."""
    address: str = ""
    """EIP-55; empty for a bare nonce."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """A request to verify, as far as it can be read before anything is judged."""

    challenge_id: str
    text: str | None
    """None for a text of ours, which is not sent back."""
    signature: Any
    state: str


@dataclass(slots=True, eq=False, repr=False)
class SignIn:
    """Challenges, and what comes of them. `subject_hash` makes the account's name in records."""

    store: SignInStore
    check: SignatureCheck
    _: KW_ONLY
    standings: Standings
    names: Names
    limiter: Limiter
    settings: SignInSettings
    audit: AuditLog
    subject_hash: Callable[[str], str]
    clock: Callable[[], float]

    def challenge(self, address: str | None, handle: str | None, cookie: str, network: str) -> dict[str, Any]:
        """`{nonce}`, and for an address `{id, message}` as well: the exact text to sign. Good for five minutes, once.

        `cookie` is the random value that the browser has, or gets with this answer, as `__Host-cp_challenge`; `handle`
        names the authorization request that the sign-in is for. Raises BadRequest, RateLimited, Unavailable.
        """
        if address is not None and not is_address(address):
            raise BadRequest("An address is 0x and 40 hex digits.")
        if not MIN_COOKIE_CHARACTERS <= len(cookie) <= MAX_COOKIE_CHARACTERS:
            raise BadRequest("The browser's cookie for this sign-in is malformed.")
        self._spend("signin-challenge", self.settings.tries_per_minute, 60, network)
        now = self.clock()
        nonce = random.token_hex(16)
        if address is None:
            asked = _ChallengeText(nonce)
        else:
            whose = checksummed(address)
            text = message_text(
                base_url=self.settings.base_url,
                site_name=self.settings.site_name,
                address=whose,
                chain_id=self.settings.chain_id,
                nonce=nonce,
                now=now,
                life=CHALLENGE_SECONDS,
            )
            asked = _ChallengeText(nonce, text, whose)
        # A bare nonce is its own id: the text that names it is all that its client sends.
        known = random.token_hex(16) if asked.text else asked.nonce
        challenge = Challenge(
            id=secrets.digest(known),
            sealed=secrets.seal(known, _PURPOSE, asdict(asked)),
            browser_hash=secrets.digest(cookie),
            handle_hash=secrets.digest(handle) if handle else "",
            expires_at=int(now) + CHALLENGE_SECONDS,
        )
        self.store.put_challenge(challenge)
        return {"nonce": asked.nonce} | ({"id": known, "message": asked.text} if asked.text else {})

    def verify(self, body: Mapping[str, Any], cookie: str, network: str) -> Profile:
        """Return who signed: `{id, signature}` for a text of ours, `{message, signature, stateId}` for a client's own.

        Whatever comes of it, the challenge is spent. Raises SignInRefused, SignInUnreadable, RateLimited, and
        Unavailable when the chain cannot be read.
        """
        answer = _read(body)
        self._spend("signin-verify", self.settings.tries_per_minute, 60, network)
        challenge = self.store.take_challenge(secrets.digest(answer.challenge_id))
        # None where there is no challenge, or one of another kind of sign-in.
        try:
            asked = (
                _ChallengeText(**secrets.unseal(answer.challenge_id, _PURPOSE, challenge.sealed)) if challenge else None
            )
        except secrets.SealBroken:
            asked = None
        whose = asked.address if asked else ""
        try:
            now = self.clock()
            if challenge is None or asked is None or bool(asked.text) != (answer.text is None):
                raise BadSignature("challenge_unknown")
            if now >= challenge.expires_at:
                raise BadSignature("challenge_expired")
            if not cookie or not secrets.same(secrets.digest(cookie), challenge.browser_hash):
                raise BadSignature("other_browser")
            if answer.state and challenge.handle_hash and secrets.digest(answer.state) != challenge.handle_hash:
                raise BadSignature("other_request")
            if not is_signature(answer.signature):
                raise BadSignature("signature_form")
            foreign = answer.text is not None
            terms = Terms.of(self.settings.base_url, self.settings.chain_id, asked.nonce, now, foreign=foreign)
            address = self.check.check(answer.text or asked.text, answer.signature, terms)
            if asked.address and address != asked.address:
                raise BadSignature("other_address")
        except (BadSignature, BadText) as error:
            self._record("denied", whose, network, reason=error.reason)
            if isinstance(error, BadText):
                raise SignInUnreadable(error.reason) from None
            raise SignInRefused(error.reason) from None
        except CommonplaceError as error:
            self._record("failed", whose, network, reason=error.code.lower())
            raise
        # The roles are read anew, so that what a token says next is not older than the sign-in.
        try:
            self._spend("signin", self.settings.sign_ins_per_hour, 3_600, address)
            standing = self.standings.of(address, fresh=True)
        except CommonplaceError as error:
            outcome: Outcome = "denied" if error.status < 500 else "failed"
            self._record(outcome, address, network, reason=error.code.lower())
            raise
        named = self.names.of(address)
        self.audit.write(self._written("ok", address, network, "", standing))
        return Profile(
            subject=address,
            kind="wallet",
            address=address,
            name=named.name,
            avatar=named.avatar,
            github=named.github,
        )

    def _spend(self, name: str, calls: int, window_seconds: int, whose: str) -> None:
        self.limiter.spend(Quota(name, calls, window_seconds), whose, "Too many sign-ins.")

    def _record(self, outcome: Outcome, address: str, network: str, *, reason: str) -> None:
        """Record what changed nothing: a log that does not answer does not turn a refusal into something else."""
        try:
            self.audit.write(self._written(outcome, address, network, reason))
        except CommonplaceError:
            logger.warning("a refused sign-in was not recorded", extra={"reason": reason})

    def _written(
        self, outcome: Outcome, address: str, network: str, reason: str, standing: Standing | None = None
    ) -> AuditRecord:
        """`subject` of a refusal is whom the challenge was for: nobody has proved to be it."""
        details = {"tier": standing.tier, "roles": " ".join(standing.roles)} if standing else {}
        return AuditRecord(
            event="signin",
            outcome=outcome,
            at=self.clock(),
            organisation=(standing.organisation if standing else None) or self.settings.organisation,
            subject=self.subject_hash(address) if address else "",
            reason=reason,
            network=network,
            details={"kind": "wallet"} | details,
        )


def _read(body: Mapping[str, Any]) -> _Answer:
    """Raises SignInUnreadable; for a text that is too long at once, before anything else looks at it."""
    known, text, state = body.get("id"), body.get("message"), body.get("stateId") or ""
    if (known is None) == (text is None) or not isinstance(state, str) or len(state) > MAX_STATE_CHARACTERS:
        raise SignInUnreadable("body")
    if text is not None:
        try:
            return _Answer(nonce_in(text), text, body.get("signature"), state)
        except BadText as error:
            raise SignInUnreadable(error.reason) from None
    # An id of another form was never given out, and is answered like one that is gone.
    given = known if isinstance(known, str) and _ID.fullmatch(known) else "-"
    return _Answer(given, None, body.get("signature"), state)
