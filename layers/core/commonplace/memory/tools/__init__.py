"""A team's memory as a toolset: the ten tools of seed 001, a prompt and a skill."""
