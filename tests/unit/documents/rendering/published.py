"""Files as a real sync publishes them, and how they are rendered."""

from collections.abc import Mapping

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import Attachment, Summary
from commonplace.documents.content.library import Library
from commonplace.documents.rendering.model import Rendered
from commonplace.documents.rendering.renderer import Renderer
from tests.unit.documents.content.files import markdown
from tests.unit.documents.sync.drive import World


class Places(DocumentAddresses):
    """Addresses as the site has them, short."""

    def of(self, entry: Summary) -> str:  # type: ignore[override]
        return f"/d/{entry.ref}"

    def of_attachment(self, attachment: Attachment) -> str:  # type: ignore[override]
        return f"/files/{attachment.name}"

    def of_tag(self, name: str, /) -> str:
        return f"/t/{name}"


class Published:
    """What a sync made of these files: `str` is the body of a published document, `bytes` is a file as it is."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.world = World()
        self.world.push({path: body if isinstance(body, bytes) else markdown(body) for path, body in files.items()})
        self.world.sync()
        self.library = Library(self.world.objects)
        self.renderer = self.fresh()

    def fresh(self) -> Renderer:
        """One that remembers nothing."""
        return Renderer(self.library, Places())

    def render(self, path: str) -> Rendered:
        entry = self.library.manifest().by_path[path]
        (document,) = self.library.read([entry.ref])
        assert document is not None
        return self.renderer.render(entry, document.content)


def rendered(body: str, files: Mapping[str, str | bytes] | None = None, title: str = "The page") -> Rendered:
    """A document at `notes/page.md` with this body, among other files."""
    return Published({"notes/page.md": markdown(body, title=title), **(files or {})}).render("notes/page.md")


def html(body: str, files: Mapping[str, str | bytes] | None = None) -> str:
    return rendered(body, files).html.strip()
