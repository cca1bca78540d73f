"""Operations on pages of the console: an action does one with the fields of a form, as REST and MCP do it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool

from commonplace.identity.authorization import Need
from commonplace.kernel.errors import CommonplaceError
from commonplace.web.middleware import client_address
from commonplace.web.operations import Actor, Operation
from commonplace.web.pages.declaration import Action, Done, View, Visit

Show = Callable[[Visit, CommonplaceError | None], Awaitable[View]]
"""Renders a page, with what was refused."""


def actor(visit: Visit) -> Actor:
    """Return on whose behalf a page works."""
    return Actor(visit.principal, client_address(visit.request.scope))


def action(
    called: Operation,
    service: Any,
    show: Show,
    *,
    done: str | Callable[[Visit, Any], Awaitable[Done]],
    values: Callable[[Visit], Mapping[str, Any]] = lambda _: {},
    need: Need | None = None,
) -> Action:
    """Return the action that does an operation with the path's parameters and the form's fields of its input.

    `done` is the message of the page, or where to go on; `values` gives what the form does not say as the input has
    it; `need` is more than the operation's. What is refused is shown on the page itself.
    """

    def work(visit: Visit) -> Any:
        fields, path = called.input.model_fields, visit.request.path_params
        given = {name: path.get(name, visit.value(name)) for name in fields}
        given = {name: one for name, one in given.items() if one or fields[name].is_required()} | dict(values(visit))
        return called.run(service, actor(visit), called.accepted(given))

    async def run(visit: Visit) -> Done | View:
        try:
            result = await run_in_threadpool(work, visit)
        except CommonplaceError as error:
            if error.status >= 500 or error.status == 404:
                raise
            return await show(visit, error)
        return Done(done) if isinstance(done, str) else await done(visit, result)

    return Action(run, need or called.need)
