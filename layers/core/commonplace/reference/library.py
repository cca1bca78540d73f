"""The published catalogues as one serving process holds them: `ports.Shelf` over an object store, and its keys.

Everything goes by a catalogue's manifest: an object that it does not name does not exist.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from time import monotonic

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.objects import OPERATIONS_PREFIX, ObjectReader
from commonplace.reference.model import Catalogue, Manifest
from commonplace.reference.ports import Edition

logger = logging.getLogger(__name__)

REFERENCE_PREFIX = "reference/"

MAX_AGE_SECONDS = 60.0
RETRY_SECONDS = 5.0
"""After the store has failed: who holds an edition answers from it meanwhile, and nobody waits for the store again."""

LOOKS = 2
"""A manifest that is replaced while it is read names an object that may be gone: it is read once more."""


def manifest_key(name: str) -> str:
    return f"{REFERENCE_PREFIX}{name}/manifest.json"


def catalogues_prefix(name: str) -> str:
    return f"{REFERENCE_PREFIX}{name}/catalogues/"


def catalogue_key(name: str, digest: str) -> str:
    """Return the key of one publication; `digest` is of its bytes."""
    return f"{catalogues_prefix(name)}{digest}.json"


def report_key(name: str) -> str:
    """Return what the last run found, for operators: problems with their files, also those of a catalogue that was
    refused.
    """
    return f"{OPERATIONS_PREFIX}reference/{name}/report.json"


def catalogue_blobs_prefix(name: str) -> str:
    """Bytes of the files of a catalogue's head, by blob id: the next run fetches only what has changed. Kept."""
    return f"{OPERATIONS_PREFIX}reference/{name}/blobs/"


def catalogue_known_key(name: str) -> str:
    """Return what the last run of a catalogue learned: head, files, what came of them."""
    return f"{OPERATIONS_PREFIX}reference/{name}/known.json"


@dataclass(frozen=True, slots=True)
class Held:
    """A catalogue as of one manifest. Without a catalogue nothing is published under the name."""

    etag: str | None = None
    key: str = ""
    catalogue: Catalogue | None = None


NOTHING = Held()


class CatalogueLibrary:
    """The catalogues of these names, in their order.

    While the edition is fresh it is answered from memory; then each manifest is read once, if it has changed. A
    catalogue that cannot be read meanwhile stays as it was held.

    Any thread may ask. One of them looks at the store, and the others go on with what is held; before anything is, they
    wait, for a catalogue can be large and nobody needs it twice.
    """

    def __init__(
        self,
        objects: ObjectReader,
        names: Sequence[str],
        clock: Callable[[], float] = monotonic,
        max_age_seconds: float = MAX_AGE_SECONDS,
    ) -> None:
        """`clock` gives seconds and never goes back."""
        self._objects = objects
        self._names = tuple(names)
        self._clock = clock
        self._max_age_seconds = max_age_seconds
        self._held: dict[str, Held] = {}
        self._edition: Edition | None = None
        self._fresh_until = float("-inf")
        self._looking = Lock()

    def edition(self) -> Edition:
        """Return the current edition. Raises Unavailable while a catalogue has never been read and the store does not
        answer.
        """
        held = self._edition
        if held is not None and self._clock() < self._fresh_until:
            return held
        if not self._looking.acquire(blocking=held is None) and held is not None:
            return held
        try:
            if self._edition is None or self._clock() >= self._fresh_until:
                read = {name: self._read(name) for name in self._names}
                failed = [name for name, found in read.items() if found is None]
                self._held |= {name: found for name, found in read.items() if found is not None}
                if never := [name for name in failed if name not in self._held]:
                    raise Unavailable(
                        f"The product reference ({', '.join(never)}) cannot be read now. Try again shortly."
                    )
                missing = tuple(name for name in self._names if self._held[name].catalogue is None)
                found = tuple(one for name in self._names if (one := self._held[name].catalogue) is not None)
                # An object's key is a hash of its bytes, so equal keys are equal catalogues.
                version = " ".join(f"{name}:{self._held[name].key.rpartition('/')[2]}" for name in self._names)
                edition = Edition(found, version, missing)
                if self._edition is None or self._edition.version != edition.version:
                    self._edition = edition
                self._fresh_until = self._clock() + (RETRY_SECONDS if failed else self._max_age_seconds)
            return self._edition or Edition((), "")
        finally:
            self._looking.release()

    def _read(self, name: str) -> Held | None:
        """Return what is published under the name; None when that is unknown, which is no other catalogue's matter."""
        held = self._held.get(name, NOTHING)
        try:
            for _ in range(LOOKS):
                try:
                    changed = self._objects.get_if_changed(manifest_key(name), held.etag)
                except KeyError:
                    return NOTHING
                if changed is None:
                    return held
                key = Manifest.model_validate_json(changed.body).catalogue_key
                if held.catalogue is not None and key == held.key:
                    return Held(changed.etag, key, held.catalogue)
                if stored := self._objects.get(key):
                    return Held(changed.etag, key, Catalogue.model_validate_json(stored.body))
            logger.error("a catalogue's object is missing", extra={"catalogue": name})
        except ValueError as error:
            logger.error("a catalogue cannot be read", extra={"catalogue": name, "error": type(error).__name__})
        except Exception as error:
            logger.exception("the store does not answer", extra={"catalogue": name, "error": type(error).__name__})
        return None
