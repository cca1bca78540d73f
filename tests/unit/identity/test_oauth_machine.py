"""Whatever clients and people do, and in whichever order: single use, families, audience and scopes hold."""

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.examples import examples
from tests.unit.identity.oauth_machine import OAuthMachine


def test_single_use_families_audience_and_scopes_hold() -> None:
    run_state_machine_as_test(
        OAuthMachine,
        settings=settings(
            max_examples=examples(10, soak=500),
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
