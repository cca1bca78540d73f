"""The table of MCP clients as Markdown: `docs/agents/connect.md`."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from commonplace.site.connect.clients import Client, Endpoint, Step, clients

EXAMPLE = Endpoint.of("Field Book", "https://knowledge.example.org")
"""Stands where a reader's own deployment belongs."""

TEXT = Path(__file__).with_suffix(".txt")
"""The page around the clients."""


def connect_page(at: Endpoint = EXAMPLE) -> str:
    """The whole page."""
    lines: list[str] = []
    for client in clients(at):
        lines += [f"## {client.title}", "", *_lines(client, at, fenced=True)]
    return TEXT.read_text(encoding="utf-8").format(url=at.url, name=at.name, clients="\n".join(lines))


def client_text(client: Client, at: Endpoint) -> str:
    """One client, for a terminal."""
    return "\n".join(_lines(client, at, fenced=False))


def _lines(client: Client, at: Endpoint, *, fenced: bool) -> Iterator[str]:
    if client.needs_public and not at.public:
        yield "It calls from its maker's servers, so it needs a public https address, not one of this machine."
        yield ""
    if client.button and fenced:
        yield f"[{client.button.label}]({client.button.url})"
        yield ""
    elif client.button:
        yield f"{client.button.label}: {client.button.url}"
        yield ""
    for step in client.steps:
        yield from _step(step, fenced=fenced)
    yield from _step(replace(client.removal, text=f"To remove it: {client.removal.text}"), fenced=fenced)


def _step(step: Step, *, fenced: bool) -> Iterator[str]:
    yield step.text
    yield ""
    if step.copy is not None:
        lines = step.copy.splitlines()
        if fenced and step.language:  # commands of others are no commands of this project
            yield f"```{'console' if step.language == 'sh' else step.language}"
            yield from lines
            yield "```"
        else:
            yield from (f"  {line}" for line in lines)
        yield ""
