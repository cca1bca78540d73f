"""Events as API Gateway sends them, payload 2.0 and 1.0."""

from typing import Any
from urllib.parse import parse_qs


def payload_2(path: str, query: str = "", *, method: str = "GET", **headers: str) -> dict[str, Any]:
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"host": "api.example.org", "x-forwarded-proto": "https"} | headers,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "api",
            "domainName": "api.example.org",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "test",
            },
            "requestId": "request",
            "routeKey": "$default",
            "stage": "$default",
        },
        "isBase64Encoded": False,
    }


def payload_1(path: str, query: str = "", *, method: str = "GET", **headers: str) -> dict[str, Any]:
    many = parse_qs(query) or None
    sent = {"Host": "api.example.org", "X-Forwarded-Proto": "https"} | headers
    return {
        "version": "1.0",
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": sent,
        "multiValueHeaders": {name: [value] for name, value in sent.items()},
        "queryStringParameters": {name: values[-1] for name, values in many.items()} if many else None,
        "multiValueQueryStringParameters": many,
        "pathParameters": {"proxy": path},
        "requestContext": {
            "domainName": "api.example.org",
            "httpMethod": method,
            "identity": {"sourceIp": "192.0.2.1"},
            "path": path,
            "protocol": "HTTP/1.1",
            "requestId": "request",
            "stage": "$default",
        },
        "body": None,
        "isBase64Encoded": False,
    }
