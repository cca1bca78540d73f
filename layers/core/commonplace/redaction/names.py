"""Names of persons where the text says that they are: by a title, a role, a verb, a form of address.

A model finds most names; this finds those that it misses, and all there are where no model runs.
"""

import re
from collections.abc import Iterator

from commonplace.redaction.model import Span
from commonplace.redaction.vocabulary import ALSO_WORDS, COMMON, TECHNICAL, words

_LETTERS = r"[^\W\d_]"
_CAPITALISED = (
    rf"(?:Mc|Mac|O['’]|D['’]|Al-"
    rf"|El-)?(?-i:[^\W\d_a-zß-öø-ÿ]){_LETTERS}{{1,24}}(?:['’-]{_LETTERS}{{1,24}}){{0,2}}"
)
_INITIAL = r"[^\W\d_a-z]\."
_PART = rf"(?:{_CAPITALISED}|{_INITIAL})(?!\w)"
_PARTICLES = (
    r"van|von|der|den|de|da|do|dos|das|del|della|di|bin|binti|ibn|bint|al|el|la|le|ter|ten|zu|zur|y|e|af"
    r"|av|ben|San|Te"
)
_BETWEEN = rf"[ ](?:(?:{_PARTICLES})[ ]){{0,3}}"
_PERSON = rf"{_PART}(?:{_BETWEEN}{_PART}){{0,3}}"
_FULL = rf"{_PART}(?:{_BETWEEN}{_PART}){{1,3}}(?:[ ][^\W\d_a-z](?![\w.]))?"

_SAYS = (
    r"said|says|asked|asks|noticed|thinks|thought|told|insists|insisted|hopes|believes|believed|promised"
    r"|complained|joined|agreed|agrees|disagreed|remembers|remembered|volunteered|wrote|was paged|is on leave"
    r"|is on call|is away|took over|stands in|signed off|pointed out|points out|bisected|silenced|debugged"
    r"|argued|argues|objected|realised|realized|knew|wants to|wanted to|fand|schrieb|sagt|sagte|bemerkte"
    r"|meinte|descubrió|dijo|escribió|propuso|a trouvé|a écrit|a dit|ha trovato|ha scritto|disse|escreveu"
    r"|vette észre|napisał|napisała|zauważył|zauważyła|phát hiện|hittade|skrev|sade"
)
"""What only people do."""

_ROLES = (
    r"owners?|authors?|reviewers?|managers?|contacts?|customers?|clients?|assignees?|leads?|tech lead|team lead"
    r"|on[ -]call|names?|holders?|persons?|responsible|approvers?|maintainers?"
    r"|dpo|officer|engineers?|developers?|responsable|responsabile|verantwortlich|ansprechpartner(?:in)?"
    r"|encarregado|supplente|stellvertreter(?:in)?|kontakt|contacto|contatto|contato"
    r"|interviewee|candidate|employee|user|patient|buyer|seller|tenant|landlord|sponsor|founder|ceo|cto|cfo|coo"
    r"|ciso|vp|director|president|chair|secretary|treasurer|architect"
    r"|analyst|consultant|designer|colleague|coworker|intern|mentor|teacher|student|facilitator|speaker"
    r"|organi[sz]er|host|attendees?|participants?|present|presenter|finance contact"
    r"|billing contact|escalation|backup|substitute|deputy|assistant|account manager|product owner|scrum master"
    r"|recipient|sender|from|to|cc|attn|signed"
)
_TOLD = (
    r"[Aa]sk|[Aa]sked|[Tt]hanks to|[Tt]hanks|[Tt]hank|[Cc]redits? to|[Pp]ing|[Pp]inged|[Tt]old|[Tt]ell|cc|CC"
    r"|[Mm]et|[Kk]udos to|[Pp]rops to|h/t|[Tt]alk(?:ed)? to|[Ss]poke (?:to|with)|[Ee]mailed|[Dd]ear|[Hh]i"
    r"|[Hh]ello|[Hh]ey|[Mm]erci à|[Gg]racias a|[Gg]razie a|[Dd]ank an|[Dd]anke"
)

_ALONE = tuple(
    re.compile(form, re.MULTILINE)
    for form in (
        rf"(?<![\w.@/-])(?P<value>{_PERSON})(?:['’]s (?:patch|fix|runbook|script|notes?|laptop|team|idea|suggestion"
        rf"|branch|check|change|PR|advice|machine|account|phone|email|desk)|,? (?:{_SAYS}))(?!\w)",
        rf"(?<![\w-])(?:{_TOLD}),? (?P<value>{_PERSON})",
        rf"(?i:(?:^|[|(*_>-] ?|, |; |\. )(?:[a-z]{{1,12}} )?(?:{_ROLES})\b)(?:\*\*|__)?[ ]?[:=|](?:\*\*"
        rf"|__)?[ ]{{1,3}}(?P<value>{_FULL}|{_PERSON}(?=[ ]*(?:$|[,;.(|<&]|and\b)))",
        rf"(?<![\w.@/-])(?P<value>{_PERSON}),?[ ][(]?[ ]?(?=\+\d|[\w.+-]{{1,64}}@\w|\(\d{{3}}\) )",
        rf"(?:customer|client|colleague|user|manager|engineer|developer|director|holder|named|called|person:"
        rf"|customer \(|name is|teammate|designer|analyst|supervisor|lawyer|doctor|nurse"
        rf"|intern)[ ]?\(?(?P<value>{_PERSON})(?=[),.;:]|[ ](?:{_SAYS})|$)",
        rf"^>[ ]?(?:[*-][ ])?(?P<value>{_FULL}): ",
        rf"(?<!\w)(?:[Rr]esponsabile|[Ss]upplente|[Aa]nsprechpartner(?:in)?|[Rr]esponsable|[Mm]anager|[Kk]undin"
        rf"|[Kk]unde|[Cc]liente"
        rf"|[Tt]eammate|[Cc]oworker)[ ](?P<value>{_PERSON})(?=[.,;)\n]|$)",
    )
)
"""Where one word alone can be a name."""
_AND = re.compile(rf",? (?:and|or|und|oder|y|e|et|en|och|og|és|i|&)\s(?P<value>{_PERSON})")

_INTRODUCED = tuple(
    re.compile(form, re.MULTILINE)
    for form in (
        rf"(?:\b[Mm]y (?:full |first |last )?name(?:'s| is)|\b[Mm]ein Name ist|\b[Ii]ch heiße|\b[Jj]e m['’]appelle"
        rf"|\b[Mm]e llamo|\b[Mm]i chiamo|\b[Mm]i nombre es"
        rf"|\b[Mm]eu nome é|\b[Ii]k heet|\b[Mm]ijn naam is|\b[Jj]eg heter|\b[Jj]ag heter|\b[Nn]azywam się"
        rf"|\b[Mm]am na imię|\b[Bb]enim adım|\b[Aa]dım|[Мм]еня зовут"
        rf"|\b(?:full|first|last|customer|employee|patient|contact|client) name(?: is|:)) (?P<value>{_PERSON})",
        rf"(?<![\w.])(?:Mr|Mrs|Ms|Mx|Miss|Dr|Prof|Professor|Sir|Dame|Herr|Frau|Señora?|Sra?|Dra?|Mme|Mlle|Monsieur"
        rf"|Madame|Signora?|Sig|Doña|Don|Pan|Pani|Ing|Avv|Mag|Dipl|Lic|Rev|Hon|Capt|Sgt|Col)\.?[ ](?:(?:Dr|Prof|med"
        rf"|hc|Ing)\.?[ ]){{0,3}}{_PERSON}",
        rf"^(?:Dear|Hi|Hello|Hey|Liebe[r]?|Hallo|Querid[oa]|Estimad[oa]|Cher|Chère|Bonjour|Caro|Cara"
        rf"|Beste)[ ](?P<value>{_PART}(?:[ ]{_PART})?)[,!]?$",
        rf"(?i:^(?:(?:kind|best|warm)(?: regards| wishes)?|regards|cheers|thanks|sincerely|yours"
        rf"|mit freundlichen grüßen|viele grüße|saludos|cordialement"
        rf"|best,?)),?[ ]*\n\n?[ ]*(?:[-–—~][ ]?)?(?P<value>{_PERSON})[ ]*$",
        rf"(?i:\b(?:co-authored-by|signed-off-by|reviewed-by|reported-by|tested-by|acked-by|suggested-by|helped-by"
        rf"|author|committer)):[ ]{{0,3}}(?P<value>{_PERSON})(?=[ ]*(?:<|\ufffc|$))",
        rf"(?<![\w.])(?P<value>{_PART}(?:[ ]{_PART}){{1,2}})[ ]{{1,2}}[<(](?=[^\s<>@]{{1,64}}@)",
        r"(?P<value>[А-ЯЁ][а-яё]{1,20}[ ][А-ЯЁ][а-яё]{2,20}(?:вич|вна|ична))(?:[ ][А-ЯЁ][а-яё]{2,25})?",
        r"(?P<value>[\u4e00-\u9fff\u3040-\u30ff]{2,8})(?=さん(?![\u3040-\u309f]{3})|様|先生|女士|氏は)|(?:我叫|我的名字是"
        r"|姓名[:：])(?P<also>[\u4e00-\u9fff]{2,4})",
    )
)

_OTHER_SCRIPT = tuple(
    re.compile(form)
    for form in (
        r"(?<![\wа-яё])[А-ЯЁІЇЄ][а-яёіїє'’-]{2,20}[ ][А-ЯЁІЇЄ][а-яёіїє'’-]{2,24}(?!\w)",
        r"(?<![\u3040-\u30ff\u4e00-\u9fff])(?:"
        r"[王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林罗羅高郑鄭梁谢謝宋唐许許韩韓邓鄧冯馮曹彭曾肖田董袁潘于蒋蔡余杜叶葉程苏蘇魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱]"
        r"[\u4e00-\u9fff]{1,2}|(?:佐藤|鈴木|高橋|田中|伊藤|渡辺|山本|中村|小林|加藤|吉田|山田|佐々木|山口|松本|井上|木村|斎藤|清水|山崎|森|池田|橋本|阿部|石川|中島|前田"
        r"|藤田|小川|後藤|岡田|長谷川|村上|近藤|石井)"
        r"[\u3040-\u30ff\u4e00-\u9fff]{1,3})(?![\u3040-\u30ff\u4e00-\u9fff])",
        # Beside other words of its script three syllables are a word as often as a name.
        r"(?<![\uac00-\ud7af])(?<![\uac00-\ud7af] )[김이박최정강조윤장임한오서신권황안송전홍유고문양손배백허남심]"
        r"[\uac00-\ud7af]{2}(?=(?:[이가은는을를의도]|씨"
        r"|님)?(?! ?[\uac00-\ud7af]))",
    )
)
_ACCENT = re.compile(r"[^\x00-\x7fäöüÄÖÜßéèêçàâôîûñ]")
_ACCENTED = re.compile(rf"(?<![\w.@/-]){_FULL}")


def find_names(text: str) -> Iterator[Span]:
    """Every name that the text shows to be one, in no order; they may overlap."""
    for forms, least in ((_INTRODUCED, 0), (_ALONE, 1)):
        for form in forms:
            for found in form.finditer(text):
                group = next((one for one in ("value", "also") if form.groupindex.get(one) and found[one]), 0)
                for span in _person(text, *found.span(group), least):
                    yield span
                    if following := _AND.match(text, span.end):
                        yield from _person(text, *following.span("value"), 1)
    for found in _ACCENTED.finditer(text):
        if _ACCENT.search(found[0]):
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
    if not all(word[0].isupper() if least else not word[0].islower() for word in (*said[:1], *said[-1:])):
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
    """Whether such a word begins a sentence, is a product, or an acronym."""
    bare = re.sub(r"['’]s\Z|[.,:;]+\Z", "", word).casefold()
    if bare in COMMON or bare in TECHNICAL:
        return bare not in _TITLES and bare not in _ALSO_GIVEN
    if introduced or re.fullmatch(r"[^\W\d_]\.", word):
        return False
    return (len(bare) < 6 and re.sub(r"['’]s\Z", "", word).isupper()) or _CAMEL.match(word) is not None


_CAMEL = re.compile(r"(?!(?:Mac|Mc|De|Di|La|Le|Van|Fitz|Al|El)[A-Z])[^\W\d_a-z][a-z]+[A-Z]|[A-Z]{2,}[a-z]")
_ALSO_GIVEN = words(
    "ada julia ruby jasmine ivy hugo luna claude dante jackson jordan graham travis merlin cassandra pascal patricia"
    " church"
)
_TITLES = words("dr prof mr mrs ms sir san de y e la le el av te don pan")
