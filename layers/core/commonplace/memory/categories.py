"""The kinds of things that are learned in a story (seed 001, "Seed Strategy" and "Workflow Integration")."""

import re
from dataclasses import dataclass

from commonplace.memory.entries import Role

CAPTURED = 0.8
"""Confidence in the explanation of a failure, until a quality gate has passed."""


@dataclass(frozen=True, slots=True)
class Category:
    """`key` is its list in a story's file; `category` names it in LEARNINGS.yaml."""

    category: str
    key: str
    title: str
    tags: tuple[str, ...]
    roles: tuple[Role, ...]
    headings: re.Pattern[str]
    """What the section is called in a LESSONS-LEARNED.md, in lower case."""
    confidence: float = 1.0


def _category(
    category: str,
    title: str,
    tags: str,
    roles: tuple[Role, ...],
    headings: str,
    *,
    key: str = "",
    confidence: float = 1.0,
) -> Category:
    pattern = re.compile(rf"(?:{headings})\b")
    return Category(
        category, key or f"{category.replace('-', '_')}s", title, tuple(tags.split()), roles, pattern, confidence
    )


CATEGORIES = (
    _category("reuse", "Reuse", "reuse pattern", ("dev",), r"(?:re-?us|discover)\w*", key="reuse"),
    _category("blocker", "Blockers", "blocker", ("dev", "pm"), r"block\w*|impediments?"),
    _category("time-sink", "Time sinks", "time-sink", ("dev", "pm"), r"time[ -]?sinks?|what took"),
    _category("verification", "Verification", "verification", ("qa", "dev"), r"verif\w*|fast-fail", key="verification"),
    _category("recommendation", "Recommendations", "recommendation", ("dev",), r"recommend\w*"),
    _category(
        "high-cost",
        "High cost",
        "high-cost tokens optimization",
        ("dev", "qa"),
        r"high[ -]cost|expensive|token optimi[sz]ation",
        key="high_cost_operations",
    ),
    _category("failure", "Failures", "failure", ("dev",), r"failures?|what failed", confidence=CAPTURED),
)

BY_NAME = {one.category: one for one in CATEGORIES}


def of_heading(text: str) -> Category | None:
    """The kind of section that this heading begins, however it goes on; None if it is none of them."""
    words = re.sub(r"\A[^\w]+|\A\d+[.)]\s+", "", text.casefold())
    return next((one for one in CATEGORIES if one.headings.match(words)), None)
