"""Code with its parts marked by the CSS classes of Pygments."""

from functools import cache
from html import escape

MAX_CHARACTERS = 30_000
"""Of a block; lexers can take long for what is written to make them."""


def highlighted(code: str, language: str) -> str:
    """Escaped HTML. Plain where the language is unknown, or the block is too long."""
    if not language or len(code) > MAX_CHARACTERS:
        return escape(code)
    from pygments import highlight
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return escape(code)
    return str(highlight(code, lexer, _formatter()))


@cache
def _formatter():  # type: ignore[no-untyped-def]
    from pygments.formatters.html import HtmlFormatter

    return HtmlFormatter(nowrap=True)
