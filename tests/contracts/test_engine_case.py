"""Upper case changes nothing: the judged queries of the sample, and names, on every engine with the model it ships."""

import pytest

from bench.retrieval.sets import documents, our_topics
from commonplace.documents.index_source import record_from_document
from commonplace.search.embeddings import embed_records, with_tokens
from commonplace.search.model import SearchRequest, SearchResults
from commonplace.search.models.local import LocalEmbeddings
from commonplace.search.service import SearchService
from tests.contracts.engines import Make


@pytest.fixture
def sample(make: Make) -> SearchService:
    provider = LocalEmbeddings()
    engine = make(provider)
    records = [record_from_document(document) for document in documents()]
    engine.write(with_tokens(embed_records(records, provider)), ())
    return SearchService(engine, provider)


def refs(found: SearchResults) -> list[str]:
    return [f"{hit.content_type}/{hit.id}" for hit in found.results]


def test_queries_in_upper_case_find_the_same_in_the_same_order(sample: SearchService) -> None:
    topics = [topic for name in ("sample", "asked") for topic in our_topics(name, final=False)[0]]
    differ = []
    for topic in topics:
        as_written, upper = (
            refs(sample.search(SearchRequest(text, topic.filters, limit=10)))
            for text in (topic.text, topic.text.upper())
        )
        if as_written != upper:
            differ.append((topic.text, as_written[:3], upper[:3]))

    assert len(topics) > 200
    assert differ == []


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("pattern/two-pairs-of-eyes", "pattern/two-pairs-of-eyes"),
        ("https://kb.example.org/d/index/index", "index/index"),
        ("data/concepts/index.md", "index/data-concepts-index"),
        ("do-high-pools-warm-first.md", "question/do-high-pools-warm-first"),
        ("https://dwc.tdwg.org/", "link/darwin-core"),
        ("tag:zonation", "tag/zonation"),
        ("@amara-quill", "person/amara-quill"),
    ],
)
def test_a_name_finds_its_document_first(sample: SearchService, query: str, first: str) -> None:
    assert refs(sample.search(SearchRequest(query)))[:1] == [first]


def test_an_author_or_a_tag_finds_every_document_of_theirs_before_any_other(sample: SearchService) -> None:
    every = {f"{one.content_type}/{one.id}": one for one in documents()}
    for query, own in (
        ("Ines Farrow", {ref for ref, one in every.items() if "Ines Farrow" in (one.title, *one.author)}),
        ("#teaching", {ref for ref, one in every.items() if "teaching" in one.tags}),
    ):
        found = refs(sample.search(SearchRequest(query, limit=20)))

        assert {*found[: len(own)]} == own
