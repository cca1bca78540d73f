"""The context keys of a deployment, and what each may be."""

from collections.abc import Mapping

from commonplace.identity.principals import TIERS, TOOLSETS
from infra.catalogues import CATALOGUE_KEYS
from infra.edge_keys import EDGE_KEYS
from infra.identity_keys import IDENTITY_KEYS
from infra.memory_keys import MEMORY_KEYS
from infra.providers import (
    embedding_provider,
    fusion,
    next_embedding_provider,
    opensearch_parameters,
    rerank_provider,
)
from infra.readers import Reader, flag, names, number, one_of, patterns, text, version

LOG_RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653)
"""The periods CloudWatch Logs knows."""

OCU_LIMITS = (1, 2, 4, 8, 16)
"""The limits of capacity that OpenSearch Serverless takes; beyond 16 it goes on in steps of 16, and is not for us."""

KEYS: Mapping[str, Reader] = {
    "stage": text(r"[a-z][a-z0-9-]{0,15}", "lower-case letters, digits and dashes (at most 16)"),
    "repository": text(r"[A-Za-z0-9-]{1,39}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}", "owner/name on GitHub"),
    "branch": text(
        r"(?![/.-])(?!.*(\.\.|//|@\{|/\.))[^\x00-\x20\x7f~^:?*\[\\]{1,200}(?<![/.])", "the name of a branch"
    ),
    "domain": text(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}", "a lower-case host name without scheme or path"),
    "certificateArn": text(r"arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[a-f0-9-]+", "the ARN of a certificate"),
    "engine": one_of("embedded", "opensearch"),
    "openSearchService": one_of(
        "domain",
        "serverless",
        refused={
            "serverless-classic": "classic vector collections take neither ids nor versions of our own, so that a "
            "late write would undo a newer one and a repeated one would double a document; serverless means NextGen"
        },
    ),
    "openSearchVersion": version(
        (3, 5), "before 3.5 filters inside nested k-NN fail and hybrid search loses the best hits without an error"
    ),
    "openSearchInstanceType": text(
        r"(?!t2\.)[a-z][a-z0-9]{1,7}\.[a-z0-9]{4,10}\.search", "an instance type such as t3.small.search, and not a t2"
    ),
    "openSearchNodes": number(1, 80),
    "openSearchZones": number(1, 3),
    "openSearchMasterType": text(
        r"(?!t2\.)[a-z][a-z0-9]{1,7}\.[a-z0-9]{4,10}\.search", "an instance type such as m7g.medium.search"
    ),
    "openSearchStorageGb": number(10, 12_288),
    "openSearchMaxOcu": number(1, 16, among=OCU_LIMITS),
    "openSearchEndpoint": text(r"https://[a-z0-9.-]+\.[a-z]+(:\d{1,5})?", "an https URL without a path"),
    "openSearchArn": text(
        r"arn:aws[a-z-]*:(es:[a-z0-9-]+:\d{12}:domain|aoss:[a-z0-9-]+:\d{12}:collection)/[a-z0-9-]{2,40}",
        "the ARN of a domain or a collection",
    ),
    "openSearchParameters": opensearch_parameters,
    "openAiBaseUrl": text(r"https://[^\s/?#@]+(/[^\s?#]*[^\s/?#])?", "an https URL without a slash at its end"),
    "bedrockRegion": text(r"[a-z]{2}(-[a-z]+)+-\d", "an AWS region such as eu-central-1"),
    "embeddingProvider": embedding_provider,
    "embeddingProviderNext": next_embedding_provider,
    "rerankProvider": rerank_provider,
    "fusion": fusion,
    "operatorKeyHash": text(r"[0-9a-f]{64}", "the SHA-256 of the operators' key, in 64 hexadecimal digits"),
    "removalPolicy": one_of("destroy", "retain"),
    "region": text(r"[a-z]{2}(-[a-z]+)+-\d", "an AWS region such as eu-central-1"),
    "account": text(r"\d{12}", "an AWS account number of twelve digits"),
    "siteName": text(r"[^\x00-\x1f]{1,80}", "a title of at most 80 characters"),
    "githubApiUrl": text(r"https://[^\s/]+(/[^\s]*[^\s/])?", "an https URL without a slash at its end"),
    "alarmEmail": text(r"[^@\s]+@[^@\s]+\.[^@\s]+", "an e-mail address"),
    "logRetentionDays": number(1, 3653, among=LOG_RETENTION_DAYS),
    "reconcileMinutes": number(5, 1440),
    "indexReconcileHours": number(1, 24),
    "rateLimitReads": number(0, 1_000_000),
    "rateLimitSearches": number(0, 1_000_000),
    "mcpToolsets": names("|".join(TOOLSETS), f"names of toolsets (there are: {', '.join(TOOLSETS)})"),
    "mcpReadOnly": flag,
    "mcpAllowedOrigins": names(
        r"https://[a-z0-9.-]+(:\d{1,5})?", "origins such as https://chat.example.org", every="*"
    ),
    "fullTextTier": one_of(*TIERS),
    "uriHost": text(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?", "a name of lower-case letters, digits, dots and dashes"),
    "nameAuthors": flag,
    "rateLimitMcpReads": number(0, 1_000_000),
    "rateLimitMcpWrites": number(0, 1_000_000),
    "rateLimitMcpSearches": number(0, 1_000_000),
    "listensPerAccount": number(0, 1_000),
    "listens": number(0, 1_000),
    **MEMORY_KEYS,
    **CATALOGUE_KEYS,
    "throttleRate": number(1, 10_000),
    "throttleBurst": number(1, 5_000),
    "exclude": patterns,
    **IDENTITY_KEYS,
    "snapStart": flag,
    **EDGE_KEYS,
}
