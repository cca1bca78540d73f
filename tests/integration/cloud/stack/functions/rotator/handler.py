"""Rotates a secret by adding a letter to it. Fails at the step that `BREAK_AT` names."""

import os

import boto3


def handler(event, _context):
    secrets, step = boto3.client("secretsmanager"), event["Step"]
    arn, token = event["SecretId"], event["ClientRequestToken"]
    print(f"step {step}")
    if step == os.environ.get("BREAK_AT"):
        raise RuntimeError("asked to")
    current = secrets.get_secret_value(SecretId=arn, VersionStage="AWSCURRENT")
    if step == "createSecret":
        following = current["SecretString"] + "x"
        secrets.put_secret_value(
            SecretId=arn, ClientRequestToken=token, SecretString=following, VersionStages=["AWSPENDING"]
        )
    if step == "finishSecret":
        secrets.update_secret_version_stage(
            SecretId=arn, VersionStage="AWSCURRENT", MoveToVersionId=token, RemoveFromVersionId=current["VersionId"]
        )
