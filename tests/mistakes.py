"""Typical mistakes of editors, a file each (tests/fixtures/mistakes), and what is to be said of each of them."""

from pathlib import Path

FOLDER = Path(__file__).parent / "fixtures" / "mistakes"

MISTAKES: dict[str, tuple[int, str, str]] = {
    "docs/tea.md": (1, "id-collision", "rename one of the files, or refer to this one by `docs-tea`"),
    "drafts/excluded-folder.md": (
        1,
        "excluded",
        "move the file to another folder, or remove `publish: true`",
    ),
    "notes/another-suffix.txt": (1, "unsupported-suffix", "rename the file `another-suffix.md`"),
    "notes/blank-lines-first.md": (1, "frontmatter-not-first", "let the file begin with the line `---`"),
    "notes/byte-order-mark-and-blank-line.md": (1, "frontmatter-not-first", "let the file begin with the line `---`"),
    "notes/colon-in-title.md": (2, "malformed-frontmatter", "put quotes around a value that contains `: `"),
    "notes/dashes.md": (
        1,
        "frontmatter-fence",
        "begin and end the frontmatter with a line of three hyphens, `---`, and nothing else on it",
    ),
    "notes/draft-set.md": (6, "draft-not-understood", "write `draft: false`, or remove the line"),
    "notes/heading-first.md": (1, "frontmatter-not-first", "move it below the second line `---`"),
    "notes/large-picture.md": (
        7,
        "attachment-not-served",
        "make it smaller, or put it elsewhere and link to it",
    ),
    "notes/no-frontmatter.md": (
        2,
        "publish-outside",
        "put a line `---` before the first field, at the very top of the file, and another after the last field",
    ),
    "notes/publish-below.md": (4, "publish-outside", "move the line up between the two lines `---`"),
    "notes/publish-empty.md": (5, "publish-not-true", "write `publish: true`"),
    "notes/publish-in-capitals.md": (5, "publish-misspelt", "write `publish: true`"),
    "notes/publish-in-quotes.md": (5, "publish-not-true", "write `publish: true`"),
    "notes/publish-in-typographic-quotes.md": (5, "publish-not-true", "write `publish: true`"),
    "notes/publish-indented.md": (6, "publish-outside", "begin the line with `publish`"),
    "notes/publish-without-a-space.md": (5, "malformed-frontmatter", "write `publish: true`"),
    "notes/publish-yes.md": (5, "publish-not-true", "write `publish: true`"),
    "notes/published.md": (5, "publish-misspelt", "write `publish: true`"),
    "notes/tab.md": (7, "malformed-frontmatter", "there is a tab in this line: indent with spaces"),
    "notes/tea.md": (1, "id-collision", "rename one of the files, or refer to this one by `notes-tea`"),
}
"""Path -> line, code, cure."""

PUBLISHED = {"docs/tea.md", "notes/tea.md", "notes/large-picture.md", "index.md"}

COUNT = "22 problems (3 errors, 19 warnings), no hints"
"""What every surface says of the whole tree."""


def tree() -> dict[str, bytes]:
    """The files, with a picture that is too large to be kept among the fixtures."""
    files = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}
    return files | {"attachments/panorama.png": bytes(4_600_000)}


def write(folder: Path) -> None:
    for name, content in tree().items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
