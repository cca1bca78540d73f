"""Bounds on what is read of a catalogue."""

MAX_FILE_BYTES = 12_000_000
MAX_CATALOGUE_BYTES = 64_000_000
MAX_FILES = 5_000
MAX_ENTRIES = 20_000
MAX_PROBLEMS = 1_000
"""As many are reported; the rest is counted."""
MAX_DEPTH = 16
"""Of the values in a file: far more than an entry has."""
MAX_VALUES = 1_000_000
"""Keys and values of a YAML file: what twenty thousand entries need, and some ten seconds of reading."""

MAX_ID = 200
MAX_SLUG = 60
MAX_TITLE = 200
MAX_SUMMARY = 500
MAX_NAME = 500
"""Of a name, a syntax, a path template."""
MAX_SOURCE = 500
MAX_CONTENT_BYTES = 64_000
MAX_KEYWORDS = 50
MAX_KEYWORD = 200
MAX_ALIASES = 50
MAX_ALIAS = 200
MAX_EXAMPLES = 20
MAX_EXAMPLE_BYTES = 8_000
"""Of the code, and of the output."""
MAX_RELATED = 50
MAX_USAGES = 50
MAX_PARAMETERS = 1_000
MAX_PARAMETER = 300
"""Of a parameter's name, an alias or a type."""
MAX_PARAMETER_DESCRIPTION = 1_000
MAX_AUTHENTICATION = 1_000
MAX_VERSION = 60

MAX_DESCRIPTION = 1_000
MAX_ROOTS = 50
MAX_SYNONYMS = 500
MAX_SYNONYMS_OF_ONE = 30
MAX_TITLES = 1_000
"""Of categories, and of modules."""
MAX_SERVERS = 20
MAX_GENERATIONS = 50
