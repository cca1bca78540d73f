"""The generator of `commonplace_local/template.json`: `make snapshot`.

The snapshot is the template of stage dev on the embedded engine, the laptop's, with governance, chat and partners. All
that changes from build to build is taken out. A test keeps it equal to what the code says, reviews show what a change
does to AWS, and the laptop cloud builds itself from it.
"""

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from commonplace_local.project import TEMPLATE
from infra.node import provide_node
from infra.requirements import ROOT

CONTEXT = {"engine": "embedded", "governanceScheme": "swarmrise", "chatModel": "none", "federation": "on"}

_VOLATILE = (
    (re.compile(r"\b[0-9a-f]{64}\b"), "ASSET"),
    (re.compile(r"(CurrentVersion[0-9A-F]{8})[0-9a-f]{32}"), r"\1"),
)


def normalised(template: dict[str, Any]) -> str:
    """The template as text, without hashes of zips and the names that are derived from them."""
    text = json.dumps(template, indent=1, sort_keys=True, ensure_ascii=False)
    for pattern, replacement in _VOLATILE:
        text = pattern.sub(replacement, text)
    return text + "\n"


def main() -> int:
    """Rewrites the snapshot."""
    provide_node()
    from infra.stack import WITHOUT_BUNDLES, application

    with tempfile.TemporaryDirectory() as folder:
        app, stack = application(Path(folder), {**WITHOUT_BUNDLES, **CONTEXT})
        template = json.loads((Path(app.synth().directory) / stack.template_file).read_text())
    TEMPLATE.write_text(normalised(template))
    print(f"{TEMPLATE.relative_to(ROOT)}: {len(template['Resources'])} resources")
    return 0


if __name__ == "__main__":
    sys.exit(main())
