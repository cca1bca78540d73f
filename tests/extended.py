"""The project with the capability of docs/inside/extending.md, in a folder of its own: the page is what runs."""

from pathlib import Path

from tests.unit.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "inside" / "extending.md"
ROOM = "things/"
LIST = "capabilities.py"


def files() -> dict[str, str]:
    """Path below the library -> text, of every file that the page shows."""
    shown = (block.text.partition("\n") for language in ("python", "jinja") for block in blocks(PAGE, language))
    return {heading.strip("{# }"): text for heading, _, text in shown}


def listing() -> str:
    """The list of capabilities with the page's change made to it."""
    (change,) = blocks(PAGE, "diff")
    lines = change.text.splitlines()
    before, after = ("\n".join(line[1:] for line in lines if line[:1] != sign) for sign in "+-")
    text = (ROOT / "layers/core/commonplace" / LIST).read_text(encoding="utf-8")
    assert before in text
    return text.replace(before, after)


def extended(folder: Path) -> Path:
    """A root of functions and layers. What is not of the page are links to the project's own."""
    core = folder / "layers" / "core"
    library = core / "commonplace"
    (library / ROOM).mkdir(parents=True)
    (folder / "functions").symlink_to(ROOT / "functions")
    _link(ROOT / "layers", folder / "layers")
    _link(ROOT / "layers" / "core", core)
    _link(ROOT / "layers" / "core" / "commonplace", library)
    (library / ROOM / "__init__.py").touch()
    for path, text in files().items():
        (library / path).parent.mkdir(exist_ok=True)
        (library / path).write_text(text, encoding="utf-8")
    (library / LIST).unlink()
    (library / LIST).write_text(listing(), encoding="utf-8")
    return folder


def _link(source: Path, target: Path) -> None:
    for path in source.iterdir():
        if not (target / path.name).exists() and path.name != "__pycache__":
            (target / path.name).symlink_to(path)
