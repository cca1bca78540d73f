"""Federation: partners' knowledge beside our own, as an organisation approved it (seed 000, section 9.2)."""

from commonplace.kernel.capability import Alarm, Capability, Items, Metric, Scopes

SETTINGS = "commonplace.federation.settings:FederationSettings"
PARTNERS, TOOLS = "*#partners", "*#partnertools#*"
TOKENS, SIGN_INS, CLIENTS = "*#partnertokens#*", "*#partnersignins", "*#partnerclients#*"
USERS = ("mcp", "chat", "console")

FEDERATION = Capability(
    name="federation",
    scopes=Scopes(
        toolset="commons",
        levels=("read", "admin"),
        words={
            "read": "Search our partners' knowledge together with our own",
            "admin": "Add partners, and approve their tools",
        },
        tiers={"read": "member", "admin": "vibecoder"},
        in_person=("admin",),
        kinds=("sources",),
        calls_a_minute={"search": 20},
    ),
    toolset="commonplace.federation.toolset:toolset",
    requires="federation",
    console="commonplace.federation.console:pages",
    access=(
        # What is compared on use is noted by whoever compared it; approving is for people in the console.
        Items(USERS, "records", ("GetItem", "BatchGetItem", "Query", "UpdateItem"), (PARTNERS, TOOLS)),
        Items(USERS, "records", ("PutItem",), (TOOLS,)),
        Items(("console",), "records", ("PutItem",), (PARTNERS,)),
        Items(USERS, "records", ("GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"), (TOKENS,)),
        Items(("console",), "records", ("DeleteItem", "BatchWriteItem", "ConditionCheckItem"), (PARTNERS, TOOLS)),
        Items(("console",), "records", ("Query", "BatchWriteItem"), (TOKENS,)),
        Items(("console",), "records", ("GetItem", "PutItem", "DeleteItem"), (SIGN_INS, CLIENTS)),
        Items(("console",), "activity", ("PutItem",), ("partners#*",)),
    ),
    metrics=(
        Metric(name="PartnerToolsWithheld", title="Tools of partners that changed", minutes=60),
        Metric(name="PartnersDown", title="Searches that no partner answered"),
    ),
    alarms=(
        Alarm(
            name="partner-tools-withheld",
            description="A partner's tool is not as somebody approved it any more, and is withheld.",
            metric="PartnerToolsWithheld",
            runbook="partners.md",
        ),
        Alarm(
            name="partners-down",
            description="Five searches or more were answered by no partner within 15 minutes.",
            metric="PartnersDown",
            threshold=5,
            minutes=15,
            runbook="partners.md",
        ),
    ),
    settings={
        "toolset": ("commonplace.federation.settings:FederationChoice", SETTINGS),
        "console": ("commonplace.federation.settings:FederationChoice", SETTINGS),
    },
)
