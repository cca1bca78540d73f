"""Parsers of files that a team already has into entries of the memory. Pure: text in, entries and remarks out."""
