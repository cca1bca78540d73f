"""The page `/connect`. It works without JavaScript, which adds copy buttons."""

from collections.abc import Iterator
from html import escape

from commonplace.site.connect.clients import Client, Endpoint, Step, clients

_FOOT = """<section id="other"><h2>Any other client</h2>
<p>Give it the address above and the transport “Streamable HTTP”. The entry for the MCP registry is
<a href="/server.json">server.json</a>; the same knowledge for programs is at <a href="/docs">the REST API</a>.</p>
</section>
</main>
</body>
</html>
"""


def connect_html(at: Endpoint) -> str:
    """The page at `/connect`. Every value is escaped: the site's name is the operator's text."""
    known = clients(at)
    contents = "".join(f'<li><a href="#{client.key}">{escape(client.title)}</a></li>' for client in known)
    return "\n".join([_head(at), f"<nav aria-label='Clients'><ul>{contents}</ul></nav>", *_sections(known, at), _FOOT])


def _head(at: Endpoint) -> str:
    title = escape(at.title)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Connect to {title}</title>
<link rel="icon" href="/icon.png">
<link rel="stylesheet" href="/assets/connect.css">
<script src="/assets/connect.js" defer></script>
</head>
<body>
<main>
<h1>Connect to {title}</h1>
<p>Agents reach this knowledge base over MCP, the Model Context Protocol, at this address:</p>
{_copied(at.url)}
<p>What is public takes no account. For more, your client opens a page where you sign in and say what it may do. Every
client that acts in your name is among your <a href="/account">connected apps</a>, where you can end it.</p>"""


def _sections(known: tuple[Client, ...], at: Endpoint) -> Iterator[str]:
    for client in known:
        yield f'<section id="{client.key}"><h2>{escape(client.title)}</h2>'
        if client.needs_public and not at.public:
            yield "<p class='note'>It calls from its maker's servers: it needs a public https address.</p>"
        if client.button:
            yield f'<p><a class="button" href="{escape(client.button.url)}">{escape(client.button.label)}</a></p>'
        yield f"<ol>{''.join(f'<li>{_step(step)}</li>' for step in client.steps)}</ol>"
        yield f"<div class='removal'>To remove it: {_step(client.removal)}</div></section>"


def _step(step: Step) -> str:
    return escape(step.text) + (_copied(step.copy) if step.copy else "")


def _copied(text: str) -> str:
    return f'<pre tabindex="0"><code>{escape(text)}</code></pre>'
