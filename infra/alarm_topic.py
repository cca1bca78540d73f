"""The topic of a stack's alarms, which an operator subscribes to."""

from typing import cast

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.configuration import Configuration


def alarm_topic(scope: Construct, configuration: Configuration) -> sns.Topic:
    """Encrypted; CloudWatch alone may publish. Alarms reach topics of their own region only."""
    key = kms.Key(
        scope,
        "TopicKey",
        description=f"Commonplace {configuration.stage}: alarms at rest",
        enable_key_rotation=True,
        removal_policy=RemovalPolicy.DESTROY,
    )
    # The key that SNS has by itself cannot be used by CloudWatch, so alarms would be lost without a word.
    alarms = cast(iam.IPrincipal, iam.ServicePrincipal("cloudwatch.amazonaws.com"))
    key.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[alarms],
            actions=["kms:Decrypt", "kms:GenerateDataKey"],
            resources=["*"],
            conditions={"StringEquals": {"aws:SourceAccount": Stack.of(scope).account}},
        )
    )
    topic = sns.Topic(
        scope, "Alarms", display_name=f"Commonplace {configuration.stage}", master_key=key, enforce_ssl=True
    )
    topic.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[alarms],
            actions=["sns:Publish"],
            resources=[topic.topic_arn],
            conditions={"StringEquals": {"aws:SourceAccount": Stack.of(scope).account}},
        )
    )
    if configuration.alarm_email:
        topic.add_subscription(cast(sns.ITopicSubscription, subscriptions.EmailSubscription(configuration.alarm_email)))
    return topic
