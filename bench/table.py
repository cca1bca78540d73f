"""What every benchmark prints and keeps: one aligned table, and the same figures as JSON in `bench/results/`."""

import json
import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

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
