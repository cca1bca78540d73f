"""What the shell says of the site is what the functions of `commonplace dev` are told."""

import pytest

from commonplace_local.cli.dev import SAMPLE_SITE
from commonplace_local.dev.settings import site_environment
from commonplace_local.errors import CommandError


def test_name_look_and_address_come_from_the_shell() -> None:
    told = {
        "SITE_NAME": "My field book",
        "SITE_DESCRIPTION": "What we know.",
        "SITE_ACCENT": "#0b6e4f",
        "DOCUMENT_URL": "http://localhost:4321/{type}/{id}",
        "MCP_FULL_TEXT_TIER": "vibecoder",
    }
    assert site_environment(told | {"PATH": "/bin", "STAGE": "prod"}) == told
    assert site_environment({"SITE_NAME": " ", "PATH": "/bin"}) == {}


def test_sample_has_a_name_and_a_description_that_are_valid() -> None:
    assert site_environment(SAMPLE_SITE) == SAMPLE_SITE
    assert set(SAMPLE_SITE) == {"SITE_NAME", "SITE_DESCRIPTION", "GOVERNANCE_SCHEME"}


@pytest.mark.parametrize(
    ("name", "value", "valid"),
    [
        ("SITE_ACCENT", "green", "a colour such as #0b6e4f"),
        ("SITE_NAME", "x" * 81, "a title of at most 80 characters"),
        ("MCP_FULL_TEXT_TIER", "everybody", "one of: public, member, vibecoder"),
        ("DOCUMENT_URL", "http://localhost:4321/{id}", "an http:// or https:// URL with {type} and {id}"),
    ],
)
def test_what_cannot_be_is_refused_with_what_would_be_valid(name: str, value: str, valid: str) -> None:
    with pytest.raises(CommandError) as refused:
        site_environment({name: value})
    assert str(refused.value).startswith(f"{name} is malformed. It must be {valid}")
