"""`python -m infra.waap --i-have-a-licence` builds the bundle, `--remove` deletes it."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from infra.node import command, provide_node
from infra.requirements import ROOT
from infra.waap import BUNDLE, COMMAND

HERE = Path(__file__).parent
FOLDER = ROOT / ".tools/waap"
COPIED = ("package.json", "package-lock.json", ".npmrc", "entry.js")
BUILD_SECONDS = 600
ESBUILD = [
    *("npx", "esbuild", "entry.js", "--bundle", "--format=esm", "--minify", "--target=es2022", "--outfile=waap.js"),
    # A peer that its authors call optional and import nevertheless.
    "--alias:react=./absent/index.js",
    '--define:process.env.NODE_ENV="production"',
]
LICENCE = f"""\
The packages @human.tech/waap-sdk, waap-constants and waap-interface-core name no licence: nobody may use them, or pass
them on, who has not been allowed to by their vendor. If you have: {COMMAND}"""


def main(arguments: Sequence[str]) -> str | None:
    """Return what went wrong, or None."""
    if list(arguments) == ["--remove"]:
        BUNDLE.unlink(missing_ok=True)
        return None
    if list(arguments) != ["--i-have-a-licence"]:
        return LICENCE
    if provide_node() is None:
        return "This needs Node.js: `make setup-all` brings one."
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        shutil.copyfile(HERE / name, FOLDER / name)
    shutil.copytree(HERE / "absent", FOLDER / "absent", dirs_exist_ok=True)
    for words in (["npm", "ci"], ESBUILD):
        done = subprocess.run(
            command(words), cwd=FOLDER, capture_output=True, text=True, check=False, timeout=BUILD_SECONDS
        )
        if done.returncode != 0:
            return f"`{' '.join(words[:2])}` failed: {done.stderr[-2000:]}"
    shutil.copyfile(FOLDER / "waap.js", BUNDLE)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
