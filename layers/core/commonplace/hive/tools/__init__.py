"""The hive as a toolset: the tools of seed 004, two prompts and a skill."""
