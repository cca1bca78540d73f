"""The declaration of pages for people that belong to no other capability."""

from commonplace.kernel.capability import Capability, PageLink

SITE = Capability(
    name="site",
    pages="commonplace.site.pages:pages",
    routes="commonplace.site.rest:routes",
    console="commonplace.site.console.pages:pages",
    links=(
        PageLink(path="/connect", title="Connect"),
        PageLink(path="/docs", title="API"),
        PageLink(path="/console", title="Console", covers=("/console", "/account")),
        PageLink(path="/connect", title="Connect an agent", place="footer"),
        PageLink(path="/docs", title="API", place="footer"),
    ),
)
