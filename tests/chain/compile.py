"""Solidity beside this module, compiled: `python -m tests.chain.compile` rewrites contracts.json.

The result is committed, so that tests need the node alone; one test compiles again and compares.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

from infra.node import provide_node
from tests.chain.packages import NotInstalled, installed

HERE = Path(__file__).parent
SOURCE = "contracts.sol"
COMPILED = HERE / "contracts.json"


def compiled() -> dict[str, Any]:
    """By contract: `init` is what a deployment sends, `runtime` what stands at an address. Raises NotInstalled."""
    wanted = {
        "language": "Solidity",
        "sources": {SOURCE: {"content": (HERE / SOURCE).read_text()}},
        "settings": {
            "optimizer": {"enabled": True, "runs": 200},
            "evmVersion": "cancun",
            "metadata": {"bytecodeHash": "none", "appendCBOR": False},
            "outputSelection": {"*": {"*": ["evm.bytecode.object", "evm.deployedBytecode.object"]}},
        },
    }
    answer = json.loads(_solc(json.dumps(wanted)))
    errors = [one["formattedMessage"] for one in answer.get("errors", []) if one["severity"] == "error"]
    if errors:
        raise ValueError("\n".join(errors))
    return {
        name: {"init": made["evm"]["bytecode"]["object"], "runtime": made["evm"]["deployedBytecode"]["object"]}
        for name, made in sorted(answer["contracts"][SOURCE].items())
    }


def as_text(contracts: dict[str, Any]) -> str:
    return json.dumps(contracts, indent=1) + "\n"


def _solc(wanted: str) -> str:
    folder = installed()
    if provide_node() is None:
        raise NotInstalled("there is no Node.js; `make setup-all` brings one")
    script = folder / "compile.cjs"
    script.write_text((HERE / "compile.cjs").read_text())
    done = subprocess.run(["node", str(script)], input=wanted, capture_output=True, text=True, check=True, timeout=300)
    return done.stdout


if __name__ == "__main__":
    COMPILED.write_text(as_text(compiled()))
