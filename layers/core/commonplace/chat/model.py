"""What a conversation is: its owner, its row in a list, a run that is going on, and the sources of an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

SEARCH, DRAFT, READ = "searchKnowledge", "createDraft", "getDocument"
"""The agent's tools (seed 000, section 9.1)."""
SEARCH_ALL = "searchCommons"
"""The search of partners and our own knowledge base at once (seed 000, section 9.2)."""
APART = "__"
"""Stands between a partner and its tool, in their names here alone."""

State = Literal["running", "done", "stopped", "failed"]

MAX_PROMPT_CHARACTERS = 8_000
TITLE_CHARACTERS = 80
MAX_STEPS = 5
"""Requests to the model for one message of a person (seed 000, section 9.1)."""
MAX_STEPS_OF_PARTNERS = 10
"""The same where there are partners (seed 000, section 9.2)."""
LEASE_SECONDS = 15.0
"""A run that has not been heard of for so long has ended with its process."""

ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_LINK = re.compile(r"https?://|/(?!/)")
_CITED = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()")


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a conversation is."""

    organisation: str
    account: str


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation in a list."""

    id: str
    title: str
    updated_at: int
    """Epoch milliseconds."""
    expires_at: int


@dataclass(frozen=True, slots=True)
class Live:
    """The last run of a conversation, and whether it goes on."""

    run: str
    state: State
    lease: int
    """Epoch milliseconds until which the run is taken to go on."""
    expires_at: int
    prompt: str = ""
    """The message of the person that it answers, as JSON of the AI SDK; empty where it goes on after an approval."""
    stop: bool = False

    def running(self, now: float) -> bool:
        """Return whether the run goes on, at this time in epoch seconds."""
        return self.state == "running" and self.lease > now * 1000


@dataclass(frozen=True, slots=True)
class Source:
    """What `[number]` of an answer means."""

    number: int
    title: str
    url: str


def sources_of(output: Any) -> list[Source]:
    """Return the sources in what a tool has returned."""
    results = output.get("results") if isinstance(output, dict) else None
    found = [one for one in results or () if isinstance(one, dict)]
    whole = [one for one in found if one.keys() >= {"n", "title", "url"}]
    return [Source(one["n"], str(one["title"]), str(one["url"])) for one in whole if _LINK.match(str(one["url"]))]


@dataclass(frozen=True, slots=True)
class Citations:
    """The numbers that an answer cites: of its sources, and of none."""

    cited: tuple[int, ...]
    unknown: tuple[int, ...]

    @classmethod
    def of(cls, text: str, sources: Sequence[Source]) -> Citations:
        """Return the citations of a text, in the order in which they come first."""
        numbers = {source.number for source in sources}
        found = dict.fromkeys(int(number) for group in _CITED.findall(text) for number in group.split(","))
        cited, unknown = (tuple(one for one in found if (one in numbers) is known) for known in (True, False))
        return cls(cited, unknown)

    @property
    def notice(self) -> str:
        """Return what an answer has to say of itself; empty where all is well."""
        said = [] if self.cited else ["This answer cites no source of the knowledge base."]
        if self.unknown:
            said.append(f"There is no source {', '.join(f'[{number}]' for number in self.unknown)}.")
        return " ".join(said)
