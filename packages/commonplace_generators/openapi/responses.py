"""What an operation is described as, and what it answers: the content of its entry, as Markdown."""

from commonplace_generators.openapi.documents import Node
from commonplace_generators.openapi.fields import media
from commonplace_generators.openapi.operations import Operation
from commonplace_generators.openapi.schemas import Source, label, members
from commonplace_generators.openapi.texts import code, line, paragraphs

MAX_DESCRIPTION = 3_000
MAX_RESPONSES = 20
MAX_FIELDS = 30
"""Of a response, by name."""
MAX_WRAPPED = 4


def content(operation: Operation, summary: str) -> str:
    """`summary` is not said again."""
    description = paragraphs(operation.node.text("description"), MAX_DESCRIPTION)
    description = "" if line(description, len(summary) + 1) == summary else description
    found = responses(operation)
    rows = []
    for status, response in found[:MAX_RESPONSES]:
        kinds = media(response.get("content"))
        schema = kinds[0][1].get("schema") if kinds else None
        named = f" ({label(schema)})" if schema is not None and schema.value is not None else ""
        said = line(response.text("description"), 200) or "no description"
        rows.append(f"- {code(status, 20)}{named}: {said}")
        if schema is not None and succeeds(status) and (names := fields(schema)):
            rows.append(f"  Fields: {names}")
    rows += [f"- and {len(found) - MAX_RESPONSES} more"] if len(found) > MAX_RESPONSES else []
    url = operation.node.get("externalDocs").text("url")
    plain = url.startswith("https://") and len(url) <= 300 and url.isprintable() and not set(" <>") & set(url)
    parts = [
        description,
        "\n".join(["**Responses**", "", *rows]) if rows else "",
        f"See also <{line(url, 300)}>." if plain else "",
    ]
    return "\n\n".join(part for part in parts if part)


def responses(operation: Operation) -> list[tuple[str, Node]]:
    """By status, `default` last."""
    found = [one for one in operation.node.members("responses") if not one[0].startswith("x-")]
    return sorted(found, key=lambda one: (one[0] == "default", one[0]))


def succeeds(status: str) -> bool:
    return status.startswith("2")


def fields(schema: Node, depth: int = 0) -> str:
    """Those at the top; of an answer that wraps another in its one field, those within it too."""
    while schema.has("items") and depth < MAX_WRAPPED:
        schema, depth = schema.get("items"), depth + 1
    found = [(name, one.sources[0].node) for name, one in members([Source(schema)], "writeOnly").items()]
    told = [f"{code(name)} {label(node)}" for name, node in found[:MAX_FIELDS]]
    if len(found) == 1 and depth < MAX_WRAPPED and (inner := fields(found[0][1], depth + 1)):
        return f"{told[0]} ({inner})"
    return ", ".join(told) + (f" and {len(found) - MAX_FIELDS} more" if len(found) > MAX_FIELDS else "")
