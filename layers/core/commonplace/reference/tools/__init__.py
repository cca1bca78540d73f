"""The reference of a product as a toolset: the four tools of seed 003, a report of gaps, its system prompt, a skill."""
