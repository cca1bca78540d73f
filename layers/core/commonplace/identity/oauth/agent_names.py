"""Names that could be taken for an agent's mark in a record: "AI Agent (via NAME)" (seed 002, section 4.2)."""

import unicodedata

from commonplace.identity.oauth.lookalikes import skeleton

MARK = skeleton("AI Agent")


def is_agent_like(name: str) -> bool:
    """Return whether a name reads as one that begins "AI Agent", or holds "(via", however it is spelled.

    "Aia Gentle" does not: the words end elsewhere.
    """
    plain = unicodedata.normalize("NFKC", name)
    letters, breaks = "", set[int]()
    for one in plain:
        if found := skeleton(one):
            letters += found
        elif letters:
            breaks.add(len(letters))
    if letters.startswith(MARK) and (2 in breaks or not breaks & set(range(3, len(MARK)))):
        return True
    return any(skeleton(part.lstrip()[:20]).startswith("via") for part in _after_brackets(plain))


def _after_brackets(text: str) -> list[str]:
    """Return what follows each opening bracket of any kind."""
    return [text[at + 1 :] for at, one in enumerate(text) if unicodedata.category(one) == "Ps"]
