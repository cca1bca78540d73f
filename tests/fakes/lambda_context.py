"""What Lambda hands to a function beside the event."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LambdaContext:
    function_name: str = "commonplace-dev-function"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:eu-central-1:123456789012:function:commonplace-dev-function:live"
    aws_request_id: str = "4f6c0a2e-0000-4000-8000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        return 900_000


CONTEXT = LambdaContext()
