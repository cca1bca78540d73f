"""Records of what accounts were refused."""

from typing import Any

import pytest

from commonplace.identity.accounts import AGAIN_SECONDS, REMEMBERED, Denials
from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.errors import Unavailable
from tests.fakes.identity_stores import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


def refuse(denials: Denials, **changes: Any) -> None:
    given = {"grant": "g", "subject": "s", "client": "c", "organisation": "o", "reason": "tier", "wanted": "x:read"}
    denials.record(**given | changes)


def test_a_refusal_is_recorded_with_names_alone(clock: Clock) -> None:
    kept: list[AuditRecord] = []

    refuse(Denials(kept.append, clock), network="192.0.2.7")

    (record,) = kept
    assert (record.event, record.outcome, record.reason) == ("denied", "denied", "tier")
    assert (record.organisation, record.subject, record.client, record.grant) == ("o", "s", "c", "g")
    assert (record.network, record.details, record.at) == ("192.0.2.7", {"scope": "x:read"}, clock.now)


def test_trying_again_and_again_is_one_record_in_ten_minutes(clock: Clock) -> None:
    kept: list[AuditRecord] = []
    denials = Denials(kept.append, clock)

    for _ in range(20):
        refuse(denials)
        clock.forward(AGAIN_SECONDS / 10)

    assert len(kept) == 2


@pytest.mark.parametrize("changes", [{"grant": "h"}, {"reason": "scope"}, {"wanted": "x:write"}])
def test_another_grant_reason_or_scope_is_another_record(changes: dict[str, str], clock: Clock) -> None:
    kept: list[AuditRecord] = []
    denials = Denials(kept.append, clock)

    refuse(denials)
    refuse(denials, **changes)

    assert len(kept) == 2


def test_an_account_without_an_organisation_is_recorded_with_the_deployments(clock: Clock) -> None:
    kept: list[AuditRecord] = []

    refuse(Denials(kept.append, clock, organisation="tide-pools"), organisation=None)

    assert kept[0].organisation == "tide-pools"


def test_a_log_that_does_not_answer_changes_no_answer(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    def away(_: AuditRecord) -> None:
        raise Unavailable("The table does not answer.")

    refuse(Denials(away, clock))

    assert "could not be recorded" in caplog.text


def test_what_is_remembered_is_bounded(clock: Clock) -> None:
    kept: list[AuditRecord] = []
    denials = Denials(kept.append, clock)

    for number in range(REMEMBERED + 1):
        refuse(denials, grant=str(number))
    refuse(denials, grant="0")

    assert len(kept) == REMEMBERED + 2
