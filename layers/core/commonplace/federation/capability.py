"""Federation: partners' knowledge beside our own, as an organisation approved it (seed 000, section 9.2)."""

from commonplace.kernel.capability import Capability, Items, Scopes

SETTINGS = "commonplace.federation.settings:FederationSettings"
PARTNERS, TOOLS = "*#partners", "*#partnertools#*"

FEDERATION = Capability(
    name="federation",
    scopes=Scopes(
        toolset="commons",
        levels=("read",),
        words={"read": "Search our partners' knowledge together with our own"},
        tiers={"read": "member"},
        kinds=("sources",),
        calls_a_minute={"search": 20},
    ),
    toolset="commonplace.federation.toolset:toolset",
    requires="federation",
    access=(
        # What is compared on use is noted by whoever compared it; approving is for people at the command line.
        Items(("mcp",), "records", ("GetItem", "Query"), (PARTNERS, TOOLS)),
        Items(("mcp",), "records", ("PutItem", "UpdateItem"), (PARTNERS, TOOLS)),
    ),
    settings={"toolset": ("commonplace.federation.settings:FederationChoice", SETTINGS)},
)
