"""The toolset `knowledge`: search, look up and read an organisation's documents, and propose new ones."""
