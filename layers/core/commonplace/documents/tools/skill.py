"""The skill of the toolset: files beside this module, part of the package."""

from pathlib import Path

from commonplace.web.mcp.declaration import Skill

FOLDER = Path(__file__).parent / "skills" / "commonplace-knowledge"

SKILL = Skill.load(FOLDER)
