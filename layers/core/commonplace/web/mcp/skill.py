"""A loader of the skills that come with a toolset: files beside its modules, part of the package."""

from pathlib import Path

from commonplace.web.mcp.declaration import Skill


def load(folder: Path) -> Skill:
    """Every Markdown file of a skill's folder, `SKILL.md` first. The folder's name is the one in the frontmatter."""
    files = sorted(folder.rglob("*.md"), key=lambda file: (file.name != "SKILL.md", file.as_posix()))
    texts = {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in files}
    return Skill(name=folder.name, files=texts)
