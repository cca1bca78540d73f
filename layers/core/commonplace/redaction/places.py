"""Addresses of people and houses: a street with its number, a post office box, a postal code beside a place.

A street without a number, a town alone, a country are kept: they say where something happens, not where somebody lives.
"""

import re
from collections.abc import Iterator

from commonplace.redaction.model import Span

_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮİĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽ"
_WORD = rf"[{_UPPER}][\w'’.-]{{0,24}}"
_NUMBER = r"\d{1,5}(?:[ ]?[A-Da-d](?![\w]))?(?:[-/]\d{1,4}[a-d]?)?"
_STATES = (
    "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]"
)
_REST = (
    rf"(?:[ ][NSEW]{{1,2}}\b)?"
    rf"(?:,?[ ](?:Apt|Apartment|Suite|Ste|Unit|Floor|Flat|Room|Bldg|Building|#)\.?[ ]?#?\w{{1,6}})?"
    rf"(?:,[ \n]{_WORD}(?:[ ]{_WORD}){{0,2}})?"
    rf"(?:,?[ \n](?:{_STATES}|NSW|VIC|QLD|ON|QC|BC|AB)\b)?"
    rf"(?:,?[ \n](?:\d{{5,6}}(?:-\d{{4}})?\b|[A-Z]{{1,2}}\d[A-Z\d]?[ ]\d[A-Z]{{2}}\b|[A-Z]\d[A-Z][ ]?\d[A-Z]\d\b"
    rf"|\d{{4}}\b(?=[.,;\n]|$)))?"
)
_TOWN = rf"[{_UPPER}][\w'’-]{{0,24}}(?:[ ][{_UPPER}][\w'’-]{{0,24}}){{0,2}}"
_POSTAL_CODE = (
    r"(?:[A-Z]{1,2}-)?(?:\d{4}-\d{3}|\d{2}-\d{3}|\d{3}[ ]\d{2}|\d{4,6}(?:[ ][A-Z]{2})?|[A-Z]\d[A-Z][ ]?\d[A-Z]\d)(?!\w)"
)
_REST_CONTINENT = (
    r"(?:,[ ](?i:apt|apto|appt|bât|esc|étage|floor|piso|interno|int|suite|unit|flat|lgh)\.?[ ]?\w{1,5}"
    r"|,[ ]?\d{1,3}[ºª°][ ]?\w{0,6})?"
    rf"(?:,?[ \n]{_POSTAL_CODE}[ ]{_TOWN}|,[ ]{_TOWN}(?:,?[ ]{_POSTAL_CODE})?)?"
)
_STREETS = (
    r"Street|St|Avenue|Ave|Av|Road|Rd|Boulevard|Blvd|Lane|Ln|Parkway|Pkwy|Highway|Hwy|Terrace|Crescent|Cres|Mews|Quay"
    r"|Alley|Turnpike|Esplanade|Gardens|Grove|Hill|Heights|Vista|Broadway"
)
_ALSO_OTHER_WORDS = r"Drive|Dr|Court|Ct|Place|Pl|Square|Sq|Way|Close|Circle|Cir|Row|Loop|Trail|Trl|Plaza|Walk|Park"
_NO_STREET = (
    r"Google|Hard|Flash|Tape|Shared|Network|Thumb|USB|Test|Merge|One|Two|Three|Four|Five|Step|Proton|Microsoft|Time"
    r"|First"
    r"|High|Supreme|Market|Data|Work|Code|Feedback|Event|Main Event|Infinite|Retry|By"
)
_PARTICLES = (
    r"de la|de los|de las|de l['’]|del|della|delle|dei|degli|de|du|des|da|do|dos|das|di|la|le|les|l['’]"
    r"|d['’]|el|van|von|der|den"
)
_NAME = rf"(?:(?:{_PARTICLES})[ ]?){{0,2}}{_WORD}(?:(?:[ ](?:{_PARTICLES}))?[ ]?{_WORD}){{0,4}}"

_FLAT = r"(?:(?:Flat|Apt|Apartment|Unit|Suite|Room|House|No\.?)[ ]#?\w{1,5},?[ ])?"

_FORMS = tuple(
    re.compile(form)
    for form in (
        # 221B Baker Street, Apt 4, Springfield, IL 62704
        rf"(?<![\w.,#$-]){_FLAT}{_NUMBER}[ ](?:[NSEW]{{1,2}}\.?[ ]|North |South |East "
        rf"|West )?(?:{_WORD}[ ]){{1,4}}(?:{_STREETS})\b\.?{_REST}",
        rf"(?<![\w.,#$-]){_FLAT}{_NUMBER}[ ]\d{{1,3}}(?:st|nd|rd|th)[ ](?:{_STREETS}|{_ALSO_OTHER_WORDS})\b\.?{_REST}",
        rf"(?<![\w.,#$-])(?!(?:19"
        rf"|20)\d\d[ ]){_NUMBER}[ ](?:(?!(?:{_NO_STREET})[ ]){_WORD}[ ]){{1,3}}(?:{_ALSO_OTHER_WORDS})\b\.?{_REST}",
        rf"(?<![\w.,#$-])(?:Jalan|Jl\.|Lorong|Đường|Phố|Thanon"
        rf"|Soi)[ ](?:{_WORD}[ ]){{1,3}}(?:[Nn]o\.?[ ]?)?{_NUMBER}{_REST_CONTINENT}",
        # Hauptstraße 5, 10115 Berlin; Kerkstraat 12; Storgatan 3
        rf"(?<![\w-])(?:{_WORD}[ ]){{0,2}}{_WORD}?(?:[Ss]tra(?:ße|sse)|[Ss]tr\.|gasse|[Aa]llee|platz|damm|ufer|weg"
        rf"|straat|laan|gracht|kade|singel"
        rf"|plein|gatan|vägen|gränd|gade|vej|vegen|veien|katu|tie)[ ]{_NUMBER}(?![\w.]\d|%){_REST_CONTINENT}",
        rf"(?<![\w-])(?:Am|An der|Im|Unter den|Auf dem|Zum|Zur|Alter|Neuer|Kleine"
        rf"|Große)[ ]{_WORD}(?:[ ]{_WORD})?[ ]{_NUMBER},[ ]\d{{5}}[ ]{_WORD}",
        # 12 rue de la Paix, 75002 Paris
        rf"(?<![\w.,#$-]){_FLAT}{_NUMBER}(?:[ ]?(?:bis|ter|quater))?,?[ ](?i:rue|avenue|boulevard|bd|place|chemin|allée"
        rf"|quai|impasse|cours|route|passage|square)"
        rf"[ ]{_NAME}{_REST_CONTINENT}",
        # Calle de Alcalá 45, 28014 Madrid; Via Roma 12; Rua Augusta, 1500; ul. Marszałkowska 10
        rf"(?<![\w-])(?:[Cc]alle|C/|[Aa]venida|Av\.|Avda\.|[Pp]laza|[Pp]aseo|[Cc]arrera|[Cc]amino|[Rr]onda|[Rr]ua"
        rf"|[Tt]ravessa|[Ll]argo|[Aa]lameda"
        rf"|Via|Viale|[Pp]iazza|[Cc]orso|[Vv]icolo|[Uu]l\.|[Aa]l\.|ulica|[Uu]licy|[Cc]alea|[Ss]trada|[Bb]d\."
        rf"|[Oo]dos)[ ]?{_NAME}"
        rf",?[ ](?:n\.?[ºo°]?[ ]?|nº[ ]?|#)?{_NUMBER}(?![\w.]\d|%){_REST_CONTINENT}",
        rf"(?:ул\.|улица|пр\.|проспект"
        rf"|вул\.)[ ]?[А-ЯЁІЇЄ][\w-]+(?:[ ][\w-]+)?,?[ ](?:д\.[ ]?)?{_NUMBER}(?:,?[ ](?:кв\.|оф\.)[ ]?\d+)?",
        rf"{_WORD}(?:[ ]{_WORD})?[ ](?:Sokak|Caddesi|Cad\.|Sok\.|Mahallesi|utca|út"
        rf"|tér)[ ,](?:[Nn]o[:.]?[ ]?)?{_NUMBER}",
        r"〒\s?\d{3}-\d{4}(?:\s?[\u3040-\u30ff\u4e00-\u9fff0-9-]{3,40})?"
        r"|[\u3040-\u30ff\u4e00-\u9fff]{2,20}[都道府県市区町村][\u3040-\u30ff\u4e00-\u9fff]{1,16}"
        r"\d{1,4}(?:丁目|-)[\d番地号-]{1,12}|[\u4e00-\u9fff]{2,12}[路街道巷]\d{1,5}[号弄號](?:[\u4e00-\u9fff\d]{0,12}[室楼])?",
        # boxes
        r"(?i:(?<![\w-])(?:p\.?[ ]?o\.?[ ]?box|post office box|gpo box|locked bag|private bag|postfach|postbus"
        r"|apartado(?: de correos| postal)?"
        rf"|casilla(?: de correo)?|caixa postal|casella postale|boîte postale"
        rf"|skrytka pocztowa)[ ]#?(?:no\.?[ ]?)?\d[\d ]{{0,6}}\b){_REST_CONTINENT}",
        # Springfield, IL 62704
        rf"(?<![\w-])(?:{_WORD}[ ]){{0,2}}{_WORD},?[ ](?:{_STATES})[ ]\d{{5}}(?:-\d{{4}})?(?![\w-])",
        r"(?<![\w-])(?:[A-PR-UWYZ]\d{1,2}|[A-PR-UWYZ][A-HK-Y]\d{1,2}|[A-PR-UWYZ]\d[A-HJKSTUW]"
        r"|[A-PR-UWYZ][A-HK-Y]\d[ABEHMNPRVWXY])[ ]\d[ABD-HJLNP-UW-Z]{2}(?![\w-])",
        r"(?<![\w-])[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ ]\d[ABCEGHJ-NPRSTV-Z]\d(?![\w-])",
        r"(?i:(?<!\w)(?:zip|zip code|postal code|post ?code|plz|code postal|código postal|cap|cep"
        r"|pin ?code))(?:[ ]is)?[:= ]{1,3}(?P<value>\d{3,6}(?:-\d{3,4})?)(?!\w)",
        rf"(?i:(?<!\w)(?:lives?|living|based|address|anschrift|wohnt|domicile|adresse|dirección|office|located|ship"
        rf"|deliver)\b)[^\n.]{{0,40}}?"
        rf"(?P<value>(?:[A-Z]{{1,2}}-)?(?:\d{{5}}|\d{{2}}-\d{{3}}|\d{{4}}[ ][A-Z]{{2}})[ ]{_WORD})",
        # where on earth
        r"(?<![\w.\[])(?<!, )(?<!,)-?[1-9]\d?\.\d{4,10}°?[ ]?[NS]?,[ ]?-?\d{1,3}\.\d{4,10}°?[ ]?[EW]?(?![\w.]|, ?-?\d)",
        r"\d{1,2}°[ ]?\d{1,2}['′][ ]?(?:\d{1,2}(?:\.\d+)?[\"″])?[ ]?[NS],?[ ]\d{1,3}°[ ]?\d{1,2}['′][ ]?(?:\d{1,2}"
        r"(?:\.\d+)?[\"″])?[ ]?[EW]",
    )
)


def find_places(text: str) -> Iterator[Span]:
    """Every address, in no order; those of one house overlap."""
    if not any(map(str.isdigit, text)):
        return
    for form in _FORMS:
        for found in form.finditer(text):
            start, end = found.span("value" if "value" in form.groupindex else 0)
            yield Span(start, end - (text[end - 1] in ",\n "), "LOCATION", "rule", label="address")
