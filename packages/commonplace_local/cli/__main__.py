"""`python -m commonplace_local.cli`."""

from commonplace_local.cli import app

app()
