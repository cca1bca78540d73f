"""The value by which functions know the distribution: made here, copied to their region, changed on a schedule."""

import json
from typing import cast

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.alarm_topic import alarm_topic
from infra.configuration import Configuration
from infra.edge_distribution import Distribution
from infra.edge_keys import EDGE_REGION
from infra.functions import Platform, PythonFunction
from infra.nag import accept
from infra.origin import secret_name
from infra.rotating import rotate
from infra.search_alarms import ROTATION_STUCK

REPLICATE = "lambda:EnableReplication*"
"""Source: "Set up IAM permissions and roles for Lambda@Edge" in the CloudFront developer guide: the star is needed."""


def origin_secret(scope: Construct, configuration: Configuration) -> secretsmanager.Secret:
    """In the distribution's region, for the template and the rotation; its replica is what functions read."""
    elsewhere = configuration.region if configuration.region != EDGE_REGION else None
    return secretsmanager.Secret(
        scope,
        "OriginSecret",
        secret_name=secret_name(configuration),
        description=f"Commonplace {configuration.stage}: by which the functions know their front door",
        generate_secret_string=secretsmanager.SecretStringGenerator(
            secret_string_template=json.dumps({}),
            generate_string_key="value",
            exclude_punctuation=True,
            password_length=64,
        ),
        replica_regions=[secretsmanager.ReplicaRegion(region=elsewhere)] if elsewhere else None,
        removal_policy=RemovalPolicy.DESTROY,
    )


class Rotation(PythonFunction):
    """Writes the next value into the distribution, and waits until every edge location sends it."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        platform: Platform,
        *,
        secret: secretsmanager.Secret,
        front: Distribution,
        web_acl: str | None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            platform,
            name="origin-secret",
            description="Rotates the value between the front door and the functions",
            source="functions/origin_secret",
            memory_mb=256,
            timeout_seconds=900,
            environment={
                "ORIGIN_SECRET_ARN": secret.secret_arn,
                "DISTRIBUTION_ID": front.distribution.distribution_id,
            },
        )
        self.allow(
            [
                f"secretsmanager:{action}"
                for action in ("DescribeSecret", "GetSecretValue", "PutSecretValue", "UpdateSecretVersionStage")
            ],
            [secret.secret_arn],
        )
        self.allow(
            [f"cloudfront:{action}" for action in ("GetDistribution", "GetDistributionConfig", "UpdateDistribution")],
            [front.arn],
        )
        # CloudFront asks whether who updates a distribution may use what is attached to it, changed or not.
        if web_acl:
            self.allow(["wafv2:GetWebACL"], [web_acl])
        if front.restoring_arn:
            self.allow(["lambda:GetFunction", REPLICATE], [front.restoring_arn])
            accept(self.role, "AWS wants this one action written with a star.", f"IAM5[Action::{REPLICATE}]")
        # The first one makes the next value, and leaves the distribution as it is.
        rotate(self, secret, platform.configuration.origin_secret_rotation_days, front.distribution)
        self._watch(platform.configuration)

    def _watch(self, configuration: Configuration) -> None:
        """A failed step is tried again by itself; three of them within a day are one rotation that does not end."""
        alarm = cloudwatch.Alarm(
            self,
            "Stuck",
            alarm_name=f"commonplace-{configuration.stage}-{ROTATION_STUCK}",
            alarm_description="The value between front door and functions could not be changed.",
            metric=self.function.metric_errors(period=Duration.days(1)),
            threshold=3,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(cast(cloudwatch.IAlarmAction, actions.SnsAction(alarm_topic(self, configuration))))
