"""The program that nodes run: three archives, each pinned to one version and one checksum, unpacked into a folder.

They come through Maven, from wherever this user's Maven fetches. Published metadata omits some of these versions: no
range and no `LATEST` finds them. The distribution equals the file whose checksum was published; none is published for
the two plugins, so theirs are trust on first use.
"""

import hashlib
import os
import shutil
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

from commonplace_local.errors import CommandError
from commonplace_local.locks import held
from tests.opensearch_node.java import Java, RequirementMissing

VERSION = "3.6.0"
PROGRAM = f"opensearch-{VERSION}"
"""The folder that the distribution unpacks to."""

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

TRIMMED = (
    "modules/ingest-geoip",
    "modules/ingest-user-agent",
    "modules/opensearch-dashboards",
    "modules/repository-url",
    "modules/rule-framework",
    "lib/tools/fips-demo-installer-cli",
)
"""85 MB that nothing here uses."""


@dataclass(frozen=True, slots=True)
class Part:
    """A zip archive in a Maven repository; `folder` is where its content belongs."""

    group: str
    artifact: str
    version: str
    sha256: str
    folder: str = ""

    @property
    def file(self) -> str:
        return f"{self.artifact}-{self.version}.zip"


PARTS = (
    Part(
        "org.opensearch.distribution.integ-test-zip",
        "opensearch",
        VERSION,
        "a91faa1dc1cadc78cb278b4f63847e19e1627a4e9de698e14e7efc14ee37b286",
    ),
    Part(
        "org.opensearch.plugin",
        "opensearch-knn",
        "3.6.0.0",
        "ac392ca28a39b3bf290648a422ef30cb149dda2963a9d7feb26060e932341c9a",
        f"{PROGRAM}/plugins/opensearch-knn",
    ),
    Part(
        "org.opensearch.plugin",
        "neural-search",
        "3.6.0.0",
        "6ef1b206e79391e2e36268e32dc34d27fd8b8a59a8eb0a7393c97d53b038e433",
        f"{PROGRAM}/plugins/opensearch-neural-search",
    ),
)


def ensure_program(home: Path, java: Java) -> Path:
    """Return the program's folder in `home`; made first when it is not there, which needs Maven."""
    program = home / PROGRAM
    if program.exists():
        return program
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o755)
    with held(home / "lock"):
        if not program.exists():
            with TemporaryDirectory(prefix="parts-", dir=home) as scratch:
                fetch(PARTS, Path(scratch), java)
                assemble(PARTS, Path(scratch), program)
    return program


def fetch(parts: Sequence[Part], folder: Path, java: Java) -> None:
    """Have Maven bring the archives into the folder, and check each.

    Raises RequirementMissing without Maven, CommandError when it fails or an archive is not the pinned one.
    """
    command = [find_maven(os.environ), "-q", "-B", "-ntp", "-f", str(folder / "pom.xml"), "dependency:copy"]
    if given := os.environ.get(REPOSITORY_VARIABLE):
        command.append(f"-Dmaven.repo.local={given}")
    items = (ITEM.format(group=part.group, artifact=part.artifact, version=part.version) for part in parts)
    pom = POM.format(plugin=PLUGIN_VERSION, folder=escape(str(folder)), items="\n".join(items))
    (folder / "pom.xml").write_text(pom, encoding="utf-8")
    # Maven runs on the Java of its user; only where there is none it gets ours.
    own = {} if shutil.which("java") or "JAVA_HOME" in os.environ else {"JAVA_HOME": str(java.home)}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | own,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CommandError(f"Maven did not end within {LIMIT_SECONDS} s.", "Check the network and try again.") from None
    if done.returncode:
        said = done.stdout.decode(errors="replace").strip().splitlines()
        raise CommandError(
            f"Maven could not fetch OpenSearch {VERSION} (exit status {done.returncode}).",
            "\n".join(said[:LINES_SHOWN]),
        )
    for part in parts:
        found = hashlib.sha256((folder / part.file).read_bytes()).hexdigest()
        if found != part.sha256:
            raise CommandError(
                f"{part.file} is not the file that is expected: its sha256 is {found}, not {part.sha256}.",
                "Remove it from Maven's repository and try again. If it comes back, do not use its source.",
            )


def find_maven(environ: Mapping[str, str]) -> str:
    """Return Maven's program: on the PATH, else below MAVEN_HOME. Raises RequirementMissing."""
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


def assemble(parts: Sequence[Part], downloads: Path, program: Path) -> None:
    """Unpack checked archives. A folder that is half done never has the final name."""
    staging = program.with_name("staging")
    shutil.rmtree(staging, ignore_errors=True)
    for part in parts:
        with zipfile.ZipFile(downloads / part.file) as archive:
            archive.extractall(staging / part.folder)
    made = staging / PROGRAM
    for folder in TRIMMED:
        shutil.rmtree(made / folder, ignore_errors=True)
    made.chmod(0o755)  # for every user, whatever the umask: zip files lose modes, and the node's user may be another
    for path in made.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
    made.rename(program)
    shutil.rmtree(staging)
