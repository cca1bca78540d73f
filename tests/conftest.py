"""What tests of all kinds share."""

from tests.opensearch_fixture import opensearch_url, own_node, unique_stem

__all__ = ["opensearch_url", "own_node", "unique_stem"]
