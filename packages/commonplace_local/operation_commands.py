"""Commands of operations: each calls an operation that declares a command, and prints the answer."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType, NoneType, SimpleNamespace
from typing import Annotated, Any, get_args

import typer
from pydantic.alias_generators import to_snake

from commonplace.web.operations import NOTHING_YET, Listing, Operation
from commonplace_local.access import Place
from commonplace_local.options import grouped
from commonplace_local.terminal import AsJson, clean, print_json

Open = Callable[[Any, str], AbstractContextManager[Any]]
"""`(place, scope) -> a client`, whose `answer(name, **given)` returns the answer of one call of an operation."""
Text = Callable[[Mapping[str, Any]], str]
"""An answer as a person reads it, with the arguments beside it."""


def add_commands(
    app: typer.Typer,
    operations: Iterable[Operation],
    opened: Open,
    *,
    options: Mapping[str, str] = MappingProxyType({}),
    texts: Mapping[str, Text] = MappingProxyType({}),
    place: type[Any] = Place,
) -> None:
    """Add the commands of those operations that declare one. What is refused ends the command.

    `options` names the option of a field where it is called otherwise, `texts` has what is printed for a person
    instead of the fields of an answer, by the operation's name. `place` has the options that say where.
    """
    for one in operations:
        if one.command:
            command = _command(one, opened, texts.get(one.name), options, place)
            app.command(one.command, help=one.description)(command)


def _command(
    one: Operation, opened: Open, text: Text | None, options: Mapping[str, str], where: type[Any]
) -> Callable[..., None]:
    fields = one.input.model_fields
    nullable = {name for name, info in fields.items() if info.is_required() and NoneType in get_args(info.annotation)}

    def run(*, as_json: bool, place: Any, **given: Any) -> None:
        # What a caller leaves as it is, is left to the server.
        given = {
            name: value
            for name, value in given.items()
            if value not in (None, []) and not (isinstance(value, bool) and value is fields[name].default)
        }
        # The null of what is required is an empty text.
        given |= {name: None for name, value in given.items() if value == "" and name in nullable}
        with opened(place, one.need.scope) as client:
            answer = client.answer(one.name, **given)
        if as_json:
            print_json(answer)
        elif text is not None:
            typer.echo(text({**given, **answer}))
        elif isinstance(one, Listing):
            rows = [SimpleNamespace(**{to_snake(name): value for name, value in row.items()}) for row in answer[one.of]]
            cursor = answer.get("nextCursor")
            for line in [one.line(row) for row in rows] or [NOTHING_YET if cursor else one.nothing]:
                typer.echo(clean(line))
            if cursor:
                typer.echo(f"More: --cursor {cursor}", err=True)
        else:
            _print(answer)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = []
    for name, info in fields.items():
        default = inspect.Parameter.empty if info.is_required() else info.get_default(call_default_factory=True)
        bounds = {
            side: getattr(bound, sign)
            for bound in info.metadata
            for side, sign in (("min", "ge"), ("max", "le"))
            if hasattr(bound, sign)
        }
        flag = options.get(name, f"--{name.replace('_', '-')}")
        flags = (flag, f"--no-{flag.removeprefix('--')}") if default is True else (flag,)
        shown: Any = (
            typer.Argument(help=info.description, **bounds)
            if info.is_required()
            else typer.Option("/".join(flags), help=info.description or name.replace("_", " "), **bounds)
        )
        parameters.append(
            inspect.Parameter(name, keyword, annotation=Annotated[info.annotation, shown], default=default)
        )
    parameters += [
        inspect.Parameter("as_json", keyword, annotation=AsJson, default=False),
        inspect.Parameter("place", keyword, annotation=where),
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
