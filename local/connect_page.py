"""The table of MCP clients as Markdown: `docs/connect.md`."""

from collections.abc import Iterator
from dataclasses import replace

from commonplace.site.connect.clients import Client, Endpoint, Step, clients

EXAMPLE = Endpoint.of("Field Book", "https://knowledge.example.org")
"""Stands where a reader's own deployment belongs."""

HEAD = """\
# Connect a client

A deployment serves agents at one address: its base URL with `/mcp` at its end. `make dev` serves them at
`http://127.0.0.1:8787/mcp`. On a deployment the page `/connect` shows what is below with the address filled in, and
with buttons that work; here it is `{url}`, and the name is `{name}`.

The command line prints the same:

```sh
.venv/bin/commonplace connect claude-code --url https://knowledge.example.org --name "Field Book"
.venv/bin/commonplace connect
```

The first is for one client, the second for all of them, at the address of `make dev`.

What is public takes no account. For more, a client opens a page where its person signs in and says what it may do; see
[who may do what](identity.md). What the tools do, which limits hold and where
[citations](mcp.md#citations-lead-to-a-page) lead, is in [MCP](mcp.md).

"""

TAIL = """\
## Any other client

Give it the address and the transport “Streamable HTTP”. Every version of the protocol from 2024-11-05 to 2026-07-28 is
served. A client that knows local servers only goes through `mcp-remote`, as Claude Desktop does above.

`{url}/knowledge` serves the knowledge toolset alone, `/mcp/memory` [a team's memory](memory.md), `/mcp/reference`
[a product's reference](reference.md), `/mcp/hive` [what agents contribute](hive.md), and `{url}/all` every
toolset there is. With the request header `X-MCP-Readonly: true` no tool that writes exists.

## The registry

The MCP registry lists servers by a file `server.json`. A deployment serves its own at `/server.json`; the command line
prints it too:

```sh
.venv/bin/commonplace connect --server-json --url https://knowledge.example.org --name "Field Book"
```

The namespace of its `name` has to be proven to the registry: it is the deployment's host name backwards. The registry
takes a key published in DNS or under `/.well-known/mcp-registry-auth`; its own documentation says how.
"""


def connect_page(at: Endpoint = EXAMPLE) -> str:
    """The whole page."""
    lines: list[str] = []
    for client in clients(at):
        lines += [f"## {client.title}", "", *_lines(client, at, fenced=True)]
    return HEAD.format(url=at.url, name=at.name) + "\n".join([*lines, TAIL.format(url=at.url)])


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
