"""Why a YAML text is refused, in words for who wrote it."""

from commonplace.kernel.yaml import Reason

_SENTENCES: dict[Reason, str] = {
    "syntax": "It is not valid YAML.",
    "half-character": "It holds half a character.",
    "documents": "It holds more than one document.",
    "values": "It holds too many values.",
    "reference": "It has an anchor, an alias or a tag, which are not read.",
    "depth": "It is nested too deeply.",
    "duplicate": "A key is given twice.",
    "key": "A key is a list or a mapping.",
}


def sentence(reason: Reason) -> str:
    return _SENTENCES[reason]
