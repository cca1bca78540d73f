"""OpenSearch as the functions see it: where it is, and who may send which requests to which paths."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from aws_cdk import Annotations, Stack
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.configuration import Configuration
from infra.functions import PythonFunction
from infra.metrics import WatchedSearch

MANY_INDEXES = "several indexes of this one stem stand beside each other while a new one is built"


EXPERIMENTAL = (
    "openSearchService serverless is experimental: whether a NextGen collection takes ids and versions of our own has "
    "not been tried (docs/deploy.md, OpenSearch)."
)


@dataclass(frozen=True, slots=True)
class Requests:
    """What may be sent to some paths of a domain; `{own}` stands for the names that belong to this stage."""

    methods: Sequence[str]
    paths: Sequence[str]


READING = (
    Requests(("Get",), ("{own}/_alias", "{own}/_mapping")),
    Requests(("Post",), ("{own}/_search", "{own}/_mget", "_msearch")),
)
"""Searches, and what an index is. The body of an `_msearch` names indexes: these the domain checks itself."""

WRITING = (
    *READING,
    Requests(("Put", "Delete"), ("{own}",)),
    Requests(("Post",), ("{own}/_count", "{own}/_delete_by_query", "{own}/_refresh", "{own}/_search/point_in_time")),
    Requests(("Post",), ("_aliases", "_bulk", "_search")),
    Requests(("Delete",), ("_search/point_in_time",)),
)
"""Indexes are made, filled, listed, dropped. A page by point in time is asked of no index: the point knows its own."""


class SearchEngine(Protocol):
    """What a function has to be told, and be allowed, to use the index."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables of every function that reads or writes the index."""

    def admit_reader(self, function: PythonFunction) -> None: ...

    def admit_writer(self, function: PythonFunction) -> None: ...


def own_names(configuration: Configuration) -> str:
    """Every index and alias of the stage begins so; what IAM and the engine's own security let through."""
    return f"commonplace-{configuration.stage}-*"


def engine_name(configuration: Configuration) -> str:
    """Name of the domain or collection: fixed, so that policies can name it before it exists. 28 characters at most."""
    return f"commonplace-{configuration.stage}"


def opensearch_environment(configuration: Configuration, endpoint: str, service: str) -> dict[str, str]:
    environment = {
        "SEARCH_ENGINE": "opensearch",
        "OPENSEARCH_ENDPOINT": endpoint,
        "OPENSEARCH_SERVICE": service,
        "OPENSEARCH_INDEX": f"{engine_name(configuration)}-documents",
    }
    parameters = _parameters(configuration)
    return environment | ({"OPENSEARCH_PARAMETERS": json.dumps(parameters, ensure_ascii=False)} if parameters else {})


def _parameters(configuration: Configuration) -> dict[str, object]:
    """What was configured, and what follows from the rest of the configuration where it was left open."""
    following: dict[str, object] = {}
    if configuration.open_search_service == "serverless":
        following["engine"] = "faiss"
    elif configuration.makes_domain and configuration.open_search_nodes > 1:
        following["replicas"] = 1
    given: dict[str, object] = json.loads(configuration.open_search_parameters or "{}")
    return following | given


class ExistingOpenSearch(Construct):
    """A domain or collection that is already there. Only the functions' half of the permissions can be given here."""

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        assert configuration.open_search_endpoint and configuration.open_search_arn  # noqa: S101 - checked before
        self._configuration = configuration
        self._arn = configuration.open_search_arn
        self._serverless = configuration.open_search_service == "serverless"
        service = "aoss" if self._serverless else "es"
        if self._serverless:
            Annotations.of(self).add_warning(EXPERIMENTAL)
        self.environment = opensearch_environment(configuration, configuration.open_search_endpoint, service)

    def admit_reader(self, function: PythonFunction) -> None:
        self._admit(function, READING)

    def admit_writer(self, function: PythonFunction) -> None:
        self._admit(function, WRITING)

    def watched(self, machine: sfn.StateMachine) -> WatchedSearch:
        """Whoever runs the domain watches it; the metrics may be of another account or region."""
        return WatchedSearch(machine=machine)

    def _admit(self, function: PythonFunction, requests: Sequence[Requests]) -> None:
        if self._serverless:
            function.allow(["aoss:APIAccessAll"], [self._arn])
        else:
            allow_requests(function, self._arn, own_names(self._configuration), requests)


def allow_requests(function: PythonFunction, domain_arn: str, own: str, requests: Sequence[Requests]) -> None:
    """Lets the function send exactly these requests."""
    for allowed in requests:
        function.allow(actions(allowed), resources(domain_arn, own, allowed), because=f"{_reason()}.")


def actions(allowed: Requests) -> list[str]:
    return [f"es:ESHttp{method}" for method in allowed.methods]


def resources(domain_arn: str, own: str, allowed: Requests) -> list[str]:
    return [f"{domain_arn}/{path.format(own=own)}" for path in allowed.paths]


def _reason() -> str:
    return f"The name of the stage is the boundary: {MANY_INDEXES}"


def domain_arn(scope: Construct, configuration: Configuration) -> str:
    """Put together from the fixed name: the domain's own attribute would make policy and domain wait for each other."""
    return Stack.of(scope).format_arn(service="es", resource="domain", resource_name=engine_name(configuration))
