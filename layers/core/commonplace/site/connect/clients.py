"""MCP clients and how to connect each: the table `clients.toml`, filled in for a deployment."""

import base64
import json
import re
import tomllib
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, Literal
from urllib.parse import quote, urlsplit

MAX_NAME_CHARACTERS = 30
TABLE: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["clients"]

Language = Literal["sh", "json", "toml", "text"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What a client is given: a short name without spaces, a title for people, and the address of the MCP server."""

    name: str
    title: str
    url: str

    @classmethod
    def of(cls, site_name: str, base_url: str, toolset: str | None = None) -> "Endpoint":
        """Return the endpoint of a deployment, or of one of its toolsets."""
        path = f"/mcp/{toolset}" if toolset else "/mcp"
        return cls(short_name(site_name), site_name, f"{base_url.rstrip('/')}{path}")

    @property
    def public(self) -> bool:
        """Return whether clients that run elsewhere can reach it: https, and not this very machine."""
        parts = urlsplit(self.url)
        return parts.scheme == "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, with what is to be copied, if anything."""

    text: str
    copy: str | None = None
    language: Language = "text"


@dataclass(frozen=True, slots=True)
class Button:
    """A link that the client itself opens."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Client:
    """An MCP client, how it is connected, and how it is disconnected."""

    key: str
    title: str
    steps: tuple[Step, ...]
    removal: Step  # Its text goes on after “To remove it:”
    button: Button | None = None
    needs_public: bool = False
    """True when it calls from its maker's servers: an address of this machine cannot be reached."""


def short_name(site_name: str) -> str:
    """Return a name that every client takes: lower-case letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", site_name).encode("ascii", "ignore").decode().casefold()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_NAME_CHARACTERS].strip("-") or "commonplace"


def clients(at: Endpoint) -> tuple[Client, ...]:
    """Return every client that we know how to connect, in the order in which a page shows them."""
    cursor = json.dumps({"url": at.url}, separators=(",", ":"))
    vscode = json.dumps({"type": "http", "url": at.url}, separators=(",", ":"))
    values = {
        "name": at.name,
        "title": at.title,
        "url": at.url,
        "allow_http": "" if at.public else ',\n        "--allow-http"',
        "cursor_config": quote(base64.b64encode(cursor.encode()).decode(), safe=""),
        "vscode_config": quote(vscode, safe=""),
    }

    def filled(row: dict[str, Any]) -> dict[str, Any]:
        return {key: Template(text).substitute(values) for key, text in row.items()}

    return tuple(
        Client(
            row["key"],
            row["title"],
            tuple(Step(**filled(step)) for step in row["steps"]),
            Step(**filled(row["removal"])),
            Button(**filled(row["button"])) if "button" in row else None,
            row.get("needs_public", False),
        )
        for row in TABLE
    )
