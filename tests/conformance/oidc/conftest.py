"""A real OpenID provider, and a person at a browser without scripts."""

import json
import re
import subprocess
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx
import pytest

from tests.conformance.mcp import clients as node
from tests.processes import ended

CALLBACK = "https://commonplace.example/oidc/callback"
SECRET = "between the provider and us"
HERE = Path(__file__).parent


@contextmanager
def running(programs: node.Clients, secret: str, **options: bool) -> Iterator[str]:
    """The provider's issuer. Without the options `refresh` and `userinfo` it has both."""
    node_program = programs.command("")[0]
    modules = programs.folder / "node_modules"
    running = subprocess.Popen(
        [node_program, str(HERE / "provider.mjs"), str(modules), CALLBACK, secret, json.dumps(options)],
        env=programs.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with ended(running) as process:
        assert process.stdin and process.stdout
        try:
            issuer = next((line.strip() for line in process.stdout if line.startswith("http://")), "")
            assert issuer, "the provider did not start"
            yield issuer
        finally:
            process.stdin.close()
            process.wait(10)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> node.Clients:
    return node.or_skipped(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session", params=[SECRET, ""], ids=["confidential", "public"])
def provider(programs: node.Clients, request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """Issuer and secret."""
    with running(programs, request.param) as issuer:
        yield issuer, request.param


@pytest.fixture
def sign_in() -> Callable[[str, str], dict[str, str]]:
    """Goes where a browser is sent, signs in under a name, consents; what the browser brings back to the callback."""

    def follow(url: str, name: str) -> dict[str, str]:
        with warnings.catch_warnings(), httpx.Client(trust_env=False, timeout=60) as browser:
            answer = browser.get(url)
            for _ in range(20):
                if (target := answer.headers.get("location")) is not None:
                    url = urljoin(str(answer.url), target)
                    if url.startswith(CALLBACK):
                        return dict(parse_qsl(urlsplit(url).query))
                    answer = browser.get(url)
                    continue
                assert answer.status_code == 200, answer.text
                if name == "" and (abort := re.search(r'href="([^"]*/abort)"', answer.text)):
                    answer = browser.get(urljoin(str(answer.url), abort[1]))
                    continue
                form = re.search(r'<form[^>]*action="([^"]+)"', answer.text)
                prompt = re.search(r'name="prompt" value="([a-z]+)"', answer.text)
                assert form and prompt, answer.text
                data = {"prompt": prompt[1], "login": name, "password": "any"}
                answer = browser.post(urljoin(str(answer.url), form[1]), data=data)
        raise AssertionError("the provider sends the browser in circles")

    return follow
