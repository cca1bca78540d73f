"""The main job, whole: a push ends in the store, in the index and in the answers; unpublishing takes it out again."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from commonplace.kernel.objects import OPERATIONS_PREFIX
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.screen import judge
from commonplace_local.dev.source import clone
from commonplace_local.github.server import delivery_headers, push_event
from tests.integration.repositories import Clone, document

pytestmark = pytest.mark.laptop

PUBLIC = (
    "/api/v1/entries?limit=100",
    "/api/v1/graph",
    "/api/v1/manifest",
    "/api/v1/sync",
    "/api/v1/tags",
    "/api/v1/groups",
    "/api/v1/releases",
    "/feed.json",
    "/llms.txt",
    "/llms-full.txt",
    "/health",
)
WAIT_SECONDS = 120
FRESH_SECONDS = 60
"""A serving process may answer from what it read up to 5 s ago."""


def eventually(read: Callable[[], Any], wanted: Any) -> None:
    """Waits until reading gives what is wanted; what it gave last is what the assertion shows."""
    deadline = time.monotonic() + FRESH_SECONDS
    while (found := read()) != wanted and time.monotonic() < deadline:
        threading.Event().wait(0.1)
    assert found == wanted


def tables(index: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Everything that is in an index. One table keeps no text: its words are in `vocabulary`."""
    for (name,) in index.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'spellings'"):
        yield name, str(index.execute(f'SELECT * FROM "{name}"').fetchall())


class Garden:
    """A repository with an editor at it, served by a laptop cloud."""

    def __init__(self, user: Clone, laptop: Laptop) -> None:
        self.user, self.laptop = user, laptop

    def push(self, files: Mapping[str, str | bytes | None] | None = None) -> None:
        """Writes (or, with None, removes) files, commits, pushes, waits until it is served."""
        for path, text in (files or {}).items():
            if text is None:
                (self.user.folder / path).unlink()
            else:
                self.user.write(path, text)
        self.user.commit()
        self.laptop.push()
        self.settle()

    def settle(self) -> None:
        self.laptop.wait(WAIT_SECONDS)
        assert judge(self.laptop).faults == ()

    def entry(self, ref: str) -> dict[str, Any]:
        """The document, or the error envelope."""
        answer: dict[str, Any] = self.laptop.get(f"/api/v1/entries/{ref}").json()
        return answer

    def is_served(self, ref: str) -> bool:
        return self.laptop.get(f"/api/v1/entries/{ref}").status_code == 200

    def found_first(self, text: str) -> str | None:
        return next(iter(self.search(text)), None)

    def search(self, text: str, **filters: str) -> list[str]:
        query = "&".join(f"{name}={quote(value)}" for name, value in {"q": text, "limit": "20", **filters}.items())
        answer = self.laptop.get(f"/api/v1/search?{query}")
        assert answer.status_code == 200, answer.text
        return [f"{hit['contentType']}/{hit['id']}" for hit in answer.json()["results"]]

    def everywhere(self, *texts: str) -> list[str]:
        """Return each place outside the operators' prefix that holds one of the texts."""

        def held(raw: bytes) -> bool:
            return any(text.encode() in raw for text in texts)

        # A list of words has them folded, and parts of a compound by themselves.
        words = {text if " " in text else text.casefold().split("-")[0] for text in texts} | {*texts}
        store = self.laptop.store
        places = [
            item.key
            for item in store.list("")
            if not item.key.startswith(OPERATIONS_PREFIX) and (found := store.get(item.key)) and held(found.body)
        ]
        places += [f"GET {path}" for path in PUBLIC if held(self.laptop.get(path).content)]
        with closing(sqlite3.connect(f"{self.laptop.index_file.as_uri()}?mode=ro", uri=True)) as index:
            places += [f"index: {table}" for table, content in tables(index) if any(word in content for word in words)]
        return places + (["logs"] if held(self.laptop.logs().encode()) else [])

    def files_of_the_index_with(self, text: str) -> list[str]:
        """Free pages and journals included."""
        folder = self.laptop.index_file.parent
        return [file.name for file in folder.iterdir() if text.encode() in file.read_bytes()]


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Garden]:
    folder = tmp_path_factory.mktemp("garden")
    user = Clone(folder / "clone")
    user.write("index.md", document("Home", "See [the start](docs/start.md).\n", type="index"))
    user.write("docs/start.md", document("Start", "Begin here.\n", type="article"))
    user.commit("Start")
    with Laptop(clone(user.folder), folder / "data", retry_seconds=1) as laptop:
        garden = Garden(user, laptop)
        laptop.push()
        garden.settle()
        yield garden


def test_a_push_ends_in_store_index_and_answer(garden: Garden) -> None:
    body = "## Rockpools\r\n\r\nAnemones close when the tide goes out.\r\n"
    garden.push({"docs/tides.md": document("Tides", body, type="article", tags="[shore, tide]")})
    eventually(lambda: garden.entry("article/tides").get("content"), body)
    assert garden.entry("article/tides")["commitSha"] == garden.user.git("rev-parse", "HEAD")
    stored = garden.laptop.store.get("content/article/tides.json")
    assert stored is not None
    assert json.loads(stored.body)["content"] == body
    raw = garden.laptop.store.get("raw/docs/tides.md")
    assert raw is not None
    assert raw.body == (garden.user.folder / "docs/tides.md").read_bytes()
    eventually(lambda: garden.found_first("when do anemones close"), "article/tides")
    eventually(lambda: garden.search("anemones", tags="tide"), ["article/tides"])


def test_an_edit_replaces_what_was_found(garden: Garden) -> None:
    garden.push({"docs/edit.md": document("Edited", "Whelks lay egg capsules.\n", type="article")})
    garden.push({"docs/edit.md": document("Edited again", "Limpets graze on algae.\n", type="article")})
    eventually(lambda: garden.entry("article/edit").get("title"), "Edited again")
    eventually(lambda: garden.found_first("Edited again"), "article/edit")
    eventually(partial(garden.everywhere, "Whelks lay"), [])


def test_unpublishing_takes_a_document_out_of_everything(garden: Garden) -> None:
    canary = "quokkaline-unpublished"
    garden.push({"docs/secret.md": document("Soon hidden", f"Body with {canary}.\n", type="article")})
    eventually(lambda: garden.is_served("article/secret"), True)
    eventually(lambda: garden.found_first(canary), "article/secret")
    garden.push({"docs/secret.md": document("Soon hidden", f"Body with {canary}.\n", publish=False, type="article")})
    eventually(lambda: garden.is_served("article/secret"), False)
    assert "article/secret" not in garden.search(canary)
    eventually(partial(garden.everywhere, canary, "Soon hidden"), [])


def test_removed_file_is_gone(garden: Garden) -> None:
    garden.push({"docs/short.md": document("Short life", "Mayfly.\n", type="article")})
    garden.push({"docs/short.md": None})
    eventually(lambda: garden.is_served("article/short"), False)
    eventually(partial(garden.everywhere, "Mayfly"), [])


def test_moved_and_retyped_file_is_served_once(garden: Garden) -> None:
    text = document("Wanderer", "Hermit crabs change houses.\n", type="article")
    garden.push({"docs/wanderer.md": text})
    garden.push({"docs/wanderer.md": None, "notes/wanderer.md": text})
    eventually(lambda: garden.entry("article/wanderer").get("path"), "notes/wanderer.md")
    garden.push({"notes/wanderer.md": text.replace("type: article", "type: study")})
    eventually(lambda: garden.search("Hermit crabs change houses"), ["study/wanderer"])
    keys = [item.key for item in garden.laptop.store.list("content/")]
    assert [key for key in keys if "wanderer" in key] == ["content/study/wanderer.json"]


def test_nothing_of_files_that_were_never_published_is_anywhere(garden: Garden) -> None:
    canaries = {
        "docs/hidden.md": document("Title narwhal-1", "narwhal-1\n", publish=False),
        "docs/draft.md": document("Title narwhal-2", "narwhal-2\n", draft="true"),
        "docs/plain.md": "narwhal-3, without frontmatter\n",
        "docs/broken.md": "---\ntitle: narwhal-4: broken\npublish: true\n---\nnarwhal-4\n",
        "docs/quoted.md": '---\ntitle: narwhal-5\npublish: "true"\n---\nnarwhal-5\n',
        "drafts/excluded.md": document("Title narwhal-6", "narwhal-6\n"),
        "attachments/unlinked.txt": "narwhal-7\n",
    }
    for path, text in canaries.items():
        garden.user.write(path, text)
    garden.push({"docs/linker.md": document("Linker", "See [it](docs/hidden.md) and [[draft]].\n", type="article")})
    names = [f"narwhal-{number}" for number in range(1, 8)]
    eventually(partial(garden.everywhere, *names), [])
    for name in names:
        assert garden.files_of_the_index_with(name) == []
    for path in ("docs/hidden.md", "docs/draft.md"):
        assert garden.laptop.get(f"/api/v1/entries/by-path?path={path}").status_code == 404


def test_malformed_edit_keeps_the_last_good_version(garden: Garden) -> None:
    garden.push({"docs/steady.md": document("Steady", "Good version.\n", type="article")})
    garden.push({"docs/steady.md": "---\ntitle: Steady: not\npublish: true\n---\nBad version.\n"})
    eventually(lambda: garden.entry("article/steady").get("content"), "Good version.\n")
    report = garden.laptop.report()
    assert report is not None
    assert [item.path for item in report.skipped if item.kept_last_good] == ["docs/steady.md"]


def test_an_embedded_image_is_served_and_leaves_with_its_document(garden: Garden) -> None:
    pixel = bytes(range(256))
    picture = document("Picture", "![Pixel](attachments/pixel.png)\n", type="article")
    garden.push({"attachments/pixel.png": pixel, "docs/picture.md": picture})
    eventually(lambda: garden.is_served("article/picture"), True)
    served = garden.laptop.get("/api/v1/attachments/pixel.png")
    assert (served.status_code, served.headers["content-type"], served.content) == (200, "image/png", pixel)
    garden.push({"docs/picture.md": None})
    manifest = garden.laptop.manifest()
    assert manifest is not None
    assert manifest.attachments == []


def test_a_large_push_takes_one_download(garden: Garden) -> None:
    for number in range(80):
        garden.user.write(f"docs/many/m{number}.md", document(f"Many {number}", f"Text {number}.\n", type="article"))
    garden.laptop.api.forget_requests()
    garden.push()
    calls = [call.endpoint for call in garden.laptop.api.requests]
    assert calls.count("tarball") == 1
    assert "blob" not in calls
    assert len(calls) <= 20
    eventually(lambda: garden.found_first("Many 42"), "article/m42")


def test_a_small_push_takes_few_calls_and_an_idle_look_takes_two_at_most(garden: Garden) -> None:
    garden.laptop.api.forget_requests()
    garden.push({"docs/one.md": document("One", "One file.\n", type="article")})
    assert len(garden.laptop.api.requests) <= 6
    garden.laptop.api.forget_requests()
    garden.laptop.cloud.fire("SchedulesSync")
    garden.settle()
    assert len(garden.laptop.api.requests) <= 2


def test_commit_status_tells_what_a_push_came_to(garden: Garden) -> None:
    garden.push({"docs/status.md": document("Status", "Told.\n", type="article")})
    last = garden.laptop.api.statuses[-1]
    assert (last.sha, last.state) == (garden.user.git("rev-parse", "HEAD"), "success")
    assert "1 stored" in last.description


def test_a_forced_push_back_brings_the_old_tree_back(garden: Garden) -> None:
    before = garden.user.git("rev-parse", "HEAD")
    garden.push({"docs/later.md": document("Later", "Came and went.\n", type="article")})
    garden.user.git("reset", "--quiet", "--hard", before)
    garden.laptop.push()
    garden.settle()
    eventually(lambda: garden.is_served("article/later"), False)


def test_a_lost_delivery_is_made_good_by_the_schedule(garden: Garden) -> None:
    garden.user.write("docs/lost.md", document("Lost", "Quillwort spores drift unannounced.\n", type="article"))
    garden.user.commit()
    garden.laptop.workspace.refresh()
    garden.laptop.cloud.fire("SchedulesSync")
    garden.settle()
    eventually(lambda: garden.found_first("quillwort spores"), "article/lost")


def test_a_doubled_delivery_starts_no_second_run(garden: Garden) -> None:
    garden.user.write("docs/twice.md", document("Twice", "Told twice.\n", type="article"))
    garden.user.commit()
    move = garden.laptop.workspace.refresh()
    assert move is not None
    first = garden.laptop.announce(move, delivery="11111111-2222-3333-4444-555555555555")
    garden.settle()
    again = garden.laptop.announce(move, delivery="11111111-2222-3333-4444-555555555555")
    assert (first["status"], again["status"]) == ("started", "duplicate")


def test_pushes_while_a_run_is_under_way_all_arrive(garden: Garden) -> None:
    for number in range(5):
        garden.user.write(f"docs/burst{number}.md", document(f"Burst {number}", "Quick.\n", type="article"))
        garden.user.commit()
        garden.laptop.push()
    garden.settle()
    for number in range(5):
        eventually(partial(garden.is_served, f"article/burst{number}"), True)


def test_rate_limits_and_outages_of_github_are_waited_out(garden: Garden) -> None:
    garden.user.write("docs/patient.md", document("Patient", "It waited.\n", type="article"))
    garden.user.commit()
    garden.laptop.api.faults.limit(retry_after_seconds=1, matching="/git/trees/")
    garden.laptop.api.faults.fail(1, status=502, matching="/commits/")
    garden.laptop.push()
    garden.settle()
    eventually(lambda: garden.is_served("article/patient"), True)


def test_a_delivery_with_a_wrong_signature_is_refused_and_starts_nothing(garden: Garden) -> None:
    before = garden.laptop.deployment.state.read().pokes
    body = b'{"ref": "refs/heads/main"}'
    headers = delivery_headers("another secret", body)
    answer = httpx.post(garden.laptop.url + "/webhooks/github", content=body, headers=headers, trust_env=False)
    assert answer.status_code == 403
    assert garden.laptop.deployment.state.read().pokes == before


@pytest.mark.parametrize(
    "change",
    [{"ref": "refs/heads/other"}, {"ref": "refs/tags/v1"}, {"deleted": True}, {"repository": {"full_name": "a/b"}}],
)
def test_what_does_not_concern_the_branch_is_ignored(garden: Garden, change: dict[str, Any]) -> None:
    head = garden.laptop.workspace.head or ""
    event = push_event(garden.laptop.api.repository, garden.laptop.source.name, "main", None, head) | change
    body = json.dumps(event).encode()
    headers = delivery_headers(garden.laptop.webhook_secret, body)
    answer = httpx.post(garden.laptop.url + "/webhooks/github", content=body, headers=headers, trust_env=False)
    assert (answer.status_code, answer.json()["status"]) == (200, "ignored")


def test_a_ping_is_answered(garden: Garden) -> None:
    body = json.dumps({"zen": "Keep it logically awesome."}).encode()
    headers = delivery_headers(garden.laptop.webhook_secret, body, event="ping")
    answer = httpx.post(garden.laptop.url + "/webhooks/github", content=body, headers=headers, trust_env=False)
    assert (answer.status_code, answer.json()["status"]) == (200, "pong")


def test_the_users_clone_was_never_written(garden: Garden) -> None:
    assert garden.user.git("status", "--porcelain") == ""
    assert garden.user.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert Path(garden.laptop.workspace.git_dir) != garden.user.git_dir
