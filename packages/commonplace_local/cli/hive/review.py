"""The review on a terminal: one contribution after the other, one key for each decision."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import typer
from rich.console import Console

from commonplace.client import Toolset
from commonplace.hive.model import REASONS
from commonplace.kernel.errors import Conflict, InvalidInput, NotFound
from commonplace.redaction.model import KINDS
from commonplace_local.cli.hive.connection import MAX_LISTED
from commonplace_local.cli.hive.screen import sheet_of
from commonplace_local.errors import CommandError

KEYS = "a approve · p approve and publish · r reject · f flag · m mask · j next · k back · ? help · q quit"
HELP = (
    "a approves it for your organisation, p publishes it to all. r deletes its text, and asks for a reason. "
    "f requests a second review. m replaces a passage with a placeholder. "
    "j leaves it in the queue. A decision cannot be undone: an approved item can be withdrawn, invalidated or "
    "deleted in the console; rejected text is deleted."
)
ENDS = ("q", "\x03", "\x04", "\x1b")


@dataclass
class Review:
    """A session at the queue. `keys` reads one key, `line` a line of text."""

    hive: Toolset
    console: Console
    keys: Callable[[], str]
    line: Callable[[str], str]
    decided: dict[str, int] = field(default_factory=dict)

    def run(self, **chosen: Any) -> None:
        """Go on until the queue or the reviewer is through. The next contribution is read while one is looked at.

        `chosen` are the filters of `list_pending`.
        """
        waiting = int(self.hive.answer("list_pending", limit=1)["waiting"])
        of_all = "" if any(chosen.values()) else f" of {waiting:,}"  # nobody has counted what a filter leaves
        # What is decided meanwhile leaves the queue, and nothing after it is skipped for that.
        ids = (str(one["id"]) for one in self.hive.list_pending(limit=MAX_LISTED, **chosen))
        seen: list[str] = []
        with ThreadPoolExecutor(1) as reader:
            following = self._read(reader, ids)
            at = 0
            while True:
                if at == len(seen):
                    if following is None:
                        break
                    id, reading = following
                    seen.append(id)
                    following = self._read(reader, ids)
                else:
                    reading = reader.submit(self.hive.get_review, seen[at])
                step = self._one(seen[at], reading, f"{at + 1:,}{of_all}")
                if step is None:
                    break
                at = max(0, at + step)
        decisions = ", ".join(f"{number:,} {what}" for what, number in self.decided.items()) or "no decisions"
        through = following is None and at >= len(seen)
        self._say(f"{'Review finished' if through else 'Review stopped'}: {decisions}.")

    def _read(self, reader: ThreadPoolExecutor, ids: Iterator[str]) -> "tuple[str, Future[dict[str, Any]]] | None":
        id = next(ids, None)
        return None if id is None else (id, reader.submit(self.hive.get_review, id))

    def _one(self, id: str, reading: "Future[dict[str, Any]]", progress: str) -> int | None:
        """Return how far to go from here; None ends the review."""
        try:
            sheet = reading.result()
        except NotFound:
            self._say(f"{id} is deleted.")
            return 1
        one = sheet["contribution"]
        self.console.print(sheet_of(sheet, f"{progress} · {id}"))
        if one["status"] != "pending":
            self._say(f"It is {one['status']} already, by {one['decidedBy']}.")
        self._say(KEYS, "dim")
        while True:
            key = self.keys()
            if key in ENDS:
                return None
            if key in ("j", "k"):
                return 1 if key == "j" else -1
            if key == "?":
                self._say(HELP)
                continue
            try:
                step = self._act(key, id, one)
            except (NotFound, Conflict, InvalidInput) as refused:
                self._say(f"{refused.message} {refused.hint or ''}".strip(), "yellow")
                gone = isinstance(refused, NotFound) or bool(refused.details.get("status"))
                step = 1 if gone else None
            if step is not None:
                return step

    def _act(self, key: str, id: str, one: dict[str, Any]) -> int | None:
        """Do what a key says and return how far to go; None stays with this contribution for another key."""
        match key:
            case "a" | "p":
                self.hive.approve(id, public=key == "p")
                return self._done("published" if key == "p" else "approved")
            case "r":
                reason = self._reason()
                if reason is None:
                    self._say("Not rejected.")
                    return None
                self.hive.reject(id, reason)
                return self._done("rejected")
            case "f":
                changed = self.hive.flag(id, not one["sensitive"])
                one["sensitive"] = changed["sensitive"]
                self._say("Flagged for a second review." if one["sensitive"] else "Flag removed.")
                return None
            case "m":
                return self._mask(id)
        return None

    def _mask(self, id: str) -> int | None:
        passage = self.line("Exact passage (empty cancels)")
        if not passage.strip():
            return None
        kind = self.line(f"Placeholder ({', '.join(KINDS)})").strip().upper() or "REDACTED"
        if kind not in KINDS:
            self._say("Unknown placeholder; nothing was masked.", "yellow")
            return None
        self.hive.mask(id, passage, kind=kind)
        self._say("Masked. Read it again.")
        return 0

    def _reason(self) -> str | None:
        for number, reason in enumerate(REASONS, start=1):
            self._say(f"  {number} {reason}")
        self._say("  0 your own reason; any other key cancels", "dim")
        key = self.keys()
        if key == "0":
            return self.line("Reason (shown to the contributor)").strip() or None
        return REASONS[int(key) - 1] if key.isdecimal() and 0 < int(key) <= len(REASONS) else None

    def _done(self, what: str) -> int:
        self.decided[what] = self.decided.get(what, 0) + 1
        self._say(f"{what.capitalize()}.", "green")
        return 1

    def _say(self, text: str, style: str = "") -> None:
        self.console.print(text, style=style or None, markup=False, highlight=False)


def key() -> str:
    """Return one key of the terminal. Raises CommandError where there is none."""
    try:
        return typer.getchar()
    except KeyboardInterrupt:
        return "\x03"
    except OSError as error:
        hint = "Decide one by one instead: commonplace hive approve ID, commonplace hive reject ID --reason ..."
        raise CommandError("The review needs a terminal.", hint) from error


def line(question: str) -> str:
    """Return an answer; an empty one where the question is left with Ctrl-C."""
    try:
        answer: str = typer.prompt(question, default="", show_default=False)
    except typer.Abort:
        return ""
    return answer
