from collections.abc import Sequence

from commonplace.interfaces.mcp.declaring import Listed, Resource, Template
from commonplace.interfaces.mcp.knowledge.services import KnowledgeServices


def resources(using: KnowledgeServices) -> tuple[Resource, ...]:  # noqa: ARG001
    return ()


def templates(using: KnowledgeServices) -> tuple[Template, ...]:  # noqa: ARG001
    return ()


def documents(using: KnowledgeServices) -> Sequence[Listed]:  # noqa: ARG001
    return ()
