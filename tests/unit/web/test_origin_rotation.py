"""The four steps over a vault and a distribution of ours: what a rotation does, and what its failures leave behind."""

import copy
from collections.abc import Callable
from typing import Any, cast

import pytest

from commonplace.kernel.rotation import Rotation
from commonplace.web.origin import ORIGIN_HEADER, OriginValues
from commonplace.web.origin_rotation import Door, OriginRotation, RotationFailed
from tests.fakes.vault import Vault

STEPS = ("createSecret", "setSecret", "testSecret", "finishSecret")


class CloudFront:
    """One distribution. `deploying` says how often it is still being deployed after an update."""

    def __init__(self, value: str) -> None:
        origin = {"CustomHeaders": {"Quantity": 1, "Items": [{"HeaderName": ORIGIN_HEADER, "HeaderValue": value}]}}
        other = {"CustomHeaders": {"Quantity": 0}}
        self.config: dict[str, Any] = {"Origins": {"Items": [origin, other]}, "Comment": "kept"}
        self.tag, self.updates, self.deploying, self.waits = 1, 0, 0, 0

    @property
    def value(self) -> str:
        return str(self.config["Origins"]["Items"][0]["CustomHeaders"]["Items"][0]["HeaderValue"])

    def get_distribution_config(self, Id: str) -> dict[str, Any]:
        return {"ETag": f"tag-{self.tag}", "DistributionConfig": copy.deepcopy(self.config)}

    def update_distribution(self, Id: str, IfMatch: str, DistributionConfig: dict[str, Any]) -> None:
        assert IfMatch == f"tag-{self.tag}"
        self.config, self.tag, self.updates = DistributionConfig, self.tag + 1, self.updates + 1
        self.waits = self.deploying

    def get_distribution(self, Id: str) -> dict[str, Any]:
        self.waits -= 1
        status = "InProgress" if self.waits >= 0 else "Deployed"
        return {"Distribution": {"Status": status, "DistributionConfig": copy.deepcopy(self.config)}}


class Rotated:
    """A vault, a door, and the functions behind it."""

    def __init__(self, **current: str) -> None:
        self.vault, self.cloudfront, self.now = Vault(current=current), CloudFront(current["value"]), 0.0
        self.made = iter(f"fresh {number}" for number in range(1, 100))
        rotated = OriginRotation(
            Door(self.cloudfront, "EDISTRIBUTION", ORIGIN_HEADER),
            seconds=300,
            fresh=lambda: next(self.made),
            clock=lambda: self.now,
            sleep=self._sleep,
        )
        self.rotation = Rotation(cast(Any, self.vault), "arn", rotated)
        self.functions = self.start_functions()

    def start_functions(self) -> OriginValues:
        """Some that read the secret now."""
        return OriginValues(lambda: cast(Any, self.vault), "arn", monotonic=lambda: self.now)

    def rotate(self, token: str, *steps: str, watch: Callable[[], None] = lambda: None) -> None:
        self.vault.begin(token)
        for step in steps or STEPS:
            self.step(step, token)
            watch()

    def step(self, name: str, token: str) -> None:
        self.rotation.step({"Step": name, "SecretId": "arn", "ClientRequestToken": token})

    def _sleep(self, seconds: float) -> None:
        self.now += seconds


def test_the_first_rotation_adds_a_next_value_and_touches_no_distribution() -> None:
    deployment = Rotated(value="first")
    deployment.rotate("v1")
    assert deployment.vault.values("AWSCURRENT") == {"value": "first", "next": "fresh 1"}
    assert (deployment.cloudfront.value, deployment.cloudfront.updates) == ("first", 0)


def test_a_rotation_puts_the_next_value_to_use_and_makes_another() -> None:
    deployment = Rotated(value="first", next="second")
    deployment.rotate("v1")
    assert deployment.vault.values("AWSCURRENT") == {"value": "second", "next": "fresh 1"}
    assert deployment.cloudfront.value == "second"
    assert deployment.cloudfront.config["Comment"] == "kept"
    assert deployment.vault.stages["AWSPREVIOUS"] == "version-current"


def test_the_functions_let_the_door_in_after_every_step_of_three_rotations() -> None:
    deployment = Rotated(value="first")
    assert deployment.functions("first")

    def through() -> None:
        for functions in (deployment.functions, deployment.start_functions()):
            assert functions(deployment.cloudfront.value)

    for token in ("v1", "v2", "v3"):
        deployment.rotate(token, watch=through)
        deployment.now += 86_400
        through()
    assert not deployment.start_functions()("first")


def test_the_functions_that_hold_what_they_read_before_need_not_read_again() -> None:
    deployment = Rotated(value="first", next="second")
    assert deployment.functions("first")
    reads = len(deployment.vault.asked)
    deployment.rotate("v1", "createSecret", "setSecret")
    asked = len(deployment.vault.asked)
    assert deployment.functions(deployment.cloudfront.value)
    assert (reads, len(deployment.vault.asked) - asked) == (1, 0)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_comes_twice_does_no_harm(step: str) -> None:
    deployment = Rotated(value="first", next="second")
    steps = [each for name in STEPS for each in ([name, name] if name == step else [name])]
    deployment.rotate("v1", *steps)
    assert deployment.vault.values("AWSCURRENT") == {"value": "second", "next": "fresh 1"}
    assert deployment.cloudfront.updates == 1


def test_it_waits_until_every_edge_location_sends_the_value() -> None:
    deployment = Rotated(value="first", next="second")
    deployment.cloudfront.deploying = 5
    deployment.rotate("v1")
    assert deployment.now == 75
    assert deployment.vault.values("AWSCURRENT")["value"] == "second"


def test_it_gives_up_waiting_before_its_time_is_over_and_goes_on_the_next_time() -> None:
    deployment = Rotated(value="first", next="second")
    deployment.cloudfront.deploying = 1000
    with pytest.raises(RotationFailed, match="still being deployed"):
        deployment.rotate("v1")
    assert deployment.now <= 300
    assert deployment.vault.values("AWSCURRENT")["value"] == "first"
    assert deployment.functions("second")
    deployment.cloudfront.waits = 0
    deployment.rotate("v1")
    assert deployment.vault.values("AWSCURRENT") == {"value": "second", "next": "fresh 1"}


def test_a_deployment_in_between_is_noticed_and_put_right_by_the_next_try() -> None:
    deployment = Rotated(value="first", next="second")
    deployment.rotate("v1", "createSecret", "setSecret")
    deployment.cloudfront.config = CloudFront("first").config
    with pytest.raises(RotationFailed, match="somebody else"):
        deployment.step("testSecret", "v1")
    deployment.rotate("v1")
    assert deployment.cloudfront.value == "second"


def test_a_distribution_without_the_header_is_an_error() -> None:
    deployment = Rotated(value="first", next="second")
    deployment.cloudfront.config["Origins"]["Items"].pop(0)
    with pytest.raises(RotationFailed, match="sends no header"):
        deployment.rotate("v1")
    assert deployment.cloudfront.updates == 0


@pytest.mark.parametrize("text", ["plain-text", "[]", '{"value": ""}'])
def test_a_malformed_secret_ends_the_rotation_and_is_not_quoted(text: str) -> None:
    deployment = Rotated(value="first")
    deployment.vault.versions["version-current"] = text
    with pytest.raises(RotationFailed, match="must be a JSON object") as caught:
        deployment.rotate("v1")
    assert "plain-text" not in str(caught.value)
