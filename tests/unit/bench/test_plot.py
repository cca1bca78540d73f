"""The chart: a picture that can be read, with every line and every size in it."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import table
from bench.table import Row

ROWS: list[Row] = [
    {"chunks": 300, "ours": 6.0, "bare": 5.0},
    {"chunks": 3_000, "ours": 8.0, "bare": 7.5},
    {"chunks": 20_000, "ours": 12.0, "bare": 11.0},
]
SVG = "{http://www.w3.org/2000/svg}"


def _drawn(rows: list[Row]) -> ElementTree.Element:
    return ElementTree.fromstring(table.svg(rows, {"ours": "ours", "bare & quick": "bare"}, x="chunks"))


def test_every_line_has_a_point_for_every_size() -> None:
    assert len(_drawn(ROWS).findall(f"{SVG}circle")) == 6


def test_sizes_and_names_are_written_on_it() -> None:
    told = [text.text for text in _drawn(ROWS).findall(f"{SVG}text")]
    assert {"300", "3,000", "20,000", "ours", "bare & quick", "chunks", "ms"} <= set(told)


def test_more_milliseconds_stand_higher() -> None:
    heights = [float(circle.attrib["cy"]) for circle in _drawn(ROWS).findall(f"{SVG}circle")]
    assert heights[0] > heights[1] > heights[2] > 0
    assert heights[3] > heights[0]


def test_labels_do_not_lie_on_one_another() -> None:
    rows = [dict(row) | {"bare": row["ours"]} for row in ROWS]
    labels = [text for text in _drawn(list(rows)).findall(f"{SVG}text") if text.text in ("ours", "bare & quick")]
    first, second = (float(label.attrib["y"]) for label in labels)
    assert abs(first - second) >= 12


def test_one_size_alone_can_be_drawn() -> None:
    assert len(_drawn(ROWS[:1]).findall(f"{SVG}circle")) == 2


def test_nothing_is_not_drawn(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        table.draw(tmp_path / "a.svg", [], {}, x="chunks")
    with pytest.raises(ValueError, match="no number"):
        table.svg([{"chunks": 1, "ours": None}], {"ours": "ours"}, x="chunks")
