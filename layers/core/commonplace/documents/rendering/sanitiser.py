"""The last step of every rendering: an explicit list of what HTML may hold. Whatever else an author wrote goes."""

import re
import tomllib
from collections.abc import Collection, Mapping
from html import escape, unescape
from pathlib import Path

import nh3

from commonplace.documents.rendering.callouts import KINDS

ALLOWED = tomllib.loads(Path(__file__).with_name("allowed.toml").read_text("utf-8"))
MATHML = {tag: set(names.split()) for tag, names in ALLOWED["mathml"].items()}
ATTRIBUTES = {tag: set(names.split()) for tag, names in ALLOWED["attributes"].items()} | MATHML
VALUES = {
    tag: {name: set(words.split()) for name, words in values.items()} for tag, values in ALLOWED["values"].items()
}
CLASSES = frozenset(ALLOWED["classes"].split()).union(f"callout-{kind}" for kind in KINDS)
_OF_A_FORMULA = re.compile(r"(?:[a-z]{1,20}|\d{0,2}(?:pt|px)|\d?(?:\.\d{1,10})?(?:em|ex)?)\Z")
"""Values of attributes of MathML: words and lengths below 10 em, none negative, which would lay it over other text."""
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
        if tag in MATHML:
            return value if _OF_A_FORMULA.match(value) else None
        if tag == "img" and name == "src":
            return value if value in addresses else None
        if name == "href":
            return _WEB.sub(lambda found: f"{found[1].lower()}://", _IGNORED.sub("", value), 1)
        if name in ("width", "height", "colspan", "rowspan", "span", "start", "value"):
            return value if value.isascii() and value.isdigit() and len(value) <= 4 else None
        return value

    clean = nh3.clean(
        html,
        tags=set(ALLOWED["tags"].split()) | MATHML.keys(),
        clean_content_tags=set(ALLOWED["content_goes_too"].split()),
        attributes=ATTRIBUTES,
        attribute_filter=allowed,
        tag_attribute_values=VALUES,
        url_schemes=set(ALLOWED["schemes"].split()),
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
