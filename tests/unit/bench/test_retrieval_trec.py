"""Topics in columns and judgements as TREC has them; what is neither is refused."""

from pathlib import Path

import pytest

from bench.retrieval.sets import Topic, parse_filters, read_qrels, read_topics
from commonplace.search.filters import Filters


def test_columns_may_hold_a_category_and_filters(tmp_path: Path) -> None:
    file = tmp_path / "topics.tsv"
    file.write_text('1\twheat\n2\tname\trye\n3\tfilter\trye\t{"contentType":["link"],"tag":["a"],"dateTo":"2024"}\n')
    assert list(read_topics(file)) == [
        Topic("1", "wheat"),
        Topic("2", "rye", "name"),
        Topic("3", "rye", "filter", Filters(content_types=("link",), tags_all=("a",), date_to="2024")),
    ]
    file.write_text("1\n")
    with pytest.raises(ValueError, match="two to four columns, not 1"):
        list(read_topics(file))


def test_a_filter_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown filter colour"):
        parse_filters('{"colour": "red"}')


@pytest.mark.parametrize("line", ["1 d1", "1 0 d1 much", "1 0 d1 2 3"])
def test_a_line_that_is_no_judgement_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        read_qrels(["1 0 d0 1", line])
