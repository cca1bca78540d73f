"""`python -m local.cli`."""

from local.cli import app

app()
