"""Create the key with which operators get explanations of searches."""

import typer

from commonplace_local.terminal import commands

KEY_VARIABLE = "COMMONPLACE_OPERATOR_KEY"

app = commands("The key with which operators get explanations of searches.")


@app.callback()
def operators() -> None:
    """The key with which operators get explanations of searches."""


@app.command()
def new_key() -> None:
    """Create a key and print it once, with its hash for the deployment."""
    from commonplace.kernel.operator_key import fresh_key, key_hash

    key = fresh_key()
    typer.echo(f"The operators' key, shown only once; store it like a password:\n\n  {key}\n")
    typer.echo(f'Its hash, which is no secret, for cdk.json under context:\n\n  "operatorKeyHash": "{key_hash(key)}"\n')
    typer.echo("Deploy. Older keys stop working then. With the key in the environment variable")
    typer.echo(f"{KEY_VARIABLE}, a deployment explains searches:\n\n  commonplace search QUERY --explain --stage STAGE")
