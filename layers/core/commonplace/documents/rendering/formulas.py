"""Formulas in TeX as MathML. What the library does not understand, and what is too long or too deep, stays source."""

import re
import threading
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from html import escape
from typing import Any

MAX_CHARACTERS = 2_000
"""Of one formula: some screens of it."""
MAX_CHARACTERS_OF_BODY = 60_000
"""Of the formulas of one body: each becomes some thirty times as much MathML."""
MAX_DEPTH = 100
"""Of elements in a formula that are open at once: the sanitiser's time grows with the square of it."""
STACK_BYTES = 16_000_000
"""The library recurses, and would end the process where a stack is small: eight times what its worst takes."""
LONG = 50
"""Characters of a formula within a text that may be wider than a phone, and scrolls there."""

_IN_CODE = re.compile(r"`+(.+?)`+", re.DOTALL)  # GitHub's own form: $`x`$
_TAG = re.compile(r"<(/?)[a-z]+[^<>]*?(/?)>")
_ALIGNED = re.compile(r' style="text-align: (left|right);(?:[^"]*?(padding-left:1em))?[^"]*"')


def formula(source: str, env: MutableMapping[str, Any], *, block: bool) -> str:
    """Return HTML of a formula, whose body `env` belongs to. Never raises on what an author wrote."""
    written = found[1] if (found := _IN_CODE.fullmatch(source.strip())) else source.strip()
    env["formulas"] = env.get("formulas", 0) + len(written)
    made = _mathml(written, block) if env["formulas"] <= MAX_CHARACTERS_OF_BODY else None
    match made, block:
        case None, True:
            return f'<pre class="math-block" tabindex="0" dir="ltr"><code>{escape(written)}</code></pre>\n'
        case None, False:
            return f'<code class="math" dir="ltr">{escape(written)}</code>'
        case _, True:
            return f'<div class="math-block" role="group" aria-label="Formula" tabindex="0">{made}</div>\n'
    return f'<span class="math-long">{made}</span>' if len(written) > LONG else str(made)


def _mathml(source: str, block: bool) -> str | None:
    if not source or len(source) > MAX_CHARACTERS:
        return None
    convert, worker, refused = _converter()
    try:
        made = worker.submit(convert, source, displaystyle=block).result()
    except refused:
        return None
    depth = 0
    for found in _TAG.finditer(made):
        depth += -1 if found[1] else not found[2]
        if depth > MAX_DEPTH:
            return None
    return _ALIGNED.sub(lambda style: f' class="align-{style[1]}{" math-gap" if style[2] else ""}"', made)


@cache
def _converter():  # type: ignore[no-untyped-def]
    """Return what converts, a thread with a stack of its own to do it in, and what is raised of bad TeX."""
    from math_core import LatexError, LatexToMathML

    before, worker = threading.stack_size(STACK_BYTES), ThreadPoolExecutor(1)
    worker.submit(int).result()
    threading.stack_size(before)
    # Definitions of commands could repeat without bound, and a formula seldom has any.
    return LatexToMathML(fancy_error=False, max_expansions=0).convert_with_local_state, worker, LatexError
