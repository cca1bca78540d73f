"""The last step of every rendering: an explicit list of what HTML may hold. Whatever else an author wrote goes."""

import re
from collections.abc import Collection, Mapping
from html import escape, unescape

import nh3

from commonplace.documents.rendering.callouts import KINDS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TAGS = _words("""
    a abbr b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure
    h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp section small span strong sub summary sup
    table tbody td tfoot th thead tr u ul var wbr
""")
CONTENT_GOES_TOO = _words("""
    applet audio canvas embed frameset iframe math noembed noframes noscript object option plaintext script select style
    svg template textarea title video xmp
""")
ATTRIBUTES = {
    "*": {"class", "id", "title", "lang", "dir"},
    "a": {"href", "name", "aria-label"},
    "col": {"span"},
    "colgroup": {"span"},
    "del": {"datetime"},
    "details": {"open"},
    "div": {"aria-label"},
    "img": {"src", "alt", "width", "height"},
    "ins": {"datetime"},
    "li": {"value"},
    "ol": {"start", "reversed", "type"},
    "section": {"aria-label"},
    "span": {"aria-label"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
}
VALUES = {
    "div": {"role": {"note", "group"}, "tabindex": {"0"}},
    "span": {"role": {"img"}},
    "pre": {"tabindex": {"0"}},
    "img": {"loading": {"lazy"}, "decoding": {"async"}},
}
SCHEMES = {"http", "https", "mailto", "tel"}

CLASSES = _words("""
    align-left align-center align-right anchor attachment broken-link callout callout-body callout-title code embed
    embed-body embed-title external-image footnote-backref footnote-item footnote-ref footnotes footnotes-list
    footnotes-sep highlight math math-block table tag task task-list-item contains-task-list
""").union(f"callout-{kind}" for kind in KINDS)
"""Those of this package. Others would let a document dress as part of the page."""
_LANGUAGE = re.compile(r"language-[\w+#.-]{1,40}\Z")
_HIGHLIGHTED = re.compile(r"[a-z][a-z0-9]{0,2}\Z")  # Pygments names its classes in one to three letters

RAW_ID_PREFIX = "user-content-"
"""Of ids and names that authors give in HTML of their own: none can take the place of one of the page's."""
_RAW_ID = re.compile(r"[\w.:-]{1,100}\Z")
_ANCHOR = re.compile(r'<a((?: [a-z-]+="[^"]*")*)>')
_IMAGE = re.compile(r'<img((?: [a-z-]+="[^"]*")*)>')
_ALT = re.compile(r' alt="([^"]*)"')
_HREF = re.compile(r' href="([^"]*)"')
_NO_HOST = re.compile(r"#|mailto:|tel:", re.IGNORECASE)
_WEB = re.compile(r"\A(https?):[/\\]*", re.IGNORECASE)
"""Browsers take any number of slashes, and backslashes for slashes (URL Standard, section 4.4)."""
_IGNORED = re.compile(r"^[\0-\x20]+|[\t\n\r]|[\0-\x20]+$")
"""What browsers leave out of a URL before they read it."""


def sanitise(html: str, *, ids: Mapping[str, str], addresses: Collection[str]) -> str:
    """Only what the lists above allow. `ids` are its own with their tags, `addresses` its links and images.

    Images are of this host alone; relative links that the rendering did not make go. Every link gets a `rel` but those
    that the rendering made and those that lead to no host.
    """

    def allowed(tag: str, name: str, value: str) -> str | None:
        if name == "class":
            more = {"code": _LANGUAGE, "span": _HIGHLIGHTED}.get(tag)
            return " ".join(word for word in value.split() if word in CLASSES or (more and more.match(word))) or None
        if name in ("id", "name"):
            if name == "id" and ids.get(value) == tag:
                return value
            return RAW_ID_PREFIX + value if _RAW_ID.match(value) else None
        if tag == "img" and name == "src":
            return value if value in addresses else None
        if name == "href":
            return _WEB.sub(lambda found: f"{found[1].lower()}://", _IGNORED.sub("", value), 1)
        if name in ("width", "height", "colspan", "rowspan", "span", "start", "value"):
            return value if value.isascii() and value.isdigit() and len(value) <= 4 else None
        return value

    clean = nh3.clean(
        html,
        tags=set(TAGS),
        clean_content_tags=set(CONTENT_GOES_TOO),
        attributes=ATTRIBUTES,
        attribute_filter=allowed,
        tag_attribute_values=VALUES,
        url_schemes=SCHEMES,
        url_relative=lambda url: url if url.startswith("#") or url in addresses else None,
        link_rel=None,
    )

    def with_rel(found: re.Match[str]) -> str:
        href = _HREF.search(found[1])
        if href is None or _NO_HOST.match(href[1]) or unescape(href[1]) in addresses:
            return found[0]
        return f'<a{found[1]} rel="noopener nofollow ugc">'

    def shown_image(found: re.Match[str]) -> str:
        """Return the image, or its text where nothing is left to be shown."""
        alt = _ALT.search(found[1])
        return found[0] if ' src="' in found[1] else escape(unescape(alt[1])) if alt else ""

    return _IMAGE.sub(shown_image, _ANCHOR.sub(with_rel, clean))
