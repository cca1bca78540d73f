"""The lexicon: documents of type `tag`, by whatever people call them, and the tags in use that none of them defines."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from commonplace.documents.content import likeness
from commonplace.documents.content.document import DocumentRef
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.likeness import Comparable, Match
from commonplace.documents.content.manifest import Entry
from commonplace.documents.content.terms import bare, forms, key, parts, squeezed
from commonplace.repository.slugs import slug

TERM = "tag"
"""The content type of the lexicon's documents."""

PREFIXES = ("tag/", "concept/")
"""`tag/{id}` names a document; `concept` is what many knowledge bases call the type."""


@dataclass(frozen=True, slots=True)
class Term:
    """A lexicon document, or a tag without one."""

    name: str
    """Title of the document, else the tag."""
    documents: int
    """How many published documents bear it as a tag, in any of its spellings."""
    entry: Entry | None = None


Index = Mapping[str, Sequence[Entry]]


class Lexicon:
    """Terms of one edition. Immutable; each index is built when it is first asked for."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._entries = [entry for entry in catalogue.entries if entry.content_type == TERM]

    @cached_property
    def defined(self) -> Sequence[Term]:
        """Every term with a document, by title."""
        return [self.term(entry) for entry in self._entries]

    @cached_property
    def undefined(self) -> Sequence[Term]:
        """Tags that no document defines, most used first."""
        terms = [Term(tag, len(bearing)) for tag, bearing in self._bearing.items() if not self._owners[tag]]
        return sorted(terms, key=lambda term: (-term.documents, term.name))

    def resolve(self, text: str) -> Sequence[Term]:
        """What a text names: one term, several when it is ambiguous, none when nothing answers to it.

        Title and id come before an alias, then a name in brackets, a former id, and last what differs in accents,
        punctuation or number (`policy` for `Policies`). A tag that nobody has defined comes after all of these.
        """
        if found := self._named(text):
            return [self.term(entry) for entry in found]
        spellings = (key(text), *forms(squeezed(text)))
        tag = next((tag for spelling in spellings if (tag := self._undefined.get(spelling))), None)
        return [tag] if tag else []

    def term(self, entry: Entry) -> Term:
        """A lexicon document as a term."""
        return Term(entry.title, self._documents.get(entry.ref, 0), entry)

    def page(self, tag: str) -> Entry | None:
        """The document that defines a tag; of several that could, the one with this id, else the first by title."""
        found = self._owners.get(tag, ())
        return next((entry for entry in found if entry.id == tag), found[0] if found else None)

    def nearest(self, text: str, count: int = 3) -> list[Term]:
        """Defined terms with a name most like the text, best first."""
        return likeness.nearest(text, self._comparable[: len(self._entries)], count)

    def search(self, keyword: str) -> list[Match]:
        """Terms whose title, alias, tag or description contains or resembles the keyword, best first."""
        return likeness.matches(keyword, self._comparable)

    def _named(self, text: str) -> Sequence[Entry]:
        asked = bare(text)
        for prefix in PREFIXES:
            if asked.startswith(prefix) and (found := self._catalogue.resolve(TERM, asked.removeprefix(prefix))):
                return [found.entry]
        return next((entries for entries in self._rungs(asked) if entries), ())

    def _rungs(self, asked: str) -> Iterator[Sequence[Entry]]:
        """What each way of reading the text finds, the most exact first."""
        yield self._as_written.get(asked, ())
        plain = key(asked)
        yield self._by_name.get(plain, ())
        yield self._by_alias.get(plain, ())
        yield self._by_part.get(plain, ())
        former = self._catalogue.resolve(TERM, slug(asked))
        yield [former.entry] if former else ()
        for form in forms(squeezed(asked)):
            yield self._loosely.get(form, ())
            yield self._loosely_by_alias.get(form, ())

    @cached_property
    def _as_written(self) -> Index:
        return _index((name, entry) for entry in self._entries for name in (entry.title, entry.id))

    @cached_property
    def _by_name(self) -> Index:
        return _index((key(name), entry) for entry in self._entries for name in (entry.title, entry.id))

    @cached_property
    def _by_alias(self) -> Index:
        return _index((key(alias), entry) for entry in self._entries for alias in entry.aliases)

    @cached_property
    def _by_part(self) -> Index:
        return _index((key(part), entry) for entry in self._entries for part in parts(entry.title))

    @cached_property
    def _loosely(self) -> Index:
        return _index((squeezed(name), entry) for entry in self._entries for name in (entry.title, entry.id))

    @cached_property
    def _loosely_by_alias(self) -> Index:
        return _index(
            (squeezed(name), entry) for entry in self._entries for name in (*entry.aliases, *parts(entry.title))
        )

    @cached_property
    def _bearing(self) -> Mapping[str, Sequence[int]]:
        """Tag -> positions of the documents that bear it."""
        found: dict[str, list[int]] = defaultdict(list)
        for position, entry in enumerate(self._catalogue.entries):
            for tag in dict.fromkeys(entry.tags):
                found[tag].append(position)
        return found

    @cached_property
    def _owners(self) -> Mapping[str, Sequence[Entry]]:
        """Tag -> the lexicon documents it names."""
        return {tag: self._named(tag) for tag in self._bearing}

    @cached_property
    def _documents(self) -> Mapping[DocumentRef, int]:
        """How many documents bear a tag of each lexicon document; one that bears two of them counts once."""
        bearing: dict[DocumentRef, set[int]] = defaultdict(set)
        for tag, owners in self._owners.items():
            for entry in owners:
                bearing[entry.ref].update(self._bearing[tag])
        return {ref: len(positions) for ref, positions in bearing.items()}

    @cached_property
    def _undefined(self) -> Mapping[str, Term]:
        """By spelling; the exact one wins, then the tag in more documents."""
        rarest_first = list(reversed(self.undefined))
        loosely = {squeezed(term.name): term for term in rarest_first}
        return loosely | {key(term.name): term for term in rarest_first}

    @cached_property
    def _comparable(self) -> Sequence[Comparable]:
        """Defined terms by title, then the others."""
        return [Comparable.of(term) for term in (*self.defined, *self.undefined)]


def _index(named: Iterable[tuple[str, Entry]]) -> Index:
    """Names -> documents, each document once, in the order of their titles."""
    found: dict[str, dict[DocumentRef, Entry]] = defaultdict(dict)
    for name, entry in named:
        if name:
            found[name][entry.ref] = entry
    return {name: list(entries.values()) for name, entries in found.items()}


def lexicon_of(catalogue: Catalogue) -> Lexicon:
    """The lexicon of a catalogue, built once."""
    return catalogue.once(Lexicon)
