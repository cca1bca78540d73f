"""MCP clients and how to connect each: one table for page, docs and command line.

Checked against the clients' own documentation in November 2026; forms of configuration change, so one place holds them.
"""

import base64
import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, urlsplit

MAX_NAME_CHARACTERS = 30

Language = Literal["sh", "json", "toml", "text"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What a client is given: a short name without spaces, a title for people, and the address of the MCP server."""

    name: str
    title: str
    url: str

    @classmethod
    def of(cls, site_name: str, base_url: str, toolset: str | None = None) -> "Endpoint":
        """The endpoint of a deployment, or of one of its toolsets."""
        path = f"/mcp/{toolset}" if toolset else "/mcp"
        return cls(short_name(site_name), site_name, f"{base_url.rstrip('/')}{path}")

    @property
    def public(self) -> bool:
        """Whether clients that run elsewhere can reach it: https, and not this very machine."""
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
    removal: Step
    """Its text goes on after “To remove it:”."""
    button: Button | None = None
    needs_public: bool = False
    """True when it calls from its maker's servers: an address of this machine cannot be reached."""


def short_name(site_name: str) -> str:
    """A name that every client takes: lower-case letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", site_name).encode("ascii", "ignore").decode().casefold()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_NAME_CHARACTERS].strip("-") or "commonplace"


def clients(at: Endpoint) -> tuple[Client, ...]:
    """Every client that we know how to connect, in the order in which a page shows them."""
    return (
        _claude(at),
        _claude_code(at),
        _claude_desktop(at),
        _chatgpt(at),
        _cursor(at),
        _vscode(at),
        _windsurf(at),
        _codex(at),
        _gemini(at),
        _inspector(at),
    )


def _claude(at: Endpoint) -> Client:
    return Client(
        "claude",
        "Claude (web, desktop, phone)",
        (
            Step("Open Settings, then Connectors, and choose “Add custom connector”."),
            Step(f"Name it {at.title}, and give this address:", at.url),
            Step("Start a chat, and switch the connector on under “Search and tools”."),
        ),
        Step("Settings, Connectors, the three dots beside it, Remove."),
        needs_public=True,
    )


def _claude_code(at: Endpoint) -> Client:
    return Client(
        "claude-code",
        "Claude Code",
        (
            Step("Run:", f"claude mcp add --transport http --scope user {at.name} {at.url}", "sh"),
            Step("In a session, /mcp shows that it is connected."),
        ),
        Step("run:", f"claude mcp remove --scope user {at.name}", "sh"),
    )


def _claude_desktop(at: Endpoint) -> Client:
    arguments = ["-y", "mcp-remote@latest", at.url, *([] if at.public else ["--allow-http"])]
    entry = {"command": "npx", "args": arguments}
    return Client(
        "claude-desktop",
        "Claude Desktop, through mcp-remote",
        (
            Step("For plans without custom connectors, and for addresses of this machine. Node.js is needed."),
            Step(
                "Settings, Developer, Edit Config opens claude_desktop_config.json. Add:",
                _json({"mcpServers": {at.name: entry}}),
                "json",
            ),
            Step("Quit Claude Desktop and start it again."),
        ),
        Step(f"take the entry {at.name} out of claude_desktop_config.json."),
    )


def _chatgpt(at: Endpoint) -> Client:
    return Client(
        "chatgpt",
        "ChatGPT",
        (
            Step("Open Settings, then Apps, then Advanced settings, and switch Developer mode on."),
            Step(f"Back in Apps choose “Create app”. Name it {at.title}, and give this MCP server URL:", at.url),
            Step("Choose the app in a chat. Deep research uses its tools search and fetch."),
        ),
        Step("Settings, Apps, the app, Disconnect."),
        needs_public=True,
    )


def _cursor(at: Endpoint) -> Client:
    told = base64.b64encode(json.dumps({"url": at.url}, separators=(",", ":")).encode()).decode()
    link = f"https://cursor.com/en/install-mcp?name={quote(at.name)}&config={quote(told, safe='')}"
    return Client(
        "cursor",
        "Cursor",
        (
            Step(
                "Use the button, or add this to ~/.cursor/mcp.json (or .cursor/mcp.json in a project):",
                _json({"mcpServers": {at.name: {"url": at.url}}}),
                "json",
            ),
        ),
        Step(f"take the entry {at.name} out of mcp.json."),
        Button("Add to Cursor", link),
    )


def _vscode(at: Endpoint) -> Client:
    entry = {"type": "http", "url": at.url}
    config = quote(json.dumps(entry, separators=(",", ":")), safe="")
    added = json.dumps({"name": at.name, **entry}, separators=(",", ":"))
    return Client(
        "vscode",
        "VS Code",
        (
            Step("Use the button, or run:", f"code --add-mcp '{added}'", "sh"),
            Step("Or add this to .vscode/mcp.json in a project:", _json({"servers": {at.name: entry}}), "json"),
        ),
        Step(f"“MCP: List Servers”, {at.name}, Uninstall; or take the entry out of mcp.json."),
        Button("Add to VS Code", f"https://vscode.dev/redirect/mcp/install?name={quote(at.name)}&config={config}"),
    )


def _windsurf(at: Endpoint) -> Client:
    return Client(
        "windsurf",
        "Windsurf",
        (
            Step(
                "Add this to ~/.codeium/windsurf/mcp_config.json, and refresh the list of servers:",
                _json({"mcpServers": {at.name: {"serverUrl": at.url}}}),
                "json",
            ),
        ),
        Step(f"take the entry {at.name} out of mcp_config.json."),
    )


def _codex(at: Endpoint) -> Client:
    return Client(
        "codex",
        "Codex",
        (
            Step("Run:", f"codex mcp add {at.name} --url {at.url}", "sh"),
            Step("Or add this to ~/.codex/config.toml:", f'[mcp_servers.{at.name}]\nurl = "{at.url}"', "toml"),
        ),
        Step("run:", f"codex mcp remove {at.name}", "sh"),
    )


def _gemini(at: Endpoint) -> Client:
    return Client(
        "gemini",
        "Gemini CLI",
        (
            Step("Run:", f"gemini mcp add --transport http --scope user {at.name} {at.url}", "sh"),
            Step(
                "Or add this to ~/.gemini/settings.json:",
                _json({"mcpServers": {at.name: {"httpUrl": at.url}}}),
                "json",
            ),
        ),
        Step("run:", f"gemini mcp remove --scope user {at.name}", "sh"),
    )


def _inspector(at: Endpoint) -> Client:
    command = f"npx @modelcontextprotocol/inspector --cli {at.url} --transport http --method tools/list"
    return Client(
        "inspector",
        "MCP Inspector",
        (
            Step("For developers. Node.js 22.19 or newer is needed. Run:", command, "sh"),
            Step("Without --cli and what follows the address it opens in the browser."),
        ),
        Step("nothing stays."),
    )


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)
