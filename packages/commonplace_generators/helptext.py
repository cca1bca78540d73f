"""Commands out of help texts (`--help`), which is what a program of any kind has.

The bytes are the pages that `packages/commonplace_local/cli/reference/programs.py` gathers, or one page as a text.
"""

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from commonplace.kernel.errors import InvalidInput
from commonplace.reference.model import Parameter, Partial
from commonplace_generators.commands import Command, CommandOptions, before_command, generated
from commonplace_generators.generated import Generated, Unread
from commonplace_generators.help_pages import Below, Page
from commonplace_generators.man_pages import any_page as page
from commonplace_generators.man_pages import joined
from commonplace_generators.program_text import summary_of
from commonplace_generators.usages import head_of, key, merged, name_of, opened, taken

CATEGORY = "command-line"
MAX_PAGES = 2_000
MAX_SHOWN = 10
"""Names of a report's line."""
_ALIAS_OF = re.compile(
    r"(?:alias|same as|shorthand)(?: for| of)?:?\s+[`'\"]?([\w-]+(?: [\w-]+)*)[`'\"]?\.?", re.IGNORECASE
)
_COMMAND = re.compile(r"[<{]*(?:sub-?)?commands?[>}.…]*|\{[^}]*,[^}]*\}[.…]*", re.IGNORECASE)
_RUNS = re.compile(r" \[command\] \[(?:flags|options)\]$")
"""Cobra writes this line of what can be run, beside the one of its commands."""
_ANY_OPTIONS = re.compile(r"[\[<]+[\w-]*(?:options?|flags?)\b", re.IGNORECASE)
_BESIDE = {"--help", "--version", "--list", "-help", "-version", "-h", "-V"}
"""Options of a group that say nothing of its commands."""
_SHOWN = re.compile(r"(?:(?:node|deno|bun|npx|ruby|perl|php|java|python[\d.]*)(?: run| -m| -jar)? )?[^\s<\[({-]\S*")
_EXTENSION = re.compile(r"\.(?:[cm]?[jt]s|py|rb|pl|php|sh|exe|jar)$")
Name = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Help:
    """The output of a program: pages by command, further lists, and which commands it denied to have."""

    pages: Mapping[Name, Page]
    lists: Sequence[Page] = ()
    denied: frozenset[Name] = frozenset()
    unasked: Sequence[str] = ()
    """Commands whose help was not asked for, because there was no time or room left."""


def generate(raw: bytes, *, source: str, options: Mapping[str, Any]) -> Generated:
    """Raises InvalidInput for options."""
    wanted = CommandOptions.read(options, CATEGORY)
    told = _help(raw, tuple(wanted.root.split()), source)
    root = min(told.pages, key=len, default=())
    unread: list[Unread] = []
    found = list(_commands(told, unread))
    unread += _lost(told, found, source)
    return generated(found, unread, wanted.model_copy(update={"root": wanted.root or " ".join(root[:1])}))


def below(text: str, words: Sequence[str], *, listing: bool = False) -> list[str]:
    """Names of the commands that a page tells of below the command whose page it is."""
    name = tuple(words)
    found = page(_named(text, name, name[0]), name, listing=listing)
    listed = {one.name: None for one in found.commands if not _ALIAS_OF.fullmatch(one.summary)}
    told = {one[-1]: None for one in sorted(_apart(name, found.usages, listed)) if len(one) == len(name) + 1}
    return [one for one in {**listed, **told} if one not in words[-1:]]


def is_about(text: str, words: Sequence[str]) -> bool:
    """Return whether a page is of this command, and not of one above it."""
    found, name = page(text, tuple(words)), tuple(words)
    if found.manual and "-".join(words) not in re.findall(r"[\w.-]+", text.partition("NAME")[2][:300]):
        return False
    return not _of_above(name, found)


def says_how(text: str, words: Sequence[str]) -> bool:
    """Return whether a page has a usage of this command."""
    return any(head_of(one, words) is not None for one in page(text, tuple(words)).usages)


def is_manual(text: str) -> bool:
    """Return whether a page is one of the manual, whoever prints it."""
    return page(text).manual


def is_poor(text: str, words: Sequence[str]) -> bool:
    """Return whether a page lacks what a manual has: it says how, what for, and is all there is."""
    found = page(text, tuple(words))
    return not (found.usages and found.text) or "options" in found.partial


def _help(raw: bytes, root: Name, source: str) -> _Help:
    text = raw.decode("utf-8", "replace")
    try:
        told = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or not isinstance(told.get("pages"), dict):
        found = page(text)
        words = root or tuple(_EXTENSION.sub("", word) for word in name_of(next(iter(found.usages), "")))
        if not words:
            raise InvalidInput(f"{source} is not a help text that names its program.", hint="Give `root:`.")
        return _Help({words: page(_named(text, words, words[0]), words)})
    texts = {
        tuple(name.split()): body for name, body in told["pages"].items() if isinstance(body, str) and name.split()
    }
    more = told["more"] if isinstance(told.get("more"), dict) else {}
    lists = told["lists"] if isinstance(told.get("lists"), dict) else {}
    denied = told["denied"] if isinstance(told.get("denied"), list) else []
    called = min(texts, key=len, default=())
    rename = root if root and root != called[: len(root)] else called[:1]
    pages = {}
    for words, body in sorted(texts.items())[:MAX_PAGES]:
        name = (*rename, *words[1:])
        also = more.get(" ".join(words)) or ()
        pages[name] = joined([page(_named(each, words, name[0]), name) for each in (body, *also)])
    first = (*rename, *called[1:])
    return _Help(
        pages,
        [
            page(_named(body, called, first[0]), first, listing=True)
            for _, body in sorted(lists.items())
            if isinstance(body, str)
        ],
        frozenset((*rename, *name.split()[1:]) for name in denied if isinstance(name, str)),
        [name for name in told.get("unasked") or () if isinstance(name, str)],
    )


def _named(text: str, words: Name, root: str) -> str:
    """The page of a command in which its program is called by its name, not as it was started: `node cli.js`."""
    usage = next(iter(page(text, words).usages), "")
    shown = _SHOWN.match(usage)
    if shown is None or shown[0] == root or usage[shown.end() :].split()[: len(words) - 1] != list(words[1:]):
        return text
    return re.sub(rf"(?<![\w/.-]){re.escape(shown[0])}(?![\w/-])", root, text)


def _apart(words: Name, usages: Sequence[str], listed: Container[str] = ()) -> set[Name]:
    """Names of commands that usages alone tell of: `git stash pop`, where there is `git stash drop` too."""
    firsts = {head[0] for usage in usages for one in opened(usage, words) if (head := head_of(one, words))}
    found: set[Name] = set()
    for first in firsts:
        if len(firsts) > 1 or first in listed:
            name = (*words, first)
            found |= {name, *_apart(name, [one for usage in usages for one in opened(usage, words)])}
    return found


def _commands(told: _Help, unread: list[Unread]) -> Iterator[Command]:
    pages = {words: found for words, found in told.pages.items() if not _of_above(words, found)}
    first = min(pages, key=len, default=())
    listed = {(*words, *one.name.split()): one for words, found in pages.items() for one in found.commands}
    for one in (one for found in told.lists for one in found.commands):
        known = listed.setdefault((*first, *one.name.split()), one)
        listed[*first, *one.name.split()] = replace(known, summary=known.summary or one.summary)
    beside = {words for words in listed if words not in pages and words[2:][-1:] == ("help",)}
    listed = {words: one for words, one in listed.items() if words not in told.denied | beside}
    aliases = {words: of for words in sorted({*pages, *listed}) if (of := _stands_for(words, listed, pages))}
    names = {*pages, *listed} - set(aliases)
    for words, found in pages.items():
        names |= _apart(words, found.usages, {name[-1] for name in names if name[:-1] == words}) - set(aliases)
    everywhere = [one for found in told.lists for one in found.parameters if one.place == "option"]
    from_groups = {words: list(_of_group(words, found, names)) for words, found in pages.items()}
    takes = {words for words, found in pages.items() if any(one.rest for one in found.commands)}
    summaries: dict[Name, str] = {}
    for words in sorted(names - told.denied):
        groups = [words[:end] for end in range(1, len(words)) if words[:end] in pages]
        own, row = pages.get(words), listed.get(words, Below(words[-1]))
        above = pages[groups[-1]] if groups else Page()
        about = own or above
        summary = summaries[words] = _summary(words, own, row, above, summaries.get(words[:-1], ""))
        written = about.usages if own else [one for each in about.usages for one in opened(each, words[:-1])]
        usages = [one for one in written if _longest(one, words, names) == words]
        if own and not usages and words != first:  # all of them go on with a command
            usages = [one for one in own.usages if head_of(one, words)]
        if not usages and groups and groups[-1] in takes:  # a list that has arguments has all of them
            usages = [f"{' '.join(words)} {row.rest}".strip()]
        parts = set(about.partial) if own else set()
        if "any" in parts:
            parts.add("options")
        if words == first and any(found.commands for found in told.lists):
            parts -= {"commands"}
        below = any(name[: len(words)] == words != name for name in names)
        passed = [one for group in groups for one in from_groups[group]]
        parameters = _parameters(words, usages, about, [*passed, *everywhere]) if own or usages else None
        own_options = [
            one for one in parameters or () if one.place == "option" and not _BESIDE & {one.name, *one.aliases}
        ]
        alone = words == first and bool(own_options and summary)  # `systemctl --failed`
        group = own and own.commands and _is_mere_group(usages, words, program=words == first)
        if (group and "commands" not in parts and not alone) or (below and not (own or row.summary or usages)):
            continue
        if not summary:
            unread.append(Unread(" ".join(words), "It has no description."))
        also = [" ".join(other) for other, of in aliases.items() if of == words]
        for alias in (*row.aliases, *(own.aliases if own else ())):
            also.append(alias if alias.startswith(f"{words[0]} ") else " ".join((*words[:-1], alias)))
        yield Command(
            words=words,
            summary=summary,
            description=own.text if own else row.summary,
            syntax=next(iter(usages), None),
            usages=tuple(usages[1:]),
            parameters=parameters,
            examples=tuple(
                one.model_copy(update={"description": one.description or summary or " ".join(words)})
                for one in (own.examples if own else ())
            ),
            aliases=tuple(also),
            partial=tuple(one for one in get_args(Partial) if one in (parts if below else {"arguments", *parts})),
        )


def _lost(told: _Help, found: Sequence[Command], source: str) -> Iterator[Unread]:
    """Yield an error where a program has commands, and its help was not understood; and commands without a page."""
    first = min(told.pages, key=len, default=())
    root = told.pages.get(first, Page())
    below = {one.words for one in found if len(one.words) > len(first)}
    has = any(_COMMAND.search(one) for one in root.usages) or bool(root.commands)
    shown = max(root.shown, len(root.commands))
    hint = "Save its help as a text, or say how to ask for it: `ask: -h`."
    if not found or not (root.usages or root.parameters or below):
        yield Unread(source, "No command was found in its help.", hint, "error")
    elif has and len(below) * 2 < shown:
        said = f"Its help shows {shown} words that may be commands; {len(below)} of them were understood."
        yield Unread(source, said, hint, "error")
    bare = [" ".join(words) for words in sorted(below) if words not in told.pages and words[:-1] == first]
    bare = [one for one in bare if one not in told.unasked]
    for names, said in (
        (bare, "have no page of their own"),
        (told.unasked, "were not asked: the time or the number is used up"),
    ):
        if names:
            shown_names = ", ".join(names[:MAX_SHOWN]) + (", …" if len(names) > MAX_SHOWN else "")
            yield Unread(source, f"{len(names)} commands {said}: {shown_names}.")


def _of_above(words: Name, found: Page) -> bool:
    """Return whether it is the page of a command above: a program may answer so for what has no page of its own."""
    names = [name_of(one) for one in found.usages if head_of(one, words) is None]
    return 0 < len(names) == len(found.usages) and all(one == words[: len(one)] for one in names)


def _stands_for(words: Name, listed: Mapping[Name, Below], pages: Mapping[Name, Page]) -> Name | None:
    """The command that a name is another one for: its list says so, or its page is about that one."""
    said = _ALIAS_OF.fullmatch(listed[words].summary) if words in listed else None
    target = (*words[:-1], *said[1].split()) if said else ()
    usages = pages[words].usages if words in pages else ()
    if usages and all(head_of(one, words) is None for one in usages):
        target = target or name_of(usages[0])
    found = next(
        (target[:end] for end in range(len(target), 0, -1) if target[:end] in pages or target[:end] in listed), ()
    )
    return found if found and found != words[: len(found)] else None


def _longest(usage: str, words: Name, names: Container[Name]) -> Name | None:
    """The command that a usage is of, from these words on."""
    head = head_of(usage, words)
    if head is None:
        return None
    return next((one for end in range(len(head), -1, -1) if (one := (*words, *head[:end])) in names), None)


def _is_mere_group(usages: Sequence[str], words: Name, *, program: bool) -> bool:
    """Return whether nothing but a command can follow: `docker container COMMAND`.

    A program with commands does nothing else unless its usage has arguments: `kubectl [flags]` shows its help.
    """
    groups = []
    for usage in usages:
        arguments = [one for one in taken(usage, words, {}) if one.place == "argument"]
        groups.append(any(_COMMAND.fullmatch(one.name) for one in arguments[: None if program else 1]))
    if program:
        return any(groups) or not any(re.search(r"[<A-Z]", usage) for usage in usages)
    return all(groups) and not (len(set(usages)) > 1 and any(_RUNS.search(one) for one in usages))


def _summary(words: Name, own: Page | None, row: Below, above: Page, said: str) -> str:
    """Return what its page says, its list, or the page above; else what is `said` of all the commands of its group."""
    noted = next((note for usage, note in above.notes.items() if name_of(usage) == words), "")
    listed = re.search(rf"^[-*] `?{re.escape(words[-1])}`?: (.+)$", above.text, re.MULTILINE)
    found = (own.text if own else "") or row.summary or noted or (listed[1] if listed else "")
    return summary_of(found) or (f"{said.rstrip('.')}: {words[-1]}" if said else "")


def _parameters(
    words: Name, usages: Sequence[str], about: Page, passed: Sequence[Parameter]
) -> tuple[Parameter, ...] | None:
    """Those of the usages in their order, with what the page says of them, then those that it lists besides.

    None where a usage speaks of options, and none are listed.
    """
    rows = merged([*about.parameters, *taken(f"{words[0]} {about.synopsis}", words[:1], {})])
    known = {name: one for one in rows if one.place == "option" for name in (one.name, *one.aliases)}
    told = [merged(taken(usage, words, known)) for usage in usages]
    if not (known or passed) and any(_ANY_OPTIONS.search(usage) for usage in usages):
        return None
    arguments = [one for usage in told for one in usage if one.place == "argument"]
    said = [one for one in rows if one.place == "argument"]
    if len(said) == len(arguments) == 1 and key(said[0]) != key(arguments[0]):
        said = [said[0].model_copy(update={"name": arguments[0].name})]
    found = merged([*arguments, *said, *known.values(), *(one for usage in told for one in usage)])
    spelt = {name for one in found for name in (one.name, *one.aliases)}
    found += merged(one for one in passed if not spelt & {one.name, *one.aliases})
    needed = {key(one) for one in rows if one.required}
    if told:
        needed |= set.intersection(
            *({key(known.get(one.name, one)) for one in usage if one.required} for usage in told)
        )
    return tuple(one.model_copy(update={"required": key(one) in needed}) for one in found)


def _of_group(words: Name, found: Page, names: Container[Name]) -> Iterator[Parameter]:
    """Options of a group stand between the group's words and the command."""
    own = [one for one in found.usages if _longest(one, words, names) == words and len(list(opened(one, words))) == 1]
    for one in _parameters(words, own, found, ()) or ():
        if one.place == "option" and not _BESIDE & {one.name, *one.aliases}:
            yield before_command(one, words).model_copy(update={"required": False})
