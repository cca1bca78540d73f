"""One body on its way to HTML: parsed, its links and embeds led where the sync has found that they lead, written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html import escape

from markdown_it.renderer import RendererProtocol
from markdown_it.token import Token
from markdown_it.utils import EnvType

from commonplace.documents.content.document import DocumentRef, Entry
from commonplace.documents.rendering.anchors import Anchors, slice_of
from commonplace.documents.rendering.callouts import open_callouts
from commonplace.documents.rendering.formulas import formula
from commonplace.documents.rendering.model import Heading, Rendered
from commonplace.documents.rendering.references import References, Shelf
from commonplace.documents.rendering.sanitiser import sanitise
from commonplace.kernel.markdown_budget import Work
from commonplace.repository.dialect import Dialect, plain
from commonplace.repository.headings import BLOCK

MAX_CHARACTERS = 400_000
"""Of a body: several times the longest that people write. What follows is not rendered."""
MAX_EMBED_DEPTH = 3
MAX_EMBEDS = 30
MAX_EMBEDDED_CHARACTERS = 200_000  # Of one page, so that documents that embed each other stay finite and small
MAX_RAW_CHARACTERS = 50_000  # Of HTML in the bodies of one page
MAX_RAW_DEPTH = 200
"""Of elements in HTML that are open at once: the sanitiser's time grows with the square of how deep it nests."""

DIRECTED = frozenset({"p", "blockquote", "li", "th", "td", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6"})
"""Elements whose own text says which way they are read (HTML, `dir=auto`)."""

_FOOTNOTE = re.compile(r'<(\w++)[^<>]* id="(fn(?:ref)?[\w:-]+)"')
_OPENED_OR_CLOSED = re.compile(
    r"<(?!(?:area|br|col|dd|dt|hr|img|input|li|link|meta|p|source|t[dhr]|tbody|tfoot|thead|track|wbr)\b)(/?)[a-z]",
    re.IGNORECASE,
)
"""Tags but those that need no end."""
_ALIGNED = re.compile(r"text-align:(left|center|right)\Z")


@dataclass(slots=True)
class _Page:
    """What a document and all that it embeds have in common."""

    shelf: Shelf
    anchors: Anchors = field(default_factory=Anchors)
    addresses: set[str] = field(default_factory=set)
    ids: dict[str, str] = field(default_factory=dict)  # Each with the tag that has it
    embeds: int = 0
    embedded: int = 0
    raw: int = 0
    raw_depth: int = 0
    work: Work = field(default_factory=Work)  # What parsing its bodies has cost: one budget for all of them


def render(shelf: Shelf, entry: Entry, content: str) -> Rendered:
    """Return the body as sanitised HTML with its table of contents. Never raises on what an author wrote."""
    page = _Page(shelf)
    text = _Text(page, entry, content[:MAX_CHARACTERS])
    html = sanitise(text.html() or "", ids=page.ids, addresses=page.addresses)
    return Rendered(html, tuple(text.headings), truncated=len(content) > MAX_CHARACTERS)


class _Text:
    """A body, or the part of one that is embedded. Its tokens are changed in place until HTML can be written."""

    def __init__(self, page: _Page, entry: Entry, content: str, above: tuple[DocumentRef, ...] = (), depth: int = 1):
        """`above` are the documents that this one is embedded in, `depth` is the level of the heading over it."""
        self.page = page
        self.entry = entry
        self.above = (*above, entry.ref)
        self.headings: list[Heading] = []
        self._env: EnvType = {"docId": f"e{page.embeds}"} if above else {}
        work = self._env["work"] = Work(page.work.spent, page.work.tokens)
        self._tokens = _parser().parse(content, self._env)
        page.work = Work(work.spent, work.tokens + len(self._tokens))
        self._references = References(page.shelf, entry, page.addresses)
        self._levels: list[int] = []
        self._depth = depth

    def html(self, fragment: str | None = None) -> str | None:
        """Return all of it, or the section or block that the fragment names; None when there is none."""
        if not self._embedded:
            # The page shows the document's title already.
            tokens = self._tokens
            if len(tokens) > 2 and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
                written = " ".join(plain(tokens[1].children).split()).casefold()
                if written == " ".join(self.entry.title.split()).casefold():
                    del tokens[:3]
        elif fragment is not None:
            self._tokens = slice_of(self._tokens, fragment)
            if not self._tokens:
                return None
        self._tokens = open_callouts(self._tokens)
        self._tokens = list(self._led())
        # Links into the same document lead to its headings, however their fragment is written.
        own = self._references.document_url(self.entry, None) if self._embedded else ""
        for token in self._tokens:
            for child in token.children or ():
                href = child.attrs.get("href")
                if child.type == "link_open" and isinstance(href, str) and href.startswith("#"):
                    child.attrs["href"] = address = own + self.page.anchors.lead(href)
                    self.page.addresses.add(address)
        parser = _parser()
        html: str = parser.renderer.render(self._tokens, parser.options, self._env)
        if "footnotes" in self._env:
            self.page.ids.update((name, tag) for tag, name in _FOOTNOTE.findall(html))
        return html

    @property
    def _embedded(self) -> bool:
        return len(self.above) > 1

    def _led(self) -> Iterator[Token]:
        """Yield the tokens with links, embeds, anchors and heading levels put in place."""
        position, tokens = 0, self._tokens
        while position < len(tokens):
            token = tokens[position]
            if token.type == "paragraph_open" and (embed := self._embed(tokens[position + 1])) is not None:
                yield Token("html_block", "", 0, content=embed)
                position += 3
                continue
            if token.type in ("th_open", "td_open") and (found := _ALIGNED.match(str(token.attrs.pop("style", "")))):
                token.attrs["class"] = f"align-{found[1]}"
            if token.type == "inline" and tokens[position - 1].type != "heading_open":
                token.children = self._lead(token)
                self._mark_block(tokens, position)
            elif token.type in ("heading_open", "heading_close"):
                self._place_heading(tokens, position)
            elif token.type == "html_block" and not token.meta:
                self._admit_raw(token)
            if token.nesting == 1 and token.tag in DIRECTED:
                token.attrs["dir"] = "auto"
            yield token
            position += 1

    def _lead(self, inline: Token) -> list[Token]:
        for child in inline.children or ():
            if child.type == "html_inline":
                self._admit_raw(child)
            elif child.type == "code_inline":
                child.attrs["dir"] = "ltr"
        return self._references.lead(inline.children or [])

    def _admit_raw(self, token: Token) -> None:
        """Leads the links in HTML of an author's own, and remembers its ids; too much of it is shown as text."""
        self.page.raw += len(token.content)
        tags = _OPENED_OR_CLOSED.findall(token.content[:MAX_RAW_CHARACTERS])
        depth = max(0, self.page.raw_depth + tags.count("") - tags.count("/"))
        if self.page.raw > MAX_RAW_CHARACTERS or depth > MAX_RAW_DEPTH:
            token.content = escape(token.content)
        else:
            self.page.raw_depth = depth
            self.page.anchors.note_raw(token.content)
            token.content = self._references.lead_html(token.content)

    def _embed(self, inline: Token) -> str | None:
        """HTML of the document that is embedded by a paragraph of its own; None when the paragraph is another one."""
        children = [child for child in inline.children or [] if child.type != "text" or child.content.strip()]
        if len(children) != 1 or (found := self._references.embedded(children[0])) is None:
            return None
        entry, link = found
        url, title = self._references.document_url(entry, link.fragment), entry.title
        if link.fragment and not link.fragment.startswith("^"):
            title = f"{title} › {link.fragment.rpartition('#')[2]}"
        head = f'<p class="embed-title" dir="auto"><a href="{escape(url)}">{escape(title)}</a></p>'
        body = self._embedded_html(entry, link.fragment)
        if body is None:
            return head
        return f'<div class="embed">{head}<div class="embed-body">\n{body}</div></div>\n'

    def _embedded_html(self, entry: Entry, fragment: str | None) -> str | None:
        page = self.page
        if entry.ref in self.above or len(self.above) > MAX_EMBED_DEPTH or page.embeds >= MAX_EMBEDS:
            return None
        content = page.shelf.read(entry)
        if content is None or page.embedded + len(content) > MAX_EMBEDDED_CHARACTERS:
            return None
        page.embeds += 1
        page.embedded += len(content)
        text = _Text(page, entry, content, self.above, self._depth + len(self._levels))
        html = text.html(fragment)
        # By itself, so that HTML it leaves open cannot swallow what comes after it.
        return None if html is None else sanitise(html, ids=page.ids, addresses=page.addresses)

    def _mark_block(self, tokens: list[Token], position: int) -> None:
        """Obsidian's ` ^name` at the end of a block becomes the block's id."""
        children = tokens[position].children
        if not children or children[-1].type != "text" or not (found := BLOCK.search(children[-1].content)):
            return
        children[-1].content = children[-1].content[: found.start()]
        before = (tokens[at] for at in range(position - 1, -1, -1))
        opening = next((token for token in before if token.nesting == 1 and not token.hidden), None)
        if opening is not None and not self._embedded and "id" not in opening.attrs:
            opening.attrs["id"] = f"^{found[1]}"
            self.page.ids[f"^{found[1]}"] = opening.tag

    def _place_heading(self, tokens: list[Token], position: int) -> None:
        token = tokens[position]
        if token.type == "heading_close":
            token.tag = f"h{min(self._depth + len(self._levels), 6)}"
            return
        level = int(token.tag[1])
        # However levels are skipped by the author, each heading is one below the one it stands under.
        while self._levels and self._levels[-1] >= level:
            self._levels.pop()
        self._levels.append(level)
        token.tag = f"h{min(self._depth + len(self._levels), 6)}"
        if self._embedded:
            return
        inline = tokens[position + 1]
        inline.children = self._lead(inline)
        text = " ".join(BLOCK.sub("", plain(inline.children)).split())
        name = self.page.anchors.take(text)
        token.attrs["id"] = name
        self.page.ids[name] = token.tag
        if text:
            self.headings.append(Heading(int(token.tag[1]), name, text))
        label = f'<a class="anchor" href="#{escape(name)}" aria-label="Link to this section">#</a>'
        inline.children.append(Token("html_inline", "", 0, content=label))


@cache
def _parser() -> Dialect:
    """Return the dialect, which also writes: footnotes, code, formulas and tasks in the way of this package."""
    parser = Dialect()
    for rule in (
        fence,
        code_block,
        math_inline,
        math_inline_double,
        math_block,
        list_item_open,
        table_open,
        table_close,
    ):
        parser.add_render_rule(rule.__name__, rule)
    parser.add_render_rule("footnote_anchor", footnote_anchor)
    return parser


def fence(_self: RendererProtocol, tokens: list[Token], index: int, _: object, env: EnvType) -> str:
    language = re.split(r"[\s{,:]", tokens[index].info.strip(), maxsplit=1)[0]
    if language == "math":
        return formula(tokens[index].content, env, block=True)
    told = f' class="language-{escape(language)}"' if language else ""
    code = highlighted(tokens[index].content, language)
    return f'<pre class="highlight" tabindex="0" dir="ltr"><code{told}>{code}</code></pre>\n'


def code_block(_self: RendererProtocol, tokens: list[Token], index: int, *_: object) -> str:
    return f'<pre class="highlight" tabindex="0" dir="ltr"><code>{escape(tokens[index].content)}</code></pre>\n'


def math_inline(_self: RendererProtocol, tokens: list[Token], index: int, _: object, env: EnvType) -> str:
    return formula(tokens[index].content, env, block=False)


math_inline_double = math_inline


def math_block(_self: RendererProtocol, tokens: list[Token], index: int, _: object, env: EnvType) -> str:
    return formula(tokens[index].content, env, block=True)


def table_open(*_: object) -> str:
    return '<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n'


def table_close(*_: object) -> str:
    return "</table></div>\n"


def list_item_open(self: RendererProtocol, tokens: list[Token], index: int, *rest: object) -> str:
    token = tokens[index]
    checked = token.meta.pop("checked", None)
    html: str = self.renderToken(tokens, index, *rest)  # type: ignore[attr-defined]
    if checked is None:
        return html
    mark, label = ("☑", "Done") if checked else ("☐", "Not done")
    return f'{html}<span class="task" role="img" aria-label="{label}">{mark}</span> '


def footnote_anchor(self: RendererProtocol, tokens: list[Token], index: int, *rest: object) -> str:
    name = self.rules["footnote_anchor_name"](tokens, index, *rest)  # type: ignore[attr-defined]
    if tokens[index].meta["subId"] > 0:
        name = f"{name}:{tokens[index].meta['subId']}"
    return f' <a href="#fnref{name}" class="footnote-backref" aria-label="Back to the text">↩</a>'


MAX_CODE_CHARACTERS = 30_000  # Of a block; lexers can take long for what is written to make them


def highlighted(code: str, language: str) -> str:
    """Escaped HTML. Plain where the language is unknown, or the block is too long."""
    if not language or len(code) > MAX_CODE_CHARACTERS:
        return escape(code)
    from pygments import highlight
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return escape(code)
    return str(highlight(code, lexer, _formatter()))


@cache
def _formatter():  # type: ignore[no-untyped-def]
    from pygments.formatters.html import HtmlFormatter

    return HtmlFormatter(nowrap=True)
