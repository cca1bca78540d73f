"""Canonical forms: when two commands or two endpoints are the same, so that a catalogue may have only one."""

from commonplace.reference.endpoints import SLOT, fixed_query, shape
from commonplace.reference.model import Entry
from commonplace.reference.names import is_option, is_placeholder, tokens
from commonplace.reference.spelling import spelling


def command_form(name: str) -> str:
    """Equal for names that differ in case, in what joins their words, and in what is given after them.

    A placeholder between words counts, whatever it is called: `users <id> roles list` is not `users <id> groups list`.
    """
    words = [SLOT if is_placeholder(token) else spelling(token) for token in tokens(name) if not is_option(token)]
    while words and words[-1] == SLOT:
        words.pop()
    return " ".join(words)


def form_of(entry: Entry) -> str | None:
    """Under which it is looked up; None for what is found by its title and its words."""
    if entry.type == "command" and entry.name:
        return command_form(entry.name)
    if entry.type == "api" and entry.path_template:
        query = "&".join(sorted("=".join(one) for one in fixed_query(entry.path_template)))
        return f"{entry.method or ''} {shape(entry.path_template)}" + (f"?{query}" if query else "")
    return None
