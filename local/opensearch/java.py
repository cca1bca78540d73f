"""Search for a Java that OpenSearch runs on, whether or not it is the one on the PATH."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from local.errors import CommandError

NEEDED = 21
TRIED = (25, 21)
"""Versions that the node was run on; they go before others."""

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
_SPOKEN = re.compile(r'version "([^"]+)"')
_NUMBERS = re.compile(r"(?:1\.)?(\d+)")


class RequirementMissing(CommandError):
    """Java or Maven is not there. Tests that need a node are left out then, except in CI."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime. `lacks` says why it will not do although it is new enough; empty when it will."""

    home: Path
    major: int
    lacks: str = ""

    @property
    def fits(self) -> bool:
        return self.major >= NEEDED and not self.lacks

    @property
    def rank(self) -> tuple[bool, int]:
        return self.major in TRIED, self.major

    def __str__(self) -> str:
        return f"Java {self.major}{' (' + self.lacks + ')' if self.lacks else ''} in {self.home}"


def find_java(
    environ: Mapping[str, str], *, places: tuple[str, ...] | None = None, enters: Callable[[Path], bool] = Path.exists
) -> Java:
    """The Java that a variable names, else that of the PATH, else the best of the usual places.

    `enters` says whether the user who will run the node can reach a file. Raises RequirementMissing, which tells what
    was found instead.
    """
    seen: list[Java] = []
    for home in _named(environ):
        java = look(home, enters)
        if java and java.fits:
            return java
        seen += [java] if java else []
    others = [java for home in _placed(environ, PLACES if places is None else places) if (java := look(home, enters))]
    best = max((java for java in others if java.fits), key=lambda java: java.rank, default=None)
    if best:
        return best
    told = "; ".join(map(str, dict.fromkeys([*seen, *others]))) or "none at all"
    raise RequirementMissing(
        f"OpenSearch needs Java {NEEDED} or newer. Found: {told}.",
        f"Install one (Debian, Ubuntu: openjdk-{NEEDED}-jre-headless or newer; macOS: brew install openjdk; "
        f"elsewhere: adoptium.net), or name the folder of one that is there in {VARIABLES[0]}.",
    )


def homes(environ: Mapping[str, str]) -> Iterator[Path]:
    """Where a Java may be: what variables and the PATH name, then the usual places."""
    yield from _named(environ)
    yield from _placed(environ, PLACES)


def look(home: Path, enters: Callable[[Path], bool] = Path.exists) -> Java | None:
    """What Java is in this folder; None when there is none."""
    program = home / "bin" / "java"
    if not os.access(program, os.X_OK):
        return None
    facts = {}
    with suppress(OSError):
        facts = dict(_RELEASE_LINE.findall((home / "release").read_text(encoding="utf-8", errors="replace")))
    major = parse_major(facts.get("JAVA_VERSION", "")) or _ask(program)
    if major is None:
        return None
    modules = facts.get("MODULES", " ".join(MODULES)).split()
    absent = [name for name in MODULES if name not in modules]
    if absent:
        return Java(home, major, f"a reduced runtime without {' and '.join(absent)}")
    return Java(home, major, "" if enters(program) else "out of reach of the unprivileged user")


def parse_major(version: str) -> int | None:
    """`17.0.15` -> 17, `1.8.0_292` -> 8, `25-ea` -> 25; None when it is no version."""
    found = _NUMBERS.match(version)
    return int(found[1]) if found else None


def parse_spoken(output: str) -> int | None:
    """The major version from what `java -version` prints."""
    found = _SPOKEN.search(output)
    return parse_major(found[1]) if found else None


def _named(environ: Mapping[str, str]) -> Iterator[Path]:
    yield from (Path(environ[name]) for name in VARIABLES if environ.get(name))
    program = shutil.which("java", path=environ.get("PATH", os.defpath))
    if program:
        yield Path(program).resolve().parents[1]


def _placed(environ: Mapping[str, str], places: tuple[str, ...]) -> Iterator[Path]:
    """Each installation once, however many links lead to it."""
    found: dict[Path, None] = {}
    for place in places:
        whole = Path(place.replace("~", environ.get("HOME", "/nowhere"), 1) if place.startswith("~") else place)
        found |= dict.fromkeys(path.resolve() for path in sorted(Path(whole.anchor).glob(str(whole)[1:])))
    return iter(found)


def _ask(program: Path) -> int | None:
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_spoken(done.stderr + done.stdout)
