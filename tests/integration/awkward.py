"""A small knowledge base with a history: every kind of awkward file and push that acceptance has to cope with."""

from pathlib import Path

from tests.integration.repositories import Clone, document

PIXEL = bytes(range(256))
SECRET = "The quiet ledger lists seventeen unpaid mooring fees beside the names of those who owe them."
HIDDEN_TITLE = "Ledger of unpaid moorings"


def awkward(folder: Path) -> Clone:
    """Seven pushes: awkward files, a large one, moves, edits that nobody can read, what was published withdrawn."""
    user = Clone(folder)
    _first(user)
    user.commit("First")
    for number in range(55):
        user.write(f"docs/many/m{number}.md", document(f"Many {number}", f"Text of page {number}.\n", type="article"))
    user.commit("A large push")
    user.git("mv", "data/links/index.md", "data/index.md")
    user.git("mv", "docs/Café & Tea – (1) #2.md", "docs/renamed.md")
    user.commit("Moves")
    user.write("docs/tides.md", document("Tides", "Retyped in place.\n", type="study", tags="[shore, tide]"))
    user.write("docs/steady.md", "---\ntitle: Steady: not\npublish: true\n---\nNobody can read this edit.\n")
    user.commit("A retyped page, and one that cannot be read any more")
    user.write("docs/many/m1.md", document("Many 1", f"{SECRET}\n", publish=False, type="article"))
    (folder / "docs" / "many" / "m2.md").unlink()
    user.commit("One withdrawn, one removed")
    user.write("docs/late.md", document("Late", "![Pixel](../attachments/pixel.png) and [[Tides]].\n", type="article"))
    user.commit("A late page")
    user.commit("Nothing")
    return user


def _first(user: Clone) -> None:
    user.write("index.md", document("Home", "See [tides](docs/tides.md) and [links](data/links/).\n", type="index"))
    user.write("data/links/index.md", document("Links", "", type="index"))
    user.write(
        "docs/tides.md", document("Tides", "One\r\n\r\n---\r\n\r\nTwo ümläut.\r\n", type="article", tags="[tide]")
    )
    user.write("docs/steady.md", document("Steady", "The good version.\n", type="article", tags="tide, calm"))
    user.write("docs/Café & Tea – (1) #2.md", document("Café & Tea", "[Home](../index.md)\n", type="Article", tags=""))
    user.write("docs/same.md", document("Shared title", "First.\n", type="article"))
    user.write("docs/a/same.md", document("Shared title", "Second.\n", type="article", banner="'![[pixel.png]]'"))
    user.write("docs/linker.md", document("Linker", "To [a secret](docs/secret.md), [gone](x/y.md).\n", type="article"))
    user.write("docs/secret.md", document(HIDDEN_TITLE, f"{SECRET}\n", publish=False))
    user.write("docs/quoted.md", f'---\ntitle: Quoted\npublish: "true"\n---\n{SECRET}\n')
    user.write("docs/draft.md", document("Half a thought", f"{SECRET}\n", draft="soon"))
    user.write("drafts/excluded.md", document("Kept in the drawer", f"{SECRET}\n"))
    user.write("docs/broken.md", f"---\ntitle: Broken: always\npublish: true\n---\n{SECRET}\n")
    user.write("docs/latin.md", b"---\npublish: true\n---\n\xe9\n")
    user.write("docs/empty.md", b"")
    user.write("docs/⬜️ odd name .md", f"{SECRET}\n")
    user.write("attachments/pixel.png", PIXEL)
    user.write("attachments/unused.txt", f"{SECRET}\n")
    (user.folder / "link.md").symlink_to("index.md")
