"""Judges pages of the site with Lighthouse: `python -m tests.browser.lighthouse [CLONE]`, of the sample without one.

Prints the scores of each page, and every audit that took points; exits with 1 where a score is below 95. Not part of
CI: performance is measured, and a machine that does other things as well measures those too.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import httpx

from infra.node import command
from tests.browser.chromium import FOLDER, environment, packages, provided
from tests.integration.running_dev import serving, wait

LEAST = 95
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
WAIT_SECONDS = 180
FORWARDED = ("accept", "accept-encoding", "if-none-match", "user-agent")


def main(arguments: list[str]) -> int:
    given = arguments[:1]
    with (
        tempfile.TemporaryDirectory() as data,
        serving("--data", data, *given) as dev,
        relayed(dev.url) as url,
        browser_port() as port,
    ):
        below = list[str]()
        print(f"{'page':24}{''.join(name.rjust(16) for name in CATEGORIES)}")
        for name, path in pages(url).items():
            report = judged(f"{url}{path}", port)
            scores = {each: round(100 * report["categories"][each]["score"]) for each in CATEGORIES}
            print(f"{name:24}{''.join(str(score).rjust(16) for score in scores.values())}   {path}")
            below += [f"{name}: {each} {score}" for each, score in scores.items() if score < LEAST]
            for line in lost(report):
                print(f"    {line}")
    print(f"below {LEAST}: {', '.join(below)}" if below else f"every score is {LEAST} or more")
    return 1 if below else 0


def pages(url: str) -> dict[str, str]:
    """Home, a search for the title of the most recent document, and that document."""
    newest = httpx.get(f"{url}/api/v1/entries", params={"sort": "-date", "limit": 1}, timeout=WAIT_SECONDS).json()[
        "entries"
    ][0]
    word = newest["title"].split()[-1]
    return {"home": "/", "search": f"/search?q={word}", "document": f"/d/{newest['contentType']}/{newest['id']}"}


@contextmanager
def relayed(origin: str) -> Iterator[str]:
    """The site without its `Referrer-Policy`: of a page that has one, the Chromium of these tests ends the load when
    Lighthouse asks for it, whatever the policy says."""

    class Relay(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked = {name: value for name, value in self.headers.items() if name.lower() in FORWARDED}
            with httpx.stream("GET", f"{origin}{self.path}", headers=asked, timeout=WAIT_SECONDS) as answer:
                body = b"".join(answer.iter_raw())
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                if name.lower() not in ("referrer-policy", "date", "content-length", "connection"):
                    self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def browser_port() -> Iterator[int]:
    """Where a browser of our own takes orders: one that Playwright has started would take them from it alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    program = provided()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        words = [
            str(program),
            "--headless",
            "--no-sandbox",
            f"--remote-debugging-port={port}",
            f"--user-data-dir={profile}",
        ]
        running = subprocess.Popen([*words, "about:blank"], env=environment(program), stderr=subprocess.DEVNULL)
        try:
            wait(lambda: _answers(port), WAIT_SECONDS)
            yield port
        finally:
            running.terminate()
            running.wait(WAIT_SECONDS)


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/json/version").status_code == 200
    except httpx.TransportError:
        return False


def judged(url: str, port: int) -> dict[str, Any]:
    """The report on a page as a phone of the middle range has it."""
    program = packages(Path(__file__).parent, FOLDER / "lighthouse") / "lighthouse/cli/index.js"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        words = ["node", str(program), url, f"--port={port}", "--output=json", f"--output-path={file}", "--quiet"]
        words += [f"--only-categories={','.join(CATEGORIES)}"]
        if urlsplit(url).path == "/search":
            words.append("--skip-audits=is-crawlable")  # results are kept out of search engines on purpose
        done = subprocess.run(
            command(words), capture_output=True, text=True, timeout=WAIT_SECONDS, check=False, env=dict(os.environ)
        )
        if not file.exists():
            raise SystemExit(f"Lighthouse failed: {done.stderr[-2000:]}")
        return dict(json.loads(file.read_text(encoding="utf-8")))


def lost(report: dict[str, Any]) -> list[str]:
    """Audits that took points, and what they name."""
    weights = {ref["id"] for each in report["categories"].values() for ref in each["auditRefs"] if ref["weight"]}
    found = []
    for name, audit in report["audits"].items():
        if name in weights and audit["score"] is not None and audit["score"] < 0.9:
            items = (audit.get("details") or {}).get("items") or []
            named = [str((item.get("node") or {}).get("snippet") or item.get("url") or "")[:120] for item in items[:3]]
            found.append(f"{name}: {audit.get('displayValue') or audit['title']} {' | '.join(filter(None, named))}")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
