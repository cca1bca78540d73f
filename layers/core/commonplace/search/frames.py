"""Frames of questions: what surrounds the subject in `What is a DAO?`, in the six languages that the site speaks.

Patterns are of folded text: case and accents do not matter. Frames are taken off as long as one is found and something
is left; what begins like a frame and is none loses no telling word by it.
"""

import re

from commonplace.search.text import fold_in_place

_ASKING = (
    # English
    r"(please )?((can|could|would|will) (you|anyone|somebody) )(please )?",
    r"(please )?(tell|show|teach|give|find)( me| us)( (more|everything|something|all))?( about)?",
    r"i(( woul|')d like| want| need) to (know|learn|understand|find( out)?|read|see)( more| everything)?( about)?",
    r"i am (looking|searching) for|i'm (looking|searching) for|looking for|searching for",
    r"what('|’)?s|what (is|are|was|were)( meant by)?|what (does|do|did)|what about|what do (you|we) mean by",
    r"who('|’)?s|who (is|are|was|were)|when (is|are|was|were)",
    r"where('|’)?s|where (is|are|was|were|can i find|do i find)",
    r"why (is|are|was|were|do|does|did)|which( of our| of the| of your)?",
    r"how (do|does|did|can|could|should|would|might)( (i|we|you|one|they|people|someone))?( do)?|how to( do)?",
    r"(is|are) there( (any|a|an))?|do (we|you) have( (any|a|an))?",
    r"(the )?(definition|meaning|explanation) of|define|explain|describe",
    r"(tags?|authors?|by|title|path|file)(?=:)",
    r"(everything|anything|something|all|information|info|documents?|texts?|more) (about|on)",
    # Spanish
    r"que (es|son|significa|significan|quiere decir)|quien(es)? (es|son|era|fue)|donde (esta|estan|queda|quedan)",
    r"cual(es)? (es|son)|como (se )?(puedo|puede|podemos|hago|hace|funciona|hacer)|por que|para que sirve",
    r"(definicion|significado) de(l)?|define|definir|explica(me)?|explicar",
    # French
    r"qu('|’)?(est[ -]ce qu(e|i)?|est[ -]ce)( c('|’)est( que)?)?( qu)?|c('|’)est quoi|qui (est|sont|etait)",
    r"ou (est|sont|se trouve|se trouvent)|comment( (faire|fonctionne|fonctionnent|puis-je|peut-on))?|pourquoi",
    r"que (signifie|veut dire)|quel(le)?s? (est|sont)|(la )?definition (de|du|des)|definir|expliquer",
    r"explique(z)?( moi|-moi)?",
    # German
    r"was (ist|sind|war|bedeutet|bedeuten|heisst|heißt|versteht man unter)|wer (ist|sind|war|waren)",
    r"wo (ist|sind|liegt|liegen|finde ich|findet man)",
    r"wie (kann|konnen|macht|mache|machen|funktioniert|geht)( (ich|man|wir))?",
    r"welche(r|s|n)?|warum|(die )?(definition|bedeutung|erklarung) (von|der|des)",
    r"definiere|erklare?( mir)?|erklar( mir)?",
    # Portuguese
    r"o que (e|sao|significa|significam|quer dizer)|quem (e|sao|foi)|onde (e|esta|estao|fica|ficam)",
    r"qual (e|o|a)|quais (sao|os|as)|como( (fazer|posso|podemos|se faz|funciona))?",
    r"definicao de|(o )?significado de|explique",
    # Italian
    r"(che )?cos(a|')? ?('|’)?(e|sono|significa|vuol dire)|chi (e|sono|era)|dove (e|sono|si trova|si trovano)",
    r"come( (si fa|posso|possiamo|funziona|fare))?|perche|(la )?definizione di|(il )?significato di|spiega(mi)?",
)
_ARTICLES = (
    r"an?|the|some|any|our|un|una|unos|unas|el|la|las|los|le|les|une|des|du|ein|eine|einen|einer|der|die|das|den|um|uma|"
    r"uno|gli|il|lo|o|os|as"
)
_LEADING = re.compile(rf"(?:(?:{'|'.join(_ASKING)})(?=\W|$)|(?:{_ARTICLES}|l(?='|’)|qu(?='|’))(?=[\s'’]))[\s,:'’]*")
_TRAILING = re.compile(
    r"[\s,]+(?:means?|stands? for|refers? to|do we have|are there|please|about|heisst|heißt|significa)$"
)
_OUTSIDE = ' \t?!¿¡.,;:…"“”„«»‹›`*'
_QUOTES = "'’‘"


def subject(text: str) -> str:
    """The text without the frame of a question, with its case and accents; the text itself where nothing is left."""
    kept = _bare(text)
    framed = False
    while match := _LEADING.match(fold_in_place(kept)):
        rest = _bare(kept[match.end() :])
        # An article alone is no frame: `The Tide` may be a title.
        if not rest or not (framed or not _ARTICLE.fullmatch(match[0])):
            break
        kept, framed = rest, True
    if framed or text.rstrip().endswith("?"):
        kept = _bare(kept[: len(kept) - _trailed(kept)]) or kept
    return kept or text


def _bare(text: str) -> str:
    bare = text.strip(_OUTSIDE)
    quoted = len(bare) > 2 and bare[0] in _QUOTES and bare[-1] in _QUOTES
    return bare[1:-1].strip(_OUTSIDE) if quoted else bare


_ARTICLE = re.compile(rf"(?:{_ARTICLES}|l|qu)[\s,:'’]*")


def _trailed(text: str) -> int:
    match = _TRAILING.search(fold_in_place(text))
    return len(match[0]) if match else 0
