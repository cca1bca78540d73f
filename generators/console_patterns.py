"""Regular expressions of a console, read as the words that they accept: `^helios\\s+gw\\s+(list|ls)\\s+(\\S+)$`.

Only what stands for words is understood: literal words, spaces, groups of alternatives, and a part that takes any
value. Anything else is not guessed at.
"""

from dataclasses import dataclass

MAX_ALTERNATIVES = 24
_ENDS = {"^", "$"}
_SPACES = {"\\s", " ", "\\b"}
_COUNTS = {"+", "*", "?"}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The words of each alternative, and whether a value may follow."""

    words: tuple[tuple[str, ...], ...]
    argument: bool = False


class _NotWordsError(Exception):
    """The pattern says more than words."""


def accepted(pattern: str) -> Accepted | None:
    """None for a pattern that is not a list of words."""
    try:
        return _read(_signs(pattern))
    except _NotWordsError:
        return None


def _signs(pattern: str) -> list[str]:
    """Characters, each escape as one."""
    found, index = [], 0
    while index < len(pattern):
        size = 2 if pattern[index] == "\\" else 1
        found.append(pattern[index : index + size])
        index += size
    return found


def _read(signs: list[str]) -> Accepted | None:
    texts, index, argument = [""], 0, False
    while index < len(signs) and not argument:
        sign = signs[index]
        if sign in _ENDS:
            index += 1
            continue
        pieces, index = _piece(signs, index)
        if pieces is None:
            argument = True
            continue
        texts = [text + piece for text in texts for piece in pieces][:MAX_ALTERNATIVES]
    words = tuple(dict.fromkeys(tuple(text.split()) for text in texts))
    return Accepted(words, argument) if all(words) and words else None


def _piece(signs: list[str], index: int) -> tuple[list[str] | None, int]:
    """What the next part may be; None for any value."""
    sign = signs[index]
    if sign == "(":
        return _group(signs, index)
    if sign in _SPACES:
        return [" " if sign != "\\b" else ""], _after_count(signs, index + 1)
    if sign in {".", "\\S", "\\w", "\\d", "["}:
        return None, len(signs)
    said = sign[1:] if len(sign) == 2 and not sign[1].isalnum() else sign
    if len(said) != 1 or (len(sign) == 1 and sign in "*+?{}|)]"):
        raise _NotWordsError
    if signs[index + 1 : index + 2] == ["?"]:
        return [said, ""], index + 2
    if signs[index + 1 : index + 2] in (["*"], ["+"], ["{"]):
        raise _NotWordsError
    return [said], index + 1


def _group(signs: list[str], index: int) -> tuple[list[str] | None, int]:
    end = _closing(signs, index)
    inside = "".join(signs[index + 1 : end])
    for opening in ("?:", "?i:"):
        inside = inside.removeprefix(opening)
    if inside.startswith("?<") and ">" in inside and inside[2:3] not in {"=", "!"}:
        inside = inside.partition(">")[2]
    if inside.startswith("?") or "(" in inside:
        raise _NotWordsError
    if any(sign in {".", "\\S", "\\w", "\\d", "["} for sign in _signs(inside)):
        return None, end + 1
    optional = signs[end + 1 : end + 2] == ["?"]
    words = ["".join(" " if sign in _SPACES else sign for sign in _signs(one)) for one in inside.split("|")]
    return [*words, *([""] if optional else [])], _after_count(signs, end + 1)


def _closing(signs: list[str], index: int) -> int:
    depth = 0
    for at in range(index, len(signs)):
        depth += (signs[at] == "(") - (signs[at] == ")")
        if depth == 0:
            return at
    raise _NotWordsError


def _after_count(signs: list[str], index: int) -> int:
    return index + 1 if signs[index : index + 1] and signs[index] in _COUNTS else index
