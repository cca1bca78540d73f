"""Links, images and embeds of one document, led where the sync has found that they lead."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from urllib.parse import unquote, urlsplit

from markdown_it.common.normalize_url import normalizeLink
from markdown_it.token import Token

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import Attachment, Entry
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.fields import tag_of
from commonplace.documents.content.graph import Graph
from commonplace.repository.dialect import plain, wiki_parts
from commonplace.repository.headings import fragment_of, place_in_file
from commonplace.repository.link import Link
from commonplace.repository.links import link_of, replace_in_html

BROKEN = "There is no published document or file of this name."
_SCHEME = re.compile(r"(?:https?://|//|mailto:|tel:)", re.IGNORECASE)
_SIZE = re.compile(r"\s*(\d{1,4})(?:x(\d{1,4}))?\s*\Z")
_EMBEDDING = ("wiki", "image", "spaced_image")


@dataclass(frozen=True, slots=True)
class Shelf:
    """What a rendering looks into: one edition of what is published."""

    catalogue: Catalogue
    graph: Graph
    addresses: DocumentAddresses
    read: Callable[[Entry], str | None]  # The body of another document; None when it has gone meanwhile


class References:
    """`addresses` collects every URL that is made."""

    def __init__(self, shelf: Shelf, entry: Entry, addresses: set[str]) -> None:
        self._shelf = shelf
        self._entry = entry
        self._addresses = addresses
        links = shelf.graph.authored.get(entry.path, ())
        self._paths: Mapping[tuple[str, str], str | None] = {(link.target, link.kind): link.path for link in links}

    def document_url(self, entry: Entry, fragment: str | None) -> str:
        return self._made(self._shelf.addresses.of(entry) + fragment_of(fragment))

    def embedded(self, token: Token) -> tuple[Entry, Link] | None:
        """Return the document that the token embeds, if it embeds one."""
        if token.type not in _EMBEDDING or (token.type == "wiki" and not token.content.startswith("!")):
            return None
        link = link_of(token)
        found = self._target(link) if link else None
        return (found, link) if link and isinstance(found, Entry) else None

    def lead(self, tokens: list[Token]) -> list[Token]:
        """Return the tokens of a paragraph, heading or cell with every reference as plain HTML."""
        made: list[Token] = []
        closings: list[Token] = []
        for token, after in zip_longest(tokens, tokens[1:]):
            match token.type:
                case "link_open":
                    written = str(token.attrs.get("href", ""))
                    closings.append(self._open(token))
                    made.append(token)
                    if after and after.type == "link_close":  # a link without a text could be neither seen nor heard
                        made.append(Token("text", "", 0, content=written))
                case "link_close" if closings:
                    made.append(closings.pop())
                case "tag":
                    name = tag_of(token.content)
                    url = self._made(self._shelf.addresses.of_tag(name)) if name in self._entry.tags else None
                    made.append(_html(_anchor(url, token.content, "tag"), token.content))
                case "wiki" | "spaced":
                    made.append(_html(self._wiki(token, linked=bool(closings)), plain([token])))
                case "image" | "spaced_image":
                    made.append(_html(self._image(token, linked=bool(closings)), plain([token])))
                case _:
                    made.append(token)
        return made

    def lead_html(self, html: str) -> str:
        """HTML of an author's own, with links and images led."""
        return replace_in_html(html, self._url)

    def _made(self, address: str) -> str:
        self._addresses.add(address)
        return address

    def _target(self, link: Link) -> Entry | Attachment | None:
        path = self._paths.get((link.target, link.kind))
        if path is None:
            return None
        catalogue = self._shelf.catalogue
        return catalogue.manifest.by_path.get(path) or catalogue.attachment_at(path)

    def _url(self, link: Link) -> str | None:
        match self._target(link):
            case Entry() as entry:
                return self.document_url(entry, link.fragment)
            case Attachment() as attachment:
                return self._made(self._shelf.addresses.of_attachment(attachment) + place_in_file(link.fragment))
        return None

    def _open(self, token: Token) -> Token:
        """Leads a link; returns what closes it."""
        link = link_of(token)
        href = str(token.attrs.pop("href", ""))
        url = self._url(link) if link else None
        if url is None and link is None:
            url = href if href.startswith("#") else _outside(href)
        if url is not None:
            token.attrs["href"] = url
            if link and isinstance(self._target(link), Attachment):
                token.attrs["class"] = "attachment"
            return Token("link_close", "a", -1)
        token.type, token.tag = "span_open", "span"
        token.attrs = {"class": "broken-link", "title": BROKEN} if link else {}
        return Token("span_close", "span", -1)

    def _wiki(self, token: Token, *, linked: bool) -> str:
        if token.type == "wiki" and token.content.startswith("!"):
            return self._image(token, linked=linked)
        if linked:
            return escape(plain([token]))
        link = link_of(token)
        if link is None:
            inside = token.content.removeprefix("!")[2:-2]
            target, _, alias = inside.partition("|")
            if target.startswith("#"):
                return f'<a href="{escape(self._made(fragment_of(target)))}">{escape(alias or target[1:])}</a>'
            return _anchor(_outside(target.strip()), alias or target)
        url, shown = self._url(link), link.text if token.type == "spaced" else self._name(token, link)
        if url is None:
            return _broken(shown)
        return _anchor(url, shown, "attachment" if isinstance(self._target(link), Attachment) else "")

    def _name(self, token: Token, link: Link) -> str:
        """Return what a wiki link without a text of its own shows: the title where it is written as a path."""
        name, *text = wiki_parts(token.content.removeprefix("!")[2:-2])
        if text and text[-1]:
            return text[-1]
        found = self._target(link)
        if isinstance(found, Entry) and ("/" in link.target or link.target.endswith(".md")):
            name = found.title
            if link.fragment and not link.fragment.startswith("^"):
                name = f"{name}#{link.fragment}"
        return " › ".join(part.strip() for part in name.split("#") if part and not part.startswith("^"))

    def _image(self, token: Token, *, linked: bool) -> str:
        """Show an image of this knowledge base. Any other is a link: pages load nothing from elsewhere."""
        parts = (
            wiki_parts(token.content.removeprefix("!")[2:-2])[1:] if token.type == "wiki" else token.content.split("|")
        )
        size = _SIZE.match(parts[-1]) if parts else None
        alt = "|".join(parts[:-1] if size else parts).strip()
        link = link_of(token)
        if link is None:
            url = _outside(str(token.attrs.get("src") or token.attrs.get("href") or ""))
            shown = alt or (f"Image on {urlsplit(url).hostname}" if url else "Image")
            return escape(shown) if linked or url is None else _anchor(url, shown, "external-image")
        found, url = self._target(link), self._url(link)
        name = link.target.rstrip("/").rpartition("/")[2]
        shown = alt or name.rpartition(".")[0] or name
        if found is None or url is None:
            return _broken(shown)
        if isinstance(found, Attachment) and found.media_type.startswith("image/"):
            # The size that the author asked for, else the picture's own: a page that knows both does not jump about.
            width, height = found.width, found.height
            if size:
                asked, tall = int(size[1]), int(size[2]) if size[2] else None
                width, height = asked, tall or (round(height * asked / width) if width and height else None)
            sizes = "".join(f' {name}="{value}"' for name, value in (("width", width), ("height", height)) if value)
            return f'<img src="{escape(url)}" alt="{escape(shown)}"{sizes} loading="lazy" decoding="async">'
        if linked:
            return escape(shown)
        kind = "attachment" if isinstance(found, Attachment) else ""
        return _anchor(url, alt or (found.name if isinstance(found, Attachment) else found.title), kind)


def _outside(href: str) -> str | None:
    """Return an address on the web, made fit for an attribute; None for schemes that pages do not link to."""
    if not _SCHEME.match(href):
        return None
    try:
        return normalizeLink(href)
    except ValueError:
        return None


def _anchor(url: str | None, shown: str, kind: str = "") -> str:
    if url is None:
        return escape(shown)
    told = f' class="{kind}"' if kind else ""
    return f'<a{told} href="{escape(url)}">{escape(shown)}</a>'


def _broken(shown: str) -> str:
    return f'<span class="broken-link" title="{escape(BROKEN)}">{escape(unquote(shown))}</span>'


def _html(content: str, shown: str) -> Token:
    return Token("html_inline", "", 0, content=content, meta={"shown": shown})
