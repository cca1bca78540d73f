"""The authorization server behind the gateway of the laptop cloud: every request is an event, as on AWS."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from mangum.types import LambdaContext

from commonplace.identity.oauth.server.app import create_app
from commonplace.web.gateway import Gateway
from commonplace.web.pages.app import asset_route
from commonplace.web.pages.declaration import ConsolePages
from commonplace.web.pages.frame import ASSETS_PATH, Frame
from commonplace_local.cloud.http_api import HttpApi, Route
from commonplace_local.cloud.runtime import Outcome
from tests.console_app import Deployment
from tests.fakes.authorization_server import AuthorizationServer


@contextmanager
def hosted(
    port: int = 0, console: Callable[[Frame], Sequence[ConsolePages]] | None = None, **changed: Any
) -> Iterator[AuthorizationServer]:
    """Listens at its issuer until the block ends, on a free port if none is given. `changed` as of its class.

    With `console` its pages are there as well, for whoever signs in.
    """
    handlers: dict[str, Gateway] = {}

    def invoke(function: str, event: bytes, _seconds: float) -> Outcome:
        answer = handlers[function](cast(Mapping[str, Any], json.loads(event)), cast(LambdaContext, None))
        return Outcome(json.dumps(answer).encode())

    api = HttpApi(invoke, port)
    server = AuthorizationServer(api.url, **changed)
    app = create_app(server.services)
    app.router.routes.append(asset_route(server.services.frame, ASSETS_PATH))  # elsewhere the function of the site
    handlers["auth"] = Gateway(app)
    api.routes.append(Route("$default", "auth"))
    if console is not None:
        deployment = Deployment(
            console, api.url, clock=server.clock, standings=server.standings, sign_ins=server.sign_ins
        )
        handlers["console"] = Gateway(deployment.app)
        api.routes.extend(Route(f"ANY {path}", "console") for path in ("/console", "/console/{proxy+}"))
    api.start()
    try:
        yield server
    finally:
        api.stop()
