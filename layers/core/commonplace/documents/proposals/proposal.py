"""Proposals of new documents: bounds on input, the file with its frontmatter, the branch and the pull request's text.

Titles and texts are a stranger's. In YAML every text is in double quotes, so that none can end its line, its block or
its type. GitHub acts on text (`@name` notifies, `fixes #1` closes issues on merge, addresses of issues count like
numbers), so in the description it is fenced, and of titles only letters and safe marks remain.
"""

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date as Date
from urllib.parse import unquote, urlsplit

from commonplace.documents.content.document import Summary
from commonplace.documents.content.fields import MAX_URL_LENGTH, coerce, plain_text
from commonplace.documents.content.ontology import ONTOLOGY, Ontology
from commonplace.documents.content.paths import Exclusions
from commonplace.kernel.errors import InvalidInput, TooLarge
from commonplace.repository.slugs import slug

_DEFAULT_PORTS = {"http": 80, "https": 443}
_NEVER_IN_AN_ADDRESS = re.compile(r'[\s<>"\\^`{|}]')
"""White space, and what RFC 3986 keeps out of addresses because it delimits them in text."""
_TRACKING = re.compile(
    r"(?:utm_\w+|mtm_\w+|pk_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid|twclid|yclid)\Z", re.IGNORECASE
)
"""Parameters that say how somebody came to a page, and nothing of the page."""
_HOST = re.compile(r"(?:[\w-]+(?:\.[\w-]+)*\.?|\[[0-9a-f:.]+\])\Z")

LINK = "link"
FEWEST_KEPT = 3  # So many documents of a type in one folder show that it is kept there
MAX_TITLE_CHARACTERS = 200
MAX_DESCRIPTION_CHARACTERS = 2_000
MAX_CONTENT_BYTES = 200_000
MAX_TAGS = 20
MAX_TAG_CHARACTERS = 60
MAX_KEY_CHARACTERS = 200

_BEGINNING = re.compile(r"\A(?:\ufeff|[ \t]*\n)+")
"""A byte order mark and empty lines, behind which frontmatter could hide."""
_FRONTMATTER = re.compile(r"---[ \t]*\n")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

MAX_FILE_NAME_BYTES = 120
SUFFIX = ".md"
BRANCH_PREFIX = "commonplace/draft"
_SLUG_CHARACTERS = 40
_HASH_DIGITS = 24

_SYNC = Exclusions()
_KEPT = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd", "Nl", "No"})
"""Letters, digits and the marks they carry, of every script (Unicode general categories)."""
_NOTHING = dict.fromkeys([*map(ord, "'’‘ʼ`´\u034f"), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
"""Apostrophes, which leave no gap, and marks that only choose how the character before them is drawn."""
_RESERVED = re.compile(r"(?:index|readme|con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\Z")
"""Front pages of folders, which are nobody's to propose, and names that Windows cannot check out."""

Value = str | bool | Date | Sequence[str]

_SHORT = {'"': '\\"', "\\": "\\\\"}

_SAFE_MARKS = frozenset(" .,'’!?()&–-")
_ISSUE = re.compile(r"\bgh-(?=\d)", re.IGNORECASE)
_BACKTICKS = re.compile("`+")

NEXT_STEPS = (
    "To publish it: review the text and the fields, set `publish: true`, and merge. "
    "The knowledge base shows it after the next sync. To decline it, close this pull request."
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A new file to propose."""

    path: str  # In the repository
    text: str
    title: str  # Of the pull request, and of its commit
    body: str  # Of the pull request, as Markdown
    branch: str  # Named after the key of the request: the same key is the same proposal
    fingerprint: str
    """A hash of the request without its date: a repetition has the same, another request has another."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A pull request that is there."""

    number: int
    url: str
    path: str
    branch: str
    created: bool  # False when it was there already: the request is a repetition


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalContext:
    """The caller, the time, and the caller's key of the request."""

    tool: str  # The kind of request: one key may name a request of each
    day: Date  # Of today: the document's `date`
    organisation: str | None = None
    subject: str | None = None  # Part of the key: nobody's request is ever found by somebody else's key
    key: str | None = None  # The caller's name of this request: a repetition is the same proposal
    author: str | None = None
    """Shown in the file and in the pull request; None where the deployment names nobody."""


def link_proposal(
    asking: ProposalContext, *, url: str, title: str, description: str | None = None, folder: str | None = None
) -> Proposal:
    """Return a page for a web address. Raises InvalidInput."""
    name, about, address = title_of(title), description_of(description), web_address(url)
    return _proposal(asking, LINK, name, about, folder, url=address)


def document_proposal(
    asking: ProposalContext,
    *,
    content_type: str,
    title: str,
    content: str,
    description: str | None = None,
    tags: Sequence[str] = (),
    folder: str | None = None,
) -> Proposal:
    """A document of one of the ontology's types; without a `folder`, in the type's. Raises InvalidInput or TooLarge."""
    kind = content_type_of(content_type)
    if needs_more(kind):
        raise InvalidInput(f"A {kind} needs more than a text.", hint="Save a web page with save_link.")
    name, about = title_of(title), description_of(description)
    return _proposal(asking, kind, name, about, folder, tags=tags_of(tags), content=content_of(content))


def _proposal(
    asking: ProposalContext,
    kind: str,
    title: str,
    description: str | None,
    folder: str | None,
    *,
    url: str | None = None,
    tags: tuple[str, ...] = (),
    content: str = "",
) -> Proposal:
    path = f"{folder or folder_of(kind)}/{file_name(title)}"
    key = _line("key", asking.key or "", MAX_KEY_CHARACTERS) or None
    author = author_of(asking.author)
    fingerprint = digest(kind, title, description, url, tags, content)[:32]
    given: dict[str, Value | None] = {
        "title": title,
        "description": description,
        "type": kind if ONTOLOGY.type_of_path(path) != kind else None,
        "url": url,
        "date": asking.day,
        "author": [author] if author else None,
        "tags": tags or None,
        # Always there and never true: a merge alone publishes nothing.
        "publish": False,
    }
    block = frontmatter({name: value for name, value in given.items() if value is not None})
    facts = {"Title": title, "Type": kind, "File": path, "Address": url, "Description": description}
    what = "link for the library" if kind == LINK else f"draft of type {kind}"
    return Proposal(
        path=path,
        text=f"{block}\n{content}" if content else block,
        title=pull_request_title("Link" if kind == LINK else f"Draft {kind}", title),
        body=pull_request_body(
            f"A {what}, proposed through Commonplace. It is one new file, and it is not published.",
            {name: fact for name, fact in facts.items() if fact},
            author,
        ),
        branch=branch_of(title, asking.organisation, asking.subject, asking.tool, key or fingerprint, key=key),
        fingerprint=fingerprint,
    )


def web_address(text: str) -> str:
    """Return the address with scheme and host in lower case and no needless port; the rest as it was given.

    Raises InvalidInput unless it is http or https, has a host, has no user name or password, and is at most 2,048
    characters long. Nothing is looked up or fetched.
    """
    address = text.strip()
    if len(address) > MAX_URL_LENGTH:
        raise _refused(f"is longer than {MAX_URL_LENGTH} characters")
    if not address.isprintable() or _NEVER_IN_AN_ADDRESS.search(address):
        raise _refused("contains characters that an address cannot have")
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise _refused("cannot be read") from None
    if parts.scheme not in _DEFAULT_PORTS:
        raise _refused("must begin with https:// or http://")
    if "@" in parts.netloc:
        raise _refused("contains a user name or a password")
    shown = f"[{host}]" if ":" in host else host
    if not _HOST.match(shown):
        raise _refused("has no host")
    rest = address[len(parts.scheme) + len("://") + len(parts.netloc) :]
    needless = port is None or port == _DEFAULT_PORTS[parts.scheme]
    return f"{parts.scheme}://{shown}{'' if needless else f':{port}'}{rest}"


def same_page(address: str) -> str:
    """Equal for addresses that lead to one page.

    Scheme, `www.`, needless port, a slash at the end, the fragment, tracking parameters and the order of the others do
    not count. A fragment that is a route (`#/…`, `#!…`) does.
    """
    try:
        parts = urlsplit(address.strip())
        host, port = (parts.hostname or "").removeprefix("www."), parts.port
    except ValueError:
        return address
    if port not in (None, *_DEFAULT_PORTS.values()):
        host = f"{host}:{port}"
    asked = sorted(each for each in parts.query.split("&") if each and not _TRACKING.match(each.partition("=")[0]))
    route = f"#{parts.fragment}" if parts.fragment.startswith(("/", "!")) else ""
    return f"{host}{unquote(parts.path).rstrip('/')}?{'&'.join(asked)}{route}"


def _refused(what: str) -> InvalidInput:
    return InvalidInput(
        f"`url` {what}.", hint="Give the whole address of a page, such as https://example.org/handbook."
    )


def title_of(text: str) -> str:
    """One line of 1 to 200 characters. Raises InvalidInput."""
    title = _line("title", text, MAX_TITLE_CHARACTERS)
    if not any(char.isprintable() and not char.isspace() for char in title):
        raise InvalidInput("`title` is empty.", hint="Give the name of the document, as people say it.")
    return title


def description_of(text: str | None) -> str | None:
    """One line of at most 2,000 characters; None when there is nothing in it. Raises InvalidInput."""
    return _line("description", text or "", MAX_DESCRIPTION_CHARACTERS) or None


def author_of(text: str | None) -> str | None:
    """Return a name of one line, cut at 200 characters."""
    return plain_text(text or "").encode(errors="ignore").decode()[:MAX_TITLE_CHARACTERS] or None


def tags_of(values: Sequence[str]) -> tuple[str, ...]:
    """Tags as the ontology spells them. Raises InvalidInput."""
    for value in values:
        _line("tags", value, MAX_TAG_CHARACTERS)
    if len(values) > MAX_TAGS:
        raise InvalidInput(f"`tags` are more than {MAX_TAGS}.", hint="Keep those that others use too.")
    usable, _ = coerce(ONTOLOGY.fields["tags"], list(values))
    _, problem = coerce(ONTOLOGY.fields["tags"], usable)
    if usable and problem:
        raise InvalidInput(f"{problem.message}.", hint=f"{problem.hint}.")
    return tuple(usable or ())


def content_of(text: str) -> str:
    """Return the body, its lines ended by LF alone. Raises InvalidInput or TooLarge.

    Frontmatter of its own is refused, not merged: the fields come from the arguments, and only ours decide whether a
    file is published.
    """
    _storable("content", text)
    if len(text.encode()) > MAX_CONTENT_BYTES:
        limit = f"{MAX_CONTENT_BYTES // 1000} kB"
        raise TooLarge(f"`content` is larger than {limit}.", hint="Propose it in several documents.")
    body = _BEGINNING.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).rstrip() + "\n"
    if body.isspace():
        raise InvalidInput("`content` is empty.", hint="Write the document's text as Markdown.")
    if _CONTROL.search(body):
        raise InvalidInput("`content` contains control characters.", hint="Send plain Markdown.")
    if _FRONTMATTER.match(body):
        hint = "Leave it out: title, description and tags are arguments. Begin with text, not with a line `---`."
        raise InvalidInput("`content` begins with frontmatter.", hint=hint)
    return body


def _line(name: str, text: str, most_characters: int) -> str:
    _storable(name, text)
    line = plain_text(text)
    if len(line) > most_characters:
        raise InvalidInput(f"`{name}` is longer than {most_characters} characters.", hint=f"Shorten `{name}`.")
    return line


def _storable(name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"`{name}` contains a lone surrogate.", hint="Send whole Unicode characters.") from None


def content_type_of(authored: str, ontology: Ontology = ONTOLOGY) -> str:
    """The concrete type that is meant; other spellings are accepted. Raises InvalidInput, naming the valid types."""
    name, *below = ontology.expand(authored)
    if ontology.types[name].abstract:
        concrete = ", ".join(each for each in below if not ontology.types[each].abstract)
        raise InvalidInput(f"`{name}` is a group of types, not a type of its own.", hint=f"Use one of: {concrete}.")
    return name


def folder_of(content_type: str, ontology: Ontology = ONTOLOGY) -> str:
    """The folder that implies the type: the newest of its folders that the sync reads. Raises InvalidInput if none."""
    read = (folder for folder in reversed(ontology.types[content_type].prefixes) if not _is_left_out(folder))
    folder = next(read, None)
    if folder is None:
        hint = f"Its pages are proposed on GitHub. Use one of: {', '.join(proposable(ontology))}."
        raise InvalidInput(f"`{content_type}` has no folder of its own.", hint=hint)
    return folder


def kept_in(content_type: str, documents: Iterable[Summary]) -> str | None:
    """Return the folder where this repository keeps a type; None where its documents do not show one.

    It holds three of them at least, more than half of the type, and more of it than of everything else: a project's
    folder that happens to have most studies is not the place for the next one.
    """
    located = [(document.path.rpartition("/")[0], document.content_type) for document in documents]
    of_type = Counter(folder for folder, kind in located if kind == content_type)
    folder, count = next(iter(of_type.most_common(1)), ("", 0))
    beside = sum(each == folder for each, _ in located)
    return folder or None if count >= FEWEST_KEPT and 2 * count > max(of_type.total(), beside) else None


def proposable(ontology: Ontology = ONTOLOGY) -> tuple[str, ...]:
    """Types that title, text and a folder are enough for, in the table's order."""
    return tuple(
        name
        for name, spec in ontology.types.items()
        if not (spec.abstract or needs_more(name, ontology) or all(map(_is_left_out, spec.prefixes)))
    )


def needs_more(content_type: str, ontology: Ontology = ONTOLOGY) -> bool:
    """Return whether the type has a required field besides the title."""
    fields = ontology.types[content_type].fields.values()
    return any(field.required and field.name != "title" for field in fields)


def file_name(title: str) -> str:
    """Return a readable name of at most 120 bytes: `Café Tech & the Future` becomes `café-tech-the-future.md`.

    Letters, marks and digits of every script stay, in lower case and NFC; everything else is a hyphen. So no name
    leads out of its folder, begins with a dot, or is one that another file system could not hold.
    """
    plain = unicodedata.normalize("NFC", title.translate(_NOTHING).lower())
    words = "".join(char if unicodedata.category(char) in _KEPT else " " for char in plain).split()
    joined = "-".join(filter(None, map(_without_leading_marks, words))).encode()
    name = joined[: MAX_FILE_NAME_BYTES - len(SUFFIX)].decode(errors="ignore").rstrip("-")
    if not name:
        return f"untitled-{digest(title)[:10]}{SUFFIX}"
    if _RESERVED.match(name):
        return f"{name}-page{SUFFIX}"
    return name + SUFFIX


def branch_of(title: str, *asked: str | None, key: str | None) -> str:
    """Return the branch of a request: `asked` are caller and request, `key` is the caller's own name of the request.

    With a key, the branch depends on key and caller alone, whatever the request; and shows nothing of either.
    """
    readable = "" if key is not None else slug(title)[:_SLUG_CHARACTERS].strip("-")
    return "-".join(part for part in (BRANCH_PREFIX, readable, digest(*asked)[:_HASH_DIGITS]) if part)


def digest(*parts: object) -> str:
    """Return a hash of these parts, in hexadecimal: JSON keeps `("ab", "c")` and `("a", "bc")` apart."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _without_leading_marks(word: str) -> str:
    """Return the word without marks at its beginning: they would combine with the hyphen or slash before it."""
    first = next((index for index, char in enumerate(word) if unicodedata.category(char)[0] != "M"), len(word))
    return word[first:]


def _is_left_out(folder: str) -> bool:
    return _SYNC.excludes(f"{folder}/page{SUFFIX}")


def frontmatter(fields: Mapping[str, Value]) -> str:
    """The block with both of its `---` lines. Names are constants of ours; values may hold anything but surrogates."""
    lines = []
    for name, value in fields.items():
        match value:
            case bool():
                text = "true" if value else "false"
            case Date():
                text = value.isoformat()
            case str():
                text = _quoted(value)
            case _:
                text = f"[{', '.join(map(_quoted, value))}]"
        lines.append(f"{name}: {text}\n")
    return f"---\n{''.join(lines)}---\n"


def _quoted(text: str) -> str:
    """Return a double-quoted scalar on one line (YAML 1.2, section 5.7)."""
    written = []
    for char in text:
        if char in _SHORT or char.isprintable():
            written.append(_SHORT.get(char, char))
        else:
            written.append(f"\\u{ord(char):04X}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08X}")
    return f'"{"".join(written)}"'


def pull_request_title(kind: str, title: str) -> str:
    """`Draft pattern: Rotating stewardship`, without characters that mean something to GitHub."""
    kept = (char if char in _SAFE_MARKS or unicodedata.category(char)[0] in "LMN" else " " for char in title)
    words = " ".join(_ISSUE.sub("gh ", "".join(kept)).split())
    return f"{kind}: {words or 'untitled'}"


def pull_request_body(introduction: str, facts: Mapping[str, str], author: str | None) -> str:
    """Markdown: what this is, the facts as they were given, and what a reviewer does next."""
    told = dict(facts) | ({"Proposed by": author} if author else {})
    text = "\n".join(f"{name}: {value}" for name, value in told.items())
    # No run of backticks in the text can end the block.
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    return f"{introduction}\n\n{fence}text\n{text}\n{fence}\n\n{NEXT_STEPS}\n"
