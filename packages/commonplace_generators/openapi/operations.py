"""The operations of a document: every path and method, in one order, whatever the order of the keys."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, ValidationError, field_validator

from commonplace.kernel.errors import InvalidInput, TooLarge
from commonplace.reference.endpoints import shape
from commonplace.reference.model import METHODS, Method, Severity
from commonplace_generators.openapi.documents import Document, Node

MAX_OPERATIONS = 20_000
MAX_PATH = 500
_SLUG = r"^[a-z0-9][a-z0-9-]{0,59}$"
_SLUGS = "small letters, digits and hyphens"
_VARIABLE = re.compile(r"\{([^{}]*)\}")
_BAD = re.compile(r"[\s\x00-\x1f\x7f\ud800-\udfff]")
_EMPTY = "Describe it, or take it out of `paths`."


class Options(BaseModel):
    """What an item of `generate:` may say of an API document; each described by what is valid."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    category: str | None = Field(None, pattern=_SLUG, description=_SLUGS)
    """Of every entry; the tag is the subcategory then. None: the tag is the category."""
    subcategory: str | None = Field(None, pattern=_SLUG, description=_SLUGS)
    module: str | None = Field(None, pattern=_SLUG, description=_SLUGS)
    id_prefix: str = Field("api", pattern=r"^([a-z0-9][a-z0-9._-]{0,39})?$", description=_SLUGS)
    base_path: str | None = Field(
        None, pattern=r"^(/[^/\s?#]{1,100}){0,20}/?$", description="a path such as /api/v1, or an empty text for none"
    )
    """Stands before every path; None for that of the server."""
    server: HttpUrl | None = Field(None, description="a URL such as https://api.example.com, without a password")
    """URL that calls go to, instead of the document's first."""
    tags: list[str] = Field(default_factory=list, max_length=500, description="a list of texts")
    """Only operations with one of these, if there are any; an empty text stands for those without a tag."""
    keywords: list[str] = Field(default_factory=list, max_length=50, description="a list of texts")

    @field_validator("tags", "keywords", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("server")
    @classmethod
    def _no_password(cls, value: HttpUrl | None) -> HttpUrl | None:
        if value and value.username:
            raise ValueError
        return value


def options_of(given: Any) -> Options:
    """Raises InvalidInput, naming what would be valid."""
    try:
        return Options.model_validate({name.replace("-", "_"): value for name, value in given.items()})
    except ValidationError as error:
        name = str(error.errors(include_url=False)[0]["loc"][0])[:60]
    if name not in Options.model_fields:
        raise InvalidInput(f"There is no option `{name}`.", hint=f"Known: {', '.join(Options.model_fields)}.")
    raise InvalidInput(f"The option `{name}` is not valid.", hint=f"Write {Options.model_fields[name].description}.")


@dataclass(frozen=True, slots=True)
class Operation:
    """`item` is the path's, with what its operations share."""

    method: Method
    path: str
    """As the document has it."""
    template: str
    """With the server's path before it."""
    server: str
    """Scheme and host, or `https://<host>` where the document does not say."""
    item: Node
    node: Node

    @property
    def where(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def shape(self) -> str:
        """The same for two paths that differ in the names of their parameters only."""
        return shape(self.template)

    @property
    def placeholders(self) -> list[str]:
        """Of the path; of an operation that says nothing none, so that its entry says nothing either."""
        if not self.node.value:
            return []
        return [one.strip("+*") for one in _VARIABLE.findall(self.template.partition("?")[0]) if one.strip("+*")]

    @property
    def fixed(self) -> list[tuple[str, str]]:
        """Query parameters whose values are part of the path."""
        return parse_qsl(self.template.partition("?")[2])


def operations(document: Document, options: Options) -> list[Operation]:
    """By path, then method. Of two that answer to the same calls the first is kept. Raises TooLarge."""
    found: dict[tuple[str, str], Operation] = {}
    for one in _all(document, options):
        key = (one.method, "&".join([one.shape, *sorted(f"{name}={value}" for name, value in one.fixed)]))
        if key in found:
            told = f"It matches the same calls as {found[key].where}, which is used."
            document.where = one.where
            document.tell(told, "Make their paths differ in more than the names of parameters.")
            continue
        found[key] = one
        if len(found) > MAX_OPERATIONS:
            raise TooLarge(f"The document has more than {MAX_OPERATIONS:,} operations.", hint="Select some `tags`.")
    return sorted(found.values(), key=lambda one: (one.template, METHODS.index(one.method)))


def _all(document: Document, options: Options) -> Iterator[Operation]:
    paths = document.root.get("paths").value or {}
    for path in sorted(paths):
        if path.startswith("x-"):
            continue
        document.where = path[:MAX_PATH]
        if _BAD.search(path) or len(path) > MAX_PATH:
            document.where = repr(path[:100])
            document.tell("It is not a path, or too long a one.")
            continue
        item = document.root.get("paths").get(path, needed=True)
        for name in ("query", "additionalOperations"):
            if item.has(name):
                document.tell(f"Operations under `{name}` have no method that an entry can have.")
        if not any(item.has(method.lower()) for method in METHODS) and (item.value is not None or not item.ref):
            told: Severity = "warning" if isinstance(item.value, dict) and item.value else "error"
            document.tell("The path has no method.", _EMPTY, told)
        yield from _of_path(path, item, document, options)


def _of_path(path: str, item: Node, document: Document, options: Options) -> Iterator[Operation]:
    for method in METHODS:
        if not item.has(method.lower()):
            continue
        document.where = f"{method} {path}"
        node = item.get(method.lower(), needed=True)
        if not isinstance(node.value, dict) and not node.ref:
            document.tell("The operation is not an object.", _EMPTY, "error")
        if options.tags and not set(options.tags) & set(node.texts("tags") or [""]):
            continue
        host, base = server(
            [*node.elements("servers"), *item.elements("servers"), *document.root.elements("servers")], options
        )
        template = f"{base}/{path.partition('#')[0].lstrip('/')}"
        if len(template) > MAX_PATH:
            document.tell("Its path is too long.", severity="error")
            continue
        yield Operation(method, path, template, host, item, node)


def server(given: list[Node], options: Options) -> tuple[str, str]:
    """Scheme and host, and the path without a slash at its end, of the first server."""
    url = str(options.server) if options.server else next((_filled(one) for one in given), "")
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "https://<host>", options.base_path or ""
    base = parts.path.rstrip("/") if options.base_path is None else options.base_path.rstrip("/")
    if base and (not base.startswith("/") or _BAD.search(base) or len(base) > MAX_PATH):
        base = ""
    known = host and not _BAD.search(host) and len(host) <= 200
    return f"{parts.scheme or 'https'}://{host}" if known else "https://<host>", base


def _filled(node: Node) -> str:
    """The URL with the defaults of its variables."""
    variables = dict(node.members("variables"))

    def default(found: re.Match[str]) -> str:
        value = variables[found[1]].get("default").value if found[1] in variables else None
        return str(value) if isinstance(value, str | int) else found[0]

    return _VARIABLE.sub(default, node.text("url")[:2_000])
