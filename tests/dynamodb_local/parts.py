"""Fetches DynamoDB Local through Maven, from wherever this user's Maven fetches. Nothing of it is kept in the project.

It comes under a licence of Amazon's own, which whoever fetches it takes on, and which lets nobody pass it on.
"""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from commonplace_local.errors import CommandError
from commonplace_local.locks import held
from commonplace_local.project import PROJECT
from tests.opensearch_node.java import RequirementMissing
from tests.opensearch_node.program import PLUGIN_VERSION, REPOSITORY_VARIABLE, find_maven

VERSION = "2.6.1"
FOLDER = PROJECT / ".tools" / "dynamodb-local"
SHA256 = "fc65f12e5db3d214e4f0dcf0466fe38e11f8b91224a71af28be76c00387e616e"
"""Of all files' names and SHA-256: no checksum of the whole is published, so this is trust on first use."""

LIMIT_SECONDS = 600
LINES_SHOWN = 6

POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId>
  <artifactId>dynamodb-local-parts</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>com.amazonaws</groupId>
    <artifactId>DynamoDBLocal</artifactId>
    <version>{VERSION}</version>
  </dependency></dependencies>
</project>
"""
GOAL = f"org.apache.maven.plugins:maven-dependency-plugin:{PLUGIN_VERSION}:copy-dependencies"


def fetched(home: Path, folder: Path = FOLDER) -> Path:
    """The folder with all of its files, checked; `home` is the Java for a Maven that has none.

    Raises RequirementMissing without Maven, CommandError when it fails or brings something else.
    """
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / VERSION
    with held(folder / "lock"):
        if not whole.exists():
            with TemporaryDirectory(prefix="parts-", dir=folder) as scratch:
                _fetch(home, Path(scratch))
                _check(Path(scratch, "parts"))
                Path(scratch, "parts").rename(whole)
        _check(whole)
    return whole


def digest(folder: Path) -> str:
    """SHA-256 over the names and SHA-256 of a folder's files."""
    files = sorted(folder.iterdir())
    told = "".join(f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n" for file in files)
    return hashlib.sha256(told.encode()).hexdigest()


def _check(folder: Path) -> None:
    if digest(folder) != SHA256:
        raise CommandError(
            f"DynamoDB Local {VERSION} in {folder} is not the one that this project was tested with.",
            "Remove that folder, and its files from Maven's repository, and try again.",
        )


def _fetch(home: Path, scratch: Path) -> None:
    try:
        program = find_maven(os.environ)
    except RequirementMissing as missing:
        raise RequirementMissing(f"Maven is needed to fetch DynamoDB Local {VERSION}.", missing.hint or "") from None
    (scratch / "pom.xml").write_text(POM, encoding="utf-8")
    given = os.environ.get(REPOSITORY_VARIABLE)
    own = {} if shutil.which("java") or "JAVA_HOME" in os.environ else {"JAVA_HOME": str(home)}
    command = [program, "-q", "-B", "-ntp", *([f"-Dmaven.repo.local={given}"] if given else [])]
    command += ["-f", str(scratch / "pom.xml"), GOAL, "-DincludeScope=runtime", "-DoutputDirectory=parts"]
    try:
        done = subprocess.run(
            command,
            cwd=scratch,
            env=os.environ | own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CommandError(f"Maven did not end within {LIMIT_SECONDS} s.", "Check the network and try again.") from None
    if done.returncode:
        said = done.stdout.decode(errors="replace").strip().splitlines()
        raise CommandError(f"Maven could not fetch DynamoDB Local {VERSION}.", "\n".join(said[:LINES_SHOWN]))
