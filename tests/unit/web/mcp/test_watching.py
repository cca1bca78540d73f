"""Whatever the feed says and whenever it says it: what is told is what reading again shows, and nothing is left out."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.content.document import Document
from commonplace.documents.content.library import Library
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.search.model import RecordId
from commonplace.search.source import Change
from commonplace.web.mcp.declaration import Caller, Happened
from commonplace.web.mcp.subscriptions import Waiting
from tests.fakes.changes import FakeChanges
from tests.fakes.library import FakeLibrary, make
from tests.fakes.search import FakeSearch

NAMES = ("a", "b", "c", "d")
MAX_AGE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Step:
    """Half a second in which something may happen: documents get versions or go (0), the feed tells, or fails."""

    versions: dict[str, int]
    told: dict[str, int]
    feed_fails: bool
    store_fails: bool


VERSIONS = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 6), max_size=2)
QUIET = Step({}, {}, feed_fails=False, store_fails=False)
STEPS = st.lists(
    st.builds(Step, VERSIONS, VERSIONS, feed_fails=st.just(False), store_fails=st.booleans())
    | st.builds(Step, st.just({}), VERSIONS, feed_fails=st.booleans(), store_fails=st.just(False)),
    max_size=12,
)


class Place:
    """Documents with versions, a feed, and a caller who waits for all of them and for the list."""

    def __init__(self) -> None:
        self.now = 0.0
        self.shown = dict.fromkeys(NAMES[1:], 1)
        self.store = FakeLibrary(self.documents())
        self.feed = FakeChanges()
        library = Library(self.store, clock=lambda: self.now)
        using = KnowledgeServices(library=library, search=FakeSearch(), full_text_tier="public")
        self.before = dict(self.shown)
        uris = [address(name) for name in NAMES]
        self.waiting = Waiting([knowledge_toolset(using)], self.feed, Caller(), uris, lists=True)

    def documents(self) -> list[Document]:
        return [make("note", name, f"{name}.md", generation=version) for name, version in self.shown.items()]

    def pass_time(self, step: Step) -> Happened:
        self.now += 0.5
        self.shown |= step.versions
        self.shown = {name: version for name, version in self.shown.items() if version}
        if step.versions:
            self.store.publish(self.documents())
        for name, version in step.told.items():
            self.feed.told.append(Change(RecordId(f"note/{name}"), "written" if version else "removed", version or 6))
        self.feed.unreachable = step.feed_fails
        self.store.unreachable = step.store_fails
        return self.waiting.look()

    def differing(self) -> tuple[set[str], bool]:
        """What reading again would show to be different from the beginning."""
        updated = {address(name) for name, version in self.before.items() if self.shown.get(name) != version}
        return updated, self.shown.keys() != self.before.keys()


def address(name: str) -> str:
    return f"mcp://superbenefit/documents/note/{name}"


def test_only_what_is_there_is_waited_for() -> None:
    assert Place().waiting.uris == [address(name) for name in NAMES[1:]]


@given(STEPS)
def test_what_is_told_first_is_what_reading_again_shows_and_nothing_is_left_out(steps: list[Step]) -> None:
    place = Place()
    for step in [*steps, *[QUIET] * int(MAX_AGE_SECONDS / 0.5 + 1)]:
        if found := place.pass_time(step):
            break
    assert (set(found.updated), found.listed) == place.differing()


@given(st.lists(VERSIONS, max_size=8))
def test_a_feed_that_tells_of_nothing_true_makes_nobody_read_again(told: list[dict[str, int]]) -> None:
    place = Place()
    for changes in told:
        assert not place.pass_time(Step({}, changes, feed_fails=False, store_fails=False))
