"""No address of any function names a host that only its caller has named: not in a redirect, a header or a body."""

import base64
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.routing import BaseRoute, Route

from commonplace.web.gateway import Gateway
from commonplace.web.representations import API
from commonplace.web.rest import account
from commonplace.web.rest.app import RestApp
from commonplace.web.rest.app import router as described
from commonplace.web.rest.declaration import Site
from tests.site_app import site_app
from tests.unit.documents.rest.conftest import World as RestWorld
from tests.unit.documents.rest.conftest import world as rest_world
from tests.unit.identity.oauth.world import BASE, payload
from tests.unit.identity.oauth.world import World as AuthWorld
from tests.unit.web.mcp.world import World as McpWorld

EVIL = "evil.example"
LEADS = ("location", "content-location", "refresh", "link")
SHAPES = (
    "{0}",
    "{0}/",
    "{0}//",
    "/{0}",
    "//evil.example{0}",
    "/\\evil.example{0}",
    "{0}/%2F%2Fevil.example",
    "{0}/..//",
)


def rest(base_url: str = "") -> Any:
    garden: RestWorld = cast(Any, rest_world).__wrapped__()
    return garden.app(Site(base_url=base_url, reads_per_minute=0, searches_per_minute=0))


APPS: dict[str, Callable[[], Any]] = {
    "rest": lambda: rest(BASE),
    "rest without an address of its own": rest,
    "site": lambda: site_app(BASE_URL=BASE),
    "mcp": lambda: McpWorld().app,
    "auth": lambda: AuthWorld(AUTH_RATE_LIMIT="0", AUTH_REGISTRATIONS_PER_DAY="0").app,
}


def paths(app: Any) -> list[str]:
    """Of every route, with something in place of its parameters."""
    declared: list[BaseRoute] = list(app.routes)
    own = [route.path for route in declared if isinstance(route, Route)]
    routers = [account.router, described] if isinstance(app, RestApp) else []
    routers += [router for each in getattr(app, "declared", ()) for router in (*each.routers, *each.root_routers)]
    included = [route.path for router in routers for route in router.routes if isinstance(route, Route)]
    every = [*own, *included, *(API + path for path in included)]
    return list(dict.fromkeys(re.sub(r"{[^}]*}", "mcp", path) for path in every))


def asked(method: str, path: str) -> dict[str, Any]:
    """Even the gateway is taken in: the edge of MCP answers the host by which that was called."""
    told = {"host": EVIL, "x-forwarded-host": EVIL, "x-forwarded-proto": "http", "forwarded": f"host={EVIL}"}
    event = payload(method, path, None if method == "GET" else "{}", headers=told)
    event["requestContext"]["domainName"] = EVIL
    return event


def text_of(answer: dict[str, Any]) -> str:
    body = answer.get("body") or ""
    return base64.b64decode(body).decode("latin-1") if answer.get("isBase64Encoded") else body


@pytest.mark.parametrize("app", APPS)
def test_no_answer_leads_to_a_host_that_its_caller_named(app: str) -> None:
    made = APPS[app]()
    gateway, context = Gateway(made), cast(Any, SimpleNamespace(get_remaining_time_in_millis=lambda: 29_000))
    for path in paths(made):
        for shape in SHAPES:
            for method in ("GET", "POST"):
                address = shape.format(path)
                answer = gateway(asked(method, address), context)
                headers = {name.lower(): value for name, value in answer["headers"].items()}
                for name in LEADS:
                    assert not re.match(r"[a-z]*:?[/\\]{2}", headers.get(name, "")), (method, address, name)
                    assert EVIL not in headers.get(name, ""), (method, address, name)
                # Where the path itself names the host, only a host in the body would be an echo of it.
                echoed = f"http://{EVIL}" if EVIL in address else EVIL
                assert echoed not in text_of(answer), (method, address)
                assert echoed not in str(headers), (method, address)
