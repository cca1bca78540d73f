"""Chat: an agent that answers from the knowledge base, cites what it read, and asks before it proposes anything."""

from commonplace.kernel.capability import Alarm, Capability, Items, Metric, Objects, StreamingFunction

FUNCTION = "chat"
CONVERSATIONS, BUDGETS = "*#chat#*", "*#chatbudget#*"

CHAT = Capability(
    name="chat",
    console="commonplace.chat.console:pages",
    requires="chat_model",
    functions=(
        StreamingFunction(
            name=FUNCTION,
            description="Answers people from the knowledge base, as an agent that cites it",
            settings=("commonplace.chat.settings:ChatSettings", "commonplace.federation.settings:FederationSettings"),
            memory_mb=1769,  # one whole processor: imports are what a start takes
            timeout_seconds=320,
            paths=("/api/v1/chat",),
            environments="chat_environments",
            proposes=True,
            model="chat_model",
        ),
    ),
    access=(
        Items(
            (FUNCTION,),
            "records",
            ("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"),
            (CONVERSATIONS, BUDGETS),
        ),
        Items((FUNCTION,), "activity", ("PutItem",), ("chat#*",)),
        Items((FUNCTION,), "activity", ("GetItem", "PutItem"), ("slots#chat-*",)),
        Objects((FUNCTION,), ("GetObject",), ("content/", "metadata/")),
        Items(("console",), "records", ("GetItem", "Query"), (CONVERSATIONS,)),
    ),
    metrics=(
        Metric(name="ChatRuns", title="Answers of the chat", dimensions=("Outcome",)),
        Metric(name="ChatFailures", title="Failed answers of the chat"),
    ),
    alarms=(
        Alarm(
            name="chat-failures",
            description="Five answers of the chat or more failed within 15 minutes.",
            metric="ChatFailures",
            threshold=5,
            minutes=15,
            runbook="chat-failures.md",
        ),
    ),
    settings={"console": ("commonplace.chat.settings:ChatTables",)},
)
