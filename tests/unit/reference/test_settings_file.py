"""`catalogue.yaml`: every setting, and what is said of those that cannot be used."""

import pytest

from commonplace.reference.source.settings_file import CatalogueSettings, Generation, read_settings

WHOLE = b"""\
title: Helios
description: A portal.
roots: [helios]
synonyms: {mailbox: [inbox, mail], tally: count}
categories: {google-workspace: Google Workspace}
modules: {microsoft-365: Microsoft 365}
servers: https://helios.example/api
generate:
  - kind: openapi
    source: ../api/openapi.yaml
    into: api.json
    idPrefix: x
"""


def test_every_setting_is_read() -> None:
    settings, problems = read_settings(WHOLE, "name")
    assert problems == ()
    assert settings == CatalogueSettings(
        title="Helios",
        description="A portal.",
        roots=("helios",),
        synonyms={"mailbox": ["inbox", "mail"], "tally": ["count"]},
        categories={"google-workspace": "Google Workspace"},
        modules={"microsoft-365": "Microsoft 365"},
        servers=("https://helios.example/api",),
        generate=(Generation("openapi", "../api/openapi.yaml", "api.json", {"idPrefix": "x"}, 9),),
    )


@pytest.mark.parametrize("raw", [None, b"", b"# nothing\n"])
def test_without_settings_the_defaults_are_used(raw: bytes | None) -> None:
    assert read_settings(raw, "name") == (CatalogueSettings("name"), ())


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"- a\n", 1),
        (b"title: [\n", 2),
        (b"title: \xff\n", None),
        (b"a: 1\n" * 60_000, None),
        (b"x:\n" + b"title: &a b\n", 2),
        (b"description: x\nroots: [two words]\n", 2),
        (b"title: t\ncategories: {Not A Slug: x}\n", 2),
        (b"modules: [a]\n", 1),
        (b"synonyms: {a: [1]}\n", 1),
        (b"synonyms: {a: [%s]}\n" % b",".join(b"w%d" % one for one in range(31)), 1),
        (b"generate: {}\n", 1),
        (b"generate:\n  - openapi\n", 2),
        (b"generate:\n  - kind: magic\n    source: a\n    into: b.json\n", 2),
        (b"generate:\n  - kind: help\n    source: a\n", 2),
        (b"generate:\n  - kind: help\n    source: a\n    into: ../b.json\n", 4),
        (b"generate:\n  - kind: help\n    source: a\n    into: sources/b.json\n", 4),
        (b"generate:\n  - kind: help\n    source: a\n    into: b.yaml\n", 4),
    ],
)
def test_settings_that_cannot_be_used_are_an_error_with_a_hint(raw: bytes, line: int | None) -> None:
    _, problems = read_settings(raw, "name")
    errors = [one for one in problems if one.severity == "error"]
    assert [(one.code, one.path, one.line) for one in errors] == [("malformed-settings", "catalogue.yaml", line)]
    assert errors[0].hint


def test_an_unknown_setting_is_a_warning() -> None:
    _, [problem] = read_settings(b"title: t\nsynonym: {}\n", "name")
    assert (problem.code, problem.severity, problem.line) == ("unknown-field", "warning", 2)
