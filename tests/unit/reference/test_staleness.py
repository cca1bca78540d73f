"""Whether entries were generated from the source that is there."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from commonplace.reference.model import Problem
from commonplace.reference.source.reader import read_catalogue
from commonplace_generators.openapi.documents import fingerprint
from commonplace_local.cli.reference.staleness import check_sources

HASH = sha256(b"source").hexdigest()
GUIDE = {"id": "a", "type": "guide", "title": "A", "category": "c", "summary": "S.", "content": "T."}
ENTRY = GUIDE | {"lastUpdated": "2026-01-01", "sourceHash": HASH}
RULE = b"generate: [{kind: %s, source: ../app/Console.tsx, into: all.json}]"


def checked(files: Mapping[str, bytes], settings: bytes = b"", **told: Any) -> tuple[Problem, ...]:
    raw = json.dumps([ENTRY | told, ENTRY | told | {"id": "b"}]).encode()
    return check_sources(read_catalogue({"all.json": raw, "catalogue.yaml": settings}, "x"), files.get)


def test_entries_of_the_source_that_is_there_are_fine() -> None:
    assert checked({"../app/Console.tsx": b"source"}, RULE % b"console") == ()
    assert checked({"sources/Console.tsx": b"source"}, source="auto-generated:Console.tsx") == ()


def test_entries_of_another_state_of_their_source_are_told_together() -> None:
    [problem] = checked({"../app/Console.tsx": b"changed"}, RULE % b"console")
    assert (problem.code, problem.severity, problem.path) == ("stale-source", "warning", "all.json")
    assert problem.message.startswith("2 entries")
    [other] = checked({"sources/Console.tsx": b"changed"}, source="auto-generated:Console.tsx")
    assert other.code == "stale-source"


def test_a_source_that_is_gone_is_told_where_the_settings_name_it() -> None:
    assert [one.code for one in checked({}, RULE % b"console")] == ["missing-source"]
    assert checked({}, source="auto-generated:Console.tsx") == ()


def test_of_programs_only_another_run_can_tell() -> None:
    assert checked({"../app/Console.tsx": b"changed"}, RULE % b"argparse") == ()


def test_a_document_of_many_files_is_another_when_one_of_them_is() -> None:
    files = {
        "sources/api/all.yaml": b"paths: {/a: {$ref: paths/a.yaml}}",
        "sources/api/paths/a.yaml": b"get: {$ref: ../../get.yaml}",
        "sources/get.yaml": b"summary: Look",
    }
    beside = {"paths/a.yaml": files["sources/api/paths/a.yaml"], "../get.yaml": files["sources/get.yaml"]}
    rule = b"generate: [{kind: openapi, source: sources/api/all.yaml, into: all.json}]"
    made = fingerprint(files["sources/api/all.yaml"], beside)
    assert checked(files, rule, sourceHash=made) == ()
    [problem] = checked({**files, "sources/get.yaml": b"summary: Look again"}, rule, sourceHash=made)
    assert problem.code == "stale-source"
