"""Products of our own with the difficulties of real ones: their sources, and the catalogues that are made of these.

`desk` is an API of many files and a guide, `ferry` an API with the same paths, `quay` two programs of one catalogue.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from commonplace.reference.model import Catalogue
from commonplace.reference.source.reader import read_catalogue
from commonplace_local import cli
from tests.reference_files import compiled, files_of

DESK = """
openapi: 3.1.0
info: {title: Harbour desk, version: "2.1"}
servers: [{url: https://desk.harbour.example/api/v2}]
security: [{deskKey: []}]
paths:
  /berths: {$ref: paths/berths.yaml}
  /berths/{berth}:
    $ref: paths/berths@{berth}.yaml
components:
  securitySchemes: {deskKey: {$ref: 'who%20may.yaml#/deskKey'}}
"""
BERTHS = """
get:
  summary: List berths
  parameters: [{$ref: '../parameters.yaml#/Quay'}]
  responses: {'200': {description: All berths}}
post:
  summary: Book a berth
  requestBody:
    required: true
    content: {application/json: {schema: {$ref: ../schemas/booking.yaml}}}
  responses: {'201': {description: Booked}}
"""
BERTH = """
parameters: [{$ref: '../parameters.yaml#/Berth'}]
get:
  summary: Show a berth
  responses: {'200': {description: The berth}}
"""
PARAMETERS = """
Quay: {name: quay, in: query, required: true, schema: {type: string}, description: Which quay}
Berth: {name: berth, in: path, required: true, schema: {type: string}, description: Its number}
"""
SECURITY = "deskKey: {type: apiKey, in: header, name: X-Desk-Key}\n"
OPTIONAL = [f"remark_{number}" for number in range(120)]
"""Fields that may be left out: more than one page holds."""
REQUIRED = ("boat", "boat.name", "boat.length", "arrival", "crew", "crew[].surname")


def booking() -> dict[str, Any]:
    """The required fields stand last, where a cut would take them."""
    text = {"type": "string"}
    person = {"type": "object", "required": ["surname"], "properties": {"given_name": text, "surname": text}}
    boat = {"required": ["name", "length"], "properties": {"colour": text, "name": text, "length": {"type": "number"}}}
    optional = {name: text | {"description": f"What is to be said of {name}, in a sentence."} for name in OPTIONAL}
    crew = {"type": "array", "items": person}
    return {
        "type": "object",
        "required": ["boat", "arrival", "crew"],
        "properties": optional | {"arrival": text | {"format": "date"}, "boat": boat, "crew": crew},
    }


FERRY = {
    "openapi": "3.0.3",
    "info": {"title": "Ferry", "version": "1.4"},
    "servers": [{"url": "https://api.ferry.example/v1"}],
    "paths": {
        "/berths": {
            "get": {"summary": "List the berths that ferries land at", "responses": {"200": {"description": "All"}}}
        },
        "/crossings": {"get": {"summary": "List crossings", "responses": {"200": {"description": "All crossings"}}}},
    },
}

PAGES = {
    "": """Usage: quay [-C <folder>] <command> [<args>]

Keeps the books of a harbour.

Commands:
  add\tAdds files to the books
  switch\tGoes to another book
  sync\tBrings the books in line with the desk
  apply\tEnters what a file says
  config\tSets how quay works
""",
    "add": """Usage: quay add [-n] <file>...

Adds files to the books.

Options:
  -n, --dry-run\tOnly tell
  --chmod <mode>\tWith these rights
""",
    "switch": """Usage: quay switch [-c] <book>

Goes to another book.

Options:
  -c, --create\tMakes it first
""",
    "sync": """Usage: quay sync [--frozen]

Brings the books in line with the desk.

Options:
  --frozen\tChanges no entry that is there
  --offline\tAsks nobody
""",
    "apply": """Enters what a file says.

Examples:
  # Enter a booking
  quay apply -f booking.json

Available Commands:
  edit-last   Changes what was entered last
  view-last   Shows what was entered last

Options:
  -f, --filename <file>   The file

Usage: quay apply -f <file>
""",
    "apply edit-last": "Changes what was entered last.\n\nUsage: quay apply edit-last <entry>\n",
    "apply view-last": "Shows what was entered last.\n\nUsage: quay apply view-last <entry>\n",
    "config": """Sets how quay works.

Settings are looked for in this order:

  1.  The file that --file names.
  2.  The file of the folder.
  3.  The file of the person.

Usage: quay config [--file <file>] <name> <value>

Options:
  --file <file>   Which file
""",
}
PROGRAM = """#!/usr/bin/env python3
import json, pathlib, sys
print("quay: warning: the books of last year are still open", file=sys.stderr)
words = [one for one in sys.argv[1:] if one not in ("--help", "-h")]
pages = json.loads(pathlib.Path(__file__).with_name("pages.json").read_text())
print(pages.get(" ".join(words), pages[""]), end="")
"""
TIDE = """#!/usr/bin/env python3
import sys
ADD = "Usage: tide add <pool>\\n\\nAdds a reading.\\n"
ROOT = "Usage: tide <command>\\n\\nReads the tide.\\n\\nCommands:\\n  add   Adds a reading\\n"
print(ADD if sys.argv[1:2] == ["add"] else ROOT, end="")
"""
CHAPTER = "\n".join(
    f"\n## Step {number}\n\nAt step {number} the warden looks at what stands in the book of berths, "
    f"writes down which boats came and which left, and hands the page {number} to the desk."
    for number in range(80)
)
GUIDE = f"""---
id: opening
type: guide
title: Opening the harbour
category: desk
summary: All that is done before the first boat comes.
lastUpdated: "2026-03-01T00:00:00Z"
---
{CHAPTER}
"""

CATALOGUES: Mapping[str, str] = {
    "desk": """
title: Harbour desk
version: "2.1"
servers: [https://desk.harbour.example/api/v2]
generate:
  - {kind: openapi, source: sources/desk/openapi.yaml, into: api.json, category: desk}
""",
    "ferry": """
title: Ferry
version: "1.4"
servers: [https://api.ferry.example/v1]
generate:
  - {kind: openapi, source: sources/ferry.json, into: api.json, category: ferry}
""",
    "quay": """
title: Quay
generate:
  - {kind: help, source: ./sources/quay, depth: 2, into: quay.json, category: quay}
  - {kind: help, source: ./sources/tide, depth: 1, into: tide.json, category: tide}
""",
}


def written(folder: Path) -> None:
    """The sources of each catalogue."""
    texts = {
        "desk/sources/desk/openapi.yaml": DESK,
        "desk/sources/desk/paths/berths.yaml": BERTHS,
        "desk/sources/desk/paths/berths@{berth}.yaml": BERTH,
        "desk/sources/desk/parameters.yaml": PARAMETERS,
        "desk/sources/desk/who may.yaml": SECURITY,
        "desk/sources/desk/schemas/booking.yaml": json.dumps(booking()),
        "desk/guides/opening.md": GUIDE,
        "ferry/sources/ferry.json": json.dumps(FERRY),
        "quay/sources/quay": PROGRAM,
        "quay/sources/tide": TIDE,
        "quay/sources/pages.json": json.dumps(PAGES),
        **{f"{name}/catalogue.yaml": text for name, text in CATALOGUES.items()},
    }
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            file.chmod(0o755)


def made(folder: Path, name: str) -> Catalogue:
    """Generated by the command as an operator types it, read and compiled as a sync does."""
    done = CliRunner().invoke(cli.app, ["reference", "generate", str(folder / name), "--strict"])
    assert done.exit_code == 0, done.output
    reading = read_catalogue(files_of(folder / name), name)
    assert not reading.errors, reading.errors
    return compiled(reading)
