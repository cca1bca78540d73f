"""Which variables this process and its workers get."""

import os

import pytest

from commonplace_local.cloud.environment import replaced, worker_variables


def test_workers_inherit_neither_the_account_nor_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "real")
    monkeypatch.setenv("AWS_PROFILE", "real")
    monkeypatch.setenv("GITHUB_TOKEN", "real")
    made = worker_variables(4566, "KEY")
    assert "real" not in made.values()
    assert made["AWS_ENDPOINT_URL"] == "http://127.0.0.1:4566"
    assert made["AWS_ACCESS_KEY_ID"] == "KEY"
    assert made["PATH"] == os.environ["PATH"]


def test_loopback_never_goes_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "intranet.example")
    assert worker_variables(1, "KEY")["NO_PROXY"] == "127.0.0.1,localhost,intranet.example"


def test_the_environment_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "mine")
    monkeypatch.setenv("NO_PROXY", "mine")
    before = dict(os.environ)
    with replaced({"AWS_REGION": "fake", "NO_PROXY": "fake"}):
        assert "AWS_PROFILE" not in os.environ
        assert os.environ["NO_PROXY"] == "fake"
    assert dict(os.environ) == before
