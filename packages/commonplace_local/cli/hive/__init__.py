"""Review contributions of agents, manage rules, import and export."""

import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from commonplace.client import Toolset
from commonplace.hive.model import THERE_ALREADY, WAITS_ALREADY, Category
from commonplace.hive.operations import OPERATIONS
from commonplace.kernel.errors import BadRequest, CommonplaceError, InvalidInput, RateLimited, TooLarge, Unavailable
from commonplace_local.access import Place
from commonplace_local.cli.hive.connection import LIMITED_SECONDS, MAX_LISTED, opened
from commonplace_local.cli.hive.files import Entry, entries_of
from commonplace_local.cli.kb.show import progress
from commonplace_local.errors import CommandError
from commonplace_local.files import write_whole
from commonplace_local.operation_commands import add_commands
from commonplace_local.options import grouped
from commonplace_local.terminal import AsJson, clean, commands, counted, print_json, show

WRITE, ADMIN = "hive:write", "hive:admin"
MAX_SHOWN_REFUSALS = 20
EXPORTED = (
    *("id", "content", "category", "confidence", "framework", "language", "version", "tags"),
    *("contributedAt", "validAt", "invalidAt", "isPublic", "orgAttribution", "agent"),
)

Id = Annotated[str, typer.Argument(help="As `pending` shows it.")]
OfCategory = Annotated[Category | None, typer.Option("--category", help="Only of this category.")]
Marked = Annotated[bool, typer.Option("--marked", help="Only those with possible prompt injection.")]
Flagged = Annotated[bool, typer.Option("--flagged", help="Only those flagged for a second review.")]

app = commands("Review contributions of agents, manage rules, import and export.")
rules_app = commands("Manage automatic approval, masked patterns and allowed texts.")
app.add_typer(rules_app, name="rules")


@app.command()
@grouped
def pending(
    *,
    category: OfCategory = None,
    marked: Marked = False,
    flagged: Flagged = False,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number.")] = 20,
    as_json: AsJson = False,
    place: Place,
) -> None:
    """List pending contributions, the oldest first."""
    from commonplace.hive.passages import ago

    with opened(place, ADMIN) as hive:
        page = hive.answer("list_pending", category=category, marked=marked, sensitive=flagged, limit=limit)
    if as_json:
        print_json(page)
        return
    rows, now = page["contributions"], datetime.now(UTC)
    show(
        (
            {
                "id": one["id"],
                "category": one["category"],
                "from": one["agent"],
                "age": ago(one["contributedAt"], now),
                "note": " ".join([*one["marks"], *(["flagged"] if one["sensitive"] else [])]),
                "text": one["title"],
            }
            for one in rows
        ),
        nothing="No such contribution is pending." if category or marked or flagged else "No pending contributions.",
    )
    if rows:
        typer.echo(f"{len(rows):,} of {page['waiting']:,} pending. Review them: commonplace hive review", err=True)


@app.command("show")
@grouped
def show_one(id: Id, *, as_json: AsJson = False, place: Place) -> None:
    """Show a contribution with its redactions, possible prompt injection and similar items."""
    with opened(place, ADMIN) as hive:
        sheet = hive.get_review(id)
    if as_json:
        print_json(sheet)
        return
    from rich.console import Console

    from commonplace_local.cli.hive.screen import sheet_of

    Console(highlight=False).print(sheet_of(sheet, id))
    one = sheet["contribution"]
    if one["status"] != "pending":
        why = f" ({one['reason']})" if one["reason"] else ""
        typer.echo(clean(f"It is {one['status']}, by {one['decidedBy']}{why}."))


@app.command()
@grouped
def approve(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="As `pending` shows them.")],
    *,
    public: Annotated[bool, typer.Option("--public", help="Also publish them to every organisation.")] = False,
    place: Place,
) -> None:
    """Approve contributions, so that agents find them."""
    _each(place, ids, lambda hive, id: hive.approve(id, public=public), "approved")


@app.command()
@grouped
def reject(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="As `pending` shows them.")],
    *,
    reason: Annotated[str, typer.Option(help="Shown to the contributor.")],
    place: Place,
) -> None:
    """Reject contributions and delete their text."""
    _each(place, ids, lambda hive, id: hive.reject(id, reason), "rejected")


def _each(place: Place, ids: Sequence[str], decide: Callable[[Toolset, str], Any], what: str) -> None:
    """Decide about each, also after one that cannot be decided; then the command ends with 1."""
    refused = 0
    with opened(place, ADMIN) as hive:
        for id in ids:
            try:
                decide(hive, id)
            except CommonplaceError as error:
                refused += 1
                typer.echo(f"{id}: {error.message} {error.hint or ''}".strip(), err=True)
            else:
                typer.echo(f"{id}: {what}.")
    if refused:
        raise typer.Exit(1)


@app.command()
@grouped
def review(*, category: OfCategory = None, marked: Marked = False, flagged: Flagged = False, place: Place) -> None:
    """Review the queue interactively, one key for each decision."""
    from rich.console import Console

    from commonplace_local.cli.hive.review import Review, key, line

    with opened(place, ADMIN) as hive:
        Review(hive, Console(highlight=False), key, line).run(category=category, marked=marked, sensitive=flagged)


@app.command()
@grouped
def seed(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="JSON Lines, a YAML list, or Markdown.")],
    *,
    category: Annotated[Category, typer.Option(help="Category of contributions without one.")] = "general",
    skip: Annotated[int, typer.Option(min=0, help="Number of contributions to skip.")] = 0,
    wait: Annotated[bool, typer.Option("--wait", help="Wait when the server limits the rate.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the files; send nothing.")] = False,
    as_json: AsJson = False,
    place: Place,
) -> None:
    """Import contributions from files: redacted and queued like any other. Duplicates are skipped."""
    entries = [entry for file in files for entry in entries_of(file, category)][skip:]
    if dry_run:
        typer.echo(f"{counted(len(entries), 'contribution', 'contributions')} would be sent (dry run).")
        return
    sent = Seeding(len(entries), skip)
    try:
        with opened(place, WRITE) as hive:
            sent.run(hive, entries, wait=wait)
    finally:
        sent.tell(as_json)
    if sent.refused:
        raise typer.Exit(1)


class Seeding:
    """The outcome of contributing the entries of files."""

    def __init__(self, total: int, skipped: int) -> None:
        self.total, self.skipped, self.done = total, skipped, 0
        self.counts: Counter[str] = Counter()
        self.refused: list[tuple[str, str]] = []

    def run(self, hive: Toolset, entries: Sequence[Entry], *, wait: bool) -> None:
        with progress("Contributing") as report:
            for entry in entries:
                try:
                    self._send(hive, entry, wait=wait)
                except (BadRequest, InvalidInput, TooLarge) as error:
                    self.refused.append((entry.where, error.message))
                except CommonplaceError as error:
                    again = f"Run it again with --skip {self.skipped + self.done}, or with --wait."
                    raise CommandError(error.message, f"{error.hint or ''} {again}".strip()) from error
                self.done += 1
                report(self.done, self.total)

    def _send(self, hive: Toolset, entry: Entry, *, wait: bool) -> None:
        while True:
            try:
                answer = hive.add_knowledge(**entry.body)
            except (RateLimited, Unavailable) as error:
                if not wait:
                    raise
                time.sleep(max(error.retry_after_seconds, LIMITED_SECONDS))
            else:
                known = answer["message"] in (THERE_ALREADY, WAITS_ALREADY)
                self.counts["known already" if known else answer["status"]] += 1
                return

    def tell(self, as_json: bool) -> None:
        if as_json:
            refused = [{"entry": where, "error": why} for where, why in self.refused]
            print_json({"total": self.total, "done": self.done, **self.counts, "refused": refused})
            return
        parts = [f"{number:,} {what}" for what, number in sorted(self.counts.items(), reverse=True)]
        parts += [f"{len(self.refused):,} refused"] if self.refused else []
        typer.echo(f"{self.done:,} of {self.total:,}: {', '.join(parts) or 'none sent'}.")
        for where, why in self.refused[:MAX_SHOWN_REFUSALS]:
            typer.echo(clean(f"{where}: {why}"))
        if (more := len(self.refused) - MAX_SHOWN_REFUSALS) > 0:
            typer.echo(f"And {more:,} more.")


@app.command()
@grouped
def export(
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Output file; default: stdout.")] = None,
    feed: Annotated[Literal["own", "public"], typer.Option(help="Your organisation's items, or public ones.")] = "own",
    place: Place,
) -> None:
    """Export every item as JSON Lines, which `hive seed` imports."""
    with opened(place, ADMIN) as hive:
        lines = [
            json.dumps({name: one[name] for name in EXPORTED if one.get(name) not in (None, [])}, ensure_ascii=False)
            for one in hive.list_items(feed=feed, limit=MAX_LISTED)
        ]
    text = "".join(f"{line}\n" for line in lines)
    if output is None:
        typer.echo(text, nl=False)
        return
    write_whole(output, text)
    typer.echo(f"{output}: {counted(len(lines), 'item', 'items')}.", err=True)


@rules_app.command("list")
@grouped
def list_rules(*, as_json: AsJson = False, place: Place) -> None:
    """Show the rules of the organisation."""
    with opened(place, ADMIN) as hive:
        rules = hive.get_rules()
    if as_json:
        print_json(rules)
        return
    rows = [
        {
            "approve": one["id"],
            "category": one["category"] or "every",
            "from": one["agent"] or "everybody",
            "confidence": f"{one['minConfidence']:g} or more",
        }
        for one in rules["approvals"]
    ]
    show(rows, nothing="No approval rules: a person reviews every contribution.")
    for title, name in (("also masked", "patterns"), ("never masked", "allowed")):
        for text in rules[name]:
            typer.echo(f"{title}: {clean(text)}")


@rules_app.command()
@grouped
def add(
    *,
    category: OfCategory = None,
    agent: Annotated[str | None, typer.Option("--from", help="Contributor, such as agent:gardener.")] = None,
    confidence: Annotated[float, typer.Option(min=0, max=1, help="Minimum confidence.")] = 0.0,
    place: Place,
) -> None:
    """Approve contributions of a category, a contributor, or both automatically."""
    if not (category or agent):
        raise CommandError("A rule names a category, a contributor or both.", "Give --category or --from.")
    rule = {"id": secrets.token_hex(4), "category": category, "agent": agent, "minConfidence": confidence}
    _change(place, lambda rules: rules["approvals"].append(rule), f"Added: {rule['id']}.")


@rules_app.command()
@grouped
def remove(
    rule: Annotated[str, typer.Argument(help="A rule's id, a pattern, or a text, as `list` shows it.")], *, place: Place
) -> None:
    """Remove a rule, a pattern, or an allowed text."""

    def change(rules: dict[str, Any]) -> None:
        before = [len(rules[name]) for name in ("approvals", "patterns", "allowed")]
        rules["approvals"] = [one for one in rules["approvals"] if one["id"] != rule]
        for name in ("patterns", "allowed"):
            rules[name] = [one for one in rules[name] if one != rule]
        if before == [len(rules[name]) for name in ("approvals", "patterns", "allowed")]:
            raise CommandError(f"There is no rule {rule[:100]}.", "See: commonplace hive rules list")

    _change(place, change, "Removed.")


@rules_app.command()
@grouped
def pattern(
    expression: Annotated[str, typer.Argument(help="A regular expression (RE2), such as PROJ-[0-9]+")], *, place: Place
) -> None:
    """Add a pattern whose matches are masked."""
    _change(place, lambda rules: rules["patterns"].append(expression), "Added.")


@rules_app.command()
@grouped
def allow(text: Annotated[str, typer.Argument(help="For example a product name.")], *, place: Place) -> None:
    """Never mask a text, unless it is a secret."""
    _change(place, lambda rules: rules["allowed"].append(text), "Added.")


def _change(place: Place, change: Callable[[dict[str, Any]], object], done: str) -> None:
    """Change the rules as they are now; the server refuses when somebody else was faster."""
    with opened(place, ADMIN) as hive:
        rules = hive.get_rules()
        change(rules)
        hive.put_rules(**{name: rules[name] for name in ("revision", "approvals", "patterns", "allowed")})
    typer.echo(f"{done} It applies to new contributions.")


def stats_text(stats: Mapping[str, Any]) -> str:
    """Return figures as lines: what was contributed and retrieved, by category and by contributor."""
    from commonplace.hive.passages import ago

    oldest = f", the oldest for {ago(stats['oldestPending'], datetime.now(UTC))}" if stats["oldestPending"] else ""
    lines = [
        f"contributed {stats['contributed']:,}: {stats['approved']:,} approved, {stats['rejected']:,} rejected, "
        f"{stats['pending']:,} pending{oldest}",
        f"published {stats['published']:,}",
        f"served {stats['served']:,} times, retrieved from others {stats['retrieved']:,} times",
        f"model {stats['model'] or 'none yet'}{' (another one is configured)' if stats['modelChanged'] else ''}",
        *(f"  {name}: {number:,}" for name, number in sorted(stats["byCategory"].items(), key=lambda pair: -pair[1])),
        *(f"  {one['agent']}: {one['pending']:,} pending, {one['refused']:,} refused" for one in stats["contributors"]),
    ]
    return "\n".join(map(clean, lines))


add_commands(app, OPERATIONS, opened, texts={"get_hive_stats": stats_text})
