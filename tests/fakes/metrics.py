"""What a function would have counted, read from the lines that CloudWatch reads (the embedded metric format)."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from commonplace.kernel import telemetry

NAMESPACE = "Commonplace/dev"


@dataclass(frozen=True)
class Counted:
    metric: str
    value: float
    unit: str = "Count"
    dimensions: dict[str, str] = field(default_factory=dict)


class Metrics:
    """Makes this process one that counts, until the test ends."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(telemetry, "_namespaces", [NAMESPACE])
        self._capsys = capsys

    def counted(self) -> list[Counted]:
        """Since the last question."""
        lines = [line for line in self._capsys.readouterr().out.splitlines() if line.startswith("{")]
        return [_read(told) for told in map(json.loads, lines) if "_aws" in told]


def _read(told: dict[str, Any]) -> Counted:
    (directive,) = told["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == NAMESPACE
    (metric,), (names,) = directive["Metrics"], directive["Dimensions"]
    (value,) = told[metric["Name"]]
    return Counted(metric["Name"], value, metric["Unit"], {name: told[name] for name in names})
