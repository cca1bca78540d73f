"""The location of the index, and permissions on it: a file, an existing OpenSearch, or a collection."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from aws_cdk import Annotations, Stack
from aws_cdk import aws_opensearchserverless as serverless
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.configuration import Configuration
from infra.functions import PythonFunction, removal
from infra.metrics import WatchedSearch
from infra.search_alarms import COLLECTION_ALARMS
from infra.store import Store

MANY_INDEXES = (
    "The name of the stage is the boundary: several indexes of this one stem stand beside each other while a new one "
    "is built."
)

EXPERIMENTAL = (
    "openSearchService serverless is experimental: whether a NextGen collection takes ids and versions of our own has "
    "not been tried (docs/operate/deploy.md, OpenSearch)."
)

INDEX_PREFIX = "index/"
INDEXES_READ = ("aoss:DescribeIndex", "aoss:ReadDocument")
INDEXES_WRITTEN = (*INDEXES_READ, "aoss:CreateIndex", "aoss:DeleteIndex", "aoss:UpdateIndex", "aoss:WriteDocument")
ALIASES_READ = ("aoss:DescribeCollectionItems",)
ALIASES_WRITTEN = (
    *ALIASES_READ,
    "aoss:CreateCollectionItems",
    "aoss:UpdateCollectionItems",
    "aoss:DeleteCollectionItems",
)


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests that may be sent to some paths of a domain; `{own}` stands for the names that belong to this stage."""

    methods: Sequence[str]
    paths: Sequence[str]


READING = (
    Requests(("Get",), ("{own}/_alias", "{own}/_mapping", "{own}/_stats/refresh")),
    Requests(("Post",), ("{own}/_search", "{own}/_mget", "_msearch")),
)
"""Searches, what an index is, and whether it was written. The body of an `_msearch` names indexes: these the domain
checks itself."""

WRITING = (
    *READING,
    Requests(("Put", "Delete"), ("{own}",)),
    Requests(("Post",), ("{own}/_count", "{own}/_delete_by_query", "{own}/_refresh", "{own}/_search/point_in_time")),
    Requests(("Post",), ("_aliases", "_bulk", "_search")),
    Requests(("Delete",), ("_search/point_in_time",)),
)
"""Indexes are made, filled, listed, dropped. A page by point in time names no index: the point knows its own."""


class SearchEngine(Protocol):
    """Variables and permissions that a function needs to use the index."""

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
    # What was configured, and what follows from the rest of the configuration where it was left open.
    following: dict[str, object] = {}
    if configuration.open_search_service == "serverless":
        following["engine"] = "faiss"
    elif configuration.makes_domain and configuration.open_search_nodes > 1:
        following["replicas"] = 1
    given: dict[str, object] = json.loads(configuration.open_search_parameters or "{}")
    parameters = following | given
    return environment | ({"OPENSEARCH_PARAMETERS": json.dumps(parameters, ensure_ascii=False)} if parameters else {})


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
        function.allow(
            actions(allowed),
            resources(domain_arn, own, allowed),
            because=MANY_INDEXES,
        )


def actions(allowed: Requests) -> list[str]:
    return [f"es:ESHttp{method}" for method in allowed.methods]


def resources(domain_arn: str, own: str, allowed: Requests) -> list[str]:
    return [f"{domain_arn}/{path.format(own=own)}" for path in allowed.paths]


def domain_arn(scope: Construct, configuration: Configuration) -> str:
    """Put together from the fixed name: the domain's own attribute would make policy and domain wait for each other."""
    return Stack.of(scope).format_arn(service="es", resource="domain", resource_name=engine_name(configuration))


class EmbeddedIndex:
    """Costs nothing while nobody searches, and is as large as a function's disk allows."""

    def __init__(self, configuration: Configuration, store: Store) -> None:
        self._bucket = store.bucket
        self.environment = {
            "SEARCH_ENGINE": configuration.engine,
            "INDEX_LOCATION": f"s3://{store.bucket.bucket_name}/{INDEX_PREFIX}documents.sqlite",
        }

    def admit_reader(self, function: PythonFunction) -> None:
        function.allow_objects(self._bucket, ["s3:GetObject"], [INDEX_PREFIX])
        function.allow_listing(self._bucket, [INDEX_PREFIX])

    def admit_writer(self, function: PythonFunction) -> None:
        function.allow_objects(self._bucket, ["s3:GetObject", "s3:PutObject"], [INDEX_PREFIX])
        function.allow_listing(self._bucket, [INDEX_PREFIX])


class Collection(Construct):
    """EXPERIMENTAL: a NextGen vector collection, which costs no compute while nobody searches.

    Reached over the public endpoint by the functions' roles alone, each for the indexes of this stage. Whether it takes
    ids and versions of our own, as the index needs, AWS's pages do not agree upon, and it has not been tried: the
    contract suite has not run against it.
    """

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        self.name = engine_name(configuration)
        self._own = own_names(configuration)
        self._rules: list[dict[str, Any]] = []
        ours = {"ResourceType": "collection", "Resource": [f"collection/{self.name}"]}
        encryption = self._policy("Encryption", "encryption", {"Rules": [ours], "AWSOwnedKey": True})
        network = self._policy("Network", "network", [{"Rules": [ours], "AllowFromPublic": True}])
        group = serverless.CfnCollectionGroup(
            self,
            "Group",
            name=self.name,
            description=f"Commonplace {configuration.stage}: search",
            generation="NEXTGEN",
            standby_replicas="ENABLED",
            capacity_limits=serverless.CfnCollectionGroup.CapacityLimitsProperty(
                min_indexing_capacity_in_ocu=0,
                min_search_capacity_in_ocu=0,
                max_indexing_capacity_in_ocu=configuration.open_search_max_ocu,
                max_search_capacity_in_ocu=configuration.open_search_max_ocu,
            ),
        )
        collection = serverless.CfnCollection(
            self,
            "Collection",
            name=self.name,
            type="VECTORSEARCH",
            description=f"Commonplace {configuration.stage}: documents to be searched",
            collection_group_name=group.name,
            standby_replicas="ENABLED",
        )
        for first in (encryption, network, group):
            collection.node.add_dependency(first)
        collection.apply_removal_policy(removal(configuration))
        self._collection = collection
        self._access = serverless.CfnAccessPolicy(
            self, "Access", name=self.name, type="data", policy=self._document(self._rules)
        )
        self.environment = opensearch_environment(configuration, self._collection.attr_collection_endpoint, "aoss")
        Annotations.of(self).add_warning(EXPERIMENTAL)

    def admit_reader(self, function: PythonFunction) -> None:
        self._admit(function, INDEXES_READ, ALIASES_READ)

    def admit_writer(self, function: PythonFunction) -> None:
        self._admit(function, INDEXES_WRITTEN, ALIASES_WRITTEN)

    def watched(self, machine: sfn.StateMachine) -> WatchedSearch:
        dimensions = {
            "ClientId": Stack.of(self).account,
            "CollectionId": self._collection.attr_id,
            "CollectionName": self.name,
        }
        return WatchedSearch(
            machine=machine, namespace="AWS/AOSS", dimensions=tuple(dimensions.items()), alarms=COLLECTION_ALARMS
        )

    def _admit(self, function: PythonFunction, indexes: tuple[str, ...], aliases: tuple[str, ...]) -> None:
        function.allow(["aoss:APIAccessAll"], [self._collection.attr_arn])
        self._rules.append(
            {
                "Description": f"The {function.name} function",
                "Rules": [
                    _rule("index", f"{self.name}/{self._own}", indexes),
                    _rule("collection", self.name, aliases),
                ],
                "Principal": [function.role.role_arn],
            }
        )
        self._access.policy = self._document(self._rules)

    def _document(self, content: Any) -> str:
        return Stack.of(self).to_json_string(content)

    def _policy(self, construct_id: str, kind: str, content: Any) -> serverless.CfnSecurityPolicy:
        return serverless.CfnSecurityPolicy(
            self, construct_id, name=self.name, type=kind, policy=self._document(content)
        )


def _rule(kind: str, resource: str, permissions: tuple[str, ...]) -> dict[str, Any]:
    return {"ResourceType": kind, "Resource": [f"{kind}/{resource}"], "Permission": list(permissions)}
