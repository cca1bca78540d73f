"""The stand-in as a server on the loopback interface."""

from types import TracebackType
from typing import Self

from werkzeug.serving import WSGIRequestHandler

from local.cloud.servers import LoopbackHandler, WsgiLoopback
from local.github.api import GitHubApi
from local.github.site import GitHubSite


class QuietHandler(LoopbackHandler, WSGIRequestHandler):
    """HTTP/1.1 with kept-alive connections; the calls are in the application's own log."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log(self, type: str, message: str, *args: object) -> None:
        """Says nothing."""


class GitHubServer:
    """Serves repositories on 127.0.0.1; port 0 means any free one. `api` is the first repository's."""

    def __init__(self, api: GitHubApi, *others: GitHubApi, port: int = 0) -> None:
        self.api = api
        self._site = GitHubSite([api, *others])
        self._server = WsgiLoopback(self._site, QuietHandler, port)

    @property
    def url(self) -> str:
        """Without trailing slash: what `GITHUB_API_URL` is set to."""
        return self._server.url

    def start(self) -> Self:
        self._server.start()
        return self

    def stop(self) -> None:
        """Closes the port and ends the `git` processes."""
        self._server.stop()
        self._site.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
