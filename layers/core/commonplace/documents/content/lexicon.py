"""The lexicon: documents of type `tag` under all their names, undefined tags in use, and keyword matching."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import IntEnum
from functools import cached_property

from commonplace.documents.content.document import DocumentRef, Entry
from commonplace.documents.content.document_index import ALIKE, Catalogue
from commonplace.kernel.terms import bare, forms, key, parts, squeezed, words
from commonplace.repository.slugs import slug
from commonplace.search.analysis import plain_terms
from commonplace.search.query import Query

RESEMBLES = 0.75
"""From 0 to 1: how alike a keyword and a name must be for a search. Suggestions need less."""

COMPARED = 2_000
"""Terms up to which a word is compared with every one; of more, with those that begin like it."""

LONGEST = 200
"""Characters of a word that are compared."""

TERM = "tag"
"""The content type of the lexicon's documents."""

PREFIXES = ("tag/", "concept/")
"""`tag/{id}` names a document; `concept` is what many knowledge bases call the type."""

Index = Mapping[str, Sequence[Entry]]


class Likeness(IntEnum):
    """The ways in which a term matches a keyword, best first."""

    EXACT = 0
    PREFIX = 1
    WORD = 2
    SUBSTRING = 3
    FUZZY = 4


@dataclass(frozen=True, slots=True)
class Match:
    term: "Term"
    likeness: Likeness


@dataclass(frozen=True, slots=True)
class Comparable:
    """A term, ready to be compared."""

    term: "Term"
    names: tuple[str, ...]
    words: frozenset[str]
    """Of its names."""
    told: str
    """Words of the description, with a space before, between and after."""

    @classmethod
    def of(cls, term: "Term") -> "Comparable":
        entry = term.entry
        named = (entry.title, entry.id, *entry.aliases, *parts(entry.title)) if entry else (term.name,)
        told = words(entry.description or "") if entry else []
        return cls(
            term=term,
            names=tuple(dict.fromkeys(filter(None, map(squeezed, named)))),
            words=frozenset(word for name in named for word in words(name)),
            told=f" {' '.join(told)} ",
        )


def matches(keyword: str, terms: Iterable[Comparable]) -> list[Match]:
    """Terms whose names or description contain or resemble the keyword, best first.

    Of equals, those found by name come first, then those that more documents bear, then the order they came in.
    """
    asked = squeezed(keyword)[:LONGEST]
    if not asked:
        return []
    each = [forms(word) for word in words(keyword)]
    matcher = SequenceMatcher(None, "", asked)
    compared = ((_compared(asked, each, matcher, comparable), comparable.term) for comparable in terms)
    found = [(*how, -term.documents, at, term) for at, (how, term) in enumerate(compared) if how is not None]
    return [Match(term, likeness) for likeness, _, _, _, term in sorted(found, key=lambda one: one[:4])]


def nearest(text: str, terms: Sequence[Comparable], count: int) -> list["Term"]:
    """Terms with a name most like the text, best first; then those that begin with it or share a word with it."""
    wanted = squeezed(text)[:LONGEST]
    if len(terms) > COMPARED:
        terms = [one for one in terms if any(name[:2] == wanted[:2] for name in one.names)]
    matcher = SequenceMatcher(None, "", wanted)
    scored = sorted((-_alike(matcher, one.names, ALIKE), at) for at, one in enumerate(terms))
    alike = [at for score, at in scored[:count] if score]
    telling = {form for word in words(text) if len(word) > 3 for form in forms(word)}
    begun = [at for at, one in enumerate(terms) if len(wanted) > 2 and any(n.startswith(wanted) for n in one.names)]
    sharing = [at for at, one in enumerate(terms) if telling & one.words]
    return [terms[at].term for at in dict.fromkeys((*alike, *begun, *sharing))][:count]


def _compared(
    asked: str, each: Sequence[tuple[str, ...]], matcher: SequenceMatcher[str], with_: Comparable
) -> tuple[Likeness, bool] | None:
    """How alike they are, and whether it is the description alone that says so. `each` are the keyword's words."""
    if any(form in with_.names for form in forms(asked)):
        return Likeness.EXACT, False
    if any(name.startswith(asked) for name in with_.names):
        return Likeness.PREFIX, False
    if all(with_.words.intersection(word) for word in each):
        return Likeness.WORD, False
    if all(any(f" {form} " in with_.told for form in word) for word in each):
        return Likeness.WORD, True
    if any(asked in name for name in with_.names):
        return Likeness.SUBSTRING, False
    if all(word[0] in with_.told for word in each):
        return Likeness.SUBSTRING, True
    return (Likeness.FUZZY, False) if _alike(matcher, with_.names, RESEMBLES) else None


def _alike(matcher: SequenceMatcher[str], names: Iterable[str], least: float) -> float:
    """The likeness of the most similar name, or 0 when none is like it enough."""
    best = 0.0
    for name in names:
        matcher.set_seq1(name)
        if matcher.real_quick_ratio() >= least and matcher.quick_ratio() >= least:
            best = max(best, matcher.ratio())
    return best if best >= least else 0.0


@dataclass(frozen=True, slots=True)
class Term:
    """A lexicon document, or a tag without one."""

    name: str
    """Title of the document, else the tag."""
    documents: int
    """How many published documents bear it as a tag, in any of its spellings."""
    entry: Entry | None = None


class Lexicon:
    """Terms of one edition. Immutable; each index is built on first use."""

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

    def meant(self, text: str) -> Sequence[Entry]:
        """The documents that a name or a question (`What is a DAO?`) asks for; none when nothing is called so.

        Terms of the lexicon come before documents of other types, which answer to titles and aliases, and what is
        written so before names in another form or spelling (`decentralisation` for `Decentralization`).
        """
        asked = dict.fromkeys((text, Query.of(text).subject))
        ways = (self._called, self._referred, self._titled, self._named, self._in_other_words)
        return next((found for way in ways for one in asked if (found := way(one))), ())

    def nearest_names(self, text: str, count: int = 3) -> list[Term]:
        """Terms and other documents with a name most like what a text asks for, best first."""
        return nearest(Query.of(text).subject, self._comparable_documents, count)

    def _called(self, text: str) -> Sequence[Entry]:
        return next((entries for entries in self._exact_rungs(bare(text)) if entries), ())

    def _referred(self, text: str) -> Sequence[Entry]:
        content_type, slash, document_id = bare(text).partition("/")
        found = self._catalogue.resolve(content_type, document_id) if slash else None
        return [found.entry] if found else ()

    def _titled(self, text: str) -> Sequence[Entry]:
        titles, aliases = self._other_names
        plain = key(text)
        return titles.get(plain) or aliases.get(plain, ())

    def _in_other_words(self, text: str) -> Sequence[Entry]:
        plain = _spelt_alike(text)
        return next((found for index in self._other_spellings if (found := index.get(plain))), ()) if plain else ()

    @cached_property
    def _others(self) -> Sequence[Entry]:
        return [entry for entry in self._catalogue.entries if entry.content_type != TERM]

    @cached_property
    def _other_names(self) -> tuple[Index, Index]:
        return (
            _index((key(entry.title), entry) for entry in self._others),
            _index((key(name), entry) for entry in self._others for name in (*entry.aliases, *parts(entry.title))),
        )

    @cached_property
    def _other_spellings(self) -> tuple[Index, Index]:
        """Of the lexicon's names, and of the others'."""
        return tuple(  # type: ignore[return-value]
            _index(
                (_spelt_alike(name), entry)
                for entry in entries
                for name in (entry.title, *entry.aliases, *parts(entry.title))
            )
            for entries in (self._entries, self._others)
        )

    @cached_property
    def _comparable_documents(self) -> Sequence[Comparable]:
        """Terms of the lexicon by title, then the other documents."""
        return [Comparable.of(self.term(entry)) for entry in (*self._entries, *self._others)]

    def term(self, entry: Entry) -> Term:
        """A lexicon document as a term."""
        return Term(entry.title, self._documents.get(entry.ref, 0), entry)

    def page(self, tag: str) -> Entry | None:
        """The document that defines a tag; of several that could, the one with this id, else the first by title."""
        found = self._owners.get(tag) or self._named(tag)
        return next((entry for entry in found if entry.id == tag), found[0] if found else None)

    def nearest(self, text: str, count: int = 3) -> list[Term]:
        """Defined terms with a name most like the text, best first."""
        return nearest(text, self._comparable[: len(self._entries)], count)

    def search(self, keyword: str) -> list[Match]:
        """Terms whose title, alias, tag or description contains or resembles the keyword, best first."""
        return matches(keyword, self._comparable)

    def _named(self, text: str) -> Sequence[Entry]:
        asked = bare(text)
        for prefix in PREFIXES:
            if asked.startswith(prefix) and (found := self._catalogue.resolve(TERM, asked.removeprefix(prefix))):
                return [found.entry]
        return next((entries for entries in self._rungs(asked) if entries), ())

    def _rungs(self, asked: str) -> Iterator[Sequence[Entry]]:
        """What each way of reading the text finds, the most exact first."""
        yield from self._exact_rungs(asked)
        for form in forms(squeezed(asked)):
            yield self._loosely.get(form, ())
            yield self._loosely_by_alias.get(form, ())

    def _exact_rungs(self, asked: str) -> Iterator[Sequence[Entry]]:
        """By names as they are, but for letter case, gaps and hyphens."""
        yield self._as_written.get(asked, ())
        plain = key(asked)
        yield self._by_name.get(plain, ())
        yield self._by_alias.get(plain, ())
        yield self._by_part.get(plain, ())
        former = self._catalogue.resolve(TERM, slug(asked))
        yield [former.entry] if former else ()

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


def _spelt_alike(name: str) -> str:
    """What names share that differ in forms of words and in spelling alone."""
    return " ".join(plain_terms(bare(name)))


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
