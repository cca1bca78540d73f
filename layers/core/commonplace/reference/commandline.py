"""A line as it is typed at a prompt, and the syntax of a command, taken apart alike: words, options, values."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from commonplace.reference.spelling import spelling

_TOKEN = re.compile(r"""(?:"[^"]*"|(?<![^\s=])'[^']*'|<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|\S)+""")
_OPTION = re.compile(r"\[?-{1,2}[A-Za-z]")
_VALUE = re.compile(r"[\d@./=<>{}\[\]$*\"'\\]")
_NO_SUBCOMMAND = frozenset("@/='\"<>{}[]")
_SKIPPED = frozenset({"-", "--", "...", "…", "|", "\\"})
_REPEATED = ("...", "…")
_OPTIONS_PLACEHOLDER = frozenset({"options", "flags", "option", "flag"})


def tokens(line: str) -> list[str]:
    """Split at white space, but not within quotes and brackets."""
    return [token for token in _TOKEN.findall(line) if token not in _SKIPPED]


def is_option(token: str) -> bool:
    """`--json`, `-v`, `--email=x`, and in a syntax also `[--json]`."""
    return _OPTION.match(token) is not None


def is_placeholder(token: str) -> bool:
    """`<email>`, `[email]`, `{email}`: what stands for a value."""
    return token[0] in "<[{"


def is_value(token: str) -> bool:
    """Whether no subcommand is written so: it is quoted, or has a digit, `@`, `.`, `/`, `=`, or a bracket.

    A capital is such a mark as well where the rest of the line has none, which only the line can tell.
    """
    return _VALUE.search(token) is not None


def names_no_subcommand(token: str) -> bool:
    """Whether it is a value beyond doubt: nobody who mistypes a subcommand gets an `@`, a slash or quotes."""
    return not _NO_SUBCOMMAND.isdisjoint(token) or token.isdecimal()


def bare_name(line: str) -> str:
    """Without placeholders and options, for a name that was given with them: `users roles list`."""
    return " ".join(token for token in tokens(line) if not (is_option(token) or is_placeholder(token)))


def words(names: Iterable[str]) -> tuple[str, ...]:
    """Each folded, those joined by `-` or `_` taken apart: what a name is compared by."""
    return tuple(spelling(" ".join(names)).split())


@dataclass(frozen=True, slots=True)
class Syntax:
    """What a command takes besides its name."""

    positions: int
    """Values that are not those of options, at most."""
    repeats: bool
    """Whether one of them may be given any number of times."""
    within: bool
    """Whether a value stands between words of the name: `helios users <id> roles list`."""
    valued: frozenset[str]
    """Options that are followed by a value: `--email`."""

    def takes(self, values: int) -> bool:
        return values <= self.positions or (self.repeats and self.positions > 0)


def syntax_of(line: str, name: str) -> Syntax:
    """Reads `helios gw users get <email> [--format <format>] [-v]`: what is neither name nor option is a value."""
    left = list(words([name]))
    positions, within, valued, option = 0, False, set[str](), ""
    for token in tokens(line):
        if is_option(token):
            option, *value = re.split(r"[ =]", token.strip("[]"), maxsplit=1)
            valued.update([option] if value else [])
            option = "" if value or token[0] == "[" else option
        elif option:
            valued.add(option)
            option = ""
        elif left[: len(own := words([token]))] == list(own):
            del left[: len(own)]
        elif spelling(token.strip("[]<>")) not in _OPTIONS_PLACEHOLDER:
            positions += 1
            within = within or bool(left)
    return Syntax(positions, any(dots in line for dots in _REPEATED), within, frozenset(valued))
