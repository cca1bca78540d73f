"""One sync on a whole `commonplace dev`: it serves what the clone publishes, and nothing unpublished is anywhere."""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from commonplace.documents.content.keys import ATTACHMENTS_PREFIX, CONTENT_PREFIX, RAW_PREFIX
from commonplace.documents.content.paths import DEFAULT_EXCLUDES
from commonplace.kernel.objects import OPERATIONS_PREFIX
from commonplace.search.chunks import chunk_body
from commonplace.search.text import plain
from commonplace_local.dev.laptop import Laptop
from commonplace_local.project import PROJECT
from tests.acceptance import agents, questions
from tests.acceptance.indexes import EmbeddedIndex, Index
from tests.acceptance.reading import Page, Traces, texts_in, unexplained
from tests.acceptance.site import FIXED, Pages, texts_of
from tests.acceptance.truth import Statement, Truth, all_of, blob, equal, fact, none, same, servable, truth_at

PLACES = ("store", "operators' objects", "index", "public answers", "logs")
MAY_NAME_PATHS = (f"{OPERATIONS_PREFIX}reports/", f"{OPERATIONS_PREFIX}runs/")
"""A run's plan lists the tree, its report what was skipped and why: for operators, and only for a while."""
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


def traces_of(truth: Truth, types: Iterable[str] = ()) -> Traces:
    """What is peculiar to the unpublished files. What published files or our own code say is no secret, nor what pages
    and lists put side by side of a published one: its name or title, its type, a value, the body."""
    private = {path: page.body + "\n" + "\n".join(page.values) for path, page in truth.unpublished.items()}
    names = {page.title: path for path, page in truth.unpublished.items() if page.title}
    hidden = (path for path in truth.tree.blobs if path not in truth.published and path not in truth.links.files)
    names |= {path: path for path in hidden}
    public = [raw.decode("utf-8", "replace") for path, raw in truth.raw.items() if path in truth.published]
    known = [*public, *(text for page in truth.published.values() for text in _as_indexed(page))]
    kinds = [*types]
    known += [text for path, page in truth.published.items() for text in _side_by_side(path, page, kinds)]
    own = (file for file in sorted((PROJECT / "layers" / "core").rglob("*")) if file.suffix in TEXT_FILES)
    known += [*truth.published, *truth.links.files, *(file.read_text(encoding="utf-8") for file in own)]
    return Traces(private, names, known)


def statements(laptop: Laptop, api: httpx.Client, truth: Truth, refs: Iterable[str], index: Index) -> list[Statement]:
    """`refs`: `contentType/id` of every document that is served."""
    traces = traces_of(truth, {ref.partition("/")[0] for ref in refs})
    told: dict[str, set[str]] = {place: set() for place in PLACES}
    named: dict[str, set[str]] = {place: set() for place in PLACES}
    size = 0
    for place, where, texts in _places(laptop, api, refs, index):
        listed = [text for text in texts if not (where.startswith(MAY_NAME_PATHS) and text in truth.tree.blobs)]
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
    by_path = []
    for path in (path for path in truth.unpublished if len(path) <= 1000):
        answer = api.get("/api/v1/entries/by-path", params={"path": path})
        # 404, or a published document that answers to the same path (`x.markdown` beside `x.markdown.md`).
        if answer.status_code != 404 and not (answer.status_code == 200 and answer.json()["path"] in truth.published):
            by_path.append(path)
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


def _places(laptop: Laptop, api: httpx.Client, refs: Iterable[str], index: Index) -> Iterator[Place]:
    store = laptop.store
    for item in store.list(""):
        place = "operators' objects" if item.key.startswith(OPERATIONS_PREFIX) else "store"
        found = None if item.key.startswith(ATTACHMENTS_PREFIX) else store.get(item.key)
        yield place, item.key, (item.key, *(texts_in(found.body) if found else ()))
    yield from (("index", where, texts) for where, texts in index.texts())
    for address in _addresses(api, refs):
        answer = api.get(address)
        page = answer.headers.get("content-type", "").startswith("text/html")
        said = texts_of(answer.text) if page else texts_in(answer.content)
        yield "public answers", f"GET {address}", (*said, *answer.headers.values())
    yield "logs", "logs of the functions", (laptop.logs(),)


def _addresses(api: httpx.Client, refs: Iterable[str]) -> Iterator[str]:
    yield from (*ANSWERS, *FIXED)
    for first in PAGED:
        address: str | None = first
        while address:
            yield address
            answer = api.get(address)
            following = answer.json().get("next_url") or answer.links.get("next", {}).get("url")
            address = re.sub(r"\Ahttps?://[^/]+", "", following) if following else None
    for ref in refs:
        yield from (f"/api/v1/entries/{ref}{suffix}" for suffix in ("", ".md", "/links"))
        yield f"/d/{ref}"


def _as_indexed(page: Page) -> Iterator[str]:
    """What the index makes of a published text: without Markdown's marks and `'s`, and under the headings above it."""
    for chunk in chunk_body(page.body):
        heading, text = " ".join(chunk.heading_path), plain(chunk.text)
        yield from (heading, text, f"{heading} {text}", _POSSESSIVE.sub("", text))


def _side_by_side(path: str, page: Page, types: Iterable[str]) -> Iterator[str]:
    for name in filter(None, (path.rpartition("/")[2].partition(".")[0], page.title)):
        yield from (f"{name} {text}" for text in (page.body, *page.values, *types))


SYNC_SECONDS = 1800
FRESH_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Served:
    """What the laptop answers, fetched once: summaries and documents by path."""

    truth: Truth
    listed: list[dict[str, Any]]
    documents: dict[str, dict[str, Any]]
    manifest: dict[str, Any]

    @property
    def refs(self) -> dict[str, str]:
        """`contentType/id` -> path."""
        return {f"{item['contentType']}/{item['id']}": item["path"] for item in self.listed}


def sync(laptop: Laptop) -> list[Statement]:
    """The first sync, from push to silence."""
    began = time.monotonic()
    laptop.push()
    laptop.wait(SYNC_SECONDS)
    report, summary = laptop.report(), laptop.summary()
    return [
        equal("the first sync succeeds", "succeeded", summary.status if summary else "never finished"),
        fact("seconds from push to searchable", round(time.monotonic() - began, 1)),
        fact("calls to GitHub", len(laptop.api.requests)),
        fact("problems reported to editors", report.counts.problems if report else None),
    ]


def examine(laptop: Laptop, index: Index | None = None) -> list[Statement]:
    """Every statement about what is served now. The laptop is idle; without `index` it uses the embedded engine."""
    looked_into = index or EmbeddedIndex(laptop.index_file)
    with _fetched(laptop) as (api, served):
        truth, stored = served.truth, laptop.manifest()
        versions = {str(entry.ref): entry.generation for entry in stored.documents} if stored else {}
        return [
            equal("the commit that is served is the head", truth.tree.commit, served.manifest["commitSha"]),
            fact("files of the tree that this clone lacks", len(truth.absent)),
            *_presence(laptop, served),
            *_bodies(laptop, served),
            *_tags(api, served),
            *_titles(api, served),
            *questions.examine(api, laptop.url, truth.published, served.refs),
            *_graph(api, served),
            *_attachments(laptop, api, served),
            *Pages.fetch(api, {ref: served.documents[path] for ref, path in served.refs.items()}).statements(),
            *statements(laptop, api, truth, served.refs, looked_into),
            *looked_into.statements(truth, versions),
        ]


def examine_questions(laptop: Laptop) -> list[Statement]:
    """What people's questions find; the laptop is idle."""
    with _fetched(laptop) as (api, served):
        return list(questions.examine(api, laptop.url, served.truth.published, served.refs))


def examine_agents(laptop: Laptop) -> list[Statement]:
    """What agents are given of the documents. The laptop is idle, and lets everybody read them whole over MCP."""
    with _fetched(laptop) as (_, served):
        bodies = {ref: served.truth.published[path].body for ref, path in served.refs.items()}
    return list(agents.examine(laptop.url, bodies))


@contextmanager
def _fetched(laptop: Laptop) -> Iterator[tuple[httpx.Client, Served]]:
    """Yield a client, and what the laptop answers about its head."""
    head = laptop.workspace.head or ""
    truth = truth_at(laptop.workspace.git_dir, head, DEFAULT_EXCLUDES)
    with httpx.Client(base_url=laptop.url, trust_env=False, timeout=60) as api:
        # A serving process may answer for some seconds from what it read before.
        deadline = time.monotonic() + FRESH_SECONDS
        while api.get("/api/v1/manifest?limit=1").json().get("commitSha") != head and time.monotonic() < deadline:
            time.sleep(0.2)
        listed = [*paged(api, "/api/v1/entries", {"limit": "100"})]
        documents = {}
        for item in listed:
            answer = api.get(f"/api/v1/entries/{quote(item['contentType'])}/{quote(item['id'])}")
            documents[item["path"]] = answer.json() if answer.status_code == 200 else {}
        yield api, Served(truth, listed, documents, api.get("/api/v1/manifest").json())


def paged(api: httpx.Client, address: str, query: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Every entry of a list, page by page."""
    offset = 0
    while True:
        answer = api.get(address, params=query | {"offset": str(offset)}).json()
        yield from answer["entries"]
        offset += len(answer["entries"])
        if not answer["entries"] or offset >= answer["total"]:
            return


def _presence(laptop: Laptop, served: Served) -> Iterator[Statement]:
    published = served.truth.published
    stored = laptop.manifest()
    entries = stored.documents if stored else []
    keys = {prefix: [item.key for item in laptop.store.list(prefix)] for prefix in (CONTENT_PREFIX, RAW_PREFIX)}
    ids = [f"{item['contentType']}/{item['id']}" for item in served.listed]
    indexed = laptop.indexed()
    yield same("published files listed by REST", published, [item["path"] for item in served.listed])
    yield same(
        "published files in the public manifest", published, [item["path"] for item in served.manifest["documents"]]
    )
    yield same("published files in the stored manifest", published, [entry.path for entry in entries])
    doubles = [name for name, count in Counter(ids).items() if count > 1]
    yield equal("ids of their own", len(published), len(set(ids)), doubles)
    yield same("document objects in the store", [f"{CONTENT_PREFIX}{ref}.json" for ref in ids], keys[CONTENT_PREFIX])
    yield same("raw copies in the store", [f"{RAW_PREFIX}{path}" for path in published], keys[RAW_PREFIX])
    yield same("documents in the index", ids, indexed)
    stale = [entry.path for entry in entries if indexed.get(entry.ref) != entry.generation]
    yield all_of("index versions that are the store's", len(entries), stale)
    index_pages = [path for path in published if re.search(r"(^|/)index\.md\Z", path)]
    found = [path for path in served.documents if re.search(r"(^|/)index\.md\Z", path) and served.documents[path]]
    yield same("published index.md files served", index_pages, found)


def _bodies(laptop: Laptop, served: Served) -> Iterator[Statement]:
    truth, documents = served.truth, served.documents
    wrong = [path for path, page in truth.published.items() if documents.get(path, {}).get("content") != page.body]
    yield all_of("bodies by REST, every byte", len(truth.published), wrong)
    store = laptop.store
    raw = {path: store.get(f"{RAW_PREFIX}{path}") for path in truth.published}
    other = [path for path, found in raw.items() if found is None or found.body != truth.raw[path]]
    yield all_of("raw copies, every byte", len(truth.published), other)
    named = [path for path, page in truth.published.items() if page.title]
    titles = [path for path in named if documents.get(path, {}).get("title") != truth.published[path].title]
    yield all_of("titles as authored", len(named), titles)


def _tags(api: httpx.Client, served: Served) -> Iterator[Statement]:
    published = served.truth.published
    wanted: dict[str, set[str]] = defaultdict(set)
    for path, page in published.items():
        for tag in page.tags:
            wanted[tag].add(path)
    pairs = [f"{tag}: {path}" for tag, paths in wanted.items() for path in paths]
    found = [
        f"{tag}: {item['path']}"
        for tag in wanted
        for item in paged(api, "/api/v1/entries", {"limit": "100", "tags": tag})
    ]
    yield same("tags in use", wanted, [item["tag"] for item in api.get("/api/v1/tags").json()["tags"]])
    yield same("(document, tag) pairs by the filter of the list", pairs, found)
    missed = []
    for tag, paths in wanted.items():
        for path in paths:
            results = search(api, served.documents.get(path, {}).get("title", ""), tags=tag)
            if path not in [hit["path"] for hit in results] or any(tag not in hit["tags"] for hit in results):
                missed.append(f"{tag}: {path}")
    yield all_of("(document, tag) pairs by the filter of the search", len(pairs), missed)


def search(api: httpx.Client, text: str, **filters: str) -> list[dict[str, Any]]:
    answer = api.get("/api/v1/search", params={"q": text, "limit": "20", **filters})
    results: list[dict[str, Any]] = answer.json()["results"] if answer.status_code == 200 else []
    return results


def _titles(api: httpx.Client, served: Served) -> Iterator[Statement]:
    """Where documents share a title, any of them may be first."""
    sharing: dict[str, set[str]] = defaultdict(set)
    for path, document in served.documents.items():
        sharing[document.get("title", "")].add(path)
    missed = []
    for title, paths in sorted(sharing.items()):
        results = search(api, title)
        first = results[0]["path"] if results else "nothing"
        if first not in paths:
            missed.append(f"{title}: {first} instead of {min(paths)}")
    yield fact("titles that documents share", sum(len(paths) > 1 for paths in sharing.values()))
    yield all_of("searches by exact title that find it first", len(sharing), missed)


def _graph(api: httpx.Client, served: Served) -> Iterator[Statement]:
    truth, refs = served.truth, served.refs
    graph = api.get("/api/v1/graph").json()
    edges = {(refs.get(link["source"], "?"), refs.get(link["target"], "?")) for link in graph["links"]}
    links = {ref: api.get(f"/api/v1/entries/{ref}/links").json() for ref in refs}
    out = {(refs[ref], item["path"]) for ref, answer in links.items() for item in answer["out"]}
    back = {(item["path"], refs[ref]) for ref, answer in links.items() for item in answer["back"]}
    suggested = [
        broken["suggestion"] for answer in links.values() for broken in answer["broken"] if broken["suggestion"]
    ]
    yield same("nodes of the graph", truth.published, [node["path"] for node in graph["nodes"]])
    missing = [f"{source} -> {target}" for source, target in sorted(truth.links.edges - edges)]
    yield all_of("links between published pages that are edges", len(truth.links.edges), missing)
    yield fact("edges of the graph", len(edges))
    yield none("edges whose source does not name the target", sorted(unexplained(edges, truth.published)))
    yield equal("the links of each document are those of the graph", len(edges), len(out & back & edges))
    yield fact("broken links", sum(len(answer["broken"]) for answer in links.values()))
    yield all_of(
        "suggestions that are published documents", len(suggested), [ref for ref in suggested if ref not in refs]
    )


def _attachments(laptop: Laptop, api: httpx.Client, served: Served) -> Iterator[Statement]:
    truth = served.truth
    wanted = servable(laptop.workspace.git_dir, truth)
    listed = {item["path"]: item for item in served.manifest["attachments"]}
    yield fact("embedded or linked files that this clone lacks", len(truth.links.files & truth.absent))
    yield same("embedded or linked files in the manifest", wanted, [path for path in listed if path in wanted])
    extra = [path for path in listed if path not in wanted and not _names(truth, path)]
    yield none("attachments that no published page names", extra)
    wrong = [path for path, item in listed.items() if not _is_served(laptop, api, truth, path, item)]
    yield all_of("attachments served, every byte, with their type", len(listed), wrong)
    objects = [item.key for item in laptop.store.list(ATTACHMENTS_PREFIX)]
    yield same(
        "attachments in the store", {f"{ATTACHMENTS_PREFIX}{item['blobSha']}" for item in listed.values()}, objects
    )


def _names(truth: Truth, path: str) -> bool:
    """Frontmatter and raw-space targets reach files that the plain reader of links does not."""
    name = path.rpartition("/")[2]
    return any(name in page.body or any(name in text for text in page.values) for page in truth.published.values())


def _is_served(laptop: Laptop, api: httpx.Client, truth: Truth, path: str, item: dict[str, Any]) -> bool:
    if path not in truth.tree.blobs:
        return False
    answer = api.get(item["url"])
    right = answer.content == blob(laptop.workspace.git_dir, truth.tree.blobs[path])
    kind = answer.headers.get("content-type", "").startswith(item["mediaType"])
    return answer.status_code == 200 and right and kind and answer.headers.get("x-content-type-options") == "nosniff"
