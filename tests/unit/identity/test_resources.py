"""What tokens are for: canonical names, scopes and metadata of each resource."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.identity.resources import Resources

BASE = "https://kb.example"
RESOURCES = Resources(BASE, ("knowledge",), ("knowledge", "memory"))
ALL = (f"{BASE}/mcp", f"{BASE}/mcp/knowledge", f"{BASE}/mcp/memory", f"{BASE}/mcp/all", f"{BASE}/api")


def test_every_path_is_a_resource_and_the_api_as_well() -> None:
    assert RESOURCES.all() == ALL
    assert (RESOURCES.mcp, RESOURCES.api) == (ALL[0], ALL[-1])


@pytest.mark.parametrize("resource", ALL)
def test_a_resource_is_its_own_canonical_name(resource: str) -> None:
    assert RESOURCES.canonical(resource) == resource


@pytest.mark.parametrize(
    ("text", "resource"),
    [
        ("HTTPS://KB.example/mcp", ALL[0]),
        (f"{BASE}/mcp/", ALL[0]),
        (f"{BASE}/api/", ALL[-1]),
        (BASE, ALL[0]),
        (f"{BASE}/", ALL[0]),
        ("https://KB.EXAMPLE", ALL[0]),
    ],
)
def test_a7_case_of_the_host_a_last_slash_and_the_bare_origin_are_tolerated(text: str, resource: str) -> None:
    assert RESOURCES.canonical(text) == resource


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/mcp",
        "mcp",
        "javascript:alert(1)",
        "http://kb.example/mcp",
        "https://kb.example:443/mcp",
        "https://kb.example:8443/mcp",
        "https://kb.example.evil/mcp",
        "https://other.example/mcp",
        "https://user@kb.example/mcp",
        f"{BASE}/mcp#x",
        f"{BASE}/mcp#",
        f"{BASE}/mcp?x=1",
        f"{BASE}/mcp-other",
        f"{BASE}/MCP",
        f"{BASE}/mcp//",
        f"{BASE}//mcp",
        f"{BASE}/mcp/../api",
        f"{BASE}/mcp/nothing",
        f"{BASE}/mcp/ALL",
        f" {BASE}/mcp",
        f"{BASE}/mcp\n",
        f"{BASE}\u212a/mcp",
        f"{BASE}/" + "x" * 3_000,
    ],
)
def test_a6_a7_r3_anything_else_is_no_resource_of_ours(text: str) -> None:
    assert RESOURCES.canonical(text) is None


def test_a_letter_that_only_lower_case_makes_ours_is_not_ours() -> None:
    assert Resources("https://k.example", ("knowledge",), ("knowledge",)).canonical("https://\u212a.example") is None


def test_m4_baseline_is_reading_and_the_catalogue_is_every_level() -> None:
    assert RESOURCES.baseline(RESOURCES.mcp) == ("knowledge:read",)
    assert RESOURCES.catalogue(RESOURCES.mcp) == ("knowledge:read", "knowledge:write", "knowledge:admin")


@pytest.mark.parametrize("path", ["/mcp/all", "/api"])
def test_the_path_of_all_and_the_api_take_the_scopes_of_every_toolset(path: str) -> None:
    assert RESOURCES.toolsets(BASE + path) == ("knowledge", "memory")
    assert RESOURCES.baseline(BASE + path) == ("knowledge:read", "memory:read")
    assert RESOURCES.catalogue(BASE + path) == RESOURCES.every_scope()


@pytest.mark.parametrize("resource", [f"{BASE}/mcp-other", "https://other.example/mcp", "", f"{BASE}/mcp/"])
def test_what_is_no_canonical_name_has_no_toolsets(resource: str) -> None:
    with pytest.raises(KeyError):
        RESOURCES.toolsets(resource)


@pytest.mark.parametrize("resource", ALL)
def test_m1_metadata_of_a_resource_is_where_its_path_is_inserted(resource: str) -> None:
    url = RESOURCES.metadata_url(resource)

    assert url == f"{BASE}/.well-known/oauth-protected-resource{resource.removeprefix(BASE)}"


def test_m1_the_root_describes_the_origin_which_is_another_name_of_mcp() -> None:
    assert RESOURCES.metadata_url(BASE) == f"{BASE}/.well-known/oauth-protected-resource"
    assert RESOURCES.document(BASE, name="x") == RESOURCES.document(RESOURCES.mcp, name="x") | {"resource": BASE}
    assert RESOURCES.canonical(BASE) == RESOURCES.canonical(f"{BASE}/") == RESOURCES.mcp


def test_m4_metadata_of_a_resource_asks_for_the_baseline_alone() -> None:
    document = RESOURCES.document(RESOURCES.mcp, name="Garden", documentation="https://docs.example/")

    assert document == {
        "resource": f"{BASE}/mcp",
        "authorization_servers": [BASE],
        "scopes_supported": ["knowledge:read"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Garden",
        "resource_documentation": "https://docs.example/",
    }
    assert "resource_documentation" not in RESOURCES.document(RESOURCES.mcp, name="Garden")


NO_BASES = ["", "kb.example", f"{BASE}/", f"{BASE}/x", f"{BASE}?x=1", f"{BASE}#x", "ftp://kb.example", "https://"]


@pytest.mark.parametrize("base", NO_BASES)
def test_m6_base_url_with_a_path_or_a_last_slash_fails_at_start(base: str) -> None:
    with pytest.raises(ValueError, match="base URL"):
        Resources(base, ("knowledge",), ("knowledge",))


@pytest.mark.parametrize("default", [(), ("memory",), ("knowledge", "memory")])
def test_m6_default_toolsets_that_are_not_served_fail_at_start(default: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="toolsets"):
        Resources(BASE, default, ("knowledge",))


@settings(deadline=None)
@given(st.text(max_size=40), st.sampled_from(ALL), st.integers(0, 40))
def test_whatever_is_canonical_names_a_resource(text: str, resource: str, at: int) -> None:
    for candidate in (text, resource[:at] + text + resource[at:], resource + text):
        assert RESOURCES.canonical(candidate) in (None, *ALL)
