"""A catalogue as it is published: every entry of a folder at one commit, in one object."""

from datetime import datetime

from pydantic import Field

from commonplace.kernel.stored import Stored
from commonplace.reference.entries import Entry

SETTINGS_FILE = "catalogue.yaml"
"""At the top of a catalogue's folder: what the product is called, its synonyms, what is generated from what."""


class Placed(Stored):
    """An entry and where it stands."""

    entry: Entry
    path: str
    """Of its file, in the repository."""
    generation: int
    """Of the publication that changed it last."""


class Catalogue(Stored):
    """What readers load: one immutable object for each publication."""

    name: str
    """Of the deployment's configuration: `[a-z][a-z0-9-]*`."""
    title: str
    """What the product is called."""
    description: str = ""
    roots: list[str] = Field(default_factory=list)
    """First words of commands, besides those of the entries' own names."""
    synonyms: dict[str, list[str]] = Field(default_factory=dict)
    """Those of the catalogue, beyond the default table."""
    categories: dict[str, str] = Field(default_factory=dict)
    """Slug -> title, where the catalogue says one."""
    modules: dict[str, str] = Field(default_factory=dict)
    """The same for optional modules."""
    servers: list[str] = Field(default_factory=list)
    """URLs of the API: host and base path of one, before the path of an endpoint, are forgiven."""
    repository: str
    """`owner/name`."""
    branch: str
    commit_sha: str
    generation: int
    synced_at: datetime
    entries: list[Placed] = Field(default_factory=list)
    """By id."""

    def source_url(self, placed: Placed) -> str:
        """The entry's file on GitHub, at the commit that was published."""
        return f"https://github.com/{self.repository}/blob/{self.commit_sha}/{placed.path}"


class Manifest(Stored):
    """What is published of a catalogue, at `reference/{name}/manifest.json`: the one object that is ever replaced."""

    name: str
    pipeline: str
    """Fingerprint of what decides what a file becomes; another one means that everything is read anew."""
    repository: str
    branch: str
    folder: str
    commit_sha: str
    generation: int
    synced_at: datetime
    files: dict[str, str] = Field(default_factory=dict)
    """Path -> blob id, of every file that was read."""
    catalogue_key: str
    """Of the `Catalogue`'s object."""
    versions: dict[str, int] = Field(default_factory=dict)
    """Id of each entry -> generation that changed it last."""
