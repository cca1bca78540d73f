"""What a copy of the tables of identity tells of people: nothing that names them, however late the table deletes."""

from typing import TYPE_CHECKING

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from commonplace.identity.access_tokens import subject_hash
from commonplace.identity.store.grants import DynamoGrants
from commonplace.identity.store.sign_ins import DynamoSignIns
from commonplace.identity.wallets import SignIn, SignInSettings
from commonplace.kernel.audit import NOWHERE
from commonplace.kernel.audit_store import DynamoAudit
from commonplace.kernel.errors import Forbidden
from commonplace.kernel.limits import Limiter
from tests.dynamodb_fixture import new_table
from tests.fakes.authority import BASE, KEY, Authority, Counters, standing
from tests.fakes.authorization_server import FakeCheck, FakeNames
from tests.fakes.identity_stores import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ROSA = Account.from_key("0x" + "11" * 32)
COOKIE, OTHER_COOKIE = "c" * 43, "d" * 43


def test_no_address_stands_in_the_tables_after_challenges_that_were_answered_or_not(
    dynamodb: "DynamoDBClient",
) -> None:
    identity, activity, clock = new_table(dynamodb, "identity"), new_table(dynamodb, "activity"), Clock()
    signins, audit = DynamoSignIns(dynamodb, identity, clock=clock), DynamoAudit(dynamodb, activity)
    authority = Authority(
        clock=clock, grants=DynamoGrants(dynamodb, identity, activity, clock=clock), signins=signins, audit=audit
    )
    authority.accounts.held[ROSA.address] = standing("member")
    sign_in = SignIn(
        signins,
        FakeCheck(),
        standings=authority.accounts,
        names=FakeNames(),
        limiter=Limiter(Counters(), clock),
        settings=SignInSettings(base_url=BASE, site_name="Garden"),
        audit=audit,
        subject_hash=lambda subject: subject_hash(KEY, subject),
        clock=clock,
    )

    def told(cookie: str = COOKIE) -> dict[str, str]:
        made = sign_in.challenge(ROSA.address, None, COOKIE, "192.0.2.1")
        signed = ROSA.sign_message(encode_defunct(text=made["message"])).signature.hex()
        body = {"id": made["id"], "signature": f"0x{signed}"}
        return body | {"subject": sign_in.verify(body, cookie, "192.0.2.1").subject}

    sign_in.challenge(ROSA.address, "cph_handle", COOKIE, "192.0.2.1")
    sign_in.challenge(None, None, COOKIE, "192.0.2.1")
    assert told()["subject"] == ROSA.address
    with pytest.raises(Forbidden):
        told(OTHER_COOKIE)
    authority.tokens(ROSA.address)
    clock.forward(86_400)

    items = [item for table in (identity, activity) for item in dynamodb.scan(TableName=table)["Items"]]
    kept = repr(items).lower()
    assert {item["sk"]["S"] for item in items} >= {"challenge", "grant", "refresh"}
    assert ROSA.address.lower().removeprefix("0x") not in kept
    assert repr(bytes.fromhex(ROSA.address[2:])).lower()[2:-1] not in kept
    records = [record for record in audit.read(NOWHERE, limit=9) if record.event == "signin"]
    assert {record.subject for record in records} == {subject_hash(KEY, ROSA.address)}, "whom a refusal was for"
