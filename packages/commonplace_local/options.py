"""Options that several commands share: the fields of a dataclass, declared once."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, TypeVar, get_type_hints

from commonplace_local.deployment import Deployment, find
from commonplace_local.terminal import Data, Outputs, Stage

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Target:
    """Which deployment is meant: the one that these name, else the one that `commonplace dev` runs."""

    data: Data = None
    outputs: Outputs = None
    stage: Stage = None

    def find(self) -> Deployment:
        """Raises CommandError."""
        return find(self.data, self.outputs, self.stage)


def grouped(command: Callable[..., R]) -> Callable[..., R]:
    """The command as Typer is to see it: a parameter that is a dataclass becomes one option for each of its fields."""
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hints[name] for name in signature.parameters if is_dataclass(hints[name])}
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name]))
            continue
        of_fields = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            annotation = of_fields[field.name]
            default = parameter.empty if field.default is MISSING else field.default
            parameters.append(parameter.replace(name=field.name, default=default, annotation=annotation))

    @wraps(command)
    def run(**given: Any) -> R:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return command(**given, **made)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
