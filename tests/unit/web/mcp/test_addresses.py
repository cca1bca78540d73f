"""Addresses of templates, and what may stand in their variables."""

import re
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from commonplace.web.mcp.offer import match, pattern_of, variables_of

ONE = pattern_of("mcp://host/documents/{contentType}/{id}")
REST = pattern_of("mcp://host/raw/{+path}")

segments = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\"), min_size=1, max_size=20)
names = segments.filter(lambda one: one not in (".", ".."))


@given(names, names)
def test_what_is_written_into_a_template_is_read_out_of_it(kind: str, name: str) -> None:
    uri = f"mcp://host/documents/{quote(kind, safe='')}/{quote(name, safe='')}"
    assert match(ONE, uri) == {"contentType": kind, "id": name}


@given(st.lists(names, min_size=1, max_size=6))
def test_a_path_keeps_its_slashes(path: list[str]) -> None:
    whole = "/".join(path)
    assert match(REST, f"mcp://host/raw/{quote(whole)}") == {"path": whole}


@given(st.text(max_size=80))
def test_no_path_climbs_out(path: str) -> None:
    found = match(REST, f"mcp://host/raw/{path}")
    if found is not None:
        assert ".." not in re.split(r"[/\\]", found["path"])
        assert not found["path"].startswith("/")


def test_a_template_names_its_variables() -> None:
    assert variables_of("mcp://host/documents/{contentType}/{id}") == ["contentType", "id"]
    assert variables_of("mcp://host/raw/{+path}") == ["path"]
