"""What may stand in a proposal: bounds on everything that a caller hands in."""

import re
from collections.abc import Sequence

from commonplace.documents.content.fields import coerce, plain_text
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.kernel.errors import InvalidInput, TooLarge

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


def title_of(text: str) -> str:
    """One line of 1 to 200 characters. Raises InvalidInput."""
    title = _line("title", text, MAX_TITLE_CHARACTERS)
    if not any(char.isprintable() and not char.isspace() for char in title):
        raise InvalidInput("`title` is empty.", hint="Give the name of the document, as people say it.")
    return title


def description_of(text: str | None) -> str | None:
    """One line of at most 2,000 characters; None when there is nothing in it. Raises InvalidInput."""
    return _line("description", text or "", MAX_DESCRIPTION_CHARACTERS) or None


def key_of(text: str | None) -> str | None:
    """At most 200 characters. Raises InvalidInput."""
    return _line("key", text or "", MAX_KEY_CHARACTERS) or None


def author_of(text: str | None) -> str | None:
    """A name of one line, cut at 200 characters."""
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
    """The body, its lines ended by LF alone. Raises InvalidInput or TooLarge.

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
        raise InvalidInput("`content` holds control characters.", hint="Send plain Markdown.")
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
        raise InvalidInput(f"`{name}` holds half a character.", hint="Send whole Unicode characters.") from None
