"""The skill that comes with the toolset: files beside this module, part of the package."""

from pathlib import Path

from commonplace.interfaces.mcp.declaring import Skill

NAME = "commonplace-knowledge"
"""Name of the folder, and in the frontmatter: the specification wants them equal."""

FOLDER = Path(__file__).parent / "skills" / NAME


def load(folder: Path) -> Skill:
    """Every Markdown file of a skill's folder, `SKILL.md` first."""
    files = sorted(folder.rglob("*.md"), key=lambda file: (file.name != "SKILL.md", file.as_posix()))
    texts = {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in files}
    return Skill(name=folder.name, files=texts)


SKILL = load(FOLDER)
