"""governance.md says what governance does: its file founds an organisation, its addresses and limits are real."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic.alias_generators import to_camel

from commonplace.governance import founding, listings, processes, prompts
from commonplace.governance.agent_tools import TOOLS
from commonplace.governance.capability import GOVERNANCE
from commonplace.governance.deliveries import compact_body
from commonplace.governance.governance import Governance
from commonplace.governance.model import INVITATION_DAYS, Decision
from commonplace.governance.settings import GovernanceScheme, GovernanceSettings
from commonplace.governance.store import PROCESSES, TEAMS, Store
from commonplace.governance.structure import change_agents
from commonplace.governance.watch import MAX_ADDRESSES
from commonplace.kernel.errors import InvalidInput
from tests.dynamodb_fixture import new_table
from tests.fakes.governance import found_tide
from tests.unit.docs.pages import ROOT, blocks, rows, section

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = ROOT / "docs" / "agents" / "governance.md"
TEXT = PAGE.read_text(encoding="utf-8").replace("\n", " ")


def test_the_file_on_the_page_founds_an_organisation(aws: None, dynamodb_client: DynamoDBClient) -> None:
    (file,) = blocks(PAGE, "yaml")
    tables = new_table(dynamodb_client, "records"), new_table(dynamodb_client, "activity")
    governance = Governance(store=Store(dynamodb_client, *tables))
    plan = founding.founding(file.text, governance)
    secrets = founding.carry_out(plan, governance, lambda subject: subject.replace(":", "-"))
    assert secrets.keys() == {"bo"} and len(governance.store.all("rock-pool", TEAMS)) == 2
    phases = {(one.kind, one.phase) for one in governance.store.all("rock-pool", PROCESSES)}
    assert phases == {("topic", "resolved"), ("voting", "open"), ("election", "discussion")}


def test_the_bounds_of_a_file_are_the_real_ones() -> None:
    assert f"at most {founding.MAX_BYTES // 1_000_000} MB and {founding.MAX_VALUES:,} values" in TEXT


def test_the_page_lists_every_address_with_its_kind() -> None:
    told = [
        (cells[0].strip("`").replace("(nothing)", ""), cells[1].strip("`"))
        for cells in rows(section(PAGE, "Addresses"))
    ]
    real = [(one.address.partition("{?")[0].removeprefix("orgas/{orgaId}"), one.kind) for one in listings.OPERATIONS]
    assert told == real and len(real) == 14


def test_the_page_lists_every_prompt_with_arguments_and_kind() -> None:
    told = [[cell.replace("`", "").replace(",", "") for cell in cells[:3]] for cells in rows(section(PAGE, "Prompts"))]
    assert told == [[name, one["arguments"], one["kind"]] for name, one in prompts.WORDS["prompts"].items()]
    assert f"at most {prompts.TOKENS:,} tokens" in TEXT


def test_kinds_scopes_and_limits_are_the_declared_ones() -> None:
    scopes = GOVERNANCE.scopes
    assert scopes is not None
    kinds = re.search(r"\*\*Kinds\*\*: (.*?)\.", TEXT)
    assert kinds and tuple(re.findall(r"`(\w+)`", kinds[1])) == scopes.kinds
    assert all(f"`governance:{level}`" in TEXT for level in scopes.levels)
    assert all(f"`{alias}`" in TEXT for alias in scopes.aliases)
    calls = scopes.calls_a_minute
    assert f"{calls['read']} reads and {calls['search']} searches a minute" in TEXT
    assert f"at most {MAX_ADDRESSES} addresses" in TEXT and f"valid for {INVITATION_DAYS} days" in TEXT


def test_the_page_lists_every_tool_that_acts(aws: None, dynamodb_client: DynamoDBClient) -> None:
    governance = found_tide(dynamodb_client).governance
    told = [[cell.replace("`", "") for cell in cells] for cells in rows(section(PAGE, "Agents that act"))]
    real: list[list[str]] = []
    for one in TOOLS:
        fields = one.tool(governance).arguments.model_fields
        taken = [to_camel(name) + "?" * (not field.is_required()) for name, field in fields.items()]
        again = "writes nothing" if one.idempotent else told[len(real)][4]
        real.append([one.name, f"governance:{one.level}", one.kind, ", ".join(taken), again])
    assert told == real
    assert all((row[4] != "writes nothing") is not one.idempotent for row, one in zip(told, TOOLS, strict=True))
    assert "6 to 600 reads, 2 to 200 searches, 1 to 100 writes" in TEXT
    within = {"reads_a_minute": (6, 600), "searches_a_minute": (2, 200), "writes_a_minute": (1, 100)}
    for name, (least, most) in within.items():
        for calls in (least, most):
            assert getattr(change_agents.accepted({"orga_id": "tide", "revision": 1, name: calls}), name) == calls
        for calls in (least - 1, most + 1):
            with pytest.raises(InvalidInput):
                change_agents.accepted({"orga_id": "tide", "revision": 1, name: calls})


def test_the_record_on_the_page_is_like_a_real_one(aws: None, dynamodb_client: DynamoDBClient) -> None:
    tide = found_tide(dynamodb_client)
    channel = tide.channel().id
    topic = tide.do("Ada", processes.open_topic, channel_id=channel, title="Nets", description="Mend them").id
    tide.do("Ada", processes.move_on, message_id=topic, phase="consent")
    tide.act(tide.agent("Vi"), "respond_to_topic", message_id=topic, response="objection", reason="Too wet")
    row = tide.do("Ada", listings.list_decisions, limit=1)["decisions"][0].model_dump(mode="json")
    found = {to_camel(name): value for name, value in row.items()}
    (block,) = blocks(PAGE, "jsonc")
    shown = json.loads(block.text)
    assert shown["diff"] == {name: found["diff"][name] for name in shown["diff"]}
    assert {name: shown[name] for name in ("roleName", "teamName", "targetType")} == {
        name: found[name] for name in ("roleName", "teamName", "targetType")
    }
    assert shown.keys() <= found.keys() and shown["agent"].keys() == found["agent"].keys()


def test_the_settings_on_the_page_are_real() -> None:
    setting, webhook = blocks(PAGE, "json")
    said = json.loads(webhook.text)
    data = said["data"]
    given: dict[str, Any] = {"id": data["decisionId"], "at": said["timestamp"], "member": data["memberId"]}
    given |= {"target": data["targetId"], "target_type": data["targetType"], "client": data["client"], "grant": "g"}
    record = Decision(name="Vi", role="AI Agent (via Vi)", team="Tide", type="TopicResponse", **given)
    assert json.loads(compact_body(data["orgaId"], record)) == said
    assert all(f"{minutes} " in TEXT for minutes in (5, 30, 2, 12, 24))
    assert GovernanceScheme.from_environ({"GOVERNANCE_SCHEME": json.loads(f"{{{setting.text}}}")["governanceScheme"]})
    assert GovernanceSettings.model_fields["founded_per_account"].default == 3
    assert "how many organisations one account may found (3)" in TEXT
