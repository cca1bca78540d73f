"""Sealed text that is valid for one query only: cursors of lists, handles that continue an answer.

A seal is not secret and gives no authority: forging one yields no more than a query would, and every use is authorised
anew. It prevents a position in one query from being used in another.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b

SEAL_BYTES = 8


def sealed(content: bytes, question: str, *, purpose: bytes) -> str:
    """Return opaque text. `question` is everything that a position depends on; `purpose`, at most 16 bytes, its use."""
    key = blake2b(question.encode("utf-8", "backslashreplace"), digest_size=32).digest()
    seal = blake2b(content, key=key, digest_size=SEAL_BYTES, person=purpose).digest()
    return urlsafe_b64encode(seal + content).decode().rstrip("=")


def opened(text: str, question: str, *, purpose: bytes) -> bytes:
    """Return what was sealed. Raises ValueError for what was sealed for something else, or never."""
    content = urlsafe_b64decode(text + "=" * (-len(text) % 4))[SEAL_BYTES:]
    # Base64 has several spellings of the same bytes: only ours is one that we have given out.
    if sealed(content, question, purpose=purpose) != text:
        raise ValueError("the seal belongs to something else")
    return content
