"""One synthesis for all tests: starting CDK's engine takes longer than any of them."""

import os
from collections.abc import Callable

import pytest

from infra.node import provide_node
from tests.infra.templates import Template, synthesize

PROD = {"stage": "prod", "repository": "example/knowledge-base", "branch": "main"}
DOMAIN = {
    "domain": "knowledge.example.org",
    "certificateArn": "arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-0000-0000-000000000000",
}


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Template]:
    """Synthesizes with the context given. Needs Node.js, which the `infra` dependency group brings."""
    if provide_node() is None:
        message = "the AWS template was NOT checked: there is no Node.js, and `make setup-all` has brought none"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return lambda **context: synthesize(tmp_path_factory.mktemp("cdk"), **context)


@pytest.fixture(scope="session")
def template(synthesized: Callable[..., Template]) -> Template:
    """Stage dev, as the snapshot has it."""
    return synthesized()


@pytest.fixture(scope="session")
def prod(synthesized: Callable[..., Template]) -> Template:
    """Stage prod with everything optional switched on."""
    return synthesized(
        **PROD, **DOMAIN, alarmEmail="operators@example.org", exclude='["drafts/"]', reconcileMinutes="15"
    )
