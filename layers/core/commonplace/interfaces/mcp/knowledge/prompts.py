from commonplace.interfaces.mcp.declaring import Prompt
from commonplace.interfaces.mcp.knowledge.services import KnowledgeServices


def prompts(using: KnowledgeServices) -> tuple[Prompt, ...]:  # noqa: ARG001
    return ()
