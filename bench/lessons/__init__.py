"""How well lessons files of real teams are read, beside a count by hand."""
