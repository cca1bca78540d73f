"""`commonplace governance import`: a plan, faults, a founding with its links, on the tables of a deployment."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner, Result

from commonplace.governance.store import MEMBERS, Store
from commonplace.identity.access_tokens import subject_hash
from commonplace_local import cli
from commonplace_local.deployment import NEEDED
from tests.dynamodb_fixture import dump, new_table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_secretsmanager import SecretsManagerClient

KEY = "k" * 43
WALLET = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
FILE = f"""\
organisation: {{slug: reef, name: Reef, owner: ada}}
members:
  ada: {{firstname: Ada, account: "{WALLET.lower()}"}}
  bo: {{firstname: Bo, surname: Lee}}
"""


class Here:
    """A deployment on moto, named by a file of outputs."""

    def __init__(self, folder: Path, dynamodb: "DynamoDBClient", secrets: "SecretsManagerClient") -> None:
        self.folder, self.dynamodb = folder, dynamodb
        self.records, activity = new_table(dynamodb, "records"), new_table(dynamodb, "activity")
        self.store = Store(dynamodb, self.records, activity)
        secret = secrets.create_secret(Name="identity", SecretString=json.dumps({"key": KEY}))["ARN"]
        self.variables = {
            "GOVERNANCE_SCHEME": "swarmrise",
            "RECORDS_TABLE": self.records,
            "ACTIVITY_TABLE": activity,
            "ORGANISATION": "house",
            "IDENTITY_TABLE": "identity",
            "BASE_URL": "https://kb.example.org",
            "ROLE_CACHE_TABLE": "cache",
            "IDENTITY_SECRET_ARN": secret,
            "RPC_SECRET_ARN": secret,
        }
        self.outputs = dict.fromkeys(NEEDED, "none") | {
            "BaseUrl": "https://kb.example.org",
            "IdentityTable": "none",
            "IdentitySecretArn": secret,
            "SigningSecretArn": secret,
        }

    def run(self, text: str | None, *options: str) -> Result:
        if text is not None:
            (self.folder / "file.yaml").write_text(text, encoding="utf-8")
        outputs = {**self.outputs, "ConsoleVariables": json.dumps(self.variables)}
        (self.folder / "outputs.json").write_text(json.dumps({"Commonplace": outputs}), encoding="utf-8")
        named = ("--outputs", str(self.folder / "outputs.json"))
        command = ["governance", "import", str(self.folder / "file.yaml"), *named, *options]
        return CliRunner().invoke(cli.app, command)


@pytest.fixture
def here(
    tmp_path: Path,
    aws: None,
    dynamodb_client: "DynamoDBClient",
    secrets_client: "SecretsManagerClient",
    monkeypatch: pytest.MonkeyPatch,
) -> Here:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "us-east-1")
    return Here(tmp_path, dynamodb_client, secrets_client)


def test_a_file_is_founded_and_links_of_invitations_are_printed(here: Here) -> None:
    done = here.run(FILE)
    assert done.exit_code == 0, done.output
    assert "reef: 2 members, 1 step. It is founded." in done.output
    assert "Bo Lee (bo)" in done.output
    assert "https://kb.example.org/console/governance/reef/join?invitation=cpv_" in done.output.replace("\n", "")
    owner = here.store.membership(subject_hash(KEY.encode(), WALLET), "reef")
    assert owner is not None and owner.firstname == "Ada"


def test_a_dry_run_prints_the_plan_and_writes_nothing(here: Here) -> None:
    before = dump(here.dynamodb, here.records)
    done = here.run(FILE, "--dry-run")
    assert done.exit_code == 0 and "organisation: ada: Found an organisation" in done.output
    assert "Nothing was written." in done.output and dump(here.dynamodb, here.records) == before


@pytest.mark.parametrize(
    ("given", "becomes", "told"),
    [
        ("owner: ada", "owner: zoe", "line 1, organisation.owner: there is no such member; there are: ada, bo"),
        ("slug: reef", "slug: house", "line 1, organisation.slug"),
        ("slug: reef", "slug: account", "line 1, organisation.slug"),
    ],
)
def test_faults_end_the_command_with_what_is_valid(here: Here, given: str, becomes: str, told: str) -> None:
    done = here.run(FILE.replace(given, becomes))
    assert done.exit_code == 1 and told in done.output and not here.store.all("reef", MEMBERS)


def test_what_cannot_be_founded_is_said(here: Here) -> None:
    here.run(FILE)
    again = here.run(FILE)
    assert again.exit_code == 1 and "There is an organisation reef." in again.output
    (here.folder / "file.yaml").write_bytes(b"\xff\xfe")
    unread = here.run(None)
    assert unread.exit_code == 1 and "cannot be read" in unread.output
    del here.variables["GOVERNANCE_SCHEME"]
    without = here.run(FILE)
    assert without.exit_code == 1 and "Governance is disabled here." in without.output
