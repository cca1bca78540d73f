"""The function that rotates the value, as Secrets Manager calls it."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
ARN = "arn:aws:secretsmanager:us-east-1:123456789012:secret:commonplace/dev/origin-abcdef"

SCRIPT = """
import json, sys
import handler
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""

REFUSED = """
import handler

class Context:
    function_name = invoked_function_arn = aws_request_id = ""
    memory_limit_in_mb = 0

    @staticmethod
    def get_remaining_time_in_millis():
        return 900_000

try:
    handler.handler({"Step": "createSecret", "SecretId": "another", "ClientRequestToken": "v1"}, Context)
except Exception as error:
    print(type(error).__name__, error)
"""


def run(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT / "functions/origin_secret"), str(ROOT / "layers/core")])
    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"}
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path, **keys, **variables}
    command = [sys.executable, "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_it_imports_nothing_that_is_not_in_the_runtime() -> None:
    done = run(SCRIPT, DISTRIBUTION_ID="E1A2B3C4D5E6F7", ORIGIN_SECRET_ARN=ARN)
    assert done.returncode == 0, done.stderr
    foreign = {"httpx", "starlette", "mangum", "mcp", "joserfc", "cryptography", "web3", "infra", "commonplace_local"}
    assert not foreign & set(json.loads(done.stdout))


def test_it_does_not_start_without_a_distribution() -> None:
    assert "DISTRIBUTION_ID" in run(SCRIPT, ORIGIN_SECRET_ARN=ARN).stderr
    assert "ORIGIN_SECRET_ARN" in run(SCRIPT, DISTRIBUTION_ID="E1A2B3C4D5E6F7").stderr


def test_another_secret_is_refused_before_anything_is_asked() -> None:
    done = run(REFUSED, DISTRIBUTION_ID="E1A2B3C4D5E6F7", ORIGIN_SECRET_ARN=ARN)
    assert done.stdout.startswith("RotationRefused"), done.stderr
