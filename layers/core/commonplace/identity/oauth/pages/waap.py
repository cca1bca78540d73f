"""Settings of WaaP, sign-in by e-mail and social accounts (seed 000, section 2.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

METHODS = ("email", "phone", "social", "biometrics")
"""Its method `wallet` needs a service of others, and wallets are on the page anyway."""
SOCIALS = ("discord", "github", "google", "twitter", "bluesky")
THEMES = ("auto", "light", "dark")
MAX_TITLE_CHARACTERS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Waap:
    """As its script gets it."""

    methods: tuple[str, ...]
    socials: tuple[str, ...]
    theme: str
    title: str

    @classmethod
    def of(cls, values: Mapping[str, Any], site: str) -> Self:
        """Raises ValueError, whose text says what would be valid."""
        if unknown := sorted(set(values) - {"methods", "socials", "theme", "title"}):
            raise ValueError(f"WaaP knows methods, socials, theme and title, not {unknown[0][:40]!r}")
        title = values.get("title", f"Sign in to {site}"[:MAX_TITLE_CHARACTERS])
        if not isinstance(title, str) or len(title) > MAX_TITLE_CHARACTERS:
            raise ValueError(f"the title of WaaP is a text of at most {MAX_TITLE_CHARACTERS} characters")
        theme = values.get("theme", "auto")
        if theme not in THEMES:
            raise ValueError(f"the theme of WaaP must be one of {', '.join(THEMES)}")
        return cls(
            methods=_some("methods", values.get("methods", ["email", "social"]), METHODS),
            socials=_some("socials", values.get("socials", ["github", "discord", "google"]), SOCIALS),
            theme=theme,
            title=title,
        )

    def as_json(self, site: str) -> dict[str, Any]:
        return {
            "methods": list(self.methods),
            "socials": list(self.socials),
            "theme": self.theme,
            "title": self.title,
            "name": site,
        }

    @property
    def words(self) -> str:
        """Return what the button offers."""
        named = {"email": "e-mail", "phone": "phone", "social": "a social account", "biometrics": "a passkey"}
        told = [named[one] for one in self.methods]
        return f"{', '.join(told[:-1])} or {told[-1]}" if len(told) > 1 else told[0]


def _some(key: str, given: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(given, list) or not given or not all(one in known for one in given):
        raise ValueError(f"the {key} of WaaP must be some of {', '.join(known)}")
    return tuple(dict.fromkeys(given))
