"""The capabilities of the product. The order is the order of every list: of toolsets, collections, commands."""

from commonplace.documents.capability import DOCUMENTS
from commonplace.memory.capability import MEMORY
from commonplace.reference.capability import REFERENCE

CAPABILITIES = (DOCUMENTS, MEMORY, REFERENCE)
