"""A page of somebody else in a reader's browser, and what it tries at every server on the reader's machine."""

import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from commonplace_local.deployment import laptop
from commonplace_local.github.git import git_text
from tests.integration.running_dev import Dev, descendants

LISTENS = "0A"
SIGNED = "AWS4-HMAC-SHA256 Credential=123456789012/20260101/us-east-1/{}/aws4_request, SignedHeaders=host, Signature=0"

TRY = """async ([base, requests]) => {
  const read = [];
  for (const {path, ...options} of requests) {
    for (const mode of ["cors", "no-cors"]) {
      try {
        const answer = await fetch(base + path, {...options, mode, signal: AbortSignal.timeout(1500)});
        const text = await answer.text();
        if (answer.type !== "opaque" && answer.ok) read.push(`${options.method} ${path}: ${text.slice(0, 99)}`);
      } catch {}
    }
  }
  return read;
}"""


def attempts(dev: Dev) -> list[dict[str, Any]]:
    """Reads of secrets and texts, calls of functions, writes: whichever of them a server could fall for."""
    told, head = laptop(dev.data).outputs, git_text("rev-parse", "main", directory=dev.data / "repository.git")
    reads = (
        "/",
        "/llms.txt",
        "/moto-api/data.json",
        f"/{told['ContentBucket']}?list-type=2",
        f"/repos/{told['Repository']}/git/trees/main?recursive=1",
        "/2018-06-01/runtime/invocation/next",
    )
    run = {"source": "commonplace.operator", "full": True}
    plain, token = {"content-type": "text/plain"}, {"authorization": "token made-up"}
    signed = {"content-type": "application/x-amz-json-1.1", "authorization": SIGNED.format("secretsmanager")}
    writes: tuple[tuple[str, dict[str, str], dict[str, Any]], ...] = (
        (f"/2015-03-31/functions/{told['WebhookFunction']}/invocations", plain, run),
        ("/", signed | {"x-amz-target": "secretsmanager.GetSecretValue"}, {"SecretId": told["SigningSecretArn"]}),
        (f"/repos/{told['Repository']}/git/refs", token, {"ref": "refs/heads/planted", "sha": head}),
        (f"/{told['ContentBucket']}/planted", plain, {}),
        ("/2018-06-01/runtime/init/error", plain, {"errorType": "Planted", "errorMessage": ""}),
    )
    return [{"method": "GET", "path": path} for path in reads] + [
        {"method": "PUT" if path.endswith("planted") else "POST", "path": path, "headers": headers, "body": body}
        for path, headers, body in ((path, headers, json.dumps(body)) for path, headers, body in writes)
    ]


def readable(page: Page, origin: str, base: str, requests: list[dict[str, Any]]) -> list[str]:
    """What a page of `origin` read of its requests to `base`. The page itself comes from its own server: where that
    is at the address of ours, its name leads to ours from the next request on (DNS rebinding)."""
    page.route(f"{origin}/", lambda route: route.fulfill(content_type="text/html", body="<title>Elsewhere</title>"))
    page.goto(f"{origin}/")
    page.unroute(f"{origin}/")
    read: list[str] = page.evaluate(TRY, [base, requests])
    return [f"{origin} -> {base} {line}" for line in read]


def state(dev: Dev) -> dict[str, Any]:
    """What a write or a call of a function would have changed."""
    deployment = laptop(dev.data)
    machine = deployment.outputs["SyncMachineArn"]
    runs = deployment.client("stepfunctions").list_executions(stateMachineArn=machine)["executions"]
    return {
        "runs": sorted(run["name"] for run in runs),
        "objects": sorted((item.key, item.etag) for item in deployment.store.list("")),
        "branches": git_text("for-each-ref", directory=dev.data / "repository.git"),
        "processes": descendants(dev.process.pid),
    }


def ports(pids: Collection[int]) -> list[int]:
    """Those on which these processes listen, as Linux tells."""
    owned = {
        found[1]
        for pid in pids
        for link in Path(f"/proc/{pid}/fd").iterdir()
        if (found := re.fullmatch(r"socket:\[(\d+)\]", str(link.readlink())))
    }
    tables = [Path(name).read_text().splitlines()[1:] for name in ("/proc/net/tcp", "/proc/net/tcp6")]
    rows = [line.split() for table in tables for line in table]
    return sorted({int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == LISTENS and row[9] in owned})
