"""Keys and prefixes of the canonical store, and who may read them."""

CONTENT_PREFIX = "content/"
RAW_PREFIX = "raw/"
ATTACHMENTS_PREFIX = "attachments/"
METADATA_PREFIX = "metadata/"


def content_key(content_type: str, document_id: str) -> str:
    """Object key of a document (seed 000, section 4.2)."""
    return f"{CONTENT_PREFIX}{content_type}/{document_id}.json"


def raw_key(path: str) -> str:
    """Object key of the file as it was (seed 000, section 4.1: `raw/{path}`)."""
    return f"{RAW_PREFIX}{path}"
