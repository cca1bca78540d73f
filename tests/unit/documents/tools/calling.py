"""Tools of the knowledge base called as the frame calls them, over a library in memory."""

from collections.abc import Iterable
from typing import Any

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import Document
from commonplace.documents.content.library import Library
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.web.mcp.declaration import Answer, Call, Tool
from tests.fakes.library import FakeLibrary
from tests.fakes.search import FakeSearch

ORIGIN = "https://garden.example.org"
CALL = Call(base_url=ORIGIN)


def serving(store: FakeLibrary, **told: Any) -> KnowledgeServices:
    defaults: dict[str, Any] = {"site_name": "The garden", "addresses": DocumentAddresses(base_url=ORIGIN)}
    return KnowledgeServices(library=Library(store), search=FakeSearch(), **(defaults | told))


def services(documents: Iterable[Document], **told: Any) -> KnowledgeServices:
    return serving(FakeLibrary(documents), **told)


def called(tools: Iterable[Tool], name: str, **arguments: Any) -> Answer:
    (tool,) = (tool for tool in tools if tool.name == name)
    answer = tool.run(CALL, tool.arguments(**arguments))
    assert isinstance(answer, Answer)
    return answer


def data(answer: Answer) -> dict[str, Any]:
    """The structured half as a client gets it."""
    return answer.data.model_dump(mode="json", by_alias=True, exclude_none=True)
