"""The set: contributions with their personal data marked, in `cases/*.yaml`.

A mark is `⟦KIND label|text⟧`, the label optional; without a text its label makes it. `not` in place of a kind marks
what only looks like personal data, `kept` what is some and stays on purpose: data in code, persons that are examples.
`⟨date of birth|...⟩` is a key and its value, in every notation that programs have.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import Literal

import yaml

Half = Literal["tuned", "held"]
HALVES: tuple[Half, ...] = ("tuned", "held")

FOLDER = Path(__file__).parent / "cases"
KEYS = Path(__file__).with_name("keys.yaml")
FORMS: dict[str, list[str | list[str | int]]] = yaml.safe_load(KEYS.read_text(encoding="utf-8"))
_KEYED = re.compile(r"⟨([^⟨⟩|]+)\|([^⟨⟩]+)⟩")
NOTATIONS: dict[str, Callable[[Sequence[str]], str]] = {
    "space": lambda words: f"{' '.join(words)}: %s",
    "snake": lambda words: f"{'_'.join(words)}=%s",
    "kebab": lambda words: f"{'-'.join(words)}: %s",
    "camel": lambda words: f'"{words[0]}{"".join(map(str.title, words[1:]))}": "%s"',
    "pascal": lambda words: f"<{''.join(map(str.title, words))}>%s</{''.join(map(str.title, words))}>",
    "upper": lambda words: f"{'_'.join(words).upper()}=%s",
}
"""How a key and its value are written; a case with `⟨words of the key|value⟩` is run in each of these."""
_MARK = re.compile(r"⟦(\w+)(?: ([\w-]+))?(?:\|([^⟦⟧]*))?⟧")
_ALPHABETS = {"letters": ascii_letters, "lower": ascii_lowercase, "upper": ascii_uppercase + digits, "digits": digits}
_ALPHABETS |= {"word": ascii_letters + digits, "hex": digits + "abcdef", "base32": ascii_uppercase + "234567"}
_ALPHABETS |= {"url": _ALPHABETS["word"] + "-_", "base64": _ALPHABETS["word"] + "/+"}
_ALPHABETS["special"] = _ALPHABETS["word"] + "!%*-_+."
# Test vectors of BIP-39: their check sums are right.
_MNEMONICS = (
    "legal winner thank year wave sausage worth useful legal winner thank yellow",
    "letter advice cage absurd amount doctor acoustic avoid letter advice cage above",
)
_CARDS = {"amex": ("37", "465"), "discover": ("6011", "4444"), "mastercard": ("53", "4444"), "visa": ("4", "4444")}
"""How a number begins, and the sizes of the groups that it is written in."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters `start` to `end` of a text, and what they are."""

    start: int
    end: int
    kind: str
    """A `Kind` of the redaction, `not` or `kept`."""
    label: str = ""

    @property
    def name(self) -> str:
        """What a table calls it: kind and label where the label divides the kind into what is found differently."""
        return f"{self.kind} {self.label}" if self.kind == "REDACTED" or self.label == "script" else self.kind

    def overlaps(self, start: int, end: int) -> bool:
        return self.start < end and start < self.end


@dataclass(frozen=True, slots=True)
class Case:
    """One contribution."""

    id: str
    half: Half
    text: str
    marks: Sequence[Mark]

    @property
    def wanted(self) -> list[Mark]:
        """What has to be masked."""
        return [mark for mark in self.marks if mark.kind not in ("not", "kept")]


@cache
def cases() -> tuple[Case, ...]:
    """Return the whole set. In each file every second case is of the half that nobody looks at."""
    found: list[Case] = []
    for file in sorted(FOLDER.glob("*.yaml")):
        for place, marked in enumerate(yaml.safe_load(file.read_text(encoding="utf-8"))):
            name = f"{file.stem}-{place + 1}"
            for notation, written in _spelt(marked):
                found.append(Case(name + notation, HALVES[place % 2], *parsed(written, name)))
    return tuple(found)


def _spelt(marked: str) -> Iterator[tuple[str, str]]:
    """Yield the case in each notation of its keys, or as it is where it has none."""
    if not _KEYED.search(marked):
        yield "", marked
        return
    seen: dict[str, str] = {}
    for notation, write in NOTATIONS.items():
        seen.setdefault(_KEYED.sub(lambda one: write(one[1].split()) % one[2], marked), f"-{notation}")  # noqa: B023
    yield from ((notation, written) for written, notation in seen.items())


def parsed(marked: str, seed: str) -> tuple[str, tuple[Mark, ...]]:
    """Return the text without its marks, and the marks. Raises ValueError for one that is not closed."""
    text, last, marks = "", 0, list[Mark]()
    for found in _MARK.finditer(marked):
        kind, label, written = found.groups(default="")
        value = written or made(label, f"{seed} {len(marks)}")
        text += marked[last : found.start()]
        marks.append(Mark(len(text), len(text) + len(value), kind, label))
        text += value
        last = found.end()
    text += marked[last:]
    if "⟦" in text or "⟧" in text:
        raise ValueError(f"{seed}: a mark is not closed, or has no kind")
    return text, tuple(marks)


def made(label: str, seed: str) -> str:
    """Return a made-up key or card, the same for the same seed. Raises KeyError for a label that stands for nothing."""
    random = Random(f"{label} {seed}")
    match label:
        case "amex" | "discover" | "mastercard" | "visa":
            prefix, groups = _CARDS[label]
            body = prefix + "".join(random.choices(digits, k=sum(map(int, groups)) - len(prefix) - 1))
            doubled = [int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(body))]
            number = body + str(-sum(each // 10 + each % 10 for each in doubled) % 10)  # Luhn's check
            cuts = [sum(map(int, groups[:place])) for place in range(len(groups) + 1)]
            return " ".join(number[start:end] for start, end in pairwise(cuts))
        case "base64":
            return b64encode(random.randbytes(18)).decode()
        case "mnemonic":
            return random.choice(_MNEMONICS)
        case "jwt":
            claims = f'{{"sub":"{random.randrange(10**6)}","iss":"https://id.tallbridge.se","exp":1743700000}}'
            parts = (b'{"alg":"RS256","typ":"JWT"}', claims.encode(), random.randbytes(96))
            return ".".join(b64encode(part, b"-_").decode().rstrip("=") for part in parts)
        case "pem" | "pem-json":
            kind, body = "PRIVATE " + "KEY", b64encode(random.randbytes(240)).decode()
            lines = [body[start : start + 64] for start in range(0, len(body), 64)]
            line_end = "\\n" if label == "pem-json" else "\n"
            return line_end.join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])
    chosen = (
        part
        if isinstance(part, str)
        else "".join(random.choices(_ALPHABETS.get(str(part[1]), str(part[1])), k=int(part[0])))
        for part in FORMS[label]
    )
    return "".join(chosen)
