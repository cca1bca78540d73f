"""A run that writes nothing: the very steps of the sync, over a store whose writes stay in memory."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from commonplace.documents.content.document import MANIFEST_KEY, DocumentRef, Manifest
from commonplace.documents.content.keys import CONTENT_PREFIX
from commonplace.documents.content.paths import Exclusions
from commonplace.documents.sync import keys
from commonplace.documents.sync.report import Report
from commonplace.documents.sync.steps import Steps
from commonplace.kernel.objects import ListedObject, ObjectStore, PreconditionFailed, StoredObject
from commonplace.kernel.parallel import Parallel
from commonplace.repository.github import GitHubRepository
from commonplace.repository.ports import RunState
from commonplace_local.errors import CommandError

RUN = "dry-run"
OF_THE_RUN = frozenset({"commitSha", "syncedAt", "sourceUrl", "generation"})
"""Fields that say which run wrote a document, not what it holds."""

MOST_ROUNDS = 3
"""A real run that publishes meanwhile makes this one plan anew, so often and no more."""


class Overlay:
    """An `ObjectStore` that reads through to another and keeps every write to itself."""

    def __init__(self, below: ObjectStore) -> None:
        self._below = below
        self._written: dict[str, StoredObject | None] = {}

    def get(self, key: str) -> StoredObject | None:
        return self._written[key] if key in self._written else self._below.get(key)

    def get_if_changed(self, key: str, etag: str | None) -> StoredObject | None:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return None if found.etag == etag else found

    def put(
        self,
        key: str,
        body: bytes,
        *,
        media_type: str = "application/json",  # noqa: ARG002  only the bytes matter here
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> str:
        if if_match is not None or if_absent:
            found = self.get(key)
            if (found is not None) if if_absent else (found is None or found.etag != if_match):
                raise PreconditionFailed(key)
        etag = hashlib.md5(body, usedforsecurity=False).hexdigest()
        self._written[key] = StoredObject(body, etag)
        return etag

    def delete(self, keys: Iterable[str]) -> None:
        self._written |= dict.fromkeys(keys)

    def list(self, prefix: str) -> Iterator[ListedObject]:
        merged = {item.key: item for item in self._below.list(prefix)}
        for key, written in self._written.items():
            if not key.startswith(prefix):
                continue
            merged.pop(key, None)
            if written is not None:
                merged[key] = ListedObject(key, written.etag, len(written.body))
        yield from (merged[key] for key in sorted(merged))


class ForgetfulState:
    """A `SyncState` of this run alone."""

    def __init__(self, generation: int) -> None:
        self._generation = generation

    def read(self) -> RunState:
        return RunState(pokes=1, done=0, running=RUN, running_since=None, generation=self._generation)

    def poke(self, delivery: str | None = None) -> int:  # noqa: ARG002  no one else is told
        return 1

    def delivery(self, delivery: str) -> int | None:  # noqa: ARG002
        return None

    def next_attempt(self) -> int:
        return 1

    def claim(self, run: str, *, replacing: str | None = None) -> bool:  # noqa: ARG002
        return True

    def finish(self, run: str, seen: int) -> bool:  # noqa: ARG002
        return True

    def release(self, run: str) -> None: ...

    def lease(self, run: str, seconds: int) -> int:  # noqa: ARG002
        return self._generation + 1

    def end_lease(self, run: str) -> None: ...


class ReadOnlyRepository(GitHubRepository):
    """The branch, on which no commit status is set."""

    def set_status(self, commit_sha: str, state: Literal["success", "failure", "pending"], description: str) -> None:
        """Sets nothing."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The outcome of a rehearsal. `report` is None when the store is at the head already."""

    report: Report | None
    new: tuple[DocumentRef, ...] = ()
    changed: tuple[DocumentRef, ...] = ()
    same: tuple[DocumentRef, ...] = ()
    """Would be written again with the same content, only commit and time differ."""


def rehearse(
    store: ObjectStore,
    repository: ReadOnlyRepository,
    exclusions: Exclusions,
    *,
    full: bool,
    parallel: Parallel | None = None,
) -> Rehearsal:
    """Runs plan, archive, store and publish without writing. Raises CommandError when GitHub asks to wait."""
    overlay = Overlay(store)
    found = overlay.get(MANIFEST_KEY)
    manifest = Manifest.model_validate_json(found.body) if found else None
    steps = Steps(
        overlay,
        repository,
        ForgetfulState(manifest.generation if manifest else 0),
        bucket="",
        exclusions=exclusions,
        everything=bool(manifest and manifest.everything),
        parallel=parallel,
    )
    report = _run(steps, overlay, full=full)
    if report is None:
        return Rehearsal(None)
    kinds: dict[str, list[DocumentRef]] = {"new": [], "changed": [], "same": []}
    for ref in report.stored:
        key = f"{CONTENT_PREFIX}{ref}.json"
        before, after = store.get(key), overlay.get(key)
        kind = "new" if before is None else "same" if _content(before) == _content(after) else "changed"
        kinds[kind].append(ref)
    return Rehearsal(report, **{kind: tuple(refs) for kind, refs in kinds.items()})


def _run(steps: Steps, overlay: Overlay, *, full: bool) -> Report | None:
    event: dict[str, Any] = {"run": RUN, "full": full}
    commit = ""
    for _ in range(MOST_ROUNDS):
        answer = steps.plan(event)
        commit = str(answer.get("commitSha", commit))
        if answer["action"] == "archive":
            answer = steps.archive(event)
        if answer["action"] == "store":
            items = overlay.get(answer["items"]["key"])
            for item in json.loads(items.body) if items else ():
                answer = steps.store(event | {"item": item})
                if answer["action"] == "wait":
                    raise CommandError(f"GitHub's rate limit lasts until {answer['waitUntil']}.", "Retry then.")
            answer = {"action": "publish"}
        if answer["action"] == "publish":
            answer = steps.publish(event)
        match answer["action"]:
            case "done":
                return None
            case "published":
                found = overlay.get(keys.report_key(commit))
                return Report.model_validate_json(found.body) if found else None
            case "wait":
                raise CommandError(f"GitHub's rate limit lasts until {answer['waitUntil']}.", "Retry then.")
            case _:
                continue
    raise CommandError("Other runs are publishing.", "Try again when they are done: commonplace sync status")


def _content(stored: StoredObject | None) -> dict[str, Any]:
    document = json.loads(stored.body) if stored else {}
    return {name: value for name, value in document.items() if name not in OF_THE_RUN}
