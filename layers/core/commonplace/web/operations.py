"""Operations: what callers can do, each declared once.

One declaration gives the tool (`web.operation_tools`), the route with its OpenAPI entry
(`web.operation_routes`), the page of the console (`web.operation_pages`), the command and the method of the
client. A function and its docstring say what is done; its input is a model; a face shows what it returns (`web.faces`).
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, Field, ValidationError, create_model
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from commonplace.identity.authorization import Need, Verdict, judge
from commonplace.identity.principals import KINDS, MEMBERSHIP, Level, Principal, Tier, author, scope
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import InvalidInput, NotFound
from commonplace.web.faces import Face, derived
from commonplace.web.faults import words
from commonplace.web.mcp.budgets import estimate_tokens, fitting
from commonplace.web.mcp.declaration import Cost, SnakeCaseArguments
from commonplace.web.mcp.rendering import compact
from commonplace.web.sealed import opened, sealed

P = TypeVar("P", str, int)

MAX_CURSOR_CHARACTERS = 512
PURPOSE = b"listing"
NOTHING_YET = "Nothing of this kind on this page."
"""A page whose rows were all left out by a filter, and which is not the last."""


class Input(SnakeCaseArguments):
    """Base of what an operation takes. Every surface has the same fields and bounds."""


@dataclass(frozen=True, slots=True)
class RestName:
    """Metadata of an input field: its name in an address or a query, where that differs from the field's."""

    name: str

    @staticmethod
    def of(info: FieldInfo) -> str | None:
        """Return the name that a field declares, if it declares one."""
        return next((one.name for one in info.metadata if isinstance(one, RestName)), None)


@dataclass(frozen=True, slots=True)
class Actor:
    """The principal of a call, which may do what the operation needs: that was judged before."""

    principal: Principal
    address: str = "unknown"
    base_url: str = ""

    @property
    def author(self) -> Author:
        """On whose behalf it acts. Raises Forbidden for an account without an organisation."""
        return author(self.principal, self.address)

    def may(self, need: Need) -> bool:
        """Return whether it may do something else as well."""
        return judge(self.principal, need) is Verdict.ALLOWED


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error as documents show it: when it comes, and an example."""

    when: str
    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """Something that callers can do. `function(service, actor, input)` returns what `output` shows."""

    toolset: str
    name: str
    title: str
    description: str
    input: type[Any]
    """A class of Input."""
    output: type[BaseModel]
    function: Callable[..., Any]
    tier: Tier = "member"
    level: Level = "read"
    kind: str | None = None
    cost: Cost | None = None
    destructive: bool = False
    exact: bool = False
    """Models get a refusal for a number beyond its bounds, as for operations that write."""
    input_schema: Mapping[str, Any] | None = None
    """What models are shown in place of the schema of `input`, where a model cannot say it."""
    max_values: int = 2_000
    """Values in the arguments of one call of a tool, nested ones included."""
    tool: bool = True
    """Whether models have it as a tool of this name."""
    text: Callable[[Any], str] | None = None
    """What a model reads of a result; None says its fields line by line."""
    command: str = ""
    """Of the command line, in the group of its capability; empty is no command, or one made by hand."""
    rest: str = ""
    """Method and path below `/api/v1`; empty is no route."""
    operation_id: str = ""
    """In the OpenAPI document; empty is the name in camel case."""
    answer: str = ""
    """What the OpenAPI document says of the result."""
    example: Any = None
    """A result, for documents; `example_input` is the body of a request that gives it."""
    example_input: Mapping[str, Any] | None = None
    errors: tuple[int, ...] = ()
    """Statuses of refusals beside those of every operation."""
    refusals: Mapping[int, Refusal] = field(default_factory=dict)
    """Errors that this operation explains better than its capability does, by status."""
    address: str = ""
    """A resource template with what it reads, such as `hive://contributions{?limit,cursor}`: variables and parameters
    are fields of the input, in camel case. Empty is none."""

    @property
    def need(self) -> Need:
        """What it takes to do this; the kind is the toolset's if it has but one."""
        kinds = KINDS.get(self.toolset, ())
        kind = self.kind or (kinds[0] if len(kinds) == 1 else None)
        return Need(self.tier, scope(self.toolset, self.level), kind, MEMBERSHIP.get(self.toolset, False))

    def run(self, service: Any, actor: Actor, given: Any) -> Any:
        """Do it, for an actor that may."""
        return self.function(service, actor, given)

    @property
    def writes(self) -> bool:
        return self.level != "read"

    @property
    def rest_name(self) -> str:
        """The operation's id in the OpenAPI document."""
        return self.operation_id or to_camel(self.name)

    def accepted(self, values: Mapping[str, Any]) -> Any:
        """Return the input with these values. Raises InvalidInput, which names fields and never values."""
        return accepted(self.input, values)

    def output_as(self, whole: type[BaseModel], part: type[BaseModel], *, nulls: bool) -> Any:
        """Return the output's face on one surface: see `faces.derived`."""
        return derived(self.output, whole, part, nulls)

    def request(self, given: Mapping[str, Any]) -> tuple[str, str, dict[str, Any], dict[str, Any] | None]:
        """Return the call of its route for these values: method, path below `/api/v1`, query, and a body or None.

        What is None is left out, unless the operation requires it. Raises NotFound for what cannot stand in a path.
        """
        method, path = self.rest.split()
        required = {name for name, info in self.input.model_fields.items() if info.is_required()}
        values = {name: value for name, value in given.items() if value is not None or name in required}
        for name, info in self.input.model_fields.items():
            outside = RestName.of(info)
            place = f"{{{outside or name}}}"
            if place in path:
                # Clients and gateways resolve segments of dots, and leave out empty ones.
                value = str(values.pop(name))
                if not value.strip("."):
                    raise NotFound(f"There is nothing with the {outside or name} {value!r}.")
                path = path.replace(place, quote(value, safe="", errors="replace"))
            elif name in values:
                values[outside or to_camel(name)] = values.pop(name)
        return (method, path, values, None) if method in ("GET", "DELETE") else (method, path, {}, values)

    def words(self, result: Any) -> str:
        """Return what a model reads of a result."""
        if self.text is not None:
            return self.text(result)
        values = self.output.model_validate(result).model_dump(mode="json", exclude_none=True)
        return "\n".join(
            f"{name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in values.items()
        )


def accepted(model: type[Any], values: Mapping[str, Any]) -> Any:
    """Return an input with these values. Raises InvalidInput, which names fields and never values."""
    try:
        return model(**values)
    except ValidationError as error:
        faults = [(".".join(map(str, one["loc"])), words(one)) for one in error.errors()]
        message = "; ".join(f"{name or 'input'}: {why}" for name, why in faults[:5])
        raise InvalidInput(message, fields=[{"field": name, "message": why} for name, why in faults]) from None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that a list has looked at and does not show."""

    position: str


@dataclass(frozen=True, kw_only=True)
class Listing(Operation):
    """An operation that pages. `function(service, actor, filters, after)` yields records lazily, after the id `after`.

    It yields Skipped for what filters leave out: at most `looked` for one page, which may be short and not the last.
    """

    row: type[Face]
    of: str
    """The name of the rows in an answer."""
    line: Callable[[Any], str]
    """A row as one line for a model or a terminal."""
    head: str = "{count} rows."
    nothing: str = "There is nothing of this kind."
    notice: str = ""
    """A sentence that models get with every page."""
    more: Callable[[Any, Actor, Any], Mapping[str, Any]] | None = None
    """Further fields of a page, which `output` declares."""
    looked: int = 500

    def run(self, service: Any, actor: Actor, given: Any) -> Any:
        return self.page(service, actor, given)

    def page(
        self, service: Any, actor: Actor, given: Any, *, row: type[Any] | None = None, tokens: int | None = None
    ) -> dict[str, Any]:
        """Return a page as `output` has it; with `tokens`, as many rows as fit. Raises InvalidInput for a cursor.

        `row` is the face of a row on one surface, which need not be read a second time then.
        """
        records, cursor = self.read(service, actor, given)
        rows = [(row or self.row).of(one) for one in records]
        if tokens is not None and len(fitted := fitting(rows, self.tokens, tokens)) < len(rows):
            rows = fitted
            cursor = self.cursor(given, self.position(records[len(rows) - 1]))
        return {self.of: rows, "next_cursor": cursor, **(self.more(service, actor, given) if self.more else {})}

    def read(self, service: Any, actor: Actor, given: Any) -> tuple[list[Any], str | None]:
        """Return the records of a page, and the cursor of the next."""
        after = None if given.cursor is None else position_of(given.cursor, self.question(given), str)
        records: list[Any] = []
        passed, last = 0, None
        for one in self.function(service, actor, given, after):
            if last is not None and (len(records) == given.limit or passed == self.looked):
                return records, self.cursor(given, last)
            if isinstance(one, Skipped):
                passed, last = passed + 1, one.position
            else:
                records.append(one)
                last = self.position(one)
        return records, None

    def position(self, record: Any) -> str:
        """Return the id of a record, after which the next page begins."""
        return str(self.row.read.get("id", attrgetter("id"))(record))

    def question(self, given: Any) -> str:
        """Return everything that the order of the list depends on."""
        return f"{self.toolset} {self.name} {given.model_dump_json(exclude={'limit', 'cursor'})}"

    def cursor(self, given: Any, position: str) -> str:
        """Return the cursor of the page after a position."""
        return cursor_of(position, self.question(given))

    def words(self, result: Any) -> str:
        """Return a page as text: rows in a fence, which nothing in them can end."""
        rows, cursor = result[self.of], result["next_cursor"]
        more = f"\nMore: cursor `{cursor}`" if cursor else ""
        if not rows:
            return f"{NOTHING_YET}{more}" if cursor else self.nothing
        head = f"{self.head.format(count=len(rows))} {self.notice}".strip()
        return f"{head}\n{fenced(chr(10).join(map(self.line, rows)))}{more}"

    def tokens(self, row: Face) -> int:
        """Return what a row costs a model: the larger of its line and its data."""
        data = compact(row.model_dump(mode="json", exclude_none=True))
        return max(estimate_tokens(self.line(row)), estimate_tokens(data)) + 2


def fenced(text: str) -> str:
    """Return a text as a block of Markdown that it cannot end: the fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def cursor_of(position: str | int, question: str) -> str:
    """Return an opaque cursor; `question` is everything that the order of the list depends on."""
    return sealed(json.dumps(position).encode(), question, purpose=PURPOSE)


def position_of(cursor: str, question: str, kind: type[P]) -> P:
    """Return the position in a cursor: an id or a number. Raises InvalidInput for a cursor of another list."""
    try:
        if len(cursor) > MAX_CURSOR_CHARACTERS:
            raise ValueError("longer than any cursor")
        position = json.loads(opened(cursor.strip(), question, purpose=PURPOSE))
        # Whoever knows the rule can seal anything.
        if type(position) is not kind or (isinstance(position, int) and position < 0):
            raise ValueError("no position")
        return position
    except ValueError:
        raise InvalidInput(
            "This cursor does not belong to this list.",
            hint="Pass next_cursor of an answer with the same arguments, or omit it to start again.",
            field="cursor",
        ) from None


def paged(filters: type[Input], *, usual: int, most: int, rows: str = "Rows") -> type[Input]:
    """Return the input of a list: its filters, `limit` and `cursor`."""
    return create_model(
        f"{filters.__name__}Page",
        __base__=filters,
        limit=(int, Field(usual, ge=1, le=most, description=f"{rows} on a page")),
        cursor=(
            str | None,
            Field(None, max_length=MAX_CURSOR_CHARACTERS, description="next_cursor of the previous page"),
        ),
    )


def operation(toolset: str, **declared: Any) -> Callable[[Callable[[Any, Actor, Any], Any]], Operation]:
    """Declare a function as an operation: its name, and its docstring as the description."""

    def declare(function: Callable[[Any, Actor, Any], Any]) -> Operation:
        return Operation(function=function, **(_named(function) | {"toolset": toolset} | declared))

    return declare


def listing(
    toolset: str, *, usual: int = 20, most: int = 100, more_fields: Mapping[str, Any] | None = None, **declared: Any
) -> Callable[[Callable[[Any, Actor, Any, str | None], Iterable[Any]]], Listing]:
    """Declare a generator of records as a list. `order` describes the rows: "Newest first"."""
    order = declared.pop("order", "")

    def declare(function: Callable[[Any, Actor, Any, str | None], Iterable[Any]]) -> Listing:
        row: Any = declared["row"]
        fields: dict[str, Any] = {declared["of"]: (list[row], Field(description=order or None))}
        fields["next_cursor"] = (str | None, Field(description="Where the list continues"))
        output = create_model(f"{row.__name__}Page", __base__=Face, **fields, **(more_fields or {}))
        values = _named(function) | {"toolset": toolset, "output": output} | declared
        values["input"] = paged(values["input"], usual=usual, most=most)
        return Listing(function=function, **values)

    return declare


def _named(function: Callable[..., Any]) -> dict[str, Any]:
    return {"name": function.__name__, "description": " ".join((inspect.getdoc(function) or "").split())}
