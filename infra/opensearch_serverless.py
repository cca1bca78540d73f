"""EXPERIMENTAL: a NextGen vector collection of OpenSearch Serverless, which costs no compute while nobody searches.

CloudFormation knows it (a collection group of generation NEXTGEN, and a collection in that group). Whether it takes
ids and versions of our own, as the index needs, AWS's pages do not agree upon, and it has not been tried: the contract
suite has not run against it.
"""

from typing import Any

from aws_cdk import Annotations, RemovalPolicy, Stack
from aws_cdk import aws_opensearchserverless as serverless
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.configuration import Configuration
from infra.functions import PythonFunction
from infra.metrics import WatchedSearch
from infra.opensearch import EXPERIMENTAL, engine_name, opensearch_environment, own_names
from infra.search_alarms import COLLECTION_ALARMS

READING = ("aoss:DescribeIndex", "aoss:ReadDocument")
WRITING = (*READING, "aoss:CreateIndex", "aoss:DeleteIndex", "aoss:UpdateIndex", "aoss:WriteDocument")
ALIASES_READ = ("aoss:DescribeCollectionItems",)
ALIASES_WRITTEN = (
    *ALIASES_READ,
    "aoss:CreateCollectionItems",
    "aoss:UpdateCollectionItems",
    "aoss:DeleteCollectionItems",
)


class Collection(Construct):
    """Reached over the public endpoint by the functions' roles alone, each for the indexes of this stage."""

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        self.name = engine_name(configuration)
        self._own = own_names(configuration)
        self._rules: list[dict[str, Any]] = []
        self._collection = self._make(configuration)
        self._access = serverless.CfnAccessPolicy(
            self, "Access", name=self.name, type="data", policy=self._document(self._rules)
        )
        self.environment = opensearch_environment(configuration, self._collection.attr_collection_endpoint, "aoss")
        Annotations.of(self).add_warning(EXPERIMENTAL)

    def admit_reader(self, function: PythonFunction) -> None:
        self._admit(function, READING, ALIASES_READ)

    def admit_writer(self, function: PythonFunction) -> None:
        self._admit(function, WRITING, ALIASES_WRITTEN)

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

    def _make(self, configuration: Configuration) -> serverless.CfnCollection:
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
            deletion_protection="ENABLED" if configuration.retains else "DISABLED",
        )
        for first in (encryption, network, group):
            collection.node.add_dependency(first)
        collection.apply_removal_policy(RemovalPolicy.RETAIN if configuration.retains else RemovalPolicy.DESTROY)
        return collection

    def _policy(self, construct_id: str, kind: str, content: Any) -> serverless.CfnSecurityPolicy:
        return serverless.CfnSecurityPolicy(
            self, construct_id, name=self.name, type=kind, policy=self._document(content)
        )


def _rule(kind: str, resource: str, permissions: tuple[str, ...]) -> dict[str, Any]:
    return {"ResourceType": kind, "Resource": [f"{kind}/{resource}"], "Permission": list(permissions)}
