"""Judged sets in the formats of TREC: old SGML, JSON lines, columns; and what does not belong together is refused."""

import hashlib
import json
from pathlib import Path

import pytest

from bench.retrieval import sets
from bench.retrieval.judged import Topic, load_folder, parse_filters, read_documents, read_qrels, read_topics
from commonplace.search.filters import Filters

DOCUMENTS = """<DOC>
<DOCNO> AP-1 </DOCNO>
<TITLE>Winter wheat &amp; rye</TITLE>
<TEXT>
Winter wheat &amp; rye .
Sown in autumn,
cut in July.
</TEXT>
</DOC>
<doc><docno>AP-2</docno><title></title><text>Bees <i>like</i> clover.</text></doc>
<doc><docno>AP-3</docno><title>Empty</title><text></text></doc>
"""

TOPICS = """<top>
<num> Number: 401
<title> Topic: when is wheat
cut
<desc> Description:
Dates of harvest.
</top>
<top><num>7</num><title>what do bees like</title></top>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tiny.docs.xml").write_text(DOCUMENTS)
    (tmp_path / "tiny.queries.xml").write_text(TOPICS)
    (tmp_path / "tiny.qrels.txt").write_text("401 0 AP-1 2\n401 0 AP-2 0\n7 0 AP-2 1\n")
    return tmp_path


def test_a_folder_of_sgml_becomes_records_topics_and_grades(folder: Path) -> None:
    judged = load_folder(folder)
    assert [(topic.id, topic.text) for topic in judged.topics] == [
        ("401", "when is wheat cut"),
        ("7", "what do bees like"),
    ]
    assert [(record.id, record.title) for record in judged.records] == [
        ("document/AP-1", "Winter wheat & rye"),
        ("document/AP-2", "AP-2"),
        ("document/AP-3", "Empty"),
    ]
    assert judged.grades["401"] == {"document/AP-1": 2, "document/AP-2": 0}


def test_a_title_that_the_text_repeats_is_counted_once(folder: Path) -> None:
    wheat, bees, empty = load_folder(folder).records
    assert wheat.body.startswith("Sown in autumn,")
    assert " ".join(bees.body.split()) == "Bees like clover."
    assert [chunk.text for chunk in empty.chunks] == [""]


def test_topics_are_counted_from_one_where_the_qrels_do(folder: Path) -> None:
    (folder / "tiny.qrels.txt").write_text("1 0 AP-1 1\n2 0 AP-2 1\n")
    assert [topic.id for topic in load_folder(folder, renumber=True).topics] == ["1", "2"]


def test_qrels_of_other_topics_are_noticed(folder: Path) -> None:
    (folder / "tiny.qrels.txt").write_text("1 0 AP-1 1\n")
    with pytest.raises(ValueError, match="belong together"):
        load_folder(folder)


def test_a_topic_without_a_relevant_document_is_left_out(folder: Path) -> None:
    (folder / "tiny.qrels.txt").write_text("401 0 AP-1 0\n7 0 AP-2 1\n")
    assert [topic.id for topic in load_folder(folder).topics] == ["7"]


def test_a_folder_that_lacks_a_file_says_which(folder: Path) -> None:
    (folder / "tiny.qrels.txt").unlink()
    with pytest.raises(ValueError, match="qrel"):
        load_folder(folder)


def test_json_lines_are_read_as_beir_writes_them(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "d1", "title": "Rye", "text": "Tall grass."}) + "\n")
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": "tall  grass"}) + "\n")
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    judged = load_folder(tmp_path)
    assert judged.topics == [Topic("q1", "tall grass")]
    assert judged.grades == {"q1": {"document/d1": 1}}
    assert judged.records[0].body == "Tall grass."


def test_columns_may_hold_a_category_and_filters(tmp_path: Path) -> None:
    file = tmp_path / "topics.tsv"
    file.write_text('1\twheat\n2\tname\trye\n3\tfilter\trye\t{"contentType":["link"],"tag":["a"],"dateTo":"2024"}\n')
    assert list(read_topics(file)) == [
        Topic("1", "wheat"),
        Topic("2", "rye", "name"),
        Topic("3", "rye", "filter", Filters(content_types=("link",), tags_all=("a",), date_to="2024")),
    ]


def test_a_filter_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown filter colour"):
        parse_filters('{"colour": "red"}')


@pytest.mark.parametrize("line", ["1 d1", "1 0 d1 much", "1 0 d1 2 3"])
def test_a_line_that_is_no_judgement_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        read_qrels(["1 0 d0 1", line])


def test_bytes_that_are_not_utf_8_do_not_stop_the_reading(tmp_path: Path) -> None:
    file = tmp_path / "docs.sgml"
    file.write_bytes(b"<doc><docno>1</docno><text>caf\xe9 au lait</text></doc>")
    assert [document.id for document in read_documents(file)] == ["1"]


def test_a_set_that_nobody_offers_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cranfield"):
        sets.fetch("nothing", tmp_path)


def test_what_was_downloaded_before_is_not_downloaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"<doc></doc>"
    digest = hashlib.sha256(content).hexdigest()
    monkeypatch.setitem(sets.SETS, "tiny", sets.PublicSet("http://127.0.0.1:9/", {"docs.xml": digest}, "tiny"))
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "docs.xml").write_bytes(content)
    assert sets.fetch("tiny", tmp_path) == tmp_path / "tiny"


def test_a_set_that_cannot_be_reached_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sets.SETS, "tiny", sets.PublicSet("http://127.0.0.1:9/", {"docs.xml": "0" * 64}, "tiny"))
    with pytest.raises(sets.Unreachable, match="cannot be had"):
        sets.fetch("tiny", tmp_path)
