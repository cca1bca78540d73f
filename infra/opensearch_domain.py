"""A managed OpenSearch domain that only the functions reach, and the roles inside it."""

from collections.abc import Sequence
from typing import Any, cast

import aws_cdk as cdk
from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudformation as cloudformation
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_opensearchservice as service
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from commonplace.search.opensearch.roles import REVISION
from infra.configuration import Configuration
from infra.functions import Platform, PythonFunction, accept, log_group, removal
from infra.metrics import WatchedSearch
from infra.search_alarms import DOMAIN_ALARMS
from infra.search_engine import (
    READING,
    WRITING,
    Requests,
    actions,
    allow_requests,
    domain_arn,
    engine_name,
    opensearch_environment,
    own_names,
    resources,
)

LOGS = {
    "SEARCH_SLOW_LOGS": "search-slow",
    "INDEX_SLOW_LOGS": "index-slow",
    "ES_APPLICATION_LOGS": "error",
}
"""Kind of log that the domain publishes -> name of the log group. Audit logs would repeat what the functions log."""

BOOTSTRAP_TIMEOUT = Duration.minutes(5)

SECURITY = (
    Requests(("Get", "Put", "Delete"), ("_plugins/_security/api/roles/{own}",)),
    Requests(("Get", "Put", "Delete"), ("_plugins/_security/api/rolesmapping/{own}",)),
)
"""All that the domain's master may ask of it: to look after the roles of this stage."""


class Domain(Construct):
    """The domain is public in the network and closed to everyone but three roles, who sign their requests.

    Not in a VPC: the functions would have to be in it as well, and then need a NAT gateway or endpoints for S3,
    DynamoDB, SQS, Secrets Manager and Bedrock, which cost more than the domain. The service checks each signature
    before a request reaches a node.

    It holds nothing that the store does not: the service takes snapshots every hour, but an index is built anew.
    """

    def __init__(self, scope: Construct, construct_id: str, platform: Platform, failed: sqs.Queue) -> None:
        """`failed` takes the calls of CloudFormation that the bootstrap function failed at."""
        super().__init__(scope, construct_id)
        configuration = platform.configuration
        self._own = own_names(configuration)
        self._arn = domain_arn(self, configuration)
        self._access = iam.PolicyDocument()
        self._storage_mib = 1024 * configuration.open_search_storage_gb
        self._readers: list[str] = []
        self._writers: list[str] = []
        self.name = engine_name(configuration)
        function = PythonFunction(
            self,
            "Bootstrap",
            platform,
            name="bootstrap",
            description="Makes the roles inside the domain that let the functions at their indexes",
            memory_mb=256,
            timeout_seconds=int(BOOTSTRAP_TIMEOUT.to_seconds()),
            error_threshold=1,
        )
        self._admit(function, SECURITY)
        self.bootstrap = function
        self.bootstrap.set_failures_aside(failed)
        self._domain = self._make(configuration)
        self.environment = opensearch_environment(configuration, f"https://{self._domain.attr_domain_endpoint}", "es")
        resource = cloudformation.CfnCustomResource(
            self,
            "Roles",
            service_token=self.bootstrap.live.function_arn,
            service_timeout=2 * BOOTSTRAP_TIMEOUT.to_seconds(),  # an answer that was lost is given again
        )
        resource.add_property_override("Endpoint", self.environment["OPENSEARCH_ENDPOINT"])
        resource.add_property_override("Names", self.name)
        resource.add_property_override("Revision", REVISION)
        resource.node.add_dependency(self._domain)
        resource.node.add_dependency(self.bootstrap)
        self._roles = resource

    def admit_reader(self, function: PythonFunction) -> None:
        self._admit(function, READING)
        self._readers.append(function.role.role_arn)
        self._roles.add_property_override("Readers", self._readers)

    def admit_writer(self, function: PythonFunction) -> None:
        self._admit(function, WRITING)
        self._writers.append(function.role.role_arn)
        self._roles.add_property_override("Writers", self._writers)

    def watched(self, machine: sfn.StateMachine) -> WatchedSearch:
        return WatchedSearch(
            machine=machine,
            namespace="AWS/ES",
            dimensions=(("DomainName", self.name), ("ClientId", Stack.of(self).account)),
            alarms=DOMAIN_ALARMS,
            storage_mib=self._storage_mib,
        )

    def _admit(self, function: PythonFunction, requests: Sequence[Requests]) -> None:
        """Allow it in the role and in the domain's own policy: the one says what a role may, the other who may come at
        all."""
        allow_requests(function, self._arn, self._own, requests)
        for allowed in requests:
            self._access.add_statements(
                iam.PolicyStatement(
                    principals=[cast(iam.IPrincipal, iam.ArnPrincipal(function.role.role_arn))],
                    actions=actions(allowed),
                    resources=resources(self._arn, self._own, allowed),
                )
            )

    def _make(self, configuration: Configuration) -> service.CfnDomain:
        zones, masters = configuration.open_search_zones, configuration.open_search_master_type
        cluster = service.CfnDomain.ClusterConfigProperty(
            instance_type=configuration.open_search_instance_type,
            instance_count=configuration.open_search_nodes,
            multi_az_with_standby_enabled=False,
            zone_awareness_enabled=zones > 1,
            zone_awareness_config=service.CfnDomain.ZoneAwarenessConfigProperty(availability_zone_count=zones)
            if zones > 1
            else None,
            dedicated_master_enabled=masters is not None,
            dedicated_master_type=masters,
            dedicated_master_count=3 if masters else None,
        )
        domain = service.CfnDomain(
            self,
            "Domain",
            domain_name=self.name,
            engine_version=f"OpenSearch_{configuration.open_search_version}",
            cluster_config=cluster,
            ebs_options=service.CfnDomain.EBSOptionsProperty(
                ebs_enabled=True, volume_type="gp3", volume_size=configuration.open_search_storage_gb
            ),
            encryption_at_rest_options=service.CfnDomain.EncryptionAtRestOptionsProperty(enabled=True),
            node_to_node_encryption_options=service.CfnDomain.NodeToNodeEncryptionOptionsProperty(enabled=True),
            domain_endpoint_options=service.CfnDomain.DomainEndpointOptionsProperty(
                enforce_https=True, tls_security_policy="Policy-Min-TLS-1-2-PFS-2023-10"
            ),
            advanced_security_options=service.CfnDomain.AdvancedSecurityOptionsInputProperty(
                enabled=True,
                internal_user_database_enabled=False,
                master_user_options=service.CfnDomain.MasterUserOptionsProperty(
                    master_user_arn=self.bootstrap.role.role_arn
                ),
            ),
            access_policies=self._access,
            log_publishing_options=self._logs(configuration),
            software_update_options=service.CfnDomain.SoftwareUpdateOptionsProperty(auto_software_update_enabled=True),
            off_peak_window_options=service.CfnDomain.OffPeakWindowOptionsProperty(enabled=True),
        )
        # A newer version is taken in place; without this CloudFormation would try a second domain of the same name.
        domain.cfn_options.update_policy = cdk.CfnUpdatePolicy(enable_version_upgrade=True)
        domain.apply_removal_policy(removal(configuration))
        domain.node.add_dependency(self._log_policy)
        accept(domain, "A VPC would need a NAT gateway or five endpoints; our roles sign every request.", "OS1")
        accept(domain, "The functions have no fixed addresses; the access policy names their roles instead.", "OS3")
        if not configuration.open_search_master_type:
            accept(domain, "Masters of their own are for many nodes; openSearchMasterType adds them.", "OS4")
        if configuration.open_search_zones == 1:
            accept(domain, "The index can be built anew from the store; openSearchZones spreads it over zones.", "OS7")
        return domain

    def _logs(self, configuration: Configuration) -> dict[str, Any]:
        """A group for each kind, and the policy that lets this domain, and no other, write to them."""
        prefix = f"/commonplace/{configuration.stage}/opensearch"
        groups = {
            kind: log_group(Construct(self, name), f"{prefix}/{name}", configuration) for kind, name in LOGS.items()
        }
        document = iam.PolicyDocument(
            statements=[
                iam.PolicyStatement(
                    principals=[cast(iam.IPrincipal, iam.ServicePrincipal("es.amazonaws.com"))],
                    actions=["logs:CreateLogStream", "logs:PutLogEvents"],
                    resources=[group.log_group_arn for group in groups.values()],
                    conditions={
                        "StringEquals": {"aws:SourceAccount": Stack.of(self).account},
                        "ArnEquals": {"aws:SourceArn": self._arn},
                    },
                )
            ]
        )
        self._log_policy = logs.CfnResourcePolicy(
            self,
            "LogPolicy",
            policy_name=f"{self.name}-opensearch",
            policy_document=Stack.of(self).to_json_string(document.to_json()),
        )
        return {
            kind: service.CfnDomain.LogPublishingOptionProperty(
                enabled=True, cloud_watch_logs_log_group_arn=group.log_group_arn
            )
            for kind, group in groups.items()
        }
