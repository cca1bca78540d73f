from commonplace.interfaces.mcp.declaring import Skill

SKILL = Skill(name="knowledge", files={"SKILL.md": ""})
