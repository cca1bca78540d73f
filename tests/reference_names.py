"""Names with a mistake, and names that do not exist, made of those of a catalogue; always the same."""

import random
import string
from collections.abc import Iterator

from commonplace.reference.endpoints import shape
from commonplace.reference.model import Catalogue
from commonplace.reference.spelling import spelling

_VERBS = "clone disable drain enable fetch find inspect promote purge rebuild rotate show transfer verify"
_THINGS = "backups badges contracts gizmos payments printers shipments tickets webhooks widgets"

VERBS = tuple(_VERBS.split())
"""That no command of the large catalogue has."""
THINGS = tuple(_THINGS.split())
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

Random = random.Random


def with_one_edit(name: str, rng: Random, alphabet: str = string.ascii_lowercase) -> str:
    """A letter left out, inserted, replaced, or swapped with its neighbour; not only letter case or a separator."""
    while True:
        place = rng.randrange(len(name))
        before, at, after = name[:place], name[place], name[place + 1 :]
        letter = rng.choice(alphabet)
        swapped = before + after[:1] + at + after[1:]
        edited = rng.choice([before + after, before + letter + at + after, before + letter + after, swapped])
        if spelling(edited) != spelling(name):
            return edited


class MadeUp:
    """Names that do not exist in a catalogue, and are not the beginning of one that does."""

    def __init__(self, catalogue: Catalogue, seed: int = 8) -> None:
        entries = [placed.entry for placed in catalogue.entries]
        self._rng = Random(seed)
        self._commands = sorted(entry.name for entry in entries if entry.type == "command" and entry.name)
        self._grouped = [name for name in self._commands if name.count(" ") > 1]
        self._endpoints = sorted(entry.called for entry in entries if entry.type == "api")
        aliases = {spelling(alias) for entry in entries for alias in entry.aliases}
        self._spelt = {*map(spelling, self._commands), *aliases, *(spelling(entry.title) for entry in entries)}
        told = [entry for entry in entries if entry.parameters is not None]
        self._taking = tuple(f"{entry.name} " for entry in told if entry.syntax != entry.name)
        """What begins so is a use of a command that exists: any word may be its argument."""
        self._shapes = {(method, shape(path)) for method, path in (called.split(" ") for called in self._endpoints)}

    def misspelt_commands(self) -> Iterator[str]:
        """One or two mistakes, of which only one may be in the first word."""
        while True:
            root, _, rest = self._rng.choice(self._grouped).partition(" ")
            name = with_one_edit(f"{root} {rest}", self._rng)
            if self._rng.random() < 0.5:
                name = f"{root} {with_one_edit(with_one_edit(rest, self._rng), self._rng)}"
            yield from self._new_command(name)

    def recombined_commands(self) -> Iterator[str]:
        """Words of several commands behind the root of one."""
        while True:
            words = [word for name in self._rng.sample(self._commands, 3) for word in name.split()[1:]]
            self._rng.shuffle(words)
            root = self._rng.choice(self._grouped).split()[0]
            yield from self._new_command(" ".join([root, *words[: self._rng.randint(1, 4)]]))

    def plausible_commands(self) -> Iterator[str]:
        """What a model makes up: another verb, another thing, a verb joined to a thing."""
        while True:
            *group, thing, verb = self._rng.choice(self._grouped).split()
            other, new = self._rng.choice(VERBS), self._rng.choice(THINGS)
            yield from self._new_command(
                self._rng.choice(
                    [
                        " ".join([*group, thing, other]),
                        " ".join([*group, new, verb]),
                        " ".join([*group, f"{other}-{thing}"]),
                        f"{group[0]} {verb}-{thing}",
                        f"{group[0]} {verb} all {thing}",
                        f"{group[0]}-{other}-{thing}",
                        f"get-{new}",
                        f"list{new.capitalize()}",
                        f"delete_{new}",
                        " ".join([*group, thing, verb, other]),
                        " ".join([*group, thing, other, "--json"]),
                    ]
                )
            )

    def endpoints(self) -> Iterator[str]:
        """Wrong methods, wrong segments, another version, one segment too many, a mistake."""
        while True:
            method, path = self._rng.choice(self._endpoints).split(" ")
            segments = path.split("/")
            place = self._rng.choice([n for n, segment in enumerate(segments) if segment.isalnum()])
            wrong = [*segments[:place], self._rng.choice(THINGS), *segments[place + 1 :]]
            request = self._rng.choice(
                [
                    f"{self._rng.choice(METHODS)} {path}",
                    f"{method} {'/'.join(wrong)}",
                    f"{method} {path.replace('/v1/', '/v2/')}",
                    f"{method} {path}/{self._rng.choice(THINGS)}",
                    f"{method} {path}/{self._rng.choice(VERBS)}",
                    f"{method} {with_one_edit(path, self._rng)}",
                    f"{method} {path.replace('{id}', str(self._rng.randrange(1000)))}/{self._rng.choice(THINGS)}",
                ]
            )
            asked, _, rest = request.partition(" ")
            if (asked, shape(rest)) not in self._shapes:
                yield request

    def _new_command(self, name: str) -> Iterator[str]:
        key = spelling(name.removesuffix(" --json"))
        if not any(known.startswith(key) for known in self._spelt) and not name.startswith(self._taking):
            yield name
