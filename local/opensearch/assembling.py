"""Makes a program folder out of the parts, whole or not at all."""

import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path

from local.opensearch.folders import PROGRAM, VERSION, Home
from local.opensearch.java import Java
from local.opensearch.locks import held
from local.opensearch.maven import fetch
from local.opensearch.parts import PARTS, Part
from local.opensearch.telling import Tell
from local.opensearch.user import make_passable

TRIMMED = (
    "modules/ingest-geoip",
    "modules/ingest-user-agent",
    "modules/opensearch-dashboards",
    "modules/repository-url",
    "modules/rule-framework",
    "lib/tools/fips-demo-installer-cli",
)
"""85 MB that nothing here uses."""


def ensure_program(home: Home, java: Java, tell: Tell) -> Path:
    """The program folder; made first when it is not there, which needs Maven and, the first time, the network."""
    if home.program.exists():
        return home.program
    make_passable(home.folder)
    with held(home.lock, lambda: tell("Waiting for another start, which is assembling OpenSearch")):
        if not home.program.exists():
            fetch(PARTS, home.downloads, java, tell)
            tell(f"Assembling OpenSearch {VERSION}")
            assemble(PARTS, home.downloads, home.program)
            shutil.rmtree(home.downloads)
    return home.program


def assemble(parts: Sequence[Part], downloads: Path, program: Path) -> None:
    """Unpacks checked archives. A folder that is half done never has the final name."""
    staging = program.with_name("staging")
    shutil.rmtree(staging, ignore_errors=True)
    for part in parts:
        with zipfile.ZipFile(downloads / part.file) as archive:
            archive.extractall(staging / part.folder)
    made = staging / PROGRAM
    for folder in TRIMMED:
        shutil.rmtree(made / folder, ignore_errors=True)
    _make_readable(made)
    made.rename(program)
    shutil.rmtree(staging)


def _make_readable(program: Path) -> None:
    """For every user, whatever the umask: zip files lose their modes, and the node's user may be another."""
    program.chmod(0o755)
    for path in program.rglob("*"):
        runs = path.is_dir() or path.parent.name == "bin"
        path.chmod(0o755 if runs else 0o644)
