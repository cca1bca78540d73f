"""The authorization server behind the gateway of the laptop cloud: every request is an event, as on AWS."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from mangum.types import LambdaContext

from commonplace.identity.oauth.server.app import create_app
from commonplace.web.gateway import Gateway
from commonplace.web.pages.app import asset_route
from commonplace.web.pages.frame import ASSETS_PATH
from local.cloud.http_api import HttpApi, Route
from local.cloud.runtime import Outcome
from tests.fakes.authorization_server import AuthorizationServer


@contextmanager
def hosted(port: int = 0, **changed: Any) -> Iterator[AuthorizationServer]:
    """Listens at its issuer until the block ends, on a free port if none is given. `changed` as of its class."""
    handlers: list[Gateway] = []

    def invoke(_function: str, event: bytes, _seconds: float) -> Outcome:
        answer = handlers[0](cast(Mapping[str, Any], json.loads(event)), cast(LambdaContext, None))
        return Outcome(json.dumps(answer).encode())

    api = HttpApi(invoke, port)
    server = AuthorizationServer(api.url, **changed)
    app = create_app(server.services)
    app.router.routes.append(asset_route(server.services.frame, ASSETS_PATH))  # elsewhere the function of the site
    handlers.append(Gateway(app))
    api.routes.append(Route("$default", "auth"))
    api.start()
    try:
        yield server
    finally:
        api.stop()
