"""The function `redact` in the laptop cloud: what it answers, what it leaves behind, what it does without its model."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commonplace.kernel.errors import Unavailable
from commonplace.redaction.client import LambdaRedactor
from commonplace.redaction.model import Policy
from commonplace_local.cloud.cloud import Cloud
from commonplace_local.dev.laptop import REDACT_FUNCTION, Laptop, committed_template
from commonplace_local.dev.source import clone
from commonplace_local.project import PROJECT
from tests.integration.cloud.waiting import until
from tests.integration.memory_laptops import agent
from tests.integration.running_dev import garden

pytestmark = pytest.mark.laptop

NAME, KEY = "Olufemi Adeyemi", "AKIAIOSFODNN7EXAMPL2"


@contextmanager
def cloud_with(model: Path, data: Path) -> Iterator[Cloud]:
    with Cloud(committed_template(), PROJECT, data, environment={"PII_MODEL_FOLDER": str(model)}) as cloud:
        yield cloud


def redactor(cloud: Cloud) -> LambdaRedactor:
    """As mcp, rest and console have it."""
    arns = {cloud.function(f"{caller}Function").variables["REDACT_FUNCTION"] for caller in ("Mcp", "Rest", "Console")}
    (arn,) = arns
    assert arn.startswith(cloud.function(REDACT_FUNCTION).arn)
    return LambdaRedactor(cloud.client("lambda"), arn)


def test_a_text_is_stripped_and_nothing_of_it_is_left_in_the_cloud(rampart_folder: Path, tmp_path: Path) -> None:
    fields = {"content": f"The cache went stale after {NAME} changed it; `key = {KEY}`.", "tags.0": NAME}
    with cloud_with(rampart_folder, tmp_path) as cloud:
        client = redactor(cloud)
        redacted = client.redact(fields, Policy())
        assert redacted.fields["content"].startswith("The cache went stale after [NAME] changed it;")
        assert redacted.fields["tags.0"] == "[NAME]"
        assert redacted.counts == {"NAME": 2, "API_KEY": 1}
        assert client.invalid_patterns(["tide-\\d+", "a+", "("]).keys() == {"a+", "("}
    assert not told_in(tmp_path)


def told_in(folder: Path) -> list[str]:
    """What of the canaries stands in the files there: logs, state, index."""
    kept = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    assert kept
    return [each for each in (NAME, "Adeyemi", KEY) if each.encode() in kept]


def test_what_an_agent_adds_to_the_memory_is_kept_masked_and_nowhere_else(rampart_folder: Path, tmp_path: Path) -> None:
    source, told = clone(garden(tmp_path / "garden").folder, None), {"MCP_ASSUMED_TIER": "member"}
    fact = {"content": f"Ask {NAME} for `{KEY}`.", "entry_type": "fact", "roles": ["dev"], "tags": ["keys"]}
    with Laptop(source, tmp_path / "data", environment={**told, "KB_REDACTION": "mask"}) as laptop:
        with agent(laptop) as server:
            server.call("kb_add", fact)
            (entry,) = server.call("kb_list", {})["entries"]
            more = [fact | {"content": f"{NAME} wrote lesson {n}.", "metadata": {"by": [NAME]}} for n in range(30)]
            imported = server.call("kb_bulk_import", {"entries": more})
            first = server.call("kb_get", {"id": imported["ids"]["0"]})
        laptop.wait()
    assert (entry["content"], entry["tags"]) == ("Ask [NAME] for `[API_KEY]`.", ["keys"])
    assert (imported["imported"], first["content"]) == (30, "[NAME] wrote lesson 0.")
    assert first["metadata"] == {"by": ["[NAME]"]}
    assert not told_in(tmp_path / "data")


def test_without_its_model_the_function_does_not_start_and_nothing_is_given(tmp_path: Path) -> None:
    with cloud_with(tmp_path / "absent", tmp_path / "data") as cloud:
        with pytest.raises(Unavailable, match="nothing was stored"):
            redactor(cloud).redact({"content": f"Ask {NAME}."}, Policy())
        # The process that ends writes why while its caller is answered already.
        until(lambda: "absent does not exist" in cloud.function_logs(REDACT_FUNCTION))
        log = cloud.function_logs(REDACT_FUNCTION)
    assert NAME not in log
