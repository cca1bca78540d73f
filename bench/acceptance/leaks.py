"""Nothing unpublished anywhere: every place that something could have leaked to, looked through word by word."""

import re
from collections.abc import Iterable, Iterator

import httpx

from bench.acceptance.indexes import Index
from bench.acceptance.reading import Page, Traces, texts_in
from bench.acceptance.truth import Statement, Truth, all_of, fact, none
from commonplace.documents.content.keys import ATTACHMENTS_PREFIX
from commonplace.kernel.objects import OPERATIONS_PREFIX
from commonplace.search.chunks import chunk_body
from commonplace.search.text import plain
from local.deployment import PROJECT
from local.dev.laptop import Laptop

PLACES = ("store", "operators' objects", "index", "public answers", "logs")
TEXT_FILES = (".py", ".toml", ".json", ".css", ".html", ".js")
ANSWERS = (
    "/api/v1/graph",
    "/api/v1/manifest",
    "/api/v1/sync",
    "/api/v1/tags",
    "/api/v1/groups",
    "/api/v1/releases",
    "/api/v1/ontology",
    "/api/v1/schemas",
    "/health",
    "/llms.txt",
    "/llms-full.txt",
    "/openapi.json",
    "/docs",
)
PAGED = ("/api/v1/entries?limit=100", "/api/v1/feed.json?limit=50")

_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)

Place = tuple[str, str, Iterable[str]]
"""Which of PLACES, where exactly, and the texts found there."""


def traces_of(truth: Truth) -> Traces:
    """What is peculiar to the unpublished files. What published files or our own code say is no secret."""
    private = {path: page.body + "\n" + "\n".join(page.values) for path, page in truth.unpublished.items()}
    names = {page.title: path for path, page in truth.unpublished.items() if page.title}
    hidden = (path for path in truth.tree.blobs if path not in truth.published and path not in truth.links.files)
    names |= {path: path for path in hidden}
    public = [raw.decode("utf-8", "replace") for path, raw in truth.raw.items() if path in truth.published]
    known = [*public, *(text for page in truth.published.values() for text in _as_indexed(page))]
    known += [*truth.published, *truth.links.files, *_own_texts()]
    return Traces(private, names, known)


def statements(laptop: Laptop, api: httpx.Client, truth: Truth, refs: Iterable[str], index: Index) -> list[Statement]:
    """`refs`: `contentType/id` of every document that is served."""
    traces = traces_of(truth)
    told: dict[str, set[str]] = {place: set() for place in PLACES}
    named: dict[str, set[str]] = {place: set() for place in PLACES}
    size = 0
    for place, where, texts in _places(laptop, api, refs, index):
        listed = [text for text in texts if not (_may_name_paths(where) and text in truth.tree.blobs)]
        size += sum(map(len, listed))
        text_of, name_of = traces.in_texts(listed)
        told[place] |= {f"{where}: text of {path}" for path in text_of}
        named[place] |= {f"{where}: title or path of {path}" for path in name_of}
    return [
        fact("unpublished Markdown files whose traces are looked for", len(truth.unpublished)),
        fact("traces: runs of words, and lines of short files", traces.run_count),
        fact("traces: titles and paths", traces.name_count),
        fact("characters looked through", size),
        *(none(f"no text of theirs in: {place}", sorted(told[place])) for place in PLACES),
        *(none(f"no title or path of theirs in: {place}", sorted(named[place])) for place in PLACES),
        *_asked(api, truth),
    ]


def _asked(api: httpx.Client, truth: Truth) -> list[Statement]:
    """Asking for the very thing: by path, and by title."""
    by_path = [path for path in truth.unpublished if len(path) <= 1000 and not _is_gone(api, path, truth)]
    titles = sorted({page.title[:1000] for page in truth.unpublished.values() if page.title})
    found = []
    for title in titles:
        answer = api.get("/api/v1/search", params={"q": title, "limit": "20"})
        results = answer.json().get("results", []) if answer.status_code == 200 else [{"path": f"{answer.status_code}"}]
        found += [f"{title}: {hit['path']}" for hit in results if hit["path"] not in truth.published]
    return [
        all_of("their paths are answered with 404", len(truth.unpublished), by_path),
        all_of("a search for each of their titles finds published documents only", len(titles), found),
    ]


def _is_gone(api: httpx.Client, path: str, truth: Truth) -> bool:
    """404, or a published document that answers to the same path (`x.markdown` beside `x.markdown.md`)."""
    answer = api.get("/api/v1/entries/by-path", params={"path": path})
    return answer.status_code == 404 or (answer.status_code == 200 and answer.json()["path"] in truth.published)


def _places(laptop: Laptop, api: httpx.Client, refs: Iterable[str], index: Index) -> Iterator[Place]:
    store = laptop.store
    for item in store.list(""):
        place = "operators' objects" if item.key.startswith(OPERATIONS_PREFIX) else "store"
        found = None if item.key.startswith(ATTACHMENTS_PREFIX) else store.get(item.key)
        yield place, item.key, (item.key, *(texts_in(found.body) if found else ()))
    yield from (("index", where, texts) for where, texts in index.texts())
    for address in _addresses(api, refs):
        answer = api.get(address)
        yield "public answers", f"GET {address}", (*texts_in(answer.content), *answer.headers.values())
    yield "logs", "logs of the functions", (laptop.logs(),)


def _addresses(api: httpx.Client, refs: Iterable[str]) -> Iterator[str]:
    yield from ANSWERS
    for first in PAGED:
        address: str | None = first
        while address:
            yield address
            answer = api.get(address)
            following = answer.json().get("next_url") or answer.links.get("next", {}).get("url")
            address = re.sub(r"\Ahttps?://[^/]+", "", following) if following else None
    for ref in refs:
        yield from (f"/api/v1/entries/{ref}{suffix}" for suffix in ("", ".md", "/links"))


def _may_name_paths(key: str) -> bool:
    """A run's plan lists the tree, its report what was skipped and why: for operators, and only for a while."""
    return key.startswith((f"{OPERATIONS_PREFIX}reports/", f"{OPERATIONS_PREFIX}runs/"))


def _as_indexed(page: Page) -> Iterator[str]:
    """What the index makes of a published text: without Markdown's marks and `'s`, and under the headings above it."""
    for chunk in chunk_body(page.body):
        heading, text = " ".join(chunk.heading_path), plain(chunk.text)
        yield from (heading, text, f"{heading} {text}", _POSSESSIVE.sub("", text))


def _own_texts() -> Iterator[str]:
    for file in sorted((PROJECT / "layers" / "core").rglob("*")):
        if file.suffix in TEXT_FILES:
            yield file.read_text(encoding="utf-8")
