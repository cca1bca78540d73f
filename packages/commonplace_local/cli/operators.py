"""Make the key with which operators have a search explained."""

import typer

from commonplace_local.terminal import commands

KEY_VARIABLE = "COMMONPLACE_OPERATOR_KEY"

app = commands("The key with which operators have a search explained.")


@app.callback()
def operators() -> None:
    """The key with which operators have a search explained."""


@app.command()
def new_key() -> None:
    """Print a fresh key, once, and the hash of it that a deployment is given."""
    from commonplace.kernel.operator_key import fresh_key, key_hash

    key = fresh_key()
    typer.echo(f"The operators' key. It is shown now and never again; keep it where you keep passwords:\n\n  {key}\n")
    typer.echo(f'Its hash, which is no secret, for cdk.json under context:\n\n  "operatorKeyHash": "{key_hash(key)}"\n')
    typer.echo("Deploy. An older key is worth nothing from then on. With the key in the environment variable")
    typer.echo(f"{KEY_VARIABLE}, a deployment explains itself:\n\n  commonplace search QUERY --explain --stage STAGE")
