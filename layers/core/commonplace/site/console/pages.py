"""The console's home: who is signed in, what their roles are, and what they may do with them."""

from functools import partial
from pathlib import Path

from commonplace.identity.accounts import short
from commonplace.identity.authorization import Need
from commonplace.identity.principals import CATALOGUE, WORDS
from commonplace.web.pages.declaration import ConsolePage, ConsolePages, View, Visit
from commonplace.web.pages.frame import PageContext

MEMBER = Need("member", "knowledge:read")
"""What most pages of the console are for; who has less is told how to get there."""


def pages(context: PageContext) -> ConsolePages:
    """As the capability declares them."""
    return ConsolePages(
        pages=[ConsolePage(path="", title="You", show=partial(show_home, context))],
        templates=Path(__file__).parent / "templates",
    )


async def show_home(context: PageContext, visit: Visit) -> View:
    principal, readers = visit.principal, context.settings.site_tier
    reads = principal.reaches(readers)
    return View(
        "home.html",
        {
            "subject": short(principal.subject or ""),
            "principal": principal,
            "roles": sorted(principal.roles),
            "may": [WORDS[scope] for scope in CATALOGUE if reads and principal.may(scope) and scope in WORDS],
            "reads": reads,
            "readers": readers,
            "pages": visit.menu[1:],
            "ways": () if principal.uncertain or visit.may(MEMBER) else visit.ways(MEMBER),
            "newcomer": not principal.uncertain and not visit.may(MEMBER),
        },
    )
