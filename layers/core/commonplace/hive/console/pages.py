"""The console's pages of the hive: review, feeds, rules, figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from commonplace.hive.console.desk import Desk
from commonplace.hive.console.items import Items
from commonplace.hive.console.queue import Queue
from commonplace.hive.console.rules import Decisions
from commonplace.hive.settings import HiveSettings
from commonplace.kernel.deferred import Deferred, deferred
from commonplace.web.pages.declaration import ConsolePages
from commonplace.web.pages.frame import PageContext

if TYPE_CHECKING:
    from commonplace.hive.composition import HiveServices

HERE = Path(__file__).parent


def pages(context: PageContext) -> ConsolePages | None:
    """As the capability declares them; None for a deployment without a table of records."""
    settings = HiveSettings.where_contributed(context.environ)
    if settings is None:
        return None

    def build() -> HiveServices:
        from commonplace.hive.composition import services

        return services(context.environ, context.settings, context.objects)

    built = Deferred(build)
    return hive_pages(Desk(deferred(lambda: built().hive), deferred(lambda: built().reviews), settings.names))


def hive_pages(desk: Desk) -> ConsolePages:
    """Over these services."""
    return ConsolePages(
        pages=[*Queue(desk).pages(), *Items(desk).pages(), *Decisions(desk).pages()],
        templates=HERE / "templates",
        assets=HERE / "assets",
    )
