"""Links of published pages, found with regular expressions and resolved by the plainest rules: what must be an edge.

It finds fewer than a Markdown parser does, and nothing that is no link: it says what has to be there, not all that is.
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from bench.acceptance.reading import Page
from bench.acceptance.traces import words

_CODE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1|<!--.*?-->|(?<!`)(`+)(?!`).*?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"^(?: {4}|\t).*$", re.MULTILINE)
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
