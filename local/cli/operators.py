"""`commonplace operators`: the key with which operators have a search explained."""

import typer

operators_app = typer.Typer(
    help="The key with which operators have a search explained.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@operators_app.callback()
def operators() -> None:
    """The key with which operators have a search explained."""


@operators_app.command()
def new_key() -> None:
    """Print a fresh key, once, and the hash of it that a deployment is given."""
    from commonplace.kernel.operator_key import fresh_key, key_hash
    from local.cli.search import KEY_VARIABLE

    key = fresh_key()
    typer.echo(f"The operators' key. It is shown now and never again; keep it where you keep passwords:\n\n  {key}\n")
    typer.echo(f'Its hash, which is no secret, for cdk.json under context:\n\n  "operatorKeyHash": "{key_hash(key)}"\n')
    typer.echo("Deploy. An older key is worth nothing from then on. With the key in the environment variable")
    typer.echo(f"{KEY_VARIABLE}, a deployment explains itself:\n\n  commonplace search QUERY --explain --stage STAGE")
