"""Start a knowledge base: a page of each main type, a check of pull requests, editor schemas."""

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.content.schemas import DIALECT, json_schema
from commonplace_local.errors import CommandError
from commonplace_local.files import write_whole
from commonplace_local.terminal import commands

FILES = Path(__file__).with_name("files")
WORKFLOW = ".github/workflows/commonplace.yml"
ACTION = "your-organisation/commonplace@main"
SCHEMA = ".vscode/frontmatter.schema.json"

app = commands()


@app.command()
def init(
    path: Annotated[Path, typer.Argument(help="A folder, which need not exist.")] = Path(),
    *,
    action: Annotated[
        str, typer.Option(metavar="OWNER/NAME@REF", help="The repository on GitHub that has Commonplace.")
    ] = ACTION,
) -> None:
    """Write a small knowledge base to start from: pages to change, a GitHub workflow, schemas for an editor."""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+@[\w./-]+", action):
        raise CommandError(f"--action {action} is not a repository.", f"Give OWNER/NAME@REF: {ACTION}")
    files = contents(action)
    if there := [name for name in files if (path / name).exists()]:
        raise CommandError(
            f"{path} already has {', '.join(there[:3])}, and nothing is overwritten.",
            "Name another folder: commonplace init PATH",
        )
    for name, text in files.items():
        write_whole(path / name, text)
    pages = sum(name.endswith(".md") for name in files)
    typer.echo(f"Wrote {pages} pages, a GitHub workflow that checks them, and schemas for your editor to {path}")
    if action == ACTION:
        typer.echo(f"In {WORKFLOW}, name the repository that has Commonplace in place of {ACTION}")
    typer.echo(f"Next: commonplace dev {path}")


def contents(action: str = ACTION) -> dict[str, str]:
    """Return what a new knowledge base consists of, by path."""
    found = {file.relative_to(FILES).as_posix(): file for file in sorted(FILES.rglob("*")) if file.is_file()}
    settings = {
        "yaml.schemas": {SCHEMA: ["*.md"]},
        "[markdown]": {"editor.quickSuggestions": {"other": True}},
    }
    texts = {name: file.read_text(encoding="utf-8") for name, file in found.items()}
    return texts | {
        WORKFLOW: texts[WORKFLOW].replace("{action}", action),
        SCHEMA: _json(schema()),
        ".vscode/settings.json": _json(settings),
        ".vscode/frontmatter.code-snippets": _json(snippets()),
    }


def schema() -> dict[str, Any]:
    """Return one schema of all frontmatter: what every page may have, and for each type what it has besides."""
    types = {name: json_schema(name) for name, spec in ONTOLOGY.types.items() if not spec.abstract}
    common = {name: part for name, part in types["file"]["properties"].items() if name != "type"}
    cases = []
    for one in types.values():
        kind = one["properties"].pop("type")
        own = {name: part for name, part in one["properties"].items() if common.get(name) != part}
        then = {"properties": own, "required": one["required"]}
        cases.append({"if": {"properties": {"type": kind}, "required": ["type"]}, "then": then})
    named = {"enum": [*types, *ONTOLOGY.aliases], "description": ONTOLOGY.fields["type"].description}
    return {"$schema": DIALECT, "type": "object", "properties": {"type": named, **common}, "allOf": cases}


def snippets() -> dict[str, Any]:
    """Return the beginning of a page of each type, which VS Code offers in Markdown without an extension."""
    return {name: _snippet(name, spec) for name, spec in ONTOLOGY.types.items() if not spec.abstract}


def _snippet(name: str, spec: Any) -> dict[str, Any]:
    asked = [field for field in spec.fields.values() if field.required or field.name == "description" or field.enum]
    values = [f"|{','.join(field.enum)}|" if field.enum else f":{field.name}" for field in asked]
    lines = [
        f"{field.name}: ${{{place}{value}}}" for place, (field, value) in enumerate(zip(asked, values, strict=True), 1)
    ]
    body = ["---", f"type: {name}", *lines, "publish: true", "---", "$0"]
    return {"scope": "markdown", "prefix": f"kb-{name}", "description": spec.description, "body": body}


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
