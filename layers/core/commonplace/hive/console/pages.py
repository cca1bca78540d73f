"""The console's pages of the hive: review, feeds, rules, figures."""

from __future__ import annotations

from pathlib import Path

from commonplace.hive.console.desk import Desk
from commonplace.hive.console.items import Items
from commonplace.hive.console.queue import Queue
from commonplace.hive.console.rules import Decisions
from commonplace.web.pages.declaration import ConsolePages

HERE = Path(__file__).parent


def hive_pages(desk: Desk) -> ConsolePages:
    """Over these services."""
    return ConsolePages(
        pages=[*Queue(desk).pages(), *Items(desk).pages(), *Decisions(desk).pages()],
        templates=HERE / "templates",
        assets=HERE / "assets",
    )
