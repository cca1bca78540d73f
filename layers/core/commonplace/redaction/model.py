"""Values of the redaction: what is found in a text, and the text without it.

A text is Markdown. In code, only secrets are looked for; everywhere else personal data as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["NAME", "EMAIL", "PHONE", "LOCATION", "API_KEY", "CREDIT_CARD", "IP_ADDRESS", "USERNAME", "REDACTED"]
"""What stands in the place of a datum: `[EMAIL]`. REDACTED is everything without a kind of its own: numbers of bank
accounts and papers, and what an organisation's own patterns find."""
KINDS: tuple[Kind, ...] = get_args(Kind)

Origin = Literal["rule", "secret", "pattern", "model", "comprehend"]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Something found in a text: characters `start` to `end`."""

    start: int
    end: int
    kind: Kind
    origin: Origin
    score: float = 1.0  # From 0 to 1; rules with a check digit are certain
    label: str = ""  # The finer name that the detector has for it: `iban`, `GIVEN_NAME`


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a deployment and an organisation say of what is found."""

    keep_public_identities: bool = True
    """Wallet addresses and ENS names stay: in an organisation on a chain they are public."""
    patterns: tuple[str, ...] = ()
    """Regular expressions (RE2) of the organisation's own: what they match is masked as `[REDACTED]`."""
    allowed: tuple[str, ...] = ()
    """Texts that are never masked, whole and in any case: names of products, a public address. A secret always is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """Fields without personal data and secrets. It says nothing of what was taken out but how much."""

    fields: Mapping[str, str]
    counts: Mapping[Kind, int]  # How many placeholders of each kind stand in all fields together
    shares: Mapping[str, float]
    """By field: which part of its words, separated by white space, holds a placeholder; from 0 to 1."""
