"""What a product reference is made of: entries of six types (seed 003, "Knowledge Entry Schema")."""

from typing import Literal, get_args

from pydantic import Field

from commonplace.kernel.stored import Stored

EntryType = Literal["command", "api", "guide", "feature", "troubleshooting", "setting"]
ENTRY_TYPES: tuple[EntryType, ...] = get_args(EntryType)

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"]
METHODS: tuple[Method, ...] = get_args(Method)


class Example(Stored):
    description: str
    code: str
    output: str | None = None


class Entry(Stored):
    """One thing that can be looked up. As JSON its names are those of seed 003."""

    id: str
    """Unique in its catalogue: `[a-z0-9][a-z0-9._-]*`, at most 200 characters."""
    type: EntryType
    title: str
    category: str
    """A slug: `[a-z0-9][a-z0-9-]*`, at most 60 characters. The same for `subcategory` and `module`."""
    subcategory: str | None = None
    module: str | None = None
    """The optional part of the product that it belongs to; None for what everybody has."""
    name: str | None = None
    """Of a command: what is typed, without arguments: `helios gw users list`."""
    syntax: str | None = None
    """Of a command: the name with its arguments: `helios gw users get <email> [--json]`."""
    method: Method | None = None
    path_template: str | None = None
    """Of an endpoint: `/api/v1/users/{id}`."""
    summary: str
    """One or two sentences."""
    content: str = ""
    """Markdown."""
    keywords: list[str] = Field(default_factory=list)
    aliases: list[str] = Field(default_factory=list)
    """Other ways to refer to it, in words or as spelt elsewhere."""
    examples: list[Example] = Field(default_factory=list)
    related_ids: list[str] = Field(default_factory=list)
    deprecated: bool = False
    replaced_by: str | None = None
    """Id of the entry to use instead."""
    source: str | None = None
    """Where it came from: `auto-generated:DeveloperConsole.tsx`."""
    source_hash: str | None = None
    """sha256 of the source that it was generated from, in hexadecimal digits."""
    last_updated: str
    """ISO 8601."""

    @property
    def called(self) -> str:
        """What it is called where it is used: a command's name, `METHOD /path` of an endpoint, else the title."""
        if self.type == "command" and self.name:
            return self.name
        if self.type == "api" and self.path_template:
            return f"{self.method} {self.path_template}" if self.method else self.path_template
        return self.title
