"""Numbers with what they count."""


def counted(number: int, one: str = "entry", many: str = "entries") -> str:
    """`1 entry`, `2,000 entries`."""
    return f"{number:,} {one if number == 1 else many}"
