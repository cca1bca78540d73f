"""Fetches the parts of a node through Maven, from wherever this user's Maven fetches."""

import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

from local.errors import CommandError
from local.opensearch.folders import VERSION
from local.opensearch.java import Java
from local.opensearch.parts import MEGABYTES, Part, check, is_whole
from local.opensearch.requirements import RequirementMissing
from local.opensearch.telling import Tell

PLUGIN_VERSION = "3.6.1"
REPOSITORY_VARIABLE = "COMMONPLACE_MAVEN_REPOSITORY"
"""Another local repository than Maven's own; for measurements and for CI caches."""

LIMIT_SECONDS = 1800
LINES_SHOWN = 6

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId>
  <artifactId>opensearch-parts</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId>
    <artifactId>maven-dependency-plugin</artifactId>
    <version>{plugin}</version>
    <configuration>
      <outputDirectory>{folder}</outputDirectory>
      <artifactItems>
{items}
      </artifactItems>
    </configuration>
  </plugin></plugins></build>
</project>
"""
ITEM = (
    "        <artifactItem><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
    "<version>{version}</version><type>zip</type></artifactItem>"
)


def pom(parts: Sequence[Part], folder: Path) -> str:
    """A project whose only goal is to copy these archives into the folder."""
    items = (ITEM.format(group=part.group, artifact=part.artifact, version=part.version) for part in parts)
    return POM.format(plugin=PLUGIN_VERSION, folder=escape(str(folder)), items="\n".join(items))


def fetch(parts: Sequence[Part], folder: Path, java: Java, tell: Tell) -> None:
    """Brings the archives into the folder, each checked; what is there already is not fetched again.

    Raises RequirementMissing without Maven, CommandError when it fails or an archive is not the pinned one.
    """
    missing = [part for part in parts if not is_whole(part, folder / part.file)]
    if not missing:
        return
    program = find_maven(os.environ)
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="commonplace-maven-") as scratch:
        file = Path(scratch, "pom.xml")
        file.write_text(pom(missing, folder), encoding="utf-8")
        _run([program, "-q", "-B", "-ntp", *_repository(), "-f", str(file), "dependency:copy"], java, tell)
    for part in missing:
        if not (folder / part.file).is_file():
            raise CommandError(f"Maven ended well and {part.file} is not there.", f"Look into {folder}.")
        check(part, folder / part.file, os.environ.get(REPOSITORY_VARIABLE) or "~/.m2/repository")


def find_maven(environ: Mapping[str, str]) -> str:
    """Maven's program: on the PATH, else below MAVEN_HOME. Raises RequirementMissing."""
    found = shutil.which("mvn", path=environ.get("PATH", os.defpath))
    if found:
        return found
    for name in ("MAVEN_HOME", "M2_HOME"):
        program = Path(environ.get(name, "/nowhere"), "bin", "mvn")
        if os.access(program, os.X_OK):
            return str(program)
    raise RequirementMissing(
        f"Maven is needed to fetch OpenSearch {VERSION}, and there is no `mvn` on the PATH.",
        "Install Maven 3.6 or newer (Debian, Ubuntu: apt install maven; macOS: brew install maven). "
        "It is needed once: a node that is assembled starts without it.",
    )


def _repository() -> list[str]:
    given = os.environ.get(REPOSITORY_VARIABLE)
    return [f"-Dmaven.repo.local={given}"] if given else []


def _run(command: list[str], java: Java, tell: Tell) -> None:
    """Maven runs on the Java of its user; only where there is none it gets ours."""
    own = {} if shutil.which("java") or "JAVA_HOME" in os.environ else {"JAVA_HOME": str(java.home)}
    with TemporaryDirectory(prefix="commonplace-maven-") as scratch:
        log = Path(scratch, "log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **own}
            )
        try:
            status = _wait(process, tell)
        finally:
            process.kill()
            process.wait()
        if status != 0:
            said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise CommandError(
                f"Maven could not fetch OpenSearch {VERSION} (exit status {status}).", "\n".join(said[:LINES_SHOWN])
            )


def _wait(process: "subprocess.Popen[bytes]", tell: Tell) -> int:
    began = time.monotonic()
    while True:
        seconds = time.monotonic() - began
        tell(f"Fetching OpenSearch {VERSION} with Maven ({MEGABYTES} MB)", seconds)
        if seconds > LIMIT_SECONDS:
            raise CommandError(f"Maven did not end within {LIMIT_SECONDS} s.", "Check the network and try again.")
        try:
            return process.wait(1)
        except subprocess.TimeoutExpired:
            continue
