"""Commands of operations: each calls the route of an operation that declares a command."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Annotated, Any

import typer
from pydantic.alias_generators import to_snake

from commonplace.web.operations import Listing, Operation
from local.access import Place
from local.options import grouped
from local.terminal import AsJson, clean, print_json

Open = Callable[[Place, str], AbstractContextManager[Any]]
"""`(place, scope) -> a server`, whose `rest(method, path, body=, **query)` returns the answer."""


def add_commands(app: typer.Typer, operations: Iterable[Operation], opened: Open) -> None:
    """Add the commands of those operations that declare one. What a route refuses ends the command."""
    for one in operations:
        if one.command:
            app.command(one.command, help=one.description)(_command(one, opened))


def _command(one: Operation, opened: Open) -> Callable[..., None]:
    def run(*, as_json: bool, place: Place, **given: Any) -> None:
        values = {name: value for name, value in given.items() if value not in (None, [], False)}
        method, path, query, body = one.request(values)
        with opened(place, one.need.scope) as server:
            answer = server.rest(method, path, body=body, **query)
        if as_json:
            print_json(answer)
        elif isinstance(one, Listing):
            rows = [SimpleNamespace(**{to_snake(name): value for name, value in row.items()}) for row in answer[one.of]]
            for line in [one.line(row) for row in rows] or [one.nothing]:
                typer.echo(clean(line))
            if cursor := answer.get("nextCursor"):
                typer.echo(f"More: --cursor {cursor}", err=True)
        else:
            _print(answer)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = []
    for name, info in one.input.model_fields.items():
        flag = f"--{name.replace('_', '-')}"
        shown: Any = typer.Argument(help=info.description) if info.is_required() else None
        shown = shown or typer.Option(flag, help=info.description or name)
        default = inspect.Parameter.empty if info.is_required() else info.get_default(call_default_factory=True)
        parameters.append(
            inspect.Parameter(name, keyword, annotation=Annotated[info.annotation, shown], default=default)
        )
    parameters += [
        inspect.Parameter("as_json", keyword, annotation=AsJson, default=False),
        inspect.Parameter("place", keyword, annotation=Place),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__ = one.name
    return grouped(run)


def _print(answer: Mapping[str, Any]) -> None:
    """Print the fields of an answer, one on a line; lists of objects as lines of their own."""
    for name, value in answer.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for row in value:
                typer.echo(clean(" ".join(str(one) for one in row.values() if one not in (None, "", [], False))))
        elif value not in (None, "", []):
            text = value if isinstance(value, str) else ", ".join(map(str, value)) if isinstance(value, list) else value
            typer.echo(clean(f"{to_snake(name).replace('_', ' ')}: {text}"))
