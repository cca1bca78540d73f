"""An API document, of one file or of many: read within bounds, its references followed by `referencing`.

What the files of a document refer to is gathered from its folder before anything is read; the registry that references
are looked up in holds these files and no others, and nothing is ever fetched (RFC 3986, RFC 6901).
"""

import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from referencing import Registry, Resource
from referencing.exceptions import Unresolvable

from commonplace.kernel import yaml
from commonplace.kernel.errors import CommonplaceError, InvalidInput, TooLarge
from commonplace.reference.model import Severity
from commonplace_generators.generated import Read, Unread
from commonplace_generators.openapi.swagger import as_openapi
from commonplace_generators.openapi.texts import line

MAX_BYTES = 40_000_000
"""Of all files together."""
MAX_FILES = 10_000
MAX_DEPTH = 200
MAX_VALUES = 6_000_000
MAX_HOPS = 32
MAX_STEPS = 20_000
MAX_UNREAD = 20
"""Of one part, such as an operation."""

Layers = tuple[tuple[Any, str], ...]
"""Values that count as one, the first before the others; each with the address of its file."""

_DIRECTORY = "/" + "d/" * 32
_BASE = f"http://document.invalid{_DIRECTORY}"
"""Address of the document itself: so deep that a path out of its folder shows as one."""
_REF = re.compile(rb"""\$ref["']?\s*:\s*(?:"([^"#\n]+)|'([^'#\n]+)|([^\s"'#,{}\[\]](?:[^"'#,{}\n]|\{[^{}\n]*\})*))""")
_VALUES = (".json", ".yaml", ".yml")
_TOO_MANY = f"The document has more than {MAX_VALUES:,} keys and values, aliases expanded."
_HINT = "A document of OpenAPI 3.x (or Swagger 2.0) begins with `openapi: 3.0.3` or the like."
_FOLDER = "Put it into the document's folder, or take the reference out."


def files_of(here: Path, top: Path | None = None) -> Read:
    """Files of `top`, by default of the folder itself; no hidden ones, and none that a link leads out to."""
    base, within = here.resolve(), (top or here).resolve()

    def read(path: str) -> bytes | None:
        try:
            file = (base / path).resolve()
            hidden = any(part.startswith(".") for part in file.relative_to(within).parts)
            if hidden or not file.is_file():
                return None
            with file.open("rb") as opened:
                return opened.read(MAX_BYTES + 1)
        except (OSError, ValueError):
            return None

    return read


def gathered(raw: bytes, read: Read) -> dict[str, bytes]:
    """Files that a document refers to, and that those refer to, by path from its folder. Raises TooLarge."""
    files: dict[str, bytes] = {}
    asked, waiting, size = set[str](), [("", raw)], len(raw)
    while waiting:
        path, text = waiting.pop()
        for found in set(_REF.findall(text)):
            ref = b"".join(found).decode("utf-8", "ignore").replace("\\/", "/").strip()
            if ":" in ref.partition("/")[0]:
                continue
            other = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(ref)))
            held = read(other) if other not in asked else None
            asked.add(other)
            if held is not None:
                files[other] = held
                waiting.append((other, held))
                size += len(held)
            if size > MAX_BYTES or len(files) > MAX_FILES:
                told = f"The document and its files are more than {MAX_BYTES:,} bytes, or {MAX_FILES:,} files."
                raise TooLarge(told, hint="Split it into several documents.")
    return files


def fingerprint(raw: bytes, files: Mapping[str, bytes]) -> str:
    """sha256 in hexadecimal digits, over every file of the document."""
    every = "".join(f"{path}\0{sha256(files[path]).hexdigest()}\n" for path in sorted(files))
    return sha256(raw + every.encode() if files else raw).hexdigest()


@lru_cache(maxsize=1)
def _last(raw: bytes) -> Any:
    """The value of a document. One that is split by tags is read once for each; nothing changes it."""
    return parsed(raw)


class Document:
    """`where` is what is being read, for what is told of it. Raises InvalidInput and TooLarge."""

    def __init__(self, raw: bytes, read: Read) -> None:
        if len(raw) > MAX_BYTES:
            raise TooLarge(f"The document is larger than {MAX_BYTES:,} bytes.", hint="Split it into several documents.")
        value = _last(raw)
        if not isinstance(value, dict):
            raise InvalidInput("The document is not a mapping.", hint=_HINT)
        if str(value.get("swagger")) == "2.0":
            value = as_openapi(value)
        elif "swagger" in value:
            told = f"The document is of Swagger {line(str(value['swagger']), 20)}, which is not read."
            raise InvalidInput(told, hint="Convert it to Swagger 2.0 or OpenAPI 3 first.")
        version = line(str(value.get("openapi", "")), 20)
        if not version.startswith("3."):
            said = f"says `openapi: {version}`" if version else "does not say its version"
            raise InvalidInput(f"The document {said}, which is not 3.x.", hint=_HINT)
        if not isinstance(value.get("paths", {}), dict):
            raise InvalidInput("`paths` of the document is not a mapping.", hint="It maps each path to its operations.")
        root = value
        files = gathered(raw, read)
        self.fingerprint = fingerprint(raw, files)
        self.enter("the document")
        self.cache: dict[Any, Any] = {}
        """What was made of a schema once."""
        self._told: dict[str, dict[str, Unread]] = {}
        self._known: dict[tuple[str, str], tuple[Layers, str, str | None]] = {}
        values = {"": root, **dict(self._parsed(files))}
        resources = ((urljoin(_BASE, path), Resource.opaque(one)) for path, one in values.items())
        self._registry: Registry[Any] = Registry().with_resources(resources)
        self.root = Node(((root, _BASE),), self)

    def _parsed(self, files: Mapping[str, bytes]) -> Iterator[tuple[str, Any]]:
        """Values by path; text of what is neither JSON nor YAML."""
        for path, raw in files.items():
            self.where = line(path, 200)
            try:
                yield path, parsed(raw) if path.lower().endswith(_VALUES) else raw.decode("utf-8", "replace")
            except CommonplaceError as error:
                self.tell(error.message, error.hint)

    @property
    def unread(self) -> Iterator[Unread]:
        """The first of each part, and how many more there are. A terminal may be shown it: names are the document's."""
        for where, told in self._told.items():
            yield from list(told.values())[:MAX_UNREAD]
            if len(told) > MAX_UNREAD:
                severity = max((one.severity for one in told.values()), key="error".__eq__)
                yield Unread(line(where, 200), f"{len(told) - MAX_UNREAD:,} more parts cannot be read.", None, severity)

    def enter(self, where: str) -> None:
        """Begins to read a part of it."""
        self.where, self._left = where, MAX_STEPS

    def may_go_on(self) -> bool:
        """Return whether a part is not too much to be followed: alternatives of alternatives grow without bounds."""
        self._left -= 1
        if self._left < 0:
            self.tell("Its schemas have too many alternatives.")
        return self._left >= 0

    def tell(self, what: str, hint: str | None = None, severity: Severity = "warning") -> None:
        """Once for each part of the document."""
        told = self._told.setdefault(self.where, {})
        told.setdefault(what, Unread(line(self.where, 200), line(what, 300), hint, severity))

    def follow(self, value: Any, base: str, *, needed: bool = False) -> "Node":
        """The value, or what its `$ref` leads to, below what stands beside it. `needed`: no entry without it."""
        if not isinstance(value, dict) or "$ref" not in value or isinstance(value["$ref"], dict):
            return Node(((value, base),), self)
        ref, beside = value["$ref"], {key: one for key, one in value.items() if key != "$ref"}
        above: Layers = ((beside, base),) if beside else ()
        if (base, str(ref)) not in self._known:
            self._known[base, str(ref)] = self._resolved(ref, base)
        layers, address, problem = self._known[base, str(ref)]
        if problem:
            self.tell(problem, _FOLDER if "folder" in problem else None, "error" if needed else "warning")
        return Node((*above, *layers), self, address)

    def _resolved(self, ref: Any, base: str) -> "tuple[Layers, str, str | None]":
        """Return where a reference leads in the end, and its address; or nothing, and a sentence on why."""
        if not isinstance(ref, str):
            return ((None, base),), str(ref), "A `$ref` is not text."
        first, seen, layers = ref, list[str](), list[tuple[Any, str]]()
        while True:
            try:
                path, mark, pointer = ref.partition("#")
                ref = f"{unquote(path)}{mark}{pointer}"
                address = urljoin(base, ref)
                if address in seen or len(seen) >= MAX_HOPS:
                    return ((None, base),), ref, f"`$ref: {shown(first)}` leads in a circle."
                value = self._registry.resolver(base).lookup(ref).contents
            except (Unresolvable, ValueError, TypeError):
                return ((None, base),), ref, _problem(first, ref, base)
            seen.append(address)
            base = address.partition("#")[0]
            if not isinstance(value, dict) or not isinstance(value.get("$ref"), str):
                return (*layers, (value, base)), address, None
            ref = value["$ref"]
            if beside := {key: one for key, one in value.items() if key != "$ref"}:
                layers.append((beside, base))


def _problem(first: str, ref: str, base: str) -> str:
    try:
        outside = bool(urlsplit(ref).scheme) or not urljoin(base, ref).startswith(_BASE)
    except ValueError:
        outside = True
    if ref.startswith("#"):
        return f"`$ref: {shown(first)}` has no target in the document."
    why = "leads out of the document's folder, and is not fetched" if outside else "leads to nothing in its folder"
    return f"`$ref: {shown(first)}` {why}."


@dataclass(frozen=True, slots=True)
class Node:
    """A place of the document. What is said beside a reference goes before what it leads to."""

    layers: Layers
    document: Document
    ref: str | None = None
    """Address of what a reference led to."""

    @property
    def value(self) -> Any:
        return self.layers[-1][0]

    @property
    def name(self) -> str:
        """Return what the document calls it: the last part of the reference, or the file."""
        path, _, pointer = (self.ref or "").partition("#")
        last = unquote((pointer or path).rpartition("/")[2]).replace("~1", "/").replace("~0", "~")
        return last if pointer else last.partition(".")[0]

    def parts(self) -> "list[Node]":
        """The mappings of it, each alone."""
        return [Node((layer,), self.document) for layer in self.layers if isinstance(layer[0], dict)]

    def joined(self, other: "Node") -> "Node":
        """More of the same, as `allOf` has it."""
        return Node(self.layers + other.layers, self.document, self.ref)

    def get(self, key: str, *, needed: bool = False) -> "Node":
        for value, base in self.layers:
            if isinstance(value, dict) and key in value:
                return self.document.follow(value[key], base, needed=needed)
        return Node(((None, self.layers[-1][1]),), self.document)

    def has(self, key: str) -> bool:
        return any(isinstance(value, dict) and key in value for value, _ in self.layers)

    def members(self, key: str, *, needed: bool = False) -> "list[tuple[str, Node]]":
        """Return the members of the object under a key, by name."""
        held = self.get(key)
        value, base = held.layers[-1]
        if not isinstance(value, dict):
            return []
        return [(name, self.document.follow(value[name], base, needed=needed)) for name in sorted(value)]

    def elements(self, key: str, *, needed: bool = False) -> "list[Node]":
        value, base = self.get(key).layers[-1]
        return [self.document.follow(one, base, needed=needed) for one in value] if isinstance(value, list) else []

    def texts(self, key: str) -> list[str]:
        return [one.value for one in self.elements(key) if isinstance(one.value, str)]

    def text(self, key: str) -> str:
        value = self.get(key).value
        return value if isinstance(value, str) else ""


def shown(ref: str) -> str:
    """A reference as a report may say it: short, in one line, without user name, password and query."""
    told = re.sub(r"//[^/@]*@", "//", ref.split("?", 1)[0])
    told = "".join(one for one in told if one.isprintable())
    return told if len(told) <= 120 else f"{told[:119]}…"


def parsed(raw: bytes) -> Any:
    """JSON or YAML, bounded in depth and number of values. Raises InvalidInput and TooLarge."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("The document is not UTF-8.", hint="Save it as UTF-8.") from None
    value = _json(text) if text.lstrip()[:1] in ("{", "[") else None
    if value is not None:
        return value
    try:
        return yaml.read(text, max_depth=MAX_DEPTH, max_values=MAX_VALUES, follow_aliases=True).value
    except yaml.YamlError as error:
        # The place is reported and never the text.
        if error.reason == "values":
            hint = "Take out aliases of aliases, or cut the document into several."
            raise TooLarge(_TOO_MANY, hint=hint) from None
        if error.reason == "depth":
            raise _too_deep() from None
        where = f", line {error.line}" if error.line is not None else ""
        told = f"The YAML cannot be read ({error.reason}{where})."
        raise InvalidInput(told, hint="Fix it, or write it as JSON.") from None


def _json(text: str) -> Any:
    """None for what is no JSON: YAML may begin with a brace as well."""
    try:
        value = json.loads(text, parse_constant=_no_number, object_pairs_hook=_once)
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        return None
    level = [value]
    for _ in range(MAX_DEPTH):
        inner = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        if not (level := [one for held in inner for one in held]):
            return value
    raise _too_deep()


def _no_number(_: str) -> None:
    """NaN and Infinity are no JSON."""
    raise ValueError


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        told = f"The document gives the key “{line(twice, 100)}” twice in one object."
        raise InvalidInput(told, hint="Keep one of them.")
    return found


def _too_deep() -> InvalidInput:
    told = f"The document is nested deeper than {MAX_DEPTH} levels."
    return InvalidInput(told, hint="Name schemas and refer to them by `$ref`.")
