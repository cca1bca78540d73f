"""A Secrets Manager of one secret: versions by stage, as its client shows them."""

import json
from typing import Any

from botocore.exceptions import ClientError, EndpointConnectionError


class NotFound(ClientError):
    """There is no such version, or it has no value yet."""

    def __init__(self) -> None:
        super().__init__({"Error": {"Code": "ResourceNotFoundException", "Message": ""}}, "GetSecretValue")


class Vault:
    """`stages` name versions; `asked` remembers which stages were read."""

    class exceptions:
        ResourceNotFoundException = NotFound

    def __init__(self, **stages: dict[str, str]) -> None:
        self.stages = {f"AWS{name.upper()}": f"version-{name}" for name in stages}
        self.versions = {f"version-{name}": json.dumps(values) for name, values in stages.items()}
        self.asked: list[str] = []
        self.away, self.refused = False, 0

    def get_secret_value(
        self, SecretId: str, VersionStage: str | None = None, VersionId: str | None = None
    ) -> dict[str, Any]:
        if self.away:
            self.refused += 1
            raise EndpointConnectionError(endpoint_url="https://secretsmanager")
        self.asked.append(VersionStage or VersionId or "")
        version = VersionId or self.stages.get(VersionStage or "AWSCURRENT")
        if version not in self.versions or (VersionId and VersionStage and self.stages.get(VersionStage) != VersionId):
            raise NotFound
        return {"SecretString": self.versions[version], "VersionId": version}

    def describe_secret(self, SecretId: str) -> dict[str, Any]:
        listed: dict[str, list[str]] = {version: [] for version in self.versions}
        for stage, version in self.stages.items():
            listed.setdefault(version, []).append(stage)
        return {"ARN": SecretId, "RotationEnabled": True, "VersionIdsToStages": listed}

    def put_secret_value(
        self, SecretId: str, ClientRequestToken: str, SecretString: str, VersionStages: list[str]
    ) -> None:
        self.versions[ClientRequestToken] = SecretString
        self.stages |= dict.fromkeys(VersionStages, ClientRequestToken)

    def update_secret_version_stage(
        self, SecretId: str, VersionStage: str, MoveToVersionId: str, RemoveFromVersionId: str
    ) -> None:
        assert self.stages[VersionStage] == RemoveFromVersionId
        self.stages |= {VersionStage: MoveToVersionId, "AWSPREVIOUS": RemoveFromVersionId}
        if self.stages.get("AWSPENDING") == MoveToVersionId:
            del self.stages["AWSPENDING"]

    def begin(self, token: str) -> None:
        """A rotation starts: its version is announced before there is a value."""
        self.stages["AWSPENDING"] = token

    def values(self, stage: str) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.versions[self.stages[stage]])
        return found
