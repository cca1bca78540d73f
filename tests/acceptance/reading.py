"""Files, their links and traces of their text as the rules for editors say, read anew: what checks must not be checked.

Texts are compared word by word, letter case and punctuation aside, so that JSON escapes, percent-encoding, line breaks
and Markdown signs hide nothing. A trace of a text is a run of `RUN` of its words, that of a name is all of its words.
Links are found with regular expressions: fewer than a Markdown parser finds, and nothing that is no link.
"""

import json
import posixpath
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote

import yaml
from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, NodeEvent

Gate = Literal["published", "private", "unreadable"]

MOST_BYTES = 5_000_000
MOST_FRONTMATTER_BYTES = 64_000
MOST_LEVELS = 8
MARK = b"\xef\xbb\xbf"
_TRUE, _FALSE, _NULL = {"true", "True", "TRUE"}, {"false", "False", "FALSE"}, {"", "~", "null", "Null", "NULL"}
_SAYS_PRIVATE = re.compile(rb"^publish[ \t]*:[ \t]*false[ \t\r]*$", re.MULTILINE)
_TITLE_LINE = re.compile(r"^title[ \t]*:[ \t]*(.+?)[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """`unreadable`: nobody can tell, so a path that was published once may keep its last good version."""

    gate: Gate
    body: str = ""
    title: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    """Every text of the frontmatter."""


def read(raw: bytes) -> Page:
    """Only an unquoted `publish: true` publishes, unless there is a `draft` other than null or false."""
    cut = _cut(raw)
    if cut is None:
        return Page("private", _text(raw))
    block, body = cut
    fields = _fields(block) if body is not None and len(raw) <= MOST_BYTES and _is_text(raw) else None
    if fields is None:
        gate: Gate = "private" if _SAYS_PRIVATE.search(block) else "unreadable"
        found = _TITLE_LINE.search(_text(block))
        return Page(gate, _text(block + (body or b"")), found[1].strip("\"'") if found else None)
    inline = _INLINE_TAG.findall(_NO_TAGS.sub("", _INDENTED.sub("", _CODE.sub("", _text(body or b"")))))
    return Page(
        "published" if _is_open(fields) else "private",
        _text(body or b""),
        _title(fields.get("title")),
        tuple(dict.fromkeys(tag for text in (*_list(fields.get("tags"), ","), *inline) if (tag := _tag(text)))),
        tuple(_list(fields.get("aliases"), None)),
        tuple(text for node in fields.values() for text in _scalars(node)),
    )


def _cut(raw: bytes) -> tuple[bytes, bytes | None] | None:
    """Frontmatter and body; no body when the frontmatter is never closed. None: there is no frontmatter."""
    lines = raw.removeprefix(MARK).splitlines(keepends=True)
    rules = [number for number, line in enumerate(lines) if line.rstrip(b" \t\r\n") == b"---"]
    if not rules or rules[0] != 0:
        return None
    if len(rules) == 1:
        return b"".join(lines[1:]), None
    return b"".join(lines[1 : rules[1]]), b"".join(lines[rules[1] + 1 :])


def _fields(block: bytes) -> dict[str, yaml.Node] | None:
    """None for what is not plain YAML: references, tags, a name given twice, a list, too large, too deep."""
    text = _text(block).replace("\r\n", "\n").replace("\r", "\n")
    try:
        if len(block) > MOST_FRONTMATTER_BYTES or not _is_plain(text):
            return None
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return None
    if root is None or (isinstance(root, yaml.ScalarNode) and _is(root, _NULL)):
        return {}
    return _named(root) if isinstance(root, yaml.MappingNode) and _no_doubles(root) else None


def _is_plain(text: str) -> bool:
    levels = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
            return False
        if isinstance(event, NodeEvent) and getattr(event, "tag", None) not in (None, "!"):
            return False
        levels += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if levels > MOST_LEVELS:
            return False
    return True


def _no_doubles(node: yaml.Node) -> bool:
    if isinstance(node, yaml.MappingNode):
        names = [key.value for key, _ in node.value]
        if not all(isinstance(key, yaml.ScalarNode) for key, _ in node.value) or len(set(names)) < len(names):
            return False
        return all(_no_doubles(value) for _, value in node.value)
    return all(map(_no_doubles, node.value)) if isinstance(node, yaml.SequenceNode) else True


def _named(root: yaml.MappingNode) -> dict[str, yaml.Node]:
    return {key.value: value for key, value in root.value}


def _is_open(fields: dict[str, yaml.Node]) -> bool:
    """Other spellings of the two names can shut the gate and never open it."""
    publish = [value for name, value in fields.items() if name.strip().casefold() == "publish"]
    draft = [value for name, value in fields.items() if name.strip().casefold() == "draft"]
    if "publish" not in fields or not all(_is(value, _TRUE) for value in publish):
        return False
    return all(_is(value, _FALSE | _NULL) for value in draft)


def _is(node: yaml.Node | None, words: set[str]) -> bool:
    """Whether it is one of the words, without quotes."""
    return isinstance(node, yaml.ScalarNode) and not node.style and node.value in words


def _title(node: yaml.Node | None) -> str | None:
    if not isinstance(node, yaml.ScalarNode) or _is(node, _NULL):
        return None
    return " ".join(node.value.split()) or None


def _list(node: yaml.Node | None, comma: str | None) -> Iterator[str]:
    """The texts of a list; a single text stands for a list of one, or of several between commas."""
    if isinstance(node, yaml.ScalarNode):
        yield from () if _is(node, _NULL) else node.value.split(comma) if comma else [node.value]
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _list(item, None)


def _tag(text: str) -> str:
    return "-".join(" ".join(text.split()).lstrip("#").casefold().split())


def _scalars(node: yaml.Node) -> Iterator[str]:
    if isinstance(node, yaml.ScalarNode):
        yield node.value
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars(item)
    elif isinstance(node, yaml.MappingNode):
        for _, value in node.value:
            yield from _scalars(value)


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


RUN = 8
"""Words in a row that nobody writes twice by chance."""
SHORT_TEXT_WORDS = 40
"""A text up to here is also looked for line by line: it has few runs or none."""
SHORT_LINE_WORDS = 3

_WORD = re.compile(r"\w+")
_BREAK = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]+|^---[ \t\r]*$|\" ?[:,]", re.MULTILINE)
"""Where one text ends and another begins: between joined documents, and between the values of JSON in a log."""
_Trie = dict[str, Any]
_END = ""


def words(text: str) -> list[str]:
    plain = unquote(text) if "%" in text else text
    return _WORD.findall(unicodedata.normalize("NFC", plain).casefold())


def runs(found: list[str]) -> Iterator[int]:
    """A number for each run of words."""
    return map(hash, zip(*(found[start:] for start in range(RUN)), strict=False))


def texts_in(body: bytes) -> Iterator[str]:
    """Every text of a JSON value, names included; anything else is one text."""
    try:
        yield from _strings(json.loads(body))
    except ValueError:
        yield body.decode("utf-8", "replace")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _strings(item)


class Names:
    """Titles, paths and short lines, each of which must not be seen."""

    def __init__(self, named: Mapping[str, str]) -> None:
        """`named`: the name -> whose it is."""
        self._named = dict(named)
        self._trie: _Trie = {}
        for name in named:
            self._add(name)

    def __len__(self) -> int:
        return len(self._named)

    def without(self, known: Iterable[str]) -> "Names":
        """Those that stand in none of the known texts: only they tell anything when they are seen."""
        said = {name for text in known for name in self.seen(words(text))}
        return Names({name: owner for name, owner in self._named.items() if name not in said and words(name)})

    def owners(self, found: list[str]) -> set[str]:
        return {self._named[name] for name in self.seen(found)}

    def seen(self, found: list[str]) -> Iterator[str]:
        for start, word in enumerate(found):
            node = self._trie.get(word)
            at = start
            while node is not None:
                yield from node.get(_END, ())
                at += 1
                node = node.get(found[at]) if at < len(found) else None

    def _add(self, name: str) -> None:
        node = self._trie
        for word in words(name):
            node = node.setdefault(word, {})
        node.setdefault(_END, []).append(name)


class Traces:
    """What is peculiar to some private texts, against all that may be known."""

    def __init__(self, private: Mapping[str, str], names: Mapping[str, str], known: Iterable[str]) -> None:
        """`private`: path -> text. `names`: name -> path. `known`: texts that are public."""
        split = {path: words(text) for path, text in private.items()}
        public = [*known]
        said = {run for text in public for run in runs(words(text))}
        self._runs = {run: path for path, found in split.items() for run in runs(found) if run not in said}
        short = (path for path, found in split.items() if len(found) <= SHORT_TEXT_WORDS)
        lines = {
            line: path for path in short for line in private[path].splitlines() if len(words(line)) >= SHORT_LINE_WORDS
        }
        self._texts = Names(lines).without(public)
        self._names = Names(names).without(public)

    @property
    def run_count(self) -> int:
        return len(self._runs) + len(self._texts)

    @property
    def name_count(self) -> int:
        return len(self._names)

    def in_texts(self, texts: Iterable[str]) -> tuple[set[str], set[str]]:
        """Paths whose text is in there, and paths whose title or path is."""
        told: set[str] = set()
        named: set[str] = set()
        for text in (piece for whole in texts for piece in _BREAK.split(whole)):
            found = words(text)
            told |= {self._runs[run] for run in runs(found) if run in self._runs} | self._texts.owners(found)
            named |= self._names.owners(found)
        return told, named


_CODE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1|<!--.*?-->|(?<!`)(`+)(?!`).*?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"^(?: {4}|\t).*$", re.MULTILINE)
_NO_TAGS = re.compile(r"%%.*?%%|\[[^\[\]]*\]\([^()]*\)|\[\[[^\[\]]*\]\]|^#{1,6}[ \t].*?$", re.DOTALL | re.MULTILINE)
_INLINE_TAG = re.compile(r"(?<!\S)#([\w/-]*[^\W\d_][\w/-]*)")
_LINK = re.compile(r"(?<!\\)\[[^\[\]\n]*(?<!\\)\]\(<?((?:[^()<>\s\\]|\([^()<>\s\\]*\))+)>?(?:[ \t]+\"[^\"\n]*\")?\)")
_EMBED = re.compile(r"!?\[\[([^\[\]\n|#]+)[^\[\]\n]*\]\]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")


@dataclass(frozen=True, slots=True)
class Links:
    """`edges`: (from, to) between published paths. `files`: other files of the tree that published pages point to."""

    edges: frozenset[tuple[str, str]]
    files: frozenset[str]


def links_of(pages: Mapping[str, Page], files: Collection[str]) -> Links:
    """`pages` are the published ones, `files` all paths of the tree that are not Markdown."""
    edges: set[tuple[str, str]] = set()
    used: set[str] = set()
    for source, page in pages.items():
        for target in _targets(page):
            for path in _candidates(source, target):
                if path in pages:
                    edges.add((source, path))
                elif path in files:
                    used.add(path)
                else:
                    continue
                break
    return Links(frozenset(edge for edge in edges if edge[0] != edge[1]), frozenset(used))


def unexplained(edges: Collection[tuple[str, str]], pages: Mapping[str, Page]) -> list[str]:
    """Edges whose source nowhere writes a name of the target: its file name, title, alias, or folder."""
    texts = {path: _flat(" ".join((page.body, *page.values))) for path, page in pages.items()}
    return [f"{source} -> {target}" for source, target in edges if not _mentions(texts.get(source, ""), target, pages)]


def _mentions(text: str, target: str, pages: Mapping[str, Page]) -> bool:
    folder, _, name = target.rpartition("/")
    stem = re.sub(r"\.(md|markdown)\Z", "", name, flags=re.IGNORECASE)
    page = pages.get(target)
    names = [stem, *((page.title or "", *page.aliases) if page else ())]
    if stem.casefold() == "index":
        names.append(folder.rpartition("/")[2])
    return any(_flat(name) in text for name in names if words(name))


def _flat(text: str) -> str:
    """Its words between spaces, so that a name is looked for as whole words."""
    return f" {' '.join(words(text))} "


def _targets(page: Page) -> Iterator[str]:
    body = _INDENTED.sub("", _CODE.sub("", page.body))
    for found in _LINK.finditer(body):
        target = unquote(found[1].partition("#")[0])
        if target and not _SCHEME.match(found[1]):
            yield target
    for text in (body, *page.values):
        yield from (found[1].strip() for found in _EMBED.finditer(text))


def _candidates(source: str, target: str) -> Iterator[str]:
    """Paths it can mean, most likely first: from the root, from the source's folder; as it is, `.md`, an index page."""
    here = posixpath.dirname(source)
    from_root, from_here = target.lstrip("/"), posixpath.join(here, target.lstrip("/"))
    if target.startswith("/"):
        bases = [from_root]
    elif target.startswith("."):
        bases = [from_here]
    else:
        bases = [from_root, from_here] if "/" in target.rstrip("/") else [from_here, from_root]
    for base in bases:
        path = posixpath.normpath(base)
        if not path.startswith(".."):
            yield from (path, f"{path}.md", posixpath.join(path, "index.md"))
