"""One synthesis of each kind for all tests, and all processes that run them: it takes longer than any of them."""

import os
from collections.abc import Callable

import pytest

from infra.node import provide_node
from infra.snapshot import CONTEXT
from tests.infra.templates import Template, synthesize_once

PROD = {"stage": "prod", "repository": "example/knowledge-base", "branch": "main"}
DOMAIN = {
    "domain": "knowledge.example.org",
    "certificateArn": "arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-0000-0000-000000000000",
}


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Template]:
    """Synthesizes with the context given. Needs Node.js, which the `infra` dependency group brings."""
    if provide_node() is None:
        message = "the AWS template was NOT checked: there is no Node.js, and `make setup-all` has brought none"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    own = tmp_path_factory.getbasetemp()
    run = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    return lambda **context: synthesize_once(run, **context)


@pytest.fixture(scope="session")
def template(synthesized: Callable[..., Template]) -> Template:
    """Stage dev on the embedded engine."""
    return synthesized(engine="embedded")


@pytest.fixture(scope="session")
def committed(synthesized: Callable[..., Template]) -> Template:
    """Stage dev as the snapshot has it."""
    return synthesized(**CONTEXT)


@pytest.fixture(scope="session")
def default(synthesized: Callable[..., Template]) -> Template:
    """Stage dev with nothing configured."""
    return synthesized()


@pytest.fixture(scope="session")
def opensearch(synthesized: Callable[..., Template]) -> Template:
    """Stage dev on the smallest domain, with models of Bedrock and a change of model under way."""
    return synthesized(
        engine="opensearch",
        embeddingProvider="bedrock-titan:512",
        embeddingProviderNext="bedrock-cohere:1024",
        rerankProvider="bedrock-cohere",
        fusion="rrf:0.4,0.6",
        operatorKeyHash="0" * 64,
        openSearchParameters='{"m": 24, "synonyms": ["dao, decentralized autonomous organization"]}',
    )


@pytest.fixture(scope="session")
def large(synthesized: Callable[..., Template]) -> Template:
    """Stage prod on a domain over three zones, with masters of their own, and on its way to a model of OpenAI."""
    return synthesized(
        **PROD,
        embeddingProviderNext="openai",
        engine="opensearch",
        openSearchInstanceType="r7g.large.search",
        openSearchNodes="3",
        openSearchZones="3",
        openSearchMasterType="m7g.medium.search",
        openSearchStorageGb="50",
        openSearchVersion="3.7",
    )


@pytest.fixture(scope="session")
def serverless(synthesized: Callable[..., Template]) -> Template:
    """Stage dev on a NextGen collection."""
    return synthesized(engine="opensearch", openSearchService="serverless", openSearchMaxOcu="8")


@pytest.fixture(scope="session")
def existing(synthesized: Callable[..., Template]) -> Template:
    """Stage dev on a domain that is already there, with an MCP server through which nothing can be proposed."""
    return synthesized(
        mcpReadOnly="true",
        engine="opensearch",
        openSearchEndpoint="https://search-kb-abc.eu-central-1.es.amazonaws.com",
        openSearchArn="arn:aws:es:eu-central-1:123456789012:domain/kb",
    )


@pytest.fixture(scope="session")
def referenced(synthesized: Callable[..., Template]) -> Template:
    """Stage dev on a domain, with governance, and two catalogues: of the own repository, and of another."""
    return synthesized(
        governanceScheme="swarmrise",
        catalogues='[{"name": "helios", "folder": "reference"}, {"name": "api", "repository": "example/api"}]',
        engine="opensearch",
        embeddingProvider="bedrock-titan:512",
    )


@pytest.fixture(scope="session")
def private(synthesized: Callable[..., Template]) -> Template:
    """Stage dev for members alone, with a distribution before it."""
    return synthesized(engine="embedded", edge="true", region="eu-central-1", waf="false", siteTier="member")


@pytest.fixture(scope="session")
def identified(synthesized: Callable[..., Template]) -> Template:
    """Stage dev with all that identity has to offer, and functions that start from snapshots."""
    return synthesized(
        engine="embedded",
        snapStart="true",
        organisation="club",
        roleMap='{"hats": {"30.3.1": {"role": "editor", "tier": "vibecoder"}}, "groups": {"*": {"tier": "member"}}}',
        hatsChainId="11155420",
        siweChainId="11155420",
        optimismRpcUrls="https://a.example/v1,https://b.example",
        mainnetRpcUrls="https://c.example",
        oidcIssuer="https://id.example.org",
        oidcClientId="commonplace",
        oidcName="Club account",
        oidcClaimsHours="12",
        oidcParameters="access_type=offline&prompt=consent",
    )


@pytest.fixture(scope="session")
def prod(synthesized: Callable[..., Template]) -> Template:
    """Stage prod with everything optional switched on, and a memory that is asked otherwise than by default."""
    return synthesized(
        **PROD,
        **DOMAIN,
        engine="embedded",
        alarmEmail="operators@example.org",
        exclude='["drafts/"]',
        reconcileMinutes="15",
        embeddingProvider="bedrock-titan:256",
        mcpRateLimits='{"memory": {"search": 7}}',
        serviceRateFactor="9",
        accountRateFactor="2",
        listensPerAccount="1",
        listens="3",
        piiDetector="comprehend",
        piiKeepPublicIdentities="false",
        kbDefaultSearchLimit="5",
        kbMinConfidence="0.25",
        kbBatchSize="50",
        kbFusion="min-max:0.5,0.5",
    )
