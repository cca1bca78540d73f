"""Entries out of the files that a team already has. Pure: text in, seeds and remarks out."""
