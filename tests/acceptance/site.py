"""What people see: each published document has a page, rendered, and what it shows and leads to is there."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import httpx

from tests.acceptance.truth import Statement, all_of, fact, none, same

VERBATIM = frozenset({"code", "pre", "script", "style", "template", "title"})
"""Elements whose text may look like Markdown."""
INLINE = {
    *("a", "abbr", "b", "bdi", "cite", "code", "del", "em", "i", "kbd", "mark", "q", "s", "small", "span", "strong"),
    *("sub", "sup", "time", "u"),
}
"""Elements that go on with the text around them; each other begins a new one."""
FIXED = ("/", "/search", "/types", "/groups", "/releases", "/t", "/map", "/connect", "/feed.xml", "/sitemap.xml")
RAW = re.compile(r"!?\[\[[^\[\]\n]+\]\]")
"""A wiki link or an embed that nobody has rendered."""


@dataclass
class Shown(HTMLParser):
    """What a page shows: its text apart from code, images, links, and the ids one can link to."""

    text: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=lambda: [""])
    """All text, code included, by the element it stands in."""
    verbatim: int = 0

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    @classmethod
    def of(cls, body: str) -> "Shown":
        page = cls()
        page.feed(body)
        page.close()
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.verbatim += tag in VERBATIM
        self._part(tag)
        self.attributes += found.values()
        self.ids += [found["id"]] if "id" in found else []
        self.images += [found["src"]] if tag == "img" and "src" in found else []
        self.links += [found["href"]] if tag == "a" and "href" in found else []

    def handle_endtag(self, tag: str) -> None:
        self.verbatim -= tag in VERBATIM
        self._part(tag)

    def handle_data(self, data: str) -> None:
        self.blocks[-1] += data
        if not self.verbatim:
            self.text.append(data)

    def _part(self, tag: str) -> None:
        if tag not in INLINE and self.blocks[-1]:
            self.blocks.append("")


def texts_of(page: str) -> list[str]:
    """What a page says: its text without markup, which private pages that hold HTML have in common with it."""
    shown = Shown.of(page)
    return [*shown.blocks, *shown.attributes]


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of documents, by `contentType/id`; None for what is no page."""

    api: httpx.Client
    documents: Mapping[str, dict[str, Any]]
    shown: Mapping[str, Shown | None]

    @classmethod
    def fetch(cls, api: httpx.Client, documents: Mapping[str, dict[str, Any]]) -> "Pages":
        return cls(api, documents, {ref: _page(api, f"/d/{ref}") for ref in documents})

    def statements(self) -> Iterator[Statement]:
        found = {ref: page for ref, page in self.shown.items() if page}
        yield all_of("published documents that have a page", len(self.documents), self.shown.keys() - found.keys())
        untitled = [ref for ref, page in found.items() if not _has_title(page, self.documents[ref]["title"])]
        yield all_of("pages that show the title", len(found), untitled)
        raw = {ref: RAW.findall("".join(page.text)) for ref, page in found.items()}
        yield none(
            "wiki links and embeds left as they are written", [f"{ref}: {each}" for ref in raw for each in raw[ref]]
        )
        doubled = [ref for ref, page in found.items() if len(set(page.ids)) < len(page.ids)]
        yield none("pages on which an id is given twice", doubled)
        yield from self._images(found)
        yield from self._links(found)
        yield from self._lists()

    def _images(self, found: Mapping[str, Shown]) -> Iterator[Statement]:
        sources = {urljoin(f"/d/{ref}", each) for ref, page in found.items() for each in page.images}
        foreign = [each for each in sources if urlsplit(each).netloc]
        yield none("images of other hosts", sorted(foreign))
        own = sorted(sources - set(foreign))
        yield all_of("images on pages that are served", len(own), [each for each in own if not self._is_image(each)])

    def _is_image(self, address: str) -> bool:
        answer = self.api.get(address)
        return answer.status_code == 200 and answer.headers["content-type"].startswith("image/")

    def _links(self, found: Mapping[str, Shown]) -> Iterator[Statement]:
        led = {
            (ref, urljoin(str(self.api.base_url.join(f"/d/{ref}")), each))
            for ref, page in found.items()
            for each in page.links
        }
        own = {(ref, each) for ref, each in led if urlsplit(each).netloc == self.api.base_url.netloc.decode()}
        answers = {
            each: self.api.get(each, follow_redirects=True).status_code
            for each in {address.partition("#")[0] for _, address in own}
        }
        dead = sorted({f"{each} answers {status}" for each, status in answers.items() if status != 200})
        yield all_of("addresses of this site that pages lead to", len(answers), dead)
        within = {(ref, unquote(each.partition("#")[2])) for ref, each in own if f"/d/{ref}#" in each}
        lost = sorted(f"{ref}#{anchor}" for ref, anchor in within if anchor not in found[ref].ids)
        yield fact("links within a page", len(within))
        yield fact("of them to a heading that is not there", len(lost))

    def _lists(self) -> Iterator[Statement]:
        wrong = [path for path in FIXED if self.api.get(path).status_code != 200]
        yield all_of("pages that every site has", len(FIXED), wrong)
        listed = re.findall(r"<loc>([^<]+)</loc>", self.api.get("/sitemap.xml").text)
        named = [unquote(urlsplit(each).path).removeprefix("/d/") for each in listed if "/d/" in each]
        yield same("documents in the sitemap", self.documents.keys(), named)
        urls = {ref: urlsplit(str(document["documentUrl"])).path for ref, document in self.documents.items()}
        elsewhere = [ref for ref, path in urls.items() if unquote(path) != f"/d/{ref}"]
        yield all_of("documents whose documentUrl is their page", len(urls), elsewhere)


def _page(api: httpx.Client, path: str) -> Shown | None:
    answer = api.get(path)
    html = answer.status_code == 200 and answer.headers["content-type"].startswith("text/html")
    return Shown.of(answer.text) if html else None


def _has_title(page: Shown, title: str) -> bool:
    return " ".join(title.split()) in " ".join("".join(page.text).split())
