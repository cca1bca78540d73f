"""What acceptance says: a sentence, what was expected, what was found, and whether it holds."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from bench.table import Row, Value

EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    expected: Value
    found: Value
    holds: bool
    examples: tuple[str, ...] = ()
    """Some of what makes it false."""


def equal(text: str, expected: Value, found: Value, examples: Iterable[str] = ()) -> Statement:
    return Statement(text, expected, found, expected == found, _some(examples))


def same(text: str, expected: Collection[str], found: Collection[str]) -> Statement:
    """Both hold the same members; the figures are their numbers."""
    wanted, there = set(expected), set(found)
    examples = [f"missing: {name}" for name in sorted(wanted - there)]
    examples += [f"not expected: {name}" for name in sorted(there - wanted)]
    return Statement(text, len(wanted), len(there), wanted == there and len(found) == len(there), _some(examples))


def all_of(text: str, count: int, faults: Collection[str]) -> Statement:
    """Each of `count` things is as it should be, but for the faults."""
    return Statement(text, count, count - len(faults), not faults, _some(faults))


def none(text: str, faults: Collection[str]) -> Statement:
    return Statement(text, 0, len(faults), not faults, _some(faults))


def fact(text: str, found: Value) -> Statement:
    """A figure that nothing is expected of."""
    return Statement(text, None, found, holds=True)


def rows(statements: Sequence[Statement]) -> list[Row]:
    """For a table of `bench.table`."""
    return [
        {
            "statement": item.text,
            "expected": _shown(item.expected),
            "found": _shown(item.found),
            "verdict": "FALSE" if not item.holds else "" if item.expected is None else "true",
        }
        for item in statements
    ]


def failures(statements: Iterable[Statement]) -> list[str]:
    """Every false statement with its examples, a line each."""
    lines = []
    for item in statements:
        if not item.holds:
            lines.append(f"FALSE: {item.text}")
            lines += [f"  {example}" for example in item.examples]
    return lines


def _some(examples: Iterable[str]) -> tuple[str, ...]:
    known = list(examples)
    more = [f"and {len(known) - EXAMPLES} more"] if len(known) > EXAMPLES else []
    return (*known[:EXAMPLES], *more)


def _shown(value: Value) -> Value:
    return "" if value is None else value
