"""What lists say, as plain dicts in the wire's own shape: deterministic, without `_meta`, a page at a time."""

from typing import Any

from commonplace.web.mcp.access import shown, tools_for
from commonplace.web.mcp.declaration import Caller, Listed, Prompt, Resource, Template, Tool
from commonplace.web.mcp.in_use import InUse, described
from commonplace.web.mcp.offer import Offer, Offered
from commonplace.web.mcp.schemas import input_schema, output_schema

Row = dict[str, Any]


def tool_rows(offer: Offer, caller: Caller, in_use: InUse = ()) -> list[Row]:
    """Without icons: the server has one, and the same one on every tool would be 5% of the list."""
    return [_tool(one, in_use) for one in tools_for(offer, caller)]


def prompt_rows(offer: Offer, caller: Caller) -> list[Row]:
    return [_prompt(name, one) for name, one in offer.prompts.items() if shown(offer.needs["prompt", name], caller)]


def template_rows(offer: Offer, caller: Caller) -> list[Row]:
    return [_template(one) for one in offer.templates if shown(offer.needs["template", one.uri_template], caller)]


def resource_row(one: Resource | Listed) -> Row:
    return _resource(one) if isinstance(one, Resource) else _listed(one)


def _tool(offered: Offered, in_use: InUse) -> Row:
    tool = offered.tool
    row: Row = {"name": offered.name, "title": tool.title, "description": tool.description}
    row["inputSchema"] = described(input_schema(tool), offered.name, in_use) if tool.in_use else input_schema(tool)
    if (schema := output_schema(tool)) is not None:
        row["outputSchema"] = schema
    row["annotations"] = _annotations(tool)
    return row


def _annotations(tool: Tool) -> Row:
    """Whether a call may be repeated says something of tools that write alone (the specification, on hints)."""
    told = {"title": tool.title, "readOnlyHint": tool.read_only, "destructiveHint": tool.destructive}
    told |= {} if tool.read_only else {"idempotentHint": tool.idempotent}
    return told | {"openWorldHint": tool.open_world}


def _prompt(name: str, prompt: Prompt) -> Row:
    arguments = [
        {"name": one.name, "description": one.description, "required": one.required} for one in prompt.arguments
    ]
    return {"name": name, "title": prompt.title, "description": prompt.description, "arguments": arguments}


def _resource(resource: Resource) -> Row:
    return {
        "uri": resource.uri,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime_type,
    }


def _template(template: Template) -> Row:
    row = {
        "uriTemplate": template.uri_template,
        "name": template.name,
        "title": template.title,
        "description": template.description,
    }
    return row | ({"mimeType": template.mime_type} if template.mime_type else {})


def _listed(listed: Listed) -> Row:
    row: Row = {"uri": listed.uri, "name": listed.name, "title": listed.title, "mimeType": listed.mime_type}
    row |= {"description": listed.description} if listed.description else {}
    row |= {"size": listed.size} if listed.size is not None else {}
    return row | ({"annotations": {"lastModified": listed.updated_at}} if listed.updated_at else {})
