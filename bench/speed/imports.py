"""Import time of the functions' handlers in a fresh interpreter, beside bare imports of what they stand on.

Compiled files are there, no network is used, and the samples alternate.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

from bench.measure import Table
from bench.table import Row, ratio

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 9
TIMED = """
import json, sys, time
known = len(sys.modules)
wall, cpu = time.perf_counter(), time.process_time()
{code}
print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu, len(sys.modules) - known]))
"""
MAKE_CLIENTS = "import boto3; session = boto3.session.Session(); clients = [session.client(name) for name in {names}]"
BARE = {
    "webhook": {
        "boto3": "import boto3",
        "boto3 and three clients": MAKE_CLIENTS.format(names=["secretsmanager", "dynamodb", "stepfunctions"]),
    },
    "site": {
        "starlette, mangum": "import starlette.applications, mangum",
        "starlette, mangum, boto3 and two clients": "import starlette.applications, mangum; "
        + MAKE_CLIENTS.format(names=["s3", "dynamodb"]),
    },
    "rest": {
        "fastapi, mangum": "import fastapi, mangum",
        "fastapi, mangum, boto3": "import fastapi, mangum, boto3",
        "fastapi, mangum, boto3 and two clients": "import fastapi, mangum; "
        + MAKE_CLIENTS.format(names=["s3", "dynamodb"]),
    },
    "mcp": {"mcp.server": "import mcp.server", "mcp.server, boto3": "import mcp.server, boto3"},
    "auth": {"starlette, mangum": "import starlette.applications, mangum", "boto3": "import boto3"},
    "sync": {"boto3": "import boto3"},
    "index": {"boto3": "import boto3"},
}
HANDLER = "import handler"

ARN = "arn:aws:{}:eu-central-1:123456789012:{}"
ENVIRONMENT = {
    "AWS_REGION": "eu-central-1",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "STAGE": "bench",
    "CONTENT_BUCKET": "bench",
    "ACTIVITY_TABLE": "bench",
    "GITHUB_REPOSITORY": "example/knowledge-base",
    "GITHUB_BRANCH": "main",
    "GITHUB_SECRET_ARN": ARN.format("secretsmanager", "secret:bench"),
    "SYNC_MACHINE_ARN": ARN.format("states", "stateMachine:bench"),
    "BASE_URL": "https://mcp.example.org",
    "IDENTITY_TABLE": "bench",
    "ROLE_CACHE_TABLE": "bench",
    "IDENTITY_SECRET_ARN": ARN.format("secretsmanager", "secret:identity"),
    "RPC_SECRET_ARN": ARN.format("secretsmanager", "secret:rpc"),
    "SIGNING_SECRET_ARN": ARN.format("secretsmanager", "secret:signing"),
}
"""Names and addresses of nothing: building a client does not call it."""


def imports(options: argparse.Namespace, folder: Path) -> Iterator[Table]:  # noqa: ARG001 - a benchmark's arguments
    yield Table("imports", f"Import of the handlers, median of {ROUNDS} fresh interpreters", imported(BARE))


def imported(bare: Mapping[str, Mapping[str, str]], handler: str = HANDLER) -> list[Row]:
    """Return a row for each function and the code of a bare import, by the name of what it imports.

    `modules` is how many an import loaded.
    """
    jobs = [(function, code) for function, codes in bare.items() for code in (handler, *codes.values())]
    wall, cpu = (defaultdict[tuple[str, str], list[float]](list) for _ in range(2))
    modules: dict[tuple[str, str], int] = {}
    with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as folder:
        for number in range(ROUNDS + 1):
            for job in jobs:
                seconds, worked, modules[job] = _import(*job, Path(folder))
                if number:  # the first round wrote the compiled files
                    wall[job].append(seconds)
                    cpu[job].append(worked)
    rows: list[Row] = []
    for function, codes in bare.items():
        ours = function, handler
        for name, code in codes.items():
            other = function, code
            rows.append(
                {
                    "handler": function,
                    "beside": name,
                    "cpu ms": 1000 * median(cpu[ours]),
                    "bare cpu ms": 1000 * median(cpu[other]),
                    "times bare (cpu)": ratio(median(cpu[ours]), median(cpu[other])),
                    "wall ms": 1000 * median(wall[ours]),
                    "bare wall ms": 1000 * median(wall[other]),
                    "modules": modules[ours],
                    "bare modules": modules[other],
                }
            )
    return rows


def _import(function: str, code: str, folder: Path) -> tuple[float, float, int]:
    """Return seconds of wall time and of CPU, and modules loaded, in an interpreter of its own."""
    path = os.pathsep.join([str(ROOT / "functions" / function), str(ROOT / "layers" / "core")])
    index = (folder / "documents.sqlite").as_uri()
    answer = subprocess.run(
        [sys.executable, "-P", "-c", TIMED.format(code=code)],
        env=ENVIRONMENT | {"PATH": os.environ["PATH"], "PYTHONPATH": path, "INDEX_LOCATION": index},
        capture_output=True,
        check=True,
        text=True,
    )
    wall, cpu, modules = json.loads(answer.stdout)
    return wall, cpu, modules
