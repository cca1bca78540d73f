"""Does what its event asks for, so that a test can see how the host takes it."""

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import boto3

s3 = boto3.client("s3")


class Refused(Exception):
    pass


def handler(event: dict[str, Any], context: Any) -> Any:
    if event.get("version") == "2.0":
        return over_http(event)
    match event.get("do"):
        case "raise":
            raise Refused(event["why"])
        case "leave":
            sys.exit(event["why"])
        case "hold":
            re.match(r"(a+)+$", "a" * 40 + "b")  # never lets go of the interpreter
        case "exit":
            os._exit(event["status"])
        case "loop":
            while True:
                time.sleep(0.1)
        case "big":
            return "x" * event["bytes"]
        case "environment":
            return dict(os.environ)
        case "context":
            return {"arn": context.invoked_function_arn, "left": context.get_remaining_time_in_millis()}
        case "path":
            return sys.path
        case "pid":
            return os.getpid()
        case "meet":
            return meet(Path(event["folder"]), event["name"], event["others"])
        case "say":
            print(event["text"])
            return None
        case "read":
            return sys.stdin.read()
        case "endpoint":
            return s3.meta.endpoint_url
    return event


def meet(folder: Path, name: str, others: list[str]) -> str:
    """Answers only when every other one is here at the same time."""
    (folder / name).touch()
    while not all((folder / other).exists() for other in others):
        time.sleep(0.01)
    return name


def over_http(event: dict[str, Any]) -> Any:
    match event["rawPath"]:
        case "/bytes":
            return {"statusCode": 200, "isBase64Encoded": True, "body": "AP8B", "headers": {"content-type": "image/x"}}
        case "/cookies":
            return {"statusCode": 204, "cookies": ["a=1; Path=/", "b=2"]}
        case "/plain":
            return {"no": "status"}
        case "/broken":
            raise Refused("no")
        case "/malformed":
            return {"statusCode": "many"}
    return {"statusCode": 200, "headers": {"Content-Type": "application/json"}, "body": json.dumps(event)}
