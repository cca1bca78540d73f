"""Writes the emoji sequences that keep their invisible characters, for `commonplace.web.mcp.invisible`.

`uv run --with emoji python -m infra.emoji_sequences`. They are those of the package emoji (BSD), which has them from
emoji-test.txt and emoji-variation-sequences.txt of Unicode.
"""

import importlib
import sys
from itertools import product

from commonplace.web.mcp.invisible import EMOJI

HEADER = "# With invisible characters, from emoji (BSD licence, beside this file); see infra/emoji_sequences.py\n"
VARIATIONS = ("\ufe0e", "\ufe0f")
"""Text style and emoji style, which `variant` of the package allows."""
KEYCAPS = "#*0123456789"


def main() -> int:
    """Write the file anew."""
    known = importlib.import_module("emoji").EMOJI_DATA
    styled = {text.rstrip(VARIATIONS[1]) for text, facts in known.items() if facts.get("variant")} | set(KEYCAPS)
    found = {text for text in known if any(mark in text for mark in (*VARIATIONS, "\u200d", "\U000e007f"))}
    found |= {base + style for base, style in product(styled, VARIATIONS) if len(base) == 1}
    lines = sorted(" ".join(f"{ord(one):04X}" for one in text) for text in found)
    EMOJI.write_text(HEADER + "\n".join(lines) + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
