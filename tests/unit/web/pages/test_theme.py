"""The accent of a deployment reads well wherever it stands."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.web.pages.frame import ASSETS, DARK_PAPER, LIGHT_PAPER, contrast, on, readable, stylesheet

COLOURS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")
AA = 4.5


@given(COLOURS)
def test_any_accent_becomes_readable_in_both_schemes(accent: str) -> None:
    for paper in (LIGHT_PAPER, DARK_PAPER):
        found = readable(accent, paper)
        assert contrast(found, paper) >= AA
        assert contrast(on(found), found) >= AA


def test_an_accent_that_reads_well_stays_as_it_is() -> None:
    assert readable("#0b6e4f", LIGHT_PAPER) == "#0b6e4f"


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def test_the_stylesheet_sets_both_schemes() -> None:
    told = stylesheet("#ffff00")
    colours = re.findall(r"--(accent|on-accent):light-dark\((#[0-9a-f]{6}),(#[0-9a-f]{6})\)", told)
    assert [name for name, _, _ in colours] == ["accent", "on-accent"]
    for (_, accent, _), (_, ink, _) in [colours, [(name, dark, light) for name, light, dark in colours]]:
        assert contrast(accent, ink) >= AA


@pytest.mark.parametrize(("scheme", "paper"), [(0, LIGHT_PAPER), (1, DARK_PAPER)])
def test_the_colours_of_the_stylesheet_read_well_on_every_ground(scheme: int, paper: str) -> None:
    """`paper` is the least favourable of them, as theme.py takes it to be."""
    told = (ASSETS / "site.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--(\w+): light-dark\((#[0-9a-f]{3,6}), (#[0-9a-f]{3,6})\);", told)
    values = {name: pair[scheme] for name, *pair in pairs}
    values = {
        name: "#" + "".join(one * 2 for one in value[1:]) if len(value) == 4 else value
        for name, value in values.items()
    }
    grounds = [values[name] for name in ("paper", "surface", "raised")]
    assert min(contrast(readable("#0b6e4f", paper), ground) for ground in grounds) >= AA
    for ink in ("ink", "soft", "good", "warn", "bad", "calm", "kind"):
        assert min(contrast(values[ink], ground) for ground in grounds) >= AA, ink
    assert min(contrast(values["edge"], ground) for ground in grounds) >= 3
    assert contrast(values["ink"], values["mark"]) >= AA
