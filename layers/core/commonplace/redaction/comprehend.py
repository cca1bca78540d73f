"""Amazon Comprehend as a detector: `DetectPiiEntities`, which reads English and Spanish.

What it finds comes beside what the rules find. Text of another language is read as English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from commonplace.kernel.errors import Unavailable
from commonplace.redaction.model import Kind, Span

MAX_BYTES = 90_000  # Of one call, which may have 100 kB
LIKELY = 0.5

KINDS: Mapping[str, Kind] = {
    "NAME": "NAME",
    "EMAIL": "EMAIL",
    "PHONE": "PHONE",
    "ADDRESS": "LOCATION",
    "CREDIT_DEBIT_NUMBER": "CREDIT_CARD",
    "IP_ADDRESS": "IP_ADDRESS",
    "USERNAME": "USERNAME",
    "PASSWORD": "API_KEY",
    "AWS_ACCESS_KEY": "API_KEY",
    "AWS_SECRET_KEY": "API_KEY",
}
"""By Comprehend's type; the others, numbers of accounts and papers, have no kind of their own."""
NOT_PERSONAL = ("AGE", "DATE_TIME", "URL")

_BETWEEN = "\n\n"
_SPANISH = re.compile(r"\b(?:de|la|que|el|en|los|las|del|se|por|con|para|una|es|no)\b", re.IGNORECASE)
_ENGLISH = re.compile(r"\b(?:the|of|and|to|in|is|that|for|it|with|was|on|are|this|not)\b", re.IGNORECASE)


class Comprehend:
    """Implements `Detector`. `client` is one of Amazon Comprehend."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return the spans of each text. Raises Unavailable."""
        found: list[list[Span]] = [[] for _ in texts]
        # What is paid for at least is 300 characters of each call, so texts share one.
        calls: list[list[int]] = [[]]
        size = 0
        for position, text in enumerate(texts):
            weight = len(text.encode("utf-8", "replace")) + len(_BETWEEN)
            if calls[-1] and size + weight > MAX_BYTES:
                calls.append([])
                size = 0
            calls[-1].append(position)
            size += weight
        for positions in calls:
            entities = self._entities(_BETWEEN.join(texts[position] for position in positions))
            start = 0
            for position in positions:
                end = start + len(texts[position])
                for entity in entities:
                    name, score = entity["Type"], entity["Score"]
                    first, last = max(entity["BeginOffset"], start), min(entity["EndOffset"], end)
                    if name not in NOT_PERSONAL and score >= LIKELY and first < last:
                        kind = KINDS.get(name, "REDACTED")
                        found[position].append(Span(first - start, last - start, kind, "comprehend", score, name))
                start = end + len(_BETWEEN)
        return found

    def _entities(self, text: str) -> list[Mapping[str, Any]]:
        from botocore.exceptions import BotoCoreError, ClientError

        if not text.strip():
            return []
        try:
            answer = self._client.detect_pii_entities(
                Text=text.encode("utf-8", "replace").decode(), LanguageCode=language(text)
            )
        except (BotoCoreError, ClientError) as error:
            code = error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__
            raise Unavailable(f"Amazon Comprehend does not answer: {code}.") from None
        entities: list[Mapping[str, Any]] = answer["Entities"]
        return entities


def language(text: str) -> Literal["en", "es"]:
    """By the small words of both."""
    return "es" if len(_SPANISH.findall(text)) > len(_ENGLISH.findall(text)) else "en"
