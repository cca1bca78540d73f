"""Import time of the functions' handlers in a fresh interpreter, beside bare imports of what they stand on.

`python -m bench.imports`. Compiled files are there, nothing is asked of a network, and the samples alternate.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench import table
from bench.table import ratio

ROOT = Path(__file__).resolve().parents[1]
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

Job = tuple[str, str]
"""A function, and the code that is timed with its folder on the path."""


@dataclass(slots=True)
class Sample:
    """What one import took, over several interpreters; `modules` is how many it loaded."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    modules: int = 0


def main() -> int:
    samples = sampled([(function, code) for function, bare in BARE.items() for code in (HANDLER, *bare.values())])
    rows = [
        row(function, beside, samples[function, HANDLER], samples[function, code])
        for function, bare in BARE.items()
        for beside, code in bare.items()
    ]
    table.show("imports", f"Import of the handlers, median of {ROUNDS} fresh interpreters", rows)
    return 0


def sampled(jobs: Sequence[Job]) -> dict[Job, Sample]:
    """What each import took, in the order of the jobs."""
    samples = {job: Sample() for job in jobs}
    with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as folder:
        for number in range(ROUNDS + 1):
            for job in jobs:
                wall, cpu, modules = _import(*job, Path(folder))
                sample = samples[job]
                sample.modules = modules
                if number:  # the first round wrote the compiled files
                    sample.wall.append(wall)
                    sample.cpu.append(cpu)
    return samples


def row(function: str, beside: str, ours: Sample, bare: Sample) -> table.Row:
    return {
        "handler": function,
        "beside": beside,
        "cpu ms": 1000 * median(ours.cpu),
        "bare cpu ms": 1000 * median(bare.cpu),
        "times bare (cpu)": ratio(median(ours.cpu), median(bare.cpu)),
        "wall ms": 1000 * median(ours.wall),
        "bare wall ms": 1000 * median(bare.wall),
        "modules": ours.modules,
        "bare modules": bare.modules,
    }


def _import(function: str, code: str, folder: Path) -> tuple[float, float, int]:
    """Seconds of wall time and of this process's CPU, and modules loaded, in an interpreter of its own."""
    answer = subprocess.run(
        [sys.executable, "-P", "-c", TIMED.format(code=code)],
        env=_environment(function, folder),
        capture_output=True,
        check=True,
        text=True,
    )
    wall, cpu, modules = json.loads(answer.stdout)
    return wall, cpu, modules


def _environment(function: str, folder: Path) -> dict[str, str]:
    """Names and addresses of nothing: building a client does not call it."""
    arn = "arn:aws:{}:eu-central-1:123456789012:{}"
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(ROOT / "functions" / function), str(ROOT / "layers" / "core")]),
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
        "GITHUB_SECRET_ARN": arn.format("secretsmanager", "secret:bench"),
        "SYNC_MACHINE_ARN": arn.format("states", "stateMachine:bench"),
        "BASE_URL": "https://mcp.example.org",
        "IDENTITY_TABLE": "bench",
        "ROLE_CACHE_TABLE": "bench",
        "IDENTITY_SECRET_ARN": arn.format("secretsmanager", "secret:identity"),
        "RPC_SECRET_ARN": arn.format("secretsmanager", "secret:rpc"),
        "SIGNING_SECRET_ARN": arn.format("secretsmanager", "secret:signing"),
        "INDEX_LOCATION": (folder / "documents.sqlite").as_uri(),
    }


if __name__ == "__main__":
    sys.exit(main())
