from commonplace.interfaces.mcp.declaring import Tool
from commonplace.interfaces.mcp.knowledge.services import KnowledgeServices


def tools(using: KnowledgeServices) -> tuple[Tool, ...]:  # noqa: ARG001
    return ()
