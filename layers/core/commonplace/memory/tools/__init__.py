"""A team's memory as a toolset: the ten tools of seed 001, one to rate hits, a prompt and a skill."""
