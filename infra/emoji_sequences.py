"""Writes the emoji sequences that agents get whole: `uv run --with emoji python -m infra.emoji_sequences`."""

import importlib
import re

from commonplace.web.mcp.rendering import EMOJI

HEADER = "# With invisible characters, from emoji (BSD licence, beside this file); see infra/emoji_sequences.py\n"

if __name__ == "__main__":
    # Unicode's emoji-test.txt; `variant` is emoji-variation-sequences.txt, which has keycaps' characters as well.
    known = importlib.import_module("emoji").EMOJI_DATA
    styled = {text[0] for text, facts in known.items() if facts.get("variant")} | set("#*0123456789")
    found = {text for text in known if re.search("[\u200d\ufe0e\ufe0f\U000e007f]", text)}
    found |= {base + style for base in styled for style in "\ufe0e\ufe0f"}
    EMOJI.write_text(
        HEADER + "".join(f"{line}\n" for line in sorted(" ".join(f"{ord(one):04X}" for one in text) for text in found))
    )
