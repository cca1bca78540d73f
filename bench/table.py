"""What every benchmark prints and keeps: figures, one aligned table, the same as JSON in `bench/results/`, a chart."""

import json
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from math import ceil, log10
from pathlib import Path
from statistics import quantiles


def percentile(values: Sequence[float], percent: int) -> float:
    """Interpolated; the value itself when there is only one. Raises ValueError for none."""
    if not values:
        raise ValueError("no values")
    return values[0] if len(values) == 1 else quantiles(values, n=100, method="inclusive")[percent - 1]


def ratio(value: float, baseline: float) -> float | None:
    """How many times the baseline; None when that took no time."""
    return value / baseline if baseline else None


@dataclass(frozen=True, slots=True)
class Target:
    """What a count may come to at most; None means that nothing is asked of it."""

    calls: int | None = None
    texts: int | None = None

    def missed(self, name: str, *, calls: int, texts: int) -> list[str]:
        """A sentence for each count that is above its target."""
        checks: Iterable[tuple[str, int, int | None]] = (
            ("calls to GitHub", calls, self.calls),
            ("texts embedded", texts, self.texts),
        )
        return [
            f"{name}: {count} {what}, at most {most} are allowed."
            for what, count, most in checks
            if most is not None and count > most
        ]


RESULTS = Path(__file__).parent / "results"

Value = str | int | float | bool | None
Row = Mapping[str, Value]


def show(name: str, title: str, rows: Sequence[Row], *, note: str = "") -> Path:
    """Prints the table and writes `bench/results/{name}.json`; returns that file. Columns come from the first row."""
    print(f"\n{title}")
    print("\n".join(lines(rows)))
    if note:
        print(note)
    return keep(name, title, rows, note=note)


def lines(rows: Sequence[Row]) -> list[str]:
    """Words to the left, numbers to the right."""
    if not rows:
        return ["(nothing)"]
    columns = list(rows[0])
    cells = [columns, *([text(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    numeric = [all(not isinstance(row.get(column), str) for row in rows) for column in columns]
    aligned = [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        )
        for row in cells
    ]
    return [line.rstrip() for line in (aligned[0], "  ".join("-" * width for width in widths), *aligned[1:])]


def text(value: Value) -> str:
    """Three significant digits are as many as a laptop's timing is worth."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
        case int():
            return f"{value:,}"
        case _:
            return str(value)


def keep(name: str, title: str, rows: Sequence[Row], *, note: str = "") -> Path:
    """Writes the figures with the machine and the moment they were taken on."""
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{name}.json"
    facts = {
        "name": name,
        "title": title,
        "note": note,
        "measuredAt": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "machine": {"system": platform.system(), "architecture": platform.machine(), "python": sys.version.split()[0]},
        "rows": [dict(row) for row in rows],
    }
    file.write_text(json.dumps(facts, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return file


WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 140, 24, 44
COLOURS = ("#2563eb", "#6b7280", "#d97706", "#059669")
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#374151}.axis{stroke:#9ca3af}.grid{stroke:#9ca3af;opacity:.3}"
    "@media (prefers-color-scheme:dark){text{fill:#d1d5db}}"
)


def draw(file: Path, rows: Sequence[Row], lines: Mapping[str, str], *, x: str) -> None:
    """A line for each of `lines` (its name and its column), over column `x` on a logarithmic scale, in ms from 0."""
    file.write_text(svg(rows, lines, x=x), encoding="utf-8")


def svg(rows: Sequence[Row], lines: Mapping[str, str], *, x: str) -> str:
    """As `draw`. Raises ValueError when there is nothing to draw."""
    if not rows:
        raise ValueError("nothing to draw")
    sizes = [_number(row, x) for row in rows]
    top = _round_up(max(_number(row, column) for row in rows for column in lines.values()))
    across = _across(sizes)

    def down(value: float) -> float:
        return HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">']
    parts.append(f"<title>{escape(', '.join(lines))}: milliseconds by {escape(x)}</title><style>{STYLE}</style>")
    for step in range(5):
        value = top * step / 4
        parts.append(f'<path class="grid" d="M{LEFT} {down(value):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{down(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    parts.append(f'<text x="{LEFT - 8}" y="{TOP - 10}" text-anchor="end">ms</text>')
    for position, size in zip(across, sizes, strict=True):
        parts.append(f'<text x="{position:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{size:,.0f}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x)}</text>')
    labels = _apart([(down(_number(rows[-1], column)), name) for name, column in lines.items()])
    for colour, (name, column) in zip(COLOURS, lines.items(), strict=False):
        points = [(place, down(_number(row, column))) for place, row in zip(across, rows, strict=True)]
        path = "L".join(f"{left:.1f} {height:.1f}" for left, height in points)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{left:.1f}" cy="{height:.1f}" r="3" fill="{colour}"/>' for left, height in points]
        parts.append(
            f'<text x="{WIDTH - RIGHT + 10}" y="{labels[name] + 4:.1f}" style="fill:{colour}">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _across(sizes: Sequence[float]) -> list[float]:
    low, high = log10(sizes[0]), log10(sizes[-1])
    span = (high - low) or 1.0
    return [LEFT + 16 + (log10(size) - low) / span * (WIDTH - LEFT - RIGHT - 32) for size in sizes]


def _apart(wanted: Sequence[tuple[float, str]]) -> dict[str, float]:
    """Heights of labels, moved down where they would lie on one another."""
    placed: dict[str, float] = {}
    lowest = -100.0
    for height, name in sorted(wanted):
        lowest = max(height, lowest + 15)
        placed[name] = lowest
    return placed


def _round_up(value: float) -> float:
    step = 10.0 ** (ceil(log10(value)) - 1)
    return ceil(value / step / 2) * step * 2


def _number(row: Row, column: str) -> float:
    value = row[column]
    if not isinstance(value, int | float):
        raise ValueError(f"{column} is no number")
    return float(value)
