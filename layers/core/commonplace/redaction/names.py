"""Names of persons where the text says that they are: by a title, a role, a verb, a form of address.

A model finds most names; this finds those that it misses, and all there are where no model runs.
"""

import re
from collections.abc import Iterator

from commonplace.redaction.model import Span
from commonplace.redaction.vocabulary import ALSO_WORDS, COMMON, TECHNICAL, Forms, keyed

FORMS = Forms("names")
_ALONE = FORMS.many("alone", re.MULTILINE)
_INTRODUCED = FORMS.many("introduced", re.MULTILINE)
_KEYED = keyed(FORMS.text("keys"), FORMS.text("named"))
_OTHER_SCRIPT = FORMS.many("other_script")
_ALSO_GIVEN = FORMS.words("also_given")
_TITLES = FORMS.words("titles")


def find_names(text: str) -> Iterator[Span]:
    """Yield every name that the text shows to be one, in no order; they may overlap."""
    for forms, least in ((_INTRODUCED, 0), (_ALONE, 1)):
        for form in forms:
            for found in form.finditer(text):
                group = next((one for one in ("value", "also") if form.groupindex.get(one) and found[one]), 0)
                for span in _person(text, *found.span(group), least):
                    yield span
                    if following := FORMS.another.match(text, span.end):
                        yield from _person(text, *following.span("value"), 1)
    for found in _KEYED.finditer(text):
        yield from _person(text, *found.span("value"), 0)
    for found in FORMS.accented.finditer(text):
        if FORMS.accent.search(found[0]):
            yield from _person(text, *found.span(), 2)
    if not text.isascii():
        for form in _OTHER_SCRIPT:
            for found in form.finditer(text):
                yield Span(*found.span(), "NAME", "rule", 0.7, "name")


def _person(text: str, start: int, end: int, least: int) -> Iterator[Span]:
    """The name without words around it that are none, if so many are left; 0 for one that is introduced as a name."""
    parts = [found.span() for found in re.finditer(r"\S+", text[start:end])]
    said = [text[start + first : start + last] for first, last in parts]
    while parts and _is_common(said[0], introduced=not least):
        del parts[0], said[0]
    while parts and _is_common(said[-1], introduced=not least):
        del parts[-1], said[-1]
    if least and not all(word[0].isupper() for word in (*said[:1], *said[-1:])):
        return
    if len(parts) < max(least, 1) or any(_is_common(word, introduced=True) for word in said):
        return
    bare = [word.rstrip(".,").casefold() for word in said]
    if all(word in _TITLES or word in TECHNICAL for word in bare):
        return
    if least and len(said) == 1 and (said[0].casefold() in ALSO_WORDS or len(said[0]) < 3):
        return
    yield Span(start + parts[0][0], start + parts[-1][1], "NAME", "rule", 0.8 if least else 1.0, "name")


def _is_common(word: str, *, introduced: bool) -> bool:
    """Return whether such a word begins a sentence, is a product, or an acronym."""
    bare = re.sub(r"['’]s\Z|[.,:;]+\Z", "", word).casefold()
    if bare in COMMON or bare in TECHNICAL:
        return bare not in _TITLES and bare not in _ALSO_GIVEN
    if introduced or re.fullmatch(r"[^\W\d_]\.", word):
        return False
    return (len(bare) < 6 and re.sub(r"['’]s\Z", "", word).isupper()) or FORMS.camel.match(word) is not None
