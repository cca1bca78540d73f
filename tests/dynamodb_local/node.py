"""Starts DynamoDB Local on a free port of the loopback interface, with nothing on disk and no telemetry."""

import os
import platform
import re
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from commonplace_local.errors import CommandError
from tests.dynamodb_local.parts import fetched
from tests.opensearch_node.java import RequirementMissing, homes, look

NEEDED = 17
"""Run on 17 and 25. The compiler is needed too, for its main class is in source."""

LIMIT_SECONDS = 120
PAUSE_SECONDS = 0.05
_LISTENS = re.compile(r"^listens on (\d+)$", re.MULTILINE)


class LocalDynamoDB:
    """A DynamoDB Local of this process. It ends with it, even if nobody stops it: its input does."""

    def __init__(self) -> None:
        home = find_java()
        lib = fetched(home)
        self._scratch = TemporaryDirectory(prefix="commonplace-dynamodb-")
        log = Path(self._scratch.name, "log")
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [
                    str(home / "bin" / "java"),
                    "-Xmx512m",
                    "--enable-native-access=ALL-UNNAMED",
                    f"-Djava.library.path={lib}",
                    "-cp",
                    f"{lib}/*",
                    str(Path(__file__).with_name("Loopback.java")),
                ],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._scratch.name,
            )
        try:
            self.url = f"http://127.0.0.1:{self._port(log)}"
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()
        self._scratch.cleanup()

    def _port(self, log: Path) -> int:
        deadline = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < deadline:
            said = log.read_text(encoding="utf-8", errors="replace")
            if found := _LISTENS.search(said):
                return int(found[1])
            try:
                self._process.wait(PAUSE_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            raise CommandError("DynamoDB Local does not start.", said[-2_000:])
        raise CommandError(f"DynamoDB Local is not up after {LIMIT_SECONDS} s.", said[-2_000:])


def find_java() -> Path:
    """The folder of a Java that compiles. Raises RequirementMissing."""
    if platform.machine() not in ("x86_64", "AMD64"):
        raise RequirementMissing("DynamoDB Local brings its SQLite for x86-64 alone.", "Run it on such a machine.")
    for home in homes(os.environ):
        java = look(home)
        if java and java.major >= NEEDED and (home / "bin" / "javac").exists():
            return home
    raise RequirementMissing(
        f"DynamoDB Local needs a development kit of Java {NEEDED} or newer, and there is none.",
        f"Install one (Debian, Ubuntu: openjdk-{NEEDED}-jdk-headless or newer), or name its folder in JAVA_HOME.",
    )
