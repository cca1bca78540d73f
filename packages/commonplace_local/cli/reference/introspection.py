"""Introspection of a program's commands by its own parser; a script, run with the program's interpreter.

    python introspection.py KIND TARGET RESULT PLACE...

It imports the module of TARGET (`package.module:object` or `folder/file.py:object`), which may lie in a folder PLACE:
the program's code runs, its commands do not. It needs nothing but what the program has, and writes one JSON document to
the file RESULT.
"""

from __future__ import annotations  # the program's interpreter may be an older one

import argparse
import enum
import importlib
import importlib.util
import inspect
import json
import sys
import typing
from pathlib import Path
from typing import Any

FORMAT = 1
MAX_DEPTH = 20
MAX_COMMANDS = 20000
MAX_TEXT = 20000

Told = dict[str, Any]


class NotThatKindError(Exception):
    """The target is no program of the kind, or is not there."""


class Reader:
    """Counts commands, so that a group that contains itself comes to an end."""

    def __init__(self) -> None:
        self.commands = 0

    def counted(self) -> None:
        self.commands += 1
        if self.commands > MAX_COMMANDS:
            raise NotThatKindError(f"It has more than {MAX_COMMANDS} commands.")


class ClickReader(Reader):
    """click, and Typer, which has a click of its own: only what both have is used."""

    def read(self, command: Any, name: str, parent: Any = None, depth: int = 0) -> Told:
        self.counted()
        make = getattr(command, "context_class", None)
        if make is None:
            make = importlib.import_module("click").Context
        context = make(command, info_name=name, parent=parent, **getattr(command, "context_settings", {}))
        deprecated = getattr(command, "deprecated", False)
        try:  # its help may list options that the program takes out of the line before its parser sees them
            page = str(command.get_help(context))[:MAX_TEXT]
        except (Exception, SystemExit):  # noqa: BLE001 - what its own parser knows is reported all the same
            page = None
        told: Told = {
            "name": name,
            "help": _text(getattr(command, "help", None)),
            "short": _text(getattr(command, "short_help", None)),
            "epilog": _text(getattr(command, "epilog", None)),
            "hidden": bool(getattr(command, "hidden", False)),
            "deprecated": deprecated if isinstance(deprecated, str) else bool(deprecated),
            "aliases": [one for one in getattr(command, "aliases", None) or () if isinstance(one, str)],
            "params": [_click_param(one) for one in command.params],
            "page": page,
        }
        if hasattr(command, "list_commands"):
            told["group"] = True
            told["alone"] = bool(getattr(command, "invoke_without_command", False))
            told["commands"] = self.below(command, context, depth) if depth < MAX_DEPTH else []
        else:
            told["open"] = bool(context.ignore_unknown_options or context.allow_extra_args)
        return told

    def below(self, group: Any, context: Any, depth: int) -> list[Told]:
        found: list[Told] = []
        seen: dict[int, Told] = {}
        for name in group.list_commands(context):
            try:
                command = _loaded(group, context, name)
            except Exception as error:  # noqa: BLE001 - a command that cannot be loaded is told, the others are read
                found.append({"name": name, "error": f"{type(error).__name__}: {error}"[:500]})
                continue
            if command is None:
                found.append({"name": name, "error": "It is listed, but cannot be loaded."})
            elif id(command) in seen:
                seen[id(command)]["aliases"].append(name)
            else:
                seen[id(command)] = self.read(command, name, context, depth + 1)
                found.append(seen[id(command)])
        return found


def _loaded(group: Any, context: Any, name: str) -> Any:
    """The command itself where a group holds something empty in its place until it is typed."""
    command = group.get_command(context, name)
    empty = command is not None and not (command.params or getattr(command, "callback", None) or command.help)
    if not empty or hasattr(command, "list_commands"):
        return command
    try:
        return group.resolve_command(context, [name])[1] or command
    except (Exception, SystemExit):  # noqa: BLE001 - then the empty one is what there is
        return command


def _choices(param: Any) -> list[str]:
    """Return the choices of a click type, or of the enumeration that a Typer function takes."""
    said = getattr(getattr(param, "type", None), "choices", None)
    if said:
        return [str(getattr(one, "value", one)) for one in said]
    annotation = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    for one in (annotation, *typing.get_args(annotation)):
        if isinstance(one, type) and issubclass(one, enum.Enum):
            return [str(member.value) for member in one]
    return list(map(str, typing.get_args(annotation))) if typing.get_origin(annotation) is typing.Literal else []


def _click_param(param: Any) -> Told:
    argument = getattr(param, "param_type_name", "") == "argument"
    return {
        "argument": argument,
        "names": [] if argument else [*param.opts, *param.secondary_opts],
        # What click would make of a type is left to whoever writes the syntax.
        "metavar": str(param.metavar or (argument and param.name) or ""),
        "help": _text(getattr(param, "help", None)),
        "required": bool(param.required),
        "several": bool(getattr(param, "multiple", False)) or param.nargs == -1,
        "flag": bool(getattr(param, "is_flag", False) or getattr(param, "count", False)),
        "choices": _choices(param),
        "hidden": bool(getattr(param, "hidden", False)),
    }


class ArgparseReader(Reader):
    def read(self, parser: argparse.ArgumentParser, name: str, depth: int = 0) -> Told:
        self.counted()
        told: Told = {
            "name": name,
            "help": _expanded(parser, parser.description),
            "epilog": _expanded(parser, parser.epilog),
            "deprecated": False,
            "hidden": False,
            "aliases": [],
            "params": [],
        }
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                told["group"] = True
                told.setdefault("alone", False)
                told.setdefault("commands", []).extend(self.below(action, depth) if depth < MAX_DEPTH else [])
            elif action.dest != "help" or action.nargs != 0:
                metavar = action.metavar
                if isinstance(metavar, tuple):
                    metavar = " ".join(map(str, metavar))
                choices = [str(getattr(one, "value", one)) for one in action.choices or ()][:200]
                told["params"].append(
                    {
                        "argument": not action.option_strings,
                        "names": list(action.option_strings),
                        "metavar": str(metavar) if metavar else ("" if action.option_strings else str(action.dest)),
                        "help": _expanded(parser, action.help, action) if action.help != argparse.SUPPRESS else None,
                        "required": bool(action.required) and action.nargs not in ("?", "*", argparse.REMAINDER),
                        "several": action.nargs in ("*", "+", argparse.REMAINDER)
                        or type(action).__name__ == "_AppendAction",
                        "flag": action.nargs == 0 and bool(action.option_strings),
                        "choices": choices,
                        "hidden": action.help == argparse.SUPPRESS,
                        "rest": action.nargs == argparse.REMAINDER,
                    }
                )
        return told

    def below(self, action: Any, depth: int) -> list[Told]:
        helps = {one.dest: one.help for one in action._choices_actions}
        found: list[Told] = []
        seen: dict[int, Told] = {}
        for name, parser in action.choices.items():
            if id(parser) in seen:
                seen[id(parser)]["aliases"].append(name)
                continue
            one = seen[id(parser)] = self.read(parser, name, depth + 1)
            said = helps.get(name)
            one["short"] = _text(said) if said != argparse.SUPPRESS else None
            one["hidden"] = said == argparse.SUPPRESS
            one["deprecated"] = name in getattr(action, "_deprecated", ())
            found.append(one)
        return found


def _expanded(parser: argparse.ArgumentParser, said: str | None, action: argparse.Action | None = None) -> str | None:
    """Return the text with the program's name and the defaults that it refers to."""
    if not said:
        return None
    try:
        if action is not None:
            return _text(parser._get_formatter()._expand_help(action))
        return _text(said % {"prog": parser.prog} if "%(prog)" in said else said)
    except (ValueError, TypeError, KeyError, AttributeError):
        return _text(said)


def _text(said: Any) -> str | None:
    return inspect.cleandoc(str(said))[:MAX_TEXT] if said else None


def target_of(target: str) -> Any:
    """The object, and the name of its module."""
    module, _, path = target.rpartition(":")
    if not module or not path:
        raise NotThatKindError("The target names no object: package.module:object.")
    found: Any
    if not module.endswith(".py"):
        found = importlib.import_module(module)
    else:
        file = Path(module).resolve()
        sys.path.insert(0, str(file.parent))
        spec = importlib.util.spec_from_file_location(file.stem, file)
        if spec is None or spec.loader is None or not file.is_file():
            raise NotThatKindError(f"There is no file {module}.")
        found = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
    for name in path.removesuffix("()").split("."):
        try:
            found = getattr(found, name)
        except AttributeError as error:
            raise NotThatKindError(f"{module} has no {path}.") from error
    return found


def described(kind: str, found: Any) -> Told:
    if kind == "argparse":
        parser = found() if callable(found) and not isinstance(found, argparse.ArgumentParser) else found
        if not isinstance(parser, argparse.ArgumentParser):
            raise NotThatKindError("It is neither an argparse.ArgumentParser nor a function that returns one.")
        return ArgparseReader().read(parser, parser.prog)
    if hasattr(found, "registered_commands"):
        found = importlib.import_module("typer.main").get_command(found)
    if not hasattr(found, "params") or not hasattr(found, "make_context"):
        raise NotThatKindError("It is neither a click command nor a Typer application.")
    return ClickReader().read(found, found.name or "")


def main() -> None:
    kind, target, result, *places = sys.argv[1:]
    sys.argv[:] = [sys.argv[0]]
    sys.path[0] = str(Path.cwd())
    sys.path += places  # what is installed goes before: a folder of the repository may be called as a package is
    try:
        told = {"format": FORMAT, "kind": kind, "program": described(kind, target_of(target))}
    except NotThatKindError as error:
        told = {"format": FORMAT, "error": str(error)}
    except SystemExit as error:
        told = {"format": FORMAT, "error": f"The program exits when it is imported (status {error.code})."}
    except Exception as error:  # noqa: BLE001 - whatever the program raises is told
        told = {"format": FORMAT, "error": f"{type(error).__name__}: {error}"[:2000]}
    text = json.dumps(told, sort_keys=True, ensure_ascii=True, indent=1)
    Path(result).write_text(text + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
