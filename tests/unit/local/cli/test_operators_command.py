"""`commonplace operators new-key`."""

import re

from typer.testing import CliRunner

from commonplace.kernel.operator_key import is_operators_key
from commonplace_local import cli


def test_a_key_is_printed_once_with_the_hash_that_belongs_to_it() -> None:
    runs = [CliRunner().invoke(cli.app, ["operators", "new-key"]) for _ in range(2)]
    assert [run.exit_code for run in runs] == [0, 0]
    keys = [re.findall(r"cpo_[\w-]+", run.output) for run in runs]
    hashes = [re.findall(r'"operatorKeyHash": "([0-9a-f]{64})"', run.output) for run in runs]
    assert [len(found) for found in (*keys, *hashes)] == [1, 1, 1, 1]
    assert is_operators_key(keys[0][0], hashes[0][0])
    assert keys[0] != keys[1]
