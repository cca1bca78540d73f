"""The skill and the hooks of Claude Code in a project: `.claude/skills/commonplace` and `.claude/settings.json`."""

import json
import os
import re
import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from commonplace_local.errors import CommandError
from commonplace_local.files import write_whole

SETTINGS, SKILL = Path(".claude", "settings.json"), Path(".claude", "skills", "commonplace", "SKILL.md")
EVENTS = {"SessionStart": "session-start", "Stop": "stop"}
TIMEOUT_SECONDS = 20
"""The time after which Claude Code ends a hook."""
OURS = re.compile(r"\bkb hook (?:session-start|stop)\b")
PROGRAMS = ("commonplace", "commonplace-kb")
WRITTEN = "<!-- Written by `commonplace connect claude-code --hooks`, which replaces this file. -->"


def install(project: Path, url: str | None, *, remove: bool, yes: bool) -> None:
    """Write the skill and the hooks, or remove them; what others have in the files stays.

    `url` is a deployment, None the laptop. Raises CommandError for files that cannot be changed safely.
    """
    settings, skill = project / SETTINGS, project / SKILL
    found = _settings(settings)
    changed = _without(found)
    if not remove:
        for event, name in EVENTS.items():
            command = {"type": "command", "command": _command(name, url), "timeout": TIMEOUT_SECONDS}
            changed["hooks"] = changed.get("hooks", {}) | {
                event: [*changed.get("hooks", {}).get(event, []), {"hooks": [command]}]
            }
    there = _text(skill)
    if there is not None and WRITTEN not in there:
        raise CommandError(f"{skill} is not ours.", "Rename that skill, then run the command again.")
    text = None if remove else Path(__file__).with_name("claude_code_skill.md").read_text("utf-8") + f"\n{WRITTEN}\n"
    if found == changed and there == text:
        typer.echo(f"Nothing to change in {project / '.claude'}.")
        return
    what = "remove the hooks and the skill of Commonplace from" if remove else "write hooks and a skill to"
    if not yes:
        if not sys.stdin.isatty():
            raise CommandError(f"This would {what} {project / '.claude'}.", "Add --yes to do it.")
        typer.confirm(f"{what[0].upper()}{what[1:]} {project / '.claude'}?", abort=True)
    if not changed and not settings.is_symlink():
        settings.unlink(missing_ok=True)
    else:
        settings.parent.mkdir(parents=True, exist_ok=True)
        write_whole(settings, json.dumps(changed, indent=2, ensure_ascii=False) + "\n")
    if text is not None:
        skill.parent.mkdir(parents=True, exist_ok=True)
        write_whole(skill, text)
    elif skill.exists():
        skill.unlink()
        with suppress(OSError):  # there are others beside it
            skill.parent.rmdir()
            skill.parent.parent.rmdir()
    typer.echo(f"{settings}: {'hooks removed' if remove else 'hooks for ' + ' and '.join(EVENTS)}.")


def _settings(file: Path) -> dict[str, Any]:
    text = _text(file)
    if text is None:
        return {}
    try:
        found = json.loads(text)
        json.dumps(found, indent=2, ensure_ascii=False).encode()  # what can be read only is not changed
    except UnicodeError as error:
        raise CommandError(f"{file} has half of a character: {error}.", "Write whole Unicode characters.") from error
    except RecursionError as error:
        raise CommandError(f"{file} is nested too deeply.", "Correct it, then run the command again.") from error
    except ValueError as error:
        raise CommandError(f"{file} is not JSON: {error}.", "Correct it, then run the command again.") from error
    hooks = found.get("hooks", {}) if isinstance(found, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise CommandError(f"{file} has hooks of another form.", "Claude Code takes lists by event below `hooks`.")
    return dict(found)


def _text(file: Path) -> str | None:
    """Return the text of a file, None where there is none. Raises CommandError."""
    try:
        return file.read_text("utf-8") if file.exists() else None
    except UnicodeError as error:
        raise CommandError(f"{file} is not UTF-8.", "Save it as UTF-8, then run the command again.") from error
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.", "Check the path and its mode.") from error


def _without(found: dict[str, Any]) -> dict[str, Any]:
    """Return the settings without our hooks, and without what is empty then."""
    kept: dict[str, Any] = {}
    for event, groups in found.get("hooks", {}).items():
        left = []
        for group in groups:
            hooks = group.get("hooks") if isinstance(group, dict) else None
            others = [one for one in hooks if not _is_ours(one)] if isinstance(hooks, list) else None
            if others is None or len(others) == len(hooks or ()):
                left.append(group)
            elif others:
                left.append(group | {"hooks": others})
        if left or not groups:
            kept[event] = left
    rest = {name: value for name, value in found.items() if name != "hooks"}
    return {name: kept if name == "hooks" else value for name, value in found.items()} if kept else rest


def _is_ours(hook: Any) -> bool:
    return isinstance(hook, dict) and bool(OURS.search(str(hook.get("command", ""))))


def _command(event: str, url: str | None) -> str:
    """Return the line that a hook runs, which never fails."""
    return f"{shlex.join([*_program(), 'kb', 'hook', event, *(('--url', url) if url else ())])} || true"


def _program() -> list[str]:
    """Return what starts this program later: its name where every shell finds it, else its path.

    Raises CommandError for one in a cache, such as that of `uvx`, which is cleared some day.
    """
    if any((folder / "CACHEDIR.TAG").exists() for folder in Path(sys.prefix).resolve().parents):
        hint = "Install it by `uv tool install` or `pipx install`, then run the command again."
        raise CommandError("This program lies in a cache: its hooks would fail once that is cleared.", hint)
    own = Path(sys.argv[0]).absolute()
    if own.name not in PROGRAMS:
        return [sys.executable, "-m", "commonplace_local.cli"]
    found, activated = shutil.which(own.name), os.environ.get("VIRTUAL_ENV")
    if found is None or Path(found).resolve() != own.resolve():
        return [str(own)]
    # An activated environment is on the PATH of this shell only.
    return [str(own) if activated and own.is_relative_to(activated) else own.name]
