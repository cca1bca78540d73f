"""What tests of all kinds share."""

from hypothesis import settings

from tests.chain_fixture import chain, own_chain, running_chain
from tests.dynamodb_fixture import dynamodb_local, dynamodb_local_url
from tests.opensearch_fixture import opensearch, opensearch_settings, opensearch_url, own_node, unique_stem

__all__ = [
    "chain",
    "dynamodb_local",
    "dynamodb_local_url",
    "opensearch",
    "opensearch_settings",
    "opensearch_url",
    "own_chain",
    "own_node",
    "running_chain",
    "unique_stem",
]

# How long an example takes says how busy the machine is, and nothing about the code.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
