"""Governance: organisations of people who decide, and agents that read along (seed 002)."""

from commonplace.kernel.capability import Capability, Items, RecordsFunction, Scopes

TABLES = ("commonplace.governance.settings:GovernanceScheme", "commonplace.governance.settings:GovernanceTables")
SETTINGS = ("commonplace.governance.settings:GovernanceScheme", "commonplace.governance.settings:GovernanceSettings")
OF_WEBHOOKS = "commonplace.governance.settings:WebhookSecret"

ALL, ACCOUNTS, NAMED, SEALED = "*#gov#*", "account#*#gov*", "organisations", "*#gov-secrets"
STRUCTURE = ("*#gov#orga", "*#gov#teams", "*#gov#roles", "*#gov#members")
MESSAGES = ("*#gov#messages", "*#gov#replies")
READABLE = (
    *STRUCTURE,
    *MESSAGES,
    *("*#gov#channels", "*#gov#policies", "*#gov#texts", "*#gov#journal", "*#gov#feed"),
    *("*#gov#processes", "*#gov#answers", "*#gov#active", "*#gov#cards", "*#gov#reactions"),
)
"""What agents may be shown: no direct message, whatever a bug would ask for, and no invitation."""
WRITTEN = (*MESSAGES, "*#gov#journal", "*#gov#feed", "*#gov#answers", "*#gov#reactions")
COUNTED = ("*#gov#processes", "*#gov#cards", "*#gov#agents")
CHECKED = ("*#gov#orga", "*#gov#members", "*#gov#channels")
"""Agents write for their members in transactions that check these: no structure, no policy, no invitation."""
GRANTED = ("*#gov#journal", "*#gov#feed", "*#gov#agents")

PEOPLE = (
    Items(
        ("console",),
        "records",
        ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"),
        (ALL, ACCOUNTS),
    ),
    Items(("console",), "records", ("PutItem",), (NAMED,)),
    # It writes secrets of webhooks, sealed, and cannot read one.
    Items(("console",), "records", ("PutItem", "UpdateItem", "DeleteItem"), (SEALED,)),
    # The owner of an organisation ends the grants of its agents.
    Items(("console",), "identity", ("UpdateItem",), ("grant#*",), ("pk", "sk", "revokedAt", "revokedBecause")),
)

AGENTS = (
    Items(("mcp",), "records", ("GetItem", "BatchGetItem", "Query"), READABLE),
    Items(("mcp",), "records", ("GetItem",), ("*#gov#agents",)),
    Items(("mcp",), "records", ("PutItem",), WRITTEN),
    Items(("mcp",), "records", ("UpdateItem",), COUNTED),
    Items(("mcp",), "records", ("ConditionCheckItem",), CHECKED),
    Items(("mcp",), "identity", ("ConditionCheckItem",), ("grant#*",)),
    Items(("auth",), "records", ("GetItem", "BatchGetItem"), STRUCTURE),
    Items(("auth",), "records", ("Query",), (ACCOUNTS,)),
    Items(("auth",), "records", ("PutItem",), GRANTED),
    Items(("auth",), "records", ("DeleteItem",), ("*#gov#agents",)),
)
"""What a token reads, and the consent that it came from: a grant and its record in the journal are one transaction."""

INDEXED = (
    Items(("index", "index-build"), "records", ("BatchGetItem",), MESSAGES),
    Items(("index", "index-build"), "records", ("Query",), (*MESSAGES, NAMED)),
)

WEBHOOKS = RecordsFunction(
    name="governance-webhooks",
    description="Sends messages about actions of agents to the webhooks of organisations",
    records=("#gov#journal",),
    settings=("commonplace.governance.settings:GovernanceScheme", "commonplace.governance.settings:WebhookSettings"),
    memory_mb=512,
    timeout_seconds=30,
    receives=20,
    holds="the key that secrets of webhooks are sealed with",
    shared_with=("console",),
)
DELIVERED = (
    Items((WEBHOOKS.name,), "records", ("GetItem",), ("*#gov#journal", SEALED)),
    Items((WEBHOOKS.name,), "records", ("GetItem", "Query", "UpdateItem"), ("*#gov#hooks",)),
)

GOVERNANCE = Capability(
    name="governance",
    scopes=Scopes(
        toolset="governance",
        levels=("read", "write", "decide"),
        words={
            "read": "Read, as you, what your roles in an organisation let you read, but no direct message",
            "write": "Send messages, react and vote in your name",
            "decide": "Answer, ask and nominate in your name where your organisation decides",
        },
        tiers={"read": "public", "write": "public", "decide": "public"},
        kinds=(
            *("organisation", "teams", "members", "roles", "channels"),
            *("messages", "decisions", "policies", "topics"),
        ),
        always=("organisation",),
        aliases={
            "swarmrise:read": "governance:read",
            "swarmrise:write": "governance:write",
            "swarmrise:governance": "governance:decide",
        },
        apart=True,
        membership=True,
        calls_a_minute={"read": 60, "search": 20, "write": 10},
    ),
    toolset="commonplace.governance.toolset:toolset",
    console="commonplace.governance.console:pages",
    collection="commonplace.governance.collection:collection",
    memberships="commonplace.governance.settings:memberships",
    indexed_as="messages",
    requires="governance_scheme",
    functions=(WEBHOOKS,),
    access=(*PEOPLE, *AGENTS, *INDEXED, *DELIVERED),
    indexed_records=("#gov#messages", "#gov#replies"),
    settings={"toolset": SETTINGS, "console": (*SETTINGS, OF_WEBHOOKS), "collection": TABLES, "memberships": TABLES},
)
