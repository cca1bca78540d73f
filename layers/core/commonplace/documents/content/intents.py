"""Intents of queries beside a subject: a list of documents, or a newcomer's way in (`intents.toml`)."""

import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from commonplace.documents.content.document import Entry
from commonplace.documents.content.document_index import Catalogue, Selection, Sort, per_catalogue
from commonplace.documents.content.facets import tag_branches
from commonplace.documents.content.ontology import ONTOLOGY, ROOT_TYPE
from commonplace.kernel.terms import forms
from commonplace.repository.slugs import stem
from commonplace.search.filters import Filters
from commonplace.search.frames import questions
from commonplace.search.list_questions import MOST_WORDS, Names, read
from commonplace.search.text import name_key, words

SORTS: Mapping[str, Sort] = {"newest": "-date", "oldest": "date", "changed": "-updated"}


class Listing(NamedTuple):
    """Documents in the order in which they are listed, and a sentence that says so."""

    entries: Sequence[Entry]
    sentence: str


class Part(NamedTuple):
    """A question, and its subject with the filters of the type that it asks for, if it asks for one."""

    text: str
    filters: Filters
    subject: str = ""
    of_type: Filters | None = None


def listing(catalogue: Catalogue, text: str, wanted: Filters) -> Listing | None:
    """Return the documents of the filters for a query that requests a list or has no words; None for any other query.

    A query that is a title or an alias of a document, in the singular or the plural, is a name and no list.
    """
    question = read(text, _names(catalogue)) if text.strip() else (Filters(), "newest")
    if question is None or not _named(catalogue).keys().isdisjoint(forms(name_key(text))):
        return None
    own, order = question
    within = {entry.ref for entry in catalogue.select(Selection(wanted))}
    types = tuple(leaf for name in own.content_types for leaf in ONTOLOGY.expand(name))
    entries = catalogue.select(Selection(replace(own, content_types=types)), SORTS[order])
    found = [entry for entry in entries if entry.ref in within]
    conditions = {"type": own.content_types, "author": own.authors, "tag": own.tags_all}
    conditions |= {"from": (own.date_from or "",), "to": (own.date_to or "",)}
    said = "; ".join([f"{name} {', '.join(values)}" for name, values in conditions.items() if any(values)])
    listed = f"Listed: documents{f' ({said})' if said else ''}, {order} first; {len(found)} in all."
    return Listing(
        found, f"{listed} To search for these words instead, put them in quotes." if text.strip() else listed
    )


def parts(catalogue: Catalogue, text: str, wanted: Filters) -> list[Part]:
    """Return the questions of a text that has several, or one for documents of a type, each with its filters; none for
    any other text. A text that is a name or an alias of a document is its name."""
    if not _named(catalogue).keys().isdisjoint(forms(name_key(text))):
        return []
    several = questions(text)
    found = [_part(catalogue, one, wanted) for one in several or [text]]
    return found if several or found[0].of_type else []


def _part(catalogue: Catalogue, text: str, wanted: Filters) -> Part:
    """Read `which patterns are about data` as a question for patterns, whose subject is `data`."""
    given, about = words(text), _data()["about"]
    for at in range(1, min(len(given) - 1, MOST_WORDS)):
        if given[at] not in about["words"] or wanted.content_types:
            continue
        before = given[: at - (given[at - 1] in about["copulas"])]
        question = read(" ".join(before), _names(catalogue))
        if question and question[0].content_types:
            types = tuple(leaf for name in question[0].content_types for leaf in ONTOLOGY.expand(name))
            return Part(text, wanted, " ".join(given[at + 1 :]), replace(wanted, content_types=types))
    return Part(text, wanted)


def way_in(catalogue: Catalogue, text: str) -> Entry | None:
    """Return the document that a newcomer's question means; None for any other question.

    It goes by the question itself or by a name of what is looked for; else it is the home page of the repository, or
    the front page that lies highest, where there is only one.
    """
    if (names := _data()["way_in"].get(name_key(text))) is None:
        return None
    known, fronts = _named(catalogue), sorted(catalogue.fronts.values(), key=lambda path: path.count("/"))
    alone = len({path.count("/") for path in fronts[:2]}) == len(fronts[:2])
    home = catalogue.manifest.by_path[fronts[0]] if fronts and alone else None
    return next((known[name] for name in map(name_key, (text, *names)) if name in known), home)


@per_catalogue
def _named(catalogue: Catalogue) -> Mapping[str, Entry]:
    """Documents by title, alias, or their file's name at the top of the repository; the highest of several."""
    ranked = sorted(catalogue.entries, key=lambda entry: (entry.path.count("/"), entry.path), reverse=True)
    files = {name_key(stem(entry.path)): entry for entry in ranked if "/" not in entry.path}
    aliases = {name_key(alias): entry for entry in ranked for alias in entry.aliases}
    return files | aliases | {name_key(entry.title): entry for entry in ranked}


@per_catalogue
def _names(catalogue: Catalogue) -> Names:
    """Types, tags and authors by the phrases that name them; an author also by a part that nobody shares."""
    borne, called = {entry.content_type for entry in catalogue.entries}, defaultdict(set)
    spelt = [*((name, name) for name in ONTOLOGY.types if name != ROOT_TYPE), *ONTOLOGY.aliases.items()]
    named = [("T" if at else "S", form, name) for word, name in spelt for at, form in enumerate(forms(word))]
    named += [(part, word, name) for part, types in _data()["type"].items() for name in types for word in types[name]]
    named = [one for one in named if not borne.isdisjoint(ONTOLOGY.expand(one[2]))]
    found = {" ".join(words(word)): (part, (name,)) for part, word, name in named}
    found |= {f"#{' '.join(words(facet.name))}": ("G", (facet.name,)) for facet in tag_branches(catalogue)}
    for author in {name for entry in catalogue.entries for name in entry.author}:
        for phrase in (" ".join(words(author)), *words(author)):
            called[f"@{phrase}"].add(author)
    return found | {key: ("A", tuple(sorted(who))) for key, who in called.items() if len({*map(name_key, who)}) == 1}


@cache
def _data() -> dict[str, Any]:
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    ways = {name_key(text): kind["names"] for kind in data["way_in"].values() for text in kind["questions"]}
    return data | {"way_in": ways}
