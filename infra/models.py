"""Permissions on embedding and rerank models, and the secret for OpenAI."""

from collections.abc import Iterable, Mapping

from aws_cdk import ArnFormat, Stack
from constructs import Construct

from commonplace.search.models.bedrock import AMAZON, COHERE, CohereEmbeddings, TitanEmbeddings, geography
from infra.configuration import Configuration
from infra.functions import PythonFunction, accept
from infra.search_engine import SearchEngine
from infra.secrets import secret
from infra.store import State

EMBEDDINGS: Mapping[str, str] = {
    "bedrock-titan": f"{TitanEmbeddings.name}:{TitanEmbeddings.revision}",
    "bedrock-cohere": f"{CohereEmbeddings.name}:{CohereEmbeddings.revision}",
}
RERANKERS: Mapping[str, str] = {"bedrock-cohere": COHERE, "bedrock-amazon": AMAZON}

GEOGRAPHIES = ("eu", "us")
PROFILES = (*GEOGRAPHIES, "apac", "au", "ca", "global", "jp", "us-gov")
"""Names of inference profiles begin with one of these."""

RANKINGS = "rerank#*"
"""Partitions of the cache table (`commonplace.search.store`)."""


def allow_embedding(function: PythonFunction, configuration: Configuration) -> None:
    """The configured models, by name."""
    named = (configuration.embedding_provider, configuration.embedding_provider_next or "none")
    kinds = [kind for each in named if (kind := each.partition(":")[0]) in EMBEDDINGS]
    if kinds:
        models = [_model(function, configuration, EMBEDDINGS[kind]) for kind in kinds]
        function.allow(["bedrock:InvokeModel"], models)
    if "bedrock-cohere" in kinds:
        _allow_profiles(function, configuration, EMBEDDINGS["bedrock-cohere"])


def allow_reranking(function: PythonFunction, configuration: Configuration) -> None:
    """`Rerank` knows no resource; which model it may use is decided by `InvokeModel`."""
    if model := RERANKERS.get(configuration.rerank_provider):
        function.allow(["bedrock:InvokeModel"], [_model(function, configuration, model)])
        function.allow(["bedrock:Rerank"], ["*"])
        accept(function.role, "Rerank knows no resource; InvokeModel names the one model.", "IAM5[Resource::*]")


def _allow_profiles(function: PythonFunction, configuration: Configuration, model: str) -> None:
    """Allow every region of a geography where a model is called by its geography: any of them may answer.

    A stack that fits any region names the profiles of all geographies; only one of them exists where it is deployed.
    """
    region = configuration.bedrock_region or configuration.region
    chosen = [geography(region)] if region else list(GEOGRAPHIES)
    profiles = [
        Stack.of(function).format_arn(
            service="bedrock",
            region=configuration.bedrock_region,
            resource="inference-profile",
            resource_name=f"{each}.{model}",
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )
        for each in chosen
        if each
    ]
    if not profiles:
        return
    anywhere = [_model(function, configuration, model, region=f"{each}-*") for each in chosen if each]
    function.allow(["bedrock:InvokeModel"], profiles)
    function.allow(
        ["bedrock:InvokeModel"],
        anywhere,
        conditions={"StringEquals": {"bedrock:InferenceProfileArn": profiles}},
        because="A profile hands a request to any region of its geography; the condition names the profile.",
    )


def allow_answering(function: PythonFunction, configuration: Configuration, name: str) -> None:
    """The one model, or the one inference profile (`eu.…`), whose answers a function streams."""
    actions = ["bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"]
    geography, _, model = name.partition(".")
    if geography not in PROFILES:
        function.allow(actions, [_model(function, configuration, name)])
        return
    profile = Stack.of(function).format_arn(
        service="bedrock",
        region=configuration.bedrock_region,
        resource="inference-profile",
        resource_name=name,
        arn_format=ArnFormat.SLASH_RESOURCE_NAME,
    )
    function.allow(actions, [profile])
    function.allow(
        actions,
        [_model(function, configuration, model, region="*")],
        conditions={"StringEquals": {"bedrock:InferenceProfileArn": profile}},
        because="A profile hands a request to any region of its geography; the condition names the profile.",
    )


def _model(function: PythonFunction, configuration: Configuration, model: str, *, region: str | None = None) -> str:
    return Stack.of(function).format_arn(
        service="bedrock",
        region=region or configuration.bedrock_region,
        account="",
        resource="foundation-model",
        resource_name=model,
        arn_format=ArnFormat.SLASH_RESOURCE_NAME,
    )


class OpenAi(Construct):
    """The key, in a secret of its own. It starts empty: until it is filled, words alone are compared."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        configuration: Configuration,
        holds: str = "key of the project at OpenAI that pays for vectors",
    ) -> None:
        super().__init__(scope, construct_id)
        self.secret = secret(
            self,
            "Key",
            configuration,
            holds,
            {"apiKey": ""},
            unrotated="OpenAI gives out the key, so a new one is an operator's act.",
        )

    def admit(self, functions: Iterable[PythonFunction]) -> None:
        """Lets them ask; nothing else in the stack can read the key."""
        for function in functions:
            function.function.add_environment("OPENAI_SECRET_ARN", self.secret.secret_arn)
            function.allow(["secretsmanager:GetSecretValue"], [self.secret.secret_arn])


def let_search(function: PythonFunction, configuration: Configuration, state: State, engine: SearchEngine) -> None:
    """The index, and the models."""
    engine.admit_reader(function)
    allow_embedding(function, configuration)
    allow_reranking(function, configuration)
    if configuration.reranks:
        function.allow_items(state.cache, ["GetItem", "PutItem"], RANKINGS)
