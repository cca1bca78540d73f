"""A large catalogue, always the same: several products with commands, endpoints and pages, many named nearly alike."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from commonplace.reference.model import Catalogue, Entry, EntryType, Example, Method, Placed

DATED = "2026-03-01T00:00:00Z"


@dataclass(frozen=True)
class Area:
    """A part of a product: its word in commands (none for the product's own), its title, what it manages."""

    word: str
    title: str
    resources: tuple[str, ...]
    module: str | None = None


@dataclass(frozen=True)
class Product:
    root: str
    title: str
    areas: tuple[Area, ...]


def _area(word: str, title: str, resources: str, module: str | None = None) -> Area:
    return Area(word, title, tuple(resources.split()), module)


PRODUCTS = (
    Product(
        "orchard",
        "Orchard",
        (
            _area("gw", "Google Workspace", "users groups orgunits devices licenses delegates calendars"),
            _area("ms", "Microsoft 365", "users groups licenses devices mailboxes teams", "microsoft-365"),
            _area("okta", "Okta", "users groups apps policies", "okta"),
            _area("", "Orchard", "users roles invitations sessions tokens audit-logs"),
        ),
    ),
    Product(
        "ferry",
        "Ferry",
        (
            _area("", "Ferry", "apps releases environments secrets domains certificates"),
            _area("ci", "Ferry pipelines", "pipelines runners artifacts caches", "pipelines"),
            _area("data", "Ferry data", "volumes snapshots databases buckets", "data"),
        ),
    ),
    Product(
        "lantern",
        "Lantern",
        (
            _area("", "Lantern", "alerts dashboards monitors incidents status-pages"),
            _area("oncall", "Lantern on-call", "schedules rotations overrides escalations", "on-call"),
            _area("logs", "Lantern logs", "streams archives indexes pipelines"),
        ),
    ),
    Product(
        "abacus",
        "Abacus",
        (
            _area("", "Abacus", "customers invoices subscriptions plans coupons refunds"),
            _area("tax", "Abacus tax", "rates registrations exemptions", "tax"),
            _area("connect", "Abacus Connect", "accounts payouts transfers disputes", "connect"),
        ),
    ),
)

MORE_ROOTS = (
    "meadow",
    "trellis",
    "harbour",
    "quarry",
    "beacon",
    "thicket",
    "granary",
    "causeway",
    "foundry",
    "moorland",
)
"""Further products with the parts of the first ones, for catalogues of more than these have."""

VERBS = {
    "list": ("List {things}", "", "Prints every {thing} of {area} as a table, fifty at a time."),
    "get": ("Show one {thing}", " <{id}>", "Prints all that {area} knows of the {thing}."),
    "create": ("Create a {thing}", " <name> [--from <file>]", "Makes a new {thing} in {area}."),
    "update": (
        "Change a {thing}",
        " <{id}> [--set <field=value>...]",
        "Changes the given fields of a {thing}.",
    ),
    "delete": ("Delete a {thing}", " <{id}> [--force]", "Removes the {thing} from {area} for good."),
    "export": ("Export {things}", " [--format <format>] [--out <file>]", "Writes all {things} to a file, CSV or JSON."),
    "import": (
        "Import {things}",
        " <file> [--dry-run]",
        "Reads {things} from a file, creates those missing.",
    ),
    "archive": ("Archive a {thing}", " <{id}>", "Keeps the {thing}, but takes it out of lists and searches."),
    "restore": ("Restore an archived {thing}", " <{id}>", "Brings an archived {thing} back."),
    "add-tag": ("Tag a {thing}", " <{id}> <tag>", "Puts a tag on a {thing}, to filter lists by."),
    "audit": (
        "Show who changed a {thing}",
        " <{id}> [--since <date>]",
        "Prints the history of a {thing}, latest first.",
    ),
}

ENDPOINTS: tuple[tuple[Method, str, str, str], ...] = (
    ("GET", "", "List {things}", "Answers with {things} of {area}, a page at a time."),
    ("POST", "", "Create a {thing}", "Creates a {thing} in {area} and answers with it."),
    ("GET", "/{id}", "Read a {thing}", "Answers with one {thing}."),
    ("PATCH", "/{id}", "Change a {thing}", "Changes the given fields of a {thing}."),
    ("DELETE", "/{id}", "Delete a {thing}", "Removes a {thing} for good."),
    ("POST", "/{id}/archive", "Archive a {thing}", "Takes a {thing} out of lists."),
    (
        "GET",
        "/{id}/history",
        "Read the history of a {thing}",
        "Answers with the changes to a {thing}, latest first.",
    ),
)

PAGES: tuple[tuple[EntryType, str, str], ...] = (
    ("guide", "Get started with {area} {things}", "From nothing to the first {thing} of {area} in ten minutes."),
    (
        "guide",
        "Move {things} into {area}",
        "How to bring {things} over from another system without downtime.",
    ),
    ("feature", "{area} {things} at a glance", "What {things} are for in {area}, and how they belong together."),
    (
        "troubleshooting",
        "{area} {things} are missing",
        "Why a {thing} may not show up in {area}, and what to do.",
    ),
    ("setting", "Retention of {area} {things}", "How many days {area} keeps {things} that were deleted."),
)


def catalogue(entries: int = 1200, *, name: str = "synthetic") -> Catalogue:
    """The first so many of the entries; commands, endpoints and pages of one thing stand together."""
    found = list(islice(_entries(), entries))
    ids = {entry.id for entry in found}
    placed = [
        Placed(entry=_related_within(entry, ids), path=f"{name}/{entry.type}s.json", generation=1) for entry in found
    ]
    return Catalogue(
        name=name,
        title=name.capitalize(),
        categories={product.root: product.title for product in PRODUCTS},
        modules={area.module: area.title for product in PRODUCTS for area in product.areas if area.module},
        servers=["https://api.synthetic.example/api/v1"],
        repository="example/synthetic",
        branch="main",
        commit_sha="5" * 40,
        generation=1,
        synced_at=datetime(2026, 3, 1, tzinfo=UTC),
        entries=sorted(placed, key=lambda one: one.entry.id),
    )


def _related_within(entry: Entry, ids: set[str]) -> Entry:
    related = [id for id in entry.related_ids if id in ids]
    replaced_by = entry.replaced_by if entry.replaced_by in ids else None
    return entry.model_copy(update={"related_ids": related, "replaced_by": replaced_by})


def _entries() -> Iterator[Entry]:
    more = (Product(root, root.capitalize(), _renamed(root)) for root in MORE_ROOTS)
    for product in (*PRODUCTS, *more):
        for area in product.areas:
            for resource in area.resources:
                yield from _of_resource(Subject(product, area, resource))


def _renamed(root: str) -> tuple[Area, ...]:
    """The parts of every product, under another's name."""
    found = {
        (area.word or f"{product.root}-core"): Area(
            area.word or f"{product.root}-core", f"{root.capitalize()} {area.title}", area.resources, area.module
        )
        for product in PRODUCTS
        for area in product.areas
    }
    return tuple(found.values())


@dataclass(frozen=True)
class Subject:
    """What the entries of one resource are about."""

    product: Product
    area: Area
    resource: str

    @property
    def slug(self) -> str:
        return "-".join(filter(None, (self.product.root, self.area.word, self.resource)))

    @property
    def path(self) -> str:
        return "/" + "/".join(filter(None, ("api/v1", self.product.root, self.area.word, self.resource)))

    def command(self, verb: str) -> str:
        return " ".join(filter(None, (self.product.root, self.area.word, self.resource, verb)))

    def told(self, text: str) -> str:
        things = self.resource.replace("-", " ")
        thing = things[:-3] + "y" if things.endswith("ies") else things.removesuffix("s")
        id = thing.replace(" ", "-")
        return text.replace("{id}", id).format(things=things, thing=thing, area=self.area.title)

    def entry(self, id: str, type: EntryType, title: str, summary: str, **told: object) -> Entry:
        facts: dict[str, object] = {
            "category": self.product.root,
            "subcategory": self.area.word or None,
            "module": self.area.module,
            "keywords": [*self.resource.split("-"), *self.area.title.lower().split()],
            "last_updated": DATED,
        }
        return Entry.model_validate({"id": id, "type": type, "title": title, "summary": summary, **facts, **told})


def _of_resource(subject: Subject) -> Iterator[Entry]:
    yield from (_command(subject, verb) for verb in VERBS)
    yield _deprecated(subject)
    yield from (_endpoint(subject, number) for number in range(len(ENDPOINTS)))
    for number, (type, title, text) in enumerate(PAGES):
        summary = subject.told(text)
        content = f"{summary}\n\nStart with `{subject.command('list')}`."
        id = f"{type}-{subject.slug}-{number}"
        yield subject.entry(id, type, subject.told(title), summary, content=content)


def _command(subject: Subject, verb: str) -> Entry:
    title, arguments, text = VERBS[verb]
    name = subject.command(verb)
    syntax = name + subject.told(arguments.replace("{id}", "ID")).replace("ID", subject.told("{id}"))
    told = subject.told(title)
    return subject.entry(
        f"cmd-{subject.slug}-{verb}",
        "command",
        f"{told} ({subject.area.title})",
        f"{told} of {subject.area.title}.",
        name=name,
        syntax=syntax,
        content=f"{subject.told(text)}\n\n**Syntax:**\n```\n{syntax}\n```",
        aliases=[f"{verb.replace('-', ' ')} {subject.area.title.lower()} {subject.resource.replace('-', ' ')}"],
        examples=[Example(description=told, code=name + (" 42" if "<" in arguments else ""))],
        related_ids=[f"cmd-{subject.slug}-{other}" for other in VERBS if other != verb][:3],
    )


def _deprecated(subject: Subject) -> Entry:
    """What `list` was called before."""
    name = " ".join(filter(None, (subject.product.root, subject.area.word, f"show-{subject.resource}")))
    return subject.entry(
        f"cmd-{subject.slug}-show",
        "command",
        f"Show {subject.resource} ({subject.area.title}, old)",
        "Replaced.",
        name=name,
        syntax=name,
        deprecated=True,
        replaced_by=f"cmd-{subject.slug}-list",
    )


def _endpoint(subject: Subject, number: int) -> Entry:
    method, below, title, text = ENDPOINTS[number]
    operation = f"{method.lower()}-{subject.slug}{below.replace('{id}', 'one').replace('/', '-')}"
    return subject.entry(
        f"api-{operation}",
        "api",
        subject.told(title) + f" ({subject.area.title} API)",
        subject.told(text),
        method=method,
        path_template=subject.path + below,
        aliases=[_camel(operation)],
        content=f"{subject.told(text)}\n\n**Authentication:** bearer token.",
    )


def _camel(slug: str) -> str:
    first, *rest = slug.split("-")
    return first + "".join(part.capitalize() for part in rest)
