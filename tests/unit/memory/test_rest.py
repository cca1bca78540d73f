"""The memory over REST: the same operations, answers and refusals as its tools, in camelCase."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from commonplace.identity.resources import Resources
from commonplace.kernel.limits import Limiter
from commonplace.memory.operations import OPERATIONS, MemoryServices
from commonplace.memory.rest import memory_routes
from commonplace.web.challenges import Accounts, Challenges
from commonplace.web.rest.app import create_app
from commonplace.web.rest.declaration import Site
from tests.fakes.access_tokens import ISSUER, Realm
from tests.fakes.authority import Counters
from tests.fakes.memories import ACME, Remembering, remembering

NEW = {"content": "Lock rows in one order.", "entryType": "fact", "roles": ["dev"], "sourceStory": "S-1"}


class Desk:
    """One deployment, and members of it."""

    def __init__(self, team: Remembering) -> None:
        self.team, self.realm = team, Realm()
        resources = Resources(ISSUER, ("memory",), ("memory",))
        app = create_app(
            [memory_routes(MemoryServices(memory=team.memory))],
            Site(reads_per_minute=0, searches_per_minute=0),
            Limiter(Counters(), lambda: 0.0),
            accounts=Accounts(self.realm.principals, Challenges(resources), resources.api),
        )
        self.client = TestClient(app, base_url=ISSUER, follow_redirects=False)

    def call(self, method: str, path: str, body: Any = None, scope: str = "memory:write", **query: Any) -> Any:
        subject = self.realm.account("vibecoder" if scope == "memory:admin" else "member", "agent:a", "acme")
        headers = {"authorization": f"Bearer {self.realm.token(f'{ISSUER}/api', scope, subject=subject)}"}
        return self.client.request(method, f"/api/v1/memory{path}", json=body, params=query, headers=headers)

    def data(self, *given: Any, **options: Any) -> Any:
        answer = self.call(*given, **options)
        assert answer.status_code == 200, answer.text
        assert answer.headers["cache-control"] == "private, no-store"
        return answer.json()

    def add(self, **more: Any) -> str:
        return str(self.data("POST", "/entries", NEW | more)["id"])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(remembering(tmp_path))


def test_an_entry_is_added_read_changed_deleted_and_restored(desk: Desk) -> None:
    id = desk.add()
    assert desk.data("POST", "/entries", NEW)["duplicate"] is True
    changed = desk.data("PATCH", f"/entries/{id}", {"tags": ["locks"], "expectedVersion": 1})
    assert changed == {"success": True, "reEmbedded": False, "version": 2}
    whole = desk.data("GET", f"/entries/{id}", history="true")
    assert (whole["tags"], whole["sourceStory"]) == (["locks"], "S-1")
    assert [one["version"] for one in whole["history"]] == [2, 1]
    assert desk.data("GET", f"/entries/{id}", asOf=whole["createdAt"])["tags"] == []
    assert desk.data("DELETE", f"/entries/{id}") == {"success": True}
    assert desk.call("GET", f"/entries/{id}").json()["error"]["code"] == "NOT_FOUND"
    assert desk.data("POST", f"/entries/{id}/restore") == {"success": True}
    assert desk.team.memory.get(ACME, id).version == 2  # type: ignore[arg-type]


def test_entries_are_found_listed_and_related(desk: Desk) -> None:
    ids = [desk.add(content=f"Lesson {number} about locks.", tags=["a", "b"]) for number in range(3)]
    desk.team.settle()
    found = desk.data("GET", "/search", q="locks", limit=2)
    assert [one["fit"] for one in found["entries"]] == [one["fit"] for one in found["entries"] if one["sourceStory"]]
    page = desk.data("GET", "/entries", limit=2, order="asc", tags=["a", "b"])
    rest = desk.data("GET", "/entries", limit=2, order="asc", tags=["a", "b"], cursor=page["nextCursor"])
    assert [one["id"] for one in page["entries"] + rest["entries"]] == ids
    assert {one["id"] for one in desk.data("GET", f"/entries/{ids[0]}/related")["entries"]} == {*ids[1:]}


def test_votes_imports_vectors_and_figures(desk: Desk) -> None:
    id = desk.add()
    assert desk.data("POST", f"/entries/{id}/ratings", {"relevance": 4}) == {"success": True, "votes": 1, "mean": 4.0}
    done = desk.data("POST", "/imports", {"entries": [{"content": "One.", "entry_type": "fact", "roles": ["qa"]}]})
    assert (done["imported"], done["status"], len(done["ids"])) == (1, "complete", 1)
    assert desk.data("POST", "/rebuilds", {}, scope="memory:admin")["processed"] == 2
    stats = desk.data("GET", "/stats", metrics="true", scope="memory:read")
    assert (stats["totalEntries"], stats["metrics"]["relevance"]["mean"]) == (2, 4.0)


def test_reading_takes_a_scope_and_writing_another(desk: Desk) -> None:
    assert desk.call("POST", "/entries", NEW, scope="memory:read").status_code == 403
    assert desk.client.get("/api/v1/memory/stats").status_code == 401


def test_every_operation_is_documented_with_an_example(desk: Desk) -> None:
    paths = desk.client.get("/api/v1/openapi.json").json()["paths"]
    documented = {one["operationId"]: one for path in paths.values() for one in path.values()}
    for one in OPERATIONS:
        if one.rest:
            assert "example" in str(documented[one.rest_name]["responses"]["200"]), one.name
