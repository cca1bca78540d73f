"""Normalisation of authored frontmatter into the fields of a document: lenient, with every deviation reported."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from commonplace.documents.content.fields import coerce, embedded, plain_text, tag_of
from commonplace.documents.content.ontology import ONTOLOGY, FieldSpec, Ontology
from commonplace.documents.content.reader import contents_of
from commonplace.repository.comments import visible
from commonplace.repository.headings import unlinked
from commonplace.repository.link import Link
from commonplace.repository.markdown import ParsedFile
from commonplace.repository.problems import Problem
from commonplace.repository.slugs import FRONT_PAGES, stem


@dataclass(frozen=True, slots=True)
class Normalised:
    """The fields of a document, as far as its own file gives them."""

    content_type: str
    title: str
    description: str | None
    date: str | None
    group: str | None
    release: str | None
    status: str | None
    tags: tuple[str, ...]
    author: tuple[str, ...]
    aliases: tuple[str, ...]
    link_type: str | None
    banner: str | None
    permalink: str | None
    url: str | None
    metadata: dict[str, Any]
    """Frontmatter under the ontology's names: nulls dropped, lists where they are meant, unknown fields as authored."""
    problems: tuple[Problem, ...]
    links: tuple[Link, ...]
    anchors: tuple[str, ...] | None
    """Fragments that lead to a place in the body; None: not known."""
    tag_lines: dict[str, int]
    """Tags of the frontmatter, then those of the body -> their line in the file."""


def normalise(path: str, file: ParsedFile, ontology: Ontology = ONTOLOGY) -> Normalised:
    """Reads the frontmatter by the ontology, and the body's tags. Never raises: what is no use is reported."""
    return _Normalisation(path, file, ontology).result()


class _Normalisation:
    def __init__(self, path: str, file: ParsedFile, ontology: Ontology) -> None:
        self._path = path
        self._file = file
        self._ontology = ontology
        self._problems: list[Problem] = []

    def result(self) -> Normalised:
        named = list(self._named())
        authored_type = next((value for _, name, value in named if name == "type"), None)
        content_type, problem = self._ontology.resolve_type(authored_type, self._path)
        self._report(problem, "type")
        metadata = self._fields(content_type, named)
        metadata["type"] = content_type
        if authored_type is not None and authored_type != content_type:
            metadata["originalType"] = authored_type
        for name in ("title", "description"):
            if shown := unlinked(visible(metadata.get(name, ""))).strip():
                metadata[name] = shown
            else:
                metadata.pop(name, None)
        contents = contents_of(self._file)
        tag_lines = dict.fromkeys(metadata.get("tags", ()), self._file.lines.get("tags", 1))
        for written, line in contents.tags.items():
            if tag := tag_of(written):
                tag_lines.setdefault(tag, line)
        metadata["title"] = metadata.get("title") or contents.heading or self._fallback_title()
        self._report_missing(content_type, metadata)
        return Normalised(
            content_type=content_type,
            title=metadata["title"],
            description=metadata.get("description"),
            date=metadata.get("date"),
            group=metadata.get("group"),
            release=metadata.get("release"),
            status=metadata.get("status"),
            tags=tuple(tag_lines),
            author=tuple(unlinked(name) for name in metadata.get("author", ())),
            aliases=tuple(metadata.get("aliases", ())),
            link_type=metadata.get("linkType"),
            banner=embedded(metadata["banner"]) if "banner" in metadata else None,
            permalink=metadata.get("permalink"),
            url=metadata.get("url"),
            metadata=metadata,
            problems=(*filter(None, [self._file.problem]), *self._problems, *contents.problems),
            links=contents.links,
            anchors=contents.anchors,
            tag_lines=tag_lines,
        )

    def _fields(self, content_type: str, named: Iterable[tuple[str, str, Any]]) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        for authored, name, value in named:
            spec = self._ontology.field(content_type, name)
            if value is None or (spec and spec.kind != "type" and isinstance(value, str) and not value.strip()):
                self._report(Problem("null-field", f"`{authored}` is empty", "fill it in or remove the line"), authored)
                continue
            if spec is None:
                metadata[name] = value
            elif spec.kind != "type" and (usable := self._coerce(authored, spec, value)) is not None:
                metadata[name] = usable
        return metadata

    def _named(self) -> Iterator[tuple[str, str, Any]]:
        """(authored name, ontology name, value); a field under its own name comes before one under another name."""
        frontmatter = self._file.frontmatter
        for authored, value in frontmatter.items():
            name = self._ontology.field_name(authored)
            if name is None:
                self._report_unknown(authored)
                yield authored, authored, value
            elif name == authored:
                yield authored, name, value
            elif frontmatter.get(name) is None:
                self._report(
                    Problem("renamed-field", f"`{authored}` is read as `{name}`", f"write `{name}:`"), authored
                )
                yield authored, name, value

    def _coerce(self, authored: str, spec: FieldSpec, value: Any) -> Any:
        usable, problem = coerce(spec, value, self._file.authored.get(authored))
        self._report(problem, authored)
        return usable

    def _fallback_title(self) -> str:
        """Return the file's name; the front page of a folder takes the folder's."""
        folder = self._path.rpartition("/")[0].rpartition("/")[2]
        name = stem(self._path)
        return plain_text(folder if folder and name.casefold() in FRONT_PAGES else name) or "Untitled"

    def _report_missing(self, content_type: str, metadata: dict[str, Any]) -> None:
        reported = {problem.field for problem in self._problems}
        fields = self._ontology.types[content_type].fields
        summary_hint = "write one or two sentences; lists, search results and previews show them"
        expected = {
            "description": Problem("missing-description", "the document has no description", summary_hint),
            "date": Problem("missing-date", "the document has no date", "write `date: YYYY-MM-DD`"),
        }
        expected |= {
            name: Problem("missing-field", f"a {content_type} needs `{name}`", spec.description)
            for name, spec in fields.items()
            if spec.required
        }
        for name, problem in expected.items():
            if name not in metadata and name not in reported:
                self._report(problem, name)

    def _report_unknown(self, authored: str) -> None:
        near = get_close_matches(authored, self._ontology.fields, n=1, cutoff=0.85)
        if authored.casefold() == "created":  # as editors name it, and nearest to `related`
            near = ["date"] if "date" not in self._file.frontmatter else []
        if near:
            self._report(
                Problem("unknown-field", f"`{authored}` is not a known field", f"is it `{near[0]}`?"), authored
            )

    def _report(self, problem: Problem | None, field: str) -> None:
        if problem:
            self._problems.append(replace(problem, field=field, line=self._file.lines.get(field, 1)))
