"""Settings of the functions that show pages."""

from commonplace.kernel.settings import Appearance
from commonplace.web.settings import PublicSettings


class SiteSettings(PublicSettings, Appearance):
    """Of the site that anybody reads."""
