"""Settings of chat: which model answers, how much each person may use, and for how long conversations are stored."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

from commonplace.kernel.configuration import SECRET_ARN, URL, Kind, Settings, matching, setting, text, whole
from commonplace.kernel.settings import Activity, Organisation
from commonplace.search.settings import HTTPS, OPENAI_API

if TYPE_CHECKING:
    from commonplace.chat.store import ChatStore

_MODEL = re.compile(r"none|(bedrock|openai):([A-Za-z0-9][A-Za-z0-9._:/-]{0,119})")


@dataclass(frozen=True, slots=True)
class ChatChoice:
    """The model that answers: none, one of Bedrock, or one of whatever speaks as OpenAI does."""

    kind: Literal["none", "bedrock", "openai"]
    model: str = ""

    @classmethod
    def parse(cls, given: str) -> Self | None:
        """Return the choice, or None for what is none."""
        found = _MODEL.fullmatch(given)
        return found and cls(found[1] or "none", found[2] or "")  # type: ignore[arg-type]


CHOICE = Kind("none, bedrock:MODEL or openai:MODEL", ChatChoice.parse)


class ChatModel(Settings):
    chat_model: ChatChoice | None = setting(CHOICE, "CHAT_MODEL", key="chatModel", default=None)
    """The language model of [the chat](../agents/chat.md): `bedrock:ID`, `openai:MODEL`, or `none`, which quotes
    passages. Unset, there is no chat."""


class ChatTables(ChatModel, Activity, Organisation):
    """Of the functions that show conversations."""

    records_table: str = setting(text("the name of the table that holds conversations"), "RECORDS_TABLE")
    """The table with conversations."""
    retention_days: int = setting(
        whole(1, 365), "CHAT_RETENTION_DAYS", key="chatRetentionDays", default=30, deployed=None, shown="30"
    )
    """Days for which a message is stored (1 to 365)."""

    def store(self) -> ChatStore:
        """Return the conversations of the deployment. This loads the client of AWS."""
        from commonplace.chat.store import ChatStore
        from commonplace.kernel import aws

        client = aws.dynamodb(read_timeout_seconds=3)
        return ChatStore(client, self.records_table, self.activity_table, self.retention_days)


class ChatSettings(ChatTables):
    """Of the function that answers."""

    base_url: str = setting(
        URL, "CHAT_BASE_URL", key="chatBaseUrl", default=OPENAI_API, deployed=None, context=HTTPS, shown="OpenAI's own"
    )
    """With `openai:MODEL`: the address of another compatible service."""
    secret_arn: str | None = setting(SECRET_ARN, "CHAT_SECRET_ARN", default=None)
    """The secret with the key of an `openai:MODEL`."""
    api_key: str | None = setting(
        matching(r"[\x21-\x7e]{1,500}", "the key of a model: printable characters without spaces"),
        "CHAT_API_KEY",
        default=None,
        secret=True,
    )
    """The key itself, on a laptop; the secret comes first."""
    tokens_per_day: int = setting(
        whole(1_000, 100_000_000),
        "CHAT_TOKENS_PER_DAY",
        key="chatTokensPerDay",
        default=200_000,
        deployed=None,
        shown="200000",
    )
    """Tokens of the model that one person may use in a UTC day (1,000 to 100,000,000)."""
    environments: int = setting(whole(2, 1_000), "CHAT_ENVIRONMENTS", key="chatEnvironments", default=8, shown="8")
    """Lambda environments reserved for the chat (2 to 1,000), one request each. AWS requires that 100 of the account's
    stay unreserved."""

    @property
    def together(self) -> int:
        """How many answers may be written, and followed, at once."""
        return max(1, self.environments - 2)
