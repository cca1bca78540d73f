"""What people change in an organisation, and what the journal says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fakes.governance import Tide


def test_whoever_founds_an_organisation_owns_it_and_holds_its_first_roles(tide: Tide) -> None:
    ada = tide.member("Ada")
    assert tide.store.organisation("tide").owner == ada.id
    assert {tide.role("Tide", title).member for title in ("Leader", "Secretary", "Referee")} == {ada.id}
