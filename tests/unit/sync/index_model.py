"""The index's side of the store's events, without an engine: re-read, compare versions, keep tombstones."""

from commonplace.content.document import Document
from commonplace.content.manifest import MANIFEST_KEY, Manifest
from tests.fakes.store import FakeObjectStore


class IndexModel:
    """Converges under loss of order and doubled events, as the index function must."""

    def __init__(self, objects: FakeObjectStore) -> None:
        self.objects = objects
        self.records: dict[str, tuple[int, bool]] = {}
        self.seen: set[int] = set()

    def pending(self) -> list[int]:
        events = self.objects.events
        return [at for at, event in enumerate(events) if event.key.startswith("content/") and at not in self.seen]

    def consume(self, chosen: list[int]) -> None:
        for at in chosen:
            self.seen.add(at)
            self._converge(self.objects.events[at].key)

    def live(self) -> dict[str, int]:
        return {ref: version for ref, (version, dead) in self.records.items() if not dead}

    def _converge(self, key: str) -> None:
        ref = key.removeprefix("content/").removesuffix(".json")
        found = self.objects.get(key)
        if found:
            self._apply(ref, Document.model_validate_json(found.body).generation, dead=False)
        else:
            manifest = self.objects.get(MANIFEST_KEY)
            generation = Manifest.model_validate_json(manifest.body).generation if manifest else 0
            self._apply(ref, generation, dead=True)

    def _apply(self, ref: str, version: int, *, dead: bool) -> None:
        if version >= self.records.get(ref, (0, False))[0]:
            self.records[ref] = (version, dead)
