"""The program that nodes run: three archives, each pinned to one version and one checksum, unpacked into a folder.

They come through Maven, from wherever this user's Maven fetches. Published metadata omits some of these versions: no
range and no `LATEST` finds them. The distribution equals the file whose checksum was published; none is published for
the two plugins, so theirs are trust on first use.
"""

import hashlib
import os
import shutil
import subprocess
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

from local.errors import CommandError
from local.locks import held
from local.opensearch.folders import PROGRAM, VERSION, Home, make_passable
from local.opensearch.java import Java, RequirementMissing
from local.opensearch.progress import Tell

MEGABYTES = 180
"""What all parts weigh together."""

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
    """A zip archive in a Maven repository."""

    group: str
    artifact: str
    version: str
    sha256: str
    folder: str = ""
    """Where its content belongs; the distribution brings its own top folder."""

    @property
    def file(self) -> str:
        return f"{self.artifact}-{self.version}.zip"

    @property
    def place(self) -> str:
        """Where a Maven repository keeps it."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.file}"


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


def is_whole(part: Part, file: Path) -> bool:
    """Whether the file is there and is the pinned one."""
    return file.is_file() and _sha256(file) == part.sha256


def check(part: Part, file: Path, kept: str = "~/.m2/repository") -> None:
    """Removes a file that is not the pinned one and raises CommandError. `kept` is where Maven has its own copy."""
    found = _sha256(file)
    if found == part.sha256:
        return
    file.unlink()
    raise CommandError(
        f"{part.file} is not the file that is expected: its sha256 is {found}, not {part.sha256}. It was removed.",
        f"Maven may still hold it: remove {kept}/{part.place} and try again. If it comes back, do not use its source.",
    )


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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
        given = os.environ.get(REPOSITORY_VARIABLE)
        kept = [f"-Dmaven.repo.local={given}"] if given else []
        _run([program, "-q", "-B", "-ntp", *kept, "-f", str(file), "dependency:copy"], java, tell)
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
    made.chmod(0o755)  # for every user, whatever the umask: zip files lose modes, and the node's user may be another
    for path in made.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
    made.rename(program)
    shutil.rmtree(staging)
