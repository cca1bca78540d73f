"""A client of a deployment's hive, over REST: needs `httpx` and nothing else of this package."""

from types import TracebackType
from typing import Any, Self

import httpx


class HiveError(Exception):
    """What the server answers instead: a stable `code`, a sentence, and a `hint` that can be acted on."""

    def __init__(self, status: int, code: str, message: str, hint: str = "", retry_after_seconds: int | None = None):
        super().__init__(f"{code}: {message} {hint}".rstrip())
        self.status, self.code, self.message, self.hint = status, code, message, hint
        self.retry_after_seconds = retry_after_seconds


class HiveClient:
    """`HiveClient("https://knowledge.example.org", token)`. Every method raises HiveError, and httpx.HTTPError where no
    server answers. Fields are named as in the REST API; those with None are left out."""

    def __init__(self, base_url: str, token: str, **options: Any) -> None:
        """`options` are those of `httpx.Client`: `timeout`, `transport`, `verify`."""
        self._http = httpx.Client(
            base_url=f"{base_url.rstrip('/')}/api/v1/hive", headers={"authorization": f"Bearer {token}"}, **options
        )

    def add(self, content: str, category: str, **fields: Any) -> dict[str, Any]:
        """`fields`: confidence, framework, language, version, tags, runId."""
        return self._call("POST", "/contributions", json={"content": content, "category": category, **fields})

    def search(self, q: str, **query: Any) -> dict[str, Any]:
        """`query`: category, limit, cursor, asOf."""
        return self._call("GET", "/search", params={"q": q, **query})

    def fetch(self, id: str) -> dict[str, Any]:
        return self._call("GET", f"/items/{id}")

    def list(self, **query: Any) -> dict[str, Any]:
        """`query`: status, category, limit, cursor."""
        return self._call("GET", "/contributions", params=query)

    def delete(self, id: str) -> dict[str, Any]:
        return self._call("DELETE", f"/items/{id}")

    def publish(self, id: str, is_public: bool = True) -> dict[str, Any]:
        """Takes the scope `hive:admin`."""
        return self._call("PUT", f"/items/{id}/publication", json={"isPublic": is_public})

    def report(self, id: str, outcome: str, run_id: str | None = None) -> dict[str, Any]:
        """`outcome`: solved or did_not_help."""
        return self._call("POST", f"/items/{id}/outcomes", json={"outcome": outcome, "runId": run_id})

    def _call(self, method: str, path: str, *, params: Any = None, json: Any = None) -> dict[str, Any]:
        query = {name: one for name, one in (params or {}).items() if one is not None}
        body = None if json is None else {name: one for name, one in json.items() if one is not None}
        answer = self._http.request(method, path, params=query, json=body)
        if answer.is_success:
            told: dict[str, Any] = answer.json()
            return told
        try:
            error = answer.json()["error"]
            details = error["details"]
            raise HiveError(
                answer.status_code,
                error["code"],
                error["message"],
                details.get("hint", ""),
                details.get("retryAfterSeconds"),
            )
        except (ValueError, KeyError, TypeError):
            # A gateway in front has bodies of its own.
            raise HiveError(answer.status_code, "UNKNOWN", f"The server answers {answer.status_code}.") from None

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
