"""Tables in moto, as the unit tests have them."""

from tests.aws_fixture import aws, dynamodb, dynamodb_client, session

__all__ = ["aws", "dynamodb", "dynamodb_client", "session"]
