"""A made-up month of a team on a laptop cloud, and whether `kb stats --metrics` says of it what the team has counted.

The figures say nothing of how much a memory saves: tokens and votes are drawn by lot. They say that what agents send is
counted, each thing once, whatever is sent twice.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from bench import table
from bench.speed.memory import Server
from commonplace.memory.model import PHASES
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace_local.cli.dev import SAMPLE_NAME
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.source import plain_folder
from commonplace_local.knowledge_folder import SAMPLE

DAYS, STORIES_A_DAY, SEED = 20, 3, 20_261
COMMAND = (str(Path(sys.executable).with_name("commonplace")), "kb", "stats", "--metrics")
ROLES = {"pm": "pm", "elab": "pm", "dev": "dev", "review": "dev", "qa": "qa"}
SUBJECTS = (
    *("the route table", "a database migration", "the session cookie", "an uploaded image", "the search index"),
    *("a queue of messages", "the build cache", "a feature flag", "the payment webhook", "an exported report"),
    *("the mail template", "a rate limit"),
)
ADVICE = (
    *("write the failing test first", "measure before you change it", "ask who else reads it"),
    *("keep the old form for a release", "log what was left out", "set a limit of its size"),
    *("name its owner in the file", "try it with no data at all", "read its last three incidents"),
    *("run it twice in a row", "take its clock from outside", "say what happens when it is away"),
)
LESSONS = tuple(product(SUBJECTS, ADVICE))
MOST = 5
"""Lessons learned again, and entries rated lowest, that the command names."""


@dataclass
class Story:
    """What the team knows of one of its stories."""

    name: str
    asks: bool
    searches: int = 0
    answer_tokens: int = 0
    tokens_used: int | None = None


@dataclass
class Team:
    """Works through its stories, and counts by itself what it sends."""

    agent: Server
    random: Random
    stories: list[Story] = field(default_factory=list)
    searches: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By phase and role."""
    votes: dict[tuple[str, str], int] = field(default_factory=dict)
    """By entry and story: the last one holds."""
    recurrences: list[tuple[str, str]] = field(default_factory=list)
    """Entries and stories that learned them again."""
    learned: dict[str, tuple[str, str, tuple[str, str]]] = field(default_factory=dict)
    """The entry of a lesson: its text, the story that learned it first, subject and advice."""

    def day(self, stories: int) -> None:
        """Its stories ask by day and record in the evening, so that what they find hangs on no race with the index."""
        today = [self._begun() for _ in range(stories)]
        for story in today:
            if story.asks:
                self._work(story)
        for story in today:
            self._record(story)

    def _begun(self) -> Story:
        number = len(self.stories) + 1
        self.stories.append(Story(f"APP-{number:03}", asks=number % 3 != 0))
        return self.stories[-1]

    def _work(self, story: Story) -> None:
        for phase in PHASES:
            for _ in range(self.random.randint(1, 2)):
                subject, advice = self.random.choice(LESSONS)
                answer = self.agent.answer(
                    "kb_search", query=f"{subject}: {advice}", role=ROLES[phase], phase=phase, story=story.name, limit=5
                )
                self.searches[phase, ROLES[phase]] += 1
                story.searches += 1
                story.answer_tokens += estimate_tokens(answer["content"][0]["text"])
                self._rate(story, [one["id"] for one in answer["structuredContent"]["entries"]])

    def _rate(self, story: Story, hits: Sequence[str]) -> None:
        for hit in self.random.sample(hits, min(len(hits), 2)):
            relevance = self.random.randint(0, 5)
            # Some agents say it twice, and some change their minds.
            for vote in self.random.choice(([relevance], [relevance, relevance], [5 - relevance, relevance])):
                self.agent.call("kb_rate", id=hit, relevance=vote, story=story.name)
            self.votes[hit, story.name] = relevance

    def _record(self, story: Story) -> None:
        """A summary, two lessons that are new, up to two that others learned, in the same or in other words."""
        number = self.stories.index(story)
        if number % 10:
            story.tokens_used = self.random.randint(30_000, 50_000)
        new = [LESSONS[(2 * number + place) % len(LESSONS)] for place in range(2)]
        known = self.random.sample(list(self.learned), min(len(self.learned), self.random.randint(0, 2)))
        same = [id for id in known if self.random.random() < 0.5]
        texts = [f"Before you touch {subject}: {advice} ({story.name})." for subject, advice in new]
        metadata = {"tokens_used": story.tokens_used} if story.tokens_used else {}
        summary = {"ref": "summary", "content": f"{story.name} went as planned.", "metadata": metadata}
        entries: list[dict[str, Any]] = [
            summary | {"entry_type": "summary", "roles": ["all"]},
            *({"content": text, "entry_type": "fact", "roles": ["all"], "parent_ref": "summary"} for text in texts),
            *({"content": self.learned[id][0], "entry_type": "fact", "roles": ["all"]} for id in same),
        ]
        entries = [one | {"source_story": story.name} for one in entries]
        # A delivery whose answer was lost comes again.
        for _ in range(self.random.choice((1, 1, 2))):
            ids = self.agent.call("kb_bulk_import", entries=entries)["ids"]
        for place, (text, lesson) in enumerate(zip(texts, new, strict=True), start=1):
            self.learned[ids[str(place)]] = (text, story.name, lesson)
        for id in known:
            self.recurrences.append((id, story.name))
            if id not in same:
                self._reworded(story, id)
        # What it has learned itself is nothing that recurs.
        self.agent.call("kb_add", content=texts[0], entry_type="fact", roles=["dev"], source_story=story.name)

    def _reworded(self, story: Story, id: str) -> None:
        subject, advice = self.learned[id][2]
        words = f"{story.name} forgot it again: {advice}, or {subject} will cost you a day."
        for _ in range(self.random.choice((1, 2))):
            said = {"content": words, "entry_type": "fact", "roles": ["dev"], "source_story": story.name}
            self.agent.call("kb_add", **said, recurs_of=id)

    def metrics(self) -> dict[str, Any]:
        """Its own count, in the form of the command's."""
        asked = [one for one in self.stories if one.searches]
        spent = [one for one in self.stories if one.tokens_used is not None]
        seen = Counter(id for id, _ in self.recurrences)
        last = dict(self.recurrences)
        rated: dict[str, list[int]] = defaultdict(list)
        for (id, _), vote in self.votes.items():
            rated[id].append(vote)
        means = [(id, mean(given)) for id, given in rated.items()]
        low = sorted(means, key=lambda one: (one[1]["mean"], -one[1]["n"], one[0]))
        return {
            "tokens_per_story": {
                "with_searches": mean(one.tokens_used or 0 for one in spent if one.searches),
                "without_searches": mean(one.tokens_used or 0 for one in spent if not one.searches),
                "of_answers": mean(one.answer_tokens for one in asked),
            },
            "recurrence": {
                "recurrences": len(self.recurrences),
                "most": [
                    {"id": id, "seen": times, "first_story": self.learned[id][1], "last_story": last[id]}
                    for id, times in sorted(seen.items(), key=lambda one: (-one[1], one[0]))[:MOST]
                ],
            },
            "relevance": {
                **mean(self.votes.values()),
                "votes": {str(vote): times for vote, times in sorted(Counter(self.votes.values()).items())},
                "lowest": [{"id": id, **given} for id, given in low[:MOST]],
            },
            "adoption": {**mean(one.searches for one in self.stories), "stories_that_searched": len(asked)},
        }


def mean(values: Iterable[int]) -> dict[str, Any]:
    known = list(values)
    return {"n": len(known), "mean": round(fmean(known), 2) if known else None}


def main(arguments: Sequence[str]) -> int:
    """A month of a memory with nothing in it; `arguments` may name a folder for its data. 1 where a figure differs."""
    with tempfile.TemporaryDirectory(prefix="bench-month-") as made:
        folder = Path(arguments[0]) if arguments else Path(made)
        with Laptop(plain_folder(SAMPLE, SAMPLE_NAME), folder, environment={"MCP_ASSUMED_TIER": "vibecoder"}) as laptop:
            rows = measure(laptop.url, laptop.wait)
            print(command(laptop.url))
    table.show("memory_month", f"{DAYS} days of a team: `kb stats --metrics`, and what the team counted", rows)
    wrong = [row for row in rows if not row["the same"]]
    print(f"{len(rows) - len(wrong)} of {len(rows)} figures are the same.")
    return 1 if wrong else 0


def measure(url: str, settle: Callable[[], object], days: int = DAYS) -> list[table.Row]:
    """A row for each figure of the command. `settle` waits for the index."""
    agent = Server(url)
    team = Team(agent, Random(SEED))
    for _ in range(days):
        team.day(STORIES_A_DAY)
        settle()
    agent.close()
    told = json.loads(command(url, "--json"))
    by_phase: dict[str, dict[str, int]] = defaultdict(dict)
    for (phase, role), times in team.searches.items():
        by_phase[phase][role] = times
    counted = {"queries": dict(by_phase), **team.metrics()}
    return list(compared(dict(leaves({"queries": told["queries"], **told["metrics"]})), dict(leaves(counted))))


def command(url: str, *words: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE_")}
    done = subprocess.run(
        [*COMMAND, *words, "--url", url], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def compared(told: Mapping[str, Any], counted: Mapping[str, Any]) -> Iterator[table.Row]:
    for name in dict.fromkeys((*told, *counted)):
        pair = told.get(name), counted.get(name)
        yield {"figure": name, "command": _shown(pair[0]), "team": _shown(pair[1]), "the same": pair[0] == pair[1]}


def _shown(value: Any) -> str:
    return "-" if value is None else str(value)


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each figure with the way to it."""
    parts = value.items() if isinstance(value, dict) else enumerate(value, 1) if isinstance(value, list) else None
    if parts is None:
        yield name, value
        return
    for key, one in parts:
        yield from leaves(one, f"{name}.{key}" if name else str(key))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
