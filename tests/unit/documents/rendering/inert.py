"""What HTML can do, read by a parser that is not the sanitiser's."""

import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

TAGS = set(
    """
    a abbr b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure h1
    h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp section small span strong sub summary sup table
    tbody td tfoot th thead tr u ul var wbr
    math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow mspace msqrt mstyle msub
    msubsup msup mtable mtd mtext mtr munder munderover
    """.split()  # noqa: SIM905
)
ATTRIBUTES = set(
    """
    alt aria-label class colspan datetime decoding dir height href id lang loading name open rel reversed role
    rowspan scope span src start tabindex title type value width
    accent accentunder columnspan display displaystyle fence form largeop linethickness lspace mathvariant maxsize
    minsize movablelimits notation rspace scriptlevel separator stretchy symmetric
    """.split()  # noqa: SIM905
)
CLASS = re.compile(
    r"(?:align-|anchor|attachment|broken-link|callout|code|contains-task-list|embed|external-image|footnote|highlight|"
    r"language-|math|table|task)[\w+#.-]*|[a-z][a-z0-9]{0,2}"
)
PAGE_IDS = {"content", "main", "q", "search", "toc", "location", "config"}


class _Deeds(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            self.found += self._of(tag, name, value or "")
        told = dict(attrs)
        outside = urlsplit(told.get("href") or "").netloc
        if tag == "a" and outside and "noopener" not in (told.get("rel") or ""):
            self.found.append(f"link to {outside} without rel")

    def _of(self, tag: str, name: str, value: str) -> list[str]:
        where = f"{tag} {name}={value!r}"
        if name not in ATTRIBUTES:
            return [where]
        if name == "href":
            return [] if re.match(r"(?:https?://|mailto:|tel:|#|/d/|/files/)", value) else [where]
        if name == "src":
            return [] if value.startswith("/files/") else [where]
        if name == "class":
            return [where for word in value.split() if not CLASS.fullmatch(word)]
        if name in ("id", "name"):
            return [where] if value in PAGE_IDS - {"location"} or (value == "location" and tag[0] != "h") else []
        return []

    def handle_decl(self, decl: str) -> None:
        self.found.append(f"<!{decl}>")

    def handle_comment(self, data: str) -> None:
        self.found.append(f"<!--{data}-->")

    def handle_pi(self, data: str) -> None:
        self.found.append(f"<?{data}>")


def deeds(html: str) -> list[str]:
    """Everything in it that is more than text to read and links to follow; nothing for what is inert."""
    parser = _Deeds()
    parser.feed(html)
    parser.close()
    return parser.found
