"""From a stored document to a record of the index."""

from commonplace.documents.content.document import Document
from commonplace.search.chunks import chunk_body
from commonplace.search.model import Chunk, Record, RecordId
from commonplace.search.near_duplicates import fingerprint
from commonplace.search.text import plain


def record_from_document(document: Document) -> Record:
    """The searchable record; its version is the generation of the publication that wrote the document.

    A document without text gets one empty chunk, so that its title and description are found by meaning too.
    """
    return Record(
        id=RecordId(document.ref),
        version=document.generation,
        content_type=document.content_type,
        document_id=document.id,
        title=document.title,
        description=document.description,
        path=document.path,
        url=document.url,
        source_url=document.source_url,
        group=document.group,
        release=document.release,
        status=document.status,
        tags=tuple(document.tags),
        aliases=tuple(document.aliases),
        date=document.date,
        updated_at=document.updated_at.isoformat() if document.updated_at else None,
        body=document.content,
        chunks=chunk_body(document.content) or (Chunk(0, (), ""),),
        fingerprint=fingerprint(plain(document.content)),
    )
