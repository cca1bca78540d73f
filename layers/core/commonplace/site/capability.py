"""The declaration of pages for people that belong to no other capability."""

from commonplace.kernel.capability import Capability

SITE = Capability(name="site", pages="commonplace.site.connect.routes:pages")
