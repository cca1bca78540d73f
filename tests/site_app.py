"""The site over parts of a test, as the function composes it from what capabilities declare."""

from collections.abc import Mapping, Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel.capability import built
from commonplace.kernel.limits import Limiter
from commonplace.kernel.objects import ObjectStore
from commonplace.web.pages.app import create_app
from commonplace.web.pages.declaration import Pages
from commonplace.web.pages.frame import PageContext, frame_of
from commonplace.web.settings import SiteSettings
from tests.fakes.library import FakeLibrary

ENVIRONMENT: Mapping[str, str] = {
    "STAGE": "dev",
    "CONTENT_BUCKET": "content",
    "ACTIVITY_TABLE": "activity",
    "GITHUB_REPOSITORY": "garden/knowledge",
    "GITHUB_BRANCH": "main",
    "BASE_URL": "https://garden.example.org",
    "SITE_NAME": "The garden",
    "INDEX_LOCATION": "file:///nowhere/index.sqlite",
}


class Counters:
    """Nobody has called before."""

    def add(self, key: str, amount: int, expires_at: int) -> int:
        return amount


def site_app(
    objects: ObjectStore | None = None,
    *,
    pages: Sequence[Pages] | None = None,
    private: Middleware | None = None,
    **variables: str,
) -> Starlette:
    """With the pages of all capabilities, unless others are given."""
    settings = SiteSettings.from_environ({**ENVIRONMENT, **variables})
    frame = frame_of(settings, CAPABILITIES, settings.base_url)
    context = PageContext({**ENVIRONMENT, **variables}, settings, frame, objects or FakeLibrary())
    declared = list(built(CAPABILITIES, "pages", context)) if pages is None else pages
    return create_app(declared, frame, Limiter(Counters(), lambda: 0.0), reads=0, searches=0, private=private)
