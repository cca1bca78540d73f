"""An API document whose schemas all refer to each other: one of ten megabytes is made in about a minute."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.examples import examples

MEGABYTE = 1_000_000
MEGABYTES = examples(2, soak=10)
MAX_CPU_SECONDS = 20 + 10 * MEGABYTES
MAX_MEMORY_BYTES = 1_000 * MEGABYTE
"""Of address space, which is more than what is in memory."""
SCHEMAS = 700 * MEGABYTES
OPERATIONS = 15


def recursive() -> dict[str, Any]:
    """Every schema is composed of others, holds lists of others, and chooses among others: all in circles."""

    def ref(place: int) -> dict[str, str]:
        return {"$ref": f"#/components/schemas/S{place % SCHEMAS}"}

    def schema(place: int) -> dict[str, Any]:
        own = {f"p{n}": ref(place * 7 + n) for n in range(20)}
        return {
            "type": "object",
            "description": "Refers to others. " * 8,
            "required": ["list", "choice"],
            "allOf": [ref(place + 3), ref(place + 5)],
            "properties": {
                **own,
                "list": {"type": "array", "items": ref(place)},
                "choice": {"oneOf": [ref(place + 1), ref(place + 2), ref(place)]},
            },
        }

    def body(place: int) -> dict[str, Any]:
        return {"content": {"application/json": {"schema": ref(place)}}}

    def operation(place: int) -> dict[str, Any]:
        return {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": ref(place)}],
            "requestBody": body(place),
            "responses": {"200": {"description": "Fine", **body(place + 1)}},
        }

    return {
        "openapi": "3.0.3",
        "info": {"title": "Circles", "version": "1"},
        "paths": {f"/r{place}/{{id}}": {"post": operation(place)} for place in range(OPERATIONS)},
        "components": {"schemas": {f"S{place}": schema(place) for place in range(SCHEMAS)}},
    }


def bounded() -> None:
    """Of the process that generates; the system ends it where it takes more."""
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))


def test_a_large_document_in_circles_is_made_within_bounds(tmp_path: Path) -> None:
    source = tmp_path / "circles.yaml"
    source.write_text(f"# JSON is YAML, which takes longer to read\n{json.dumps(recursive())}")
    assert source.stat().st_size > MEGABYTES * MEGABYTE
    words = ["reference", "generate", "openapi", str(source), "-o", "api.json", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "commonplace_local.cli", *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=bounded,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (item,) = json.loads(done.stdout)["items"]
    assert (item["state"], item["entries"]) == ("written", OPERATIONS)
    assert {one["what"] for one in item["unread"]} == {
        "A schema is composed of more than 50 others; some were skipped."
    }
    assert (tmp_path / "api.json").stat().st_size < 12 * MEGABYTE
