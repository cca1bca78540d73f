"""Which search engine `commonplace dev` takes, and what it says of an address that will not do."""

import pytest

from commonplace_local.cli.dev import dev
from commonplace_local.dev.session import EMBEDDED, search_engine
from commonplace_local.errors import CommandError


def test_without_an_address_the_embedded_engine_answers() -> None:
    with search_engine("embedded", None, None) as engine:
        assert engine == EMBEDDED


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (None, "--engine opensearch needs the address of a running node."),
        ("node.example.org", "--opensearch-url takes an https:// URL"),
        ("http://127.0.0.1:1", "No OpenSearch answers at http://127.0.0.1:1: "),
        ("http://127.0.0.1:port", "No OpenSearch answers at http://127.0.0.1:port: "),
        ("https://[::1", r"No OpenSearch answers at https://\[::1: "),
    ],
)
def test_an_address_without_a_node_is_refused(url: str | None, said: str) -> None:
    with pytest.raises(CommandError, match=f"^{said}") as caught, search_engine("opensearch", url, None):
        pass
    assert "--engine opensearch --opensearch-url http://127.0.0.1:9200" in caught.value.hint


def test_an_address_goes_with_its_engine() -> None:
    with pytest.raises(CommandError, match="--opensearch-url goes with --engine opensearch"):
        dev(opensearch_url="http://127.0.0.1:9200")
