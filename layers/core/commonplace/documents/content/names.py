"""The names things go by. Imports nothing, so that the smallest function can use it."""

from typing import NewType

DocumentRef = NewType("DocumentRef", str)
"""`{contentType}/{id}`: the name of a document everywhere outside the repository."""


def reference(content_type: str, document_id: str) -> DocumentRef:
    """The name under which a document is listed, linked and indexed."""
    return DocumentRef(f"{content_type}/{document_id}")
