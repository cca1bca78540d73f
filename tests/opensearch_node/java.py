"""Find a Java that a node of OpenSearch runs on, whether or not it is the one on the PATH."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from commonplace_local.errors import CommandError

NEEDED = 21
PREFERRED = (25, 21)
"""The versions that the node was run on; they go before others."""

MODULES = ("jdk.incubator.vector", "jdk.localedata")
"""OpenSearch does not start without the first; without the second it starts and can open no index."""

VARIABLES = ("OPENSEARCH_JAVA_HOME", "JAVA_HOME")
PLACES = (
    "/usr/lib/jvm/*",
    "/usr/lib64/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
    "~/.asdf/installs/java/*",
    "~/.local/share/mise/installs/java/*",
)
_RELEASE_LINE = re.compile(r'^(JAVA_VERSION|MODULES)="([^"]*)"', re.MULTILINE)
_PRINTED_VERSION = re.compile(r'version "([^"]+)"')
_MAJOR = re.compile(r"(?:1\.)?(\d+)")
"""`17.0.15` is 17, `1.8.0_292` is 8, `25-ea` is 25."""


class RequirementMissing(CommandError):
    """Java or Maven is not there. Tests that need a node are skipped then, except in CI."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime. `lacks` says why it will not do although it is new enough; empty when it will."""

    home: Path
    major: int
    lacks: str = ""

    def __str__(self) -> str:
        return f"Java {self.major}{' (' + self.lacks + ')' if self.lacks else ''} in {self.home}"


def find_java(
    environ: Mapping[str, str], places: tuple[str, ...] = PLACES, enters: Callable[[Path], bool] = Path.exists
) -> Java:
    """Return the Java that a variable names, else that of the PATH, else the best of the usual places.

    `enters` says whether the user who will run the node can reach a file. Raises RequirementMissing, with what was
    found instead.
    """
    named = list(_named(environ))
    found = [java for home in homes(environ, places) if (java := look(home, enters))]
    fitting = [java for java in found if java.major >= NEEDED and not java.lacks]
    for java in fitting:
        if java.home in named:
            return java
    if fitting:
        return max(fitting, key=lambda java: (java.major in PREFERRED, java.major))
    listed = "; ".join(map(str, dict.fromkeys(found))) or "none at all"
    raise RequirementMissing(
        f"OpenSearch needs Java {NEEDED} or newer. Found: {listed}.",
        f"Install one (Debian, Ubuntu: openjdk-{NEEDED}-jre-headless or newer; macOS: brew install openjdk; "
        f"elsewhere: adoptium.net), or name the folder of one that is there in {VARIABLES[0]}.",
    )


def homes(environ: Mapping[str, str], places: tuple[str, ...] = PLACES) -> Iterator[Path]:
    """Yield where a Java may be: what variables and the PATH name, then the usual places."""
    yield from _named(environ)
    installed: dict[Path, None] = {}  # each installation once, however many links lead to it
    for place in places:
        whole = Path(place.replace("~", environ.get("HOME", "/nowhere"), 1) if place.startswith("~") else place)
        installed |= dict.fromkeys(path.resolve() for path in sorted(Path(whole.anchor).glob(str(whole)[1:])))
    yield from installed


def _named(environ: Mapping[str, str]) -> Iterator[Path]:
    yield from (Path(environ[name]) for name in VARIABLES if environ.get(name))
    program = shutil.which("java", path=environ.get("PATH", os.defpath))
    if program:
        yield Path(program).resolve().parents[1]


def look(home: Path, enters: Callable[[Path], bool] = Path.exists) -> Java | None:
    """Return the Java in this folder; None when there is none."""
    program = home / "bin" / "java"
    if not os.access(program, os.X_OK):
        return None
    facts = {}
    with suppress(OSError):
        facts = dict(_RELEASE_LINE.findall((home / "release").read_text(encoding="utf-8", errors="replace")))
    version = facts.get("JAVA_VERSION", "")
    if not version:
        with suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=30, check=False)
            printed = _PRINTED_VERSION.search(done.stderr + done.stdout)
            version = printed[1] if printed else ""
    major = _MAJOR.match(version)
    if major is None:
        return None
    modules = facts.get("MODULES", " ".join(MODULES)).split()
    absent = [name for name in MODULES if name not in modules]
    lacks = f"a reduced runtime without {' and '.join(absent)}" if absent else ""
    if not lacks and not enters(program):
        lacks = "out of reach of the unprivileged user"
    return Java(home, int(major[1]), lacks)
