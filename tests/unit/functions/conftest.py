"""What the tests of functions share of moto's AWS."""

from tests.aws_fixture import aws, dynamodb, dynamodb_client, s3, s3_client, secrets_client, session

__all__ = ["aws", "dynamodb", "dynamodb_client", "s3", "s3_client", "secrets_client", "session"]
