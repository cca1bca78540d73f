"""An organisation's knowledge, stored, indexed and served; one package in every function, and below the laptop."""

__version__ = "1.0.0"
"""The version of the project and of what it serves: the package, `--version`, REST, MCP, `/health`, `server.json`."""
