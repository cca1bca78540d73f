"""What the tests of published contracts are run with."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Loads the plugin of Schemathesis here alone: it takes seconds to import, and a look at every test."""
    config.pluginmanager.import_plugin("schemathesis.pytest.plugin")
