"""Numbers of accounts, cards and papers, by their check digits where they have any.

A number whose form is its own needs nothing else; one that any run of digits could be needs a word before it that says
what it is. Check digits come from python-stdnum.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from commonplace.redaction.model import Kind, Span


class _Checked(Protocol):
    def is_valid(self, number: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Number:
    label: str
    form: re.Pattern[str]
    """Its first group is the number."""
    checks: tuple[str, ...]
    """Modules of stdnum, one of which must hold; none where the form or the word before is enough."""
    kind: Kind = "REDACTED"


_BETWEEN = "no|nr|num|number|numbers|n[°ºo]|id|code|is|was|of|the|my|her|his|account|card|ends?"
"""Words that stand between what a number is and the number."""


@cache
def _module(name: str) -> _Checked:
    return cast(_Checked, import_module(f"stdnum.{name}"))


def _form(label: str, form: str, *checks: str) -> _Number:
    return _Number(label, re.compile(rf"(?<![\w.+/-])({form})(?![\w-]|[./]\w)"), checks)


def _named(label: str, words: str, form: str, *checks: str, kind: Kind = "REDACTED") -> _Number:
    said = rf"(?<![\w-])(?:{words})(?!\w)(?:[^\S\n]*(?:{_BETWEEN})(?!\w)\.?){{0,4}}"
    pattern = rf"(?i:{said})[^\S\n]{{0,3}}[:=#(*\"'`-]{{0,4}}[^\S\n]{{0,3}}({form})(?![\w-]|\.\w)"
    return _Number(label, re.compile(pattern), checks, kind)


_NUMBERS: tuple[_Number, ...] = (
    _form("ssn", r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}"),
    _form("itin", r"9\d\d-\d\d-\d{4}", "us.itin"),
    _form("cpf", r"\d{3}\.\d{3}\.\d{3}-\d{2}", "br.cpf"),
    _form("cnpj", r"\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}", "br.cnpj"),
    _form("dni", r"\d{8}[ -]?[A-Z]", "es.dni"),
    _form("nie", r"[XYZ][ -]?\d{7}[ -]?[A-Z]", "es.nie"),
    _form("codice_fiscale", r"(?i:[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z])", "it.codicefiscale"),
    _form("nir", r"[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}", "fr.nir"),
    _form("curp", r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d", "mx.curp"),
    _form("nino", r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]"),
    _form("personnummer", r"(?:19|20)?\d{6}[-+]\d{4}", "se.personnummer"),
    _form("hetu", r"\d{6}[-+A]\d{3}[0-9A-FHJ-NPR-Y]", "fi.hetu"),
    _form("cpr", r"\d{6}-\d{4}", "dk.cpr"),
    _form("fodselsnummer", r"\d{6} ?\d{5}", "no.fodselsnummer"),
    _form("rijksregister", r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}", "be.nn"),
    _form("ahv", r"756\.\d{4}\.\d{4}\.\d{2}", "ch.ssn"),
    _form("aadhaar", r"[2-9]\d{3}[ -]\d{4}[ -]\d{4}", "in_.aadhaar"),
    _form("pan", r"[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]", "in_.pan"),
    _form("sin", r"\d{3}-\d{3}-\d{3}", "ca.sin"),
    _form("rrn", r"\d{6}-\d{7}", "kr.rrn"),
    _form("resident_identity", r"[1-9]\d{5}(?:19|20)\d{9}[\dX]", "cn.ric"),
    _form("rut", r"\d{1,2}\.\d{3}\.\d{3}-[\dkK]", "cl.rut"),
    _form("cuit", r"\d{2}-\d{8}-\d", "ar.cuit"),
    _form("rodne_cislo", r"\d{6}/\d{3,4}", "cz.rc"),
    _form("pps", r"\d{7}[A-W][ABWTXZ]?", "ie.pps"),
    _form("nric", r"[STFGM]\d{7}[A-Z]"),
    _form("mykad", r"\d{6}-\d{2}-\d{4}", "my.nric"),
    _form("thai_id", r"\d-\d{4}-\d{5}-\d{2}-\d", "th.pin"),
    _form("nif_pt", r"\d{8} \d [A-Z]{2}\d", "pt.cc"),
    _named("ssn", r"ssn|social security", r"\d{3}[ -]?\d{2}[ -]?\d{4}"),
    _named("nhs", r"nhs", r"\d{3}[ -]?\d{3}[ -]?\d{4}", "gb.nhs"),
    _named("pesel", r"pesel", r"\d{11}"),
    _named("idnr", r"steuer-?(?:id|identifikationsnummer|nummer)|idnr|tax id", r"\d{2} ?\d{3} ?\d{3} ?\d{3}"),
    _named("bsn", r"bsn|burgerservicenummer|sofinummer", r"\d{4}[. ]?\d{2}[. ]?\d{3}"),
    _named("sin", r"sin|social insurance", r"\d{3} ?\d{3} ?\d{3}", "ca.sin"),
    _named("tfn", r"tfn|tax file", r"\d{3} ?\d{3} ?\d{2,3}"),
    _named("medicare", r"medicare", r"\d{4} ?\d{5} ?\d"),
    _named("za_id", r"(?:south african |sa |rsa )?id|identity", r"\d{13}", "za.idnr"),
    _named("tckn", r"tckn|tc kimlik|t\.c\. kimlik|kimlik", r"\d{11}"),
    _named("aadhaar", r"aadhaar|aadhar|uidai", r"\d{4} ?\d{4} ?\d{4}"),
    _named("my_number", r"my number|マイナンバー|個人番号", r"\d{4} ?\d{4} ?\d{4}"),
    _named("cpf", r"cpf", r"\d{11}"),
    _named("national_id", r"dni|nie|nif|cnp|amka|afm|egn|oib|emso|jmbg|cedula|cédula|curp|rfc personal|inn|snils"
        r"|nik|teudat zehut"
           r"|national (?:id|identity|insurance)|identity card|id card|personalausweis|personnummer|fødselsnummer"
           r"|citizen"
           r"|carte d'identité|carta d'identità|documento|government id|voter id|resident id|nric|fin",
           r"[A-Z]{0,3}[ -]?\d[\d. /-]{4,16}\d[A-Z]?|[A-Z0-9]{2,4}\d{4,9}[A-Z0-9]{0,3}"),
    _named("passport", r"passport|pasaporte|passeport|reisepass|passaporto|passaporte|paspoort|pass-nr",
           r"[A-Z]{0,3}[ -]?\d{5,9}[A-Z]{0,2}\d?|[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8}"),
    _named("licence", r"driver'?s?'? licen[cs]e|driving licen[cs]e|licencia de conducir|führerschein"
        r"|permis de conduire|dl",
           r"[A-Z]{1,5}[ -]?\d[\dA-Z -]{4,16}[\dA-Z]|\d{7,12}|[A-Z]{5}\d{6}[A-Z0-9]{5}"),
    _named("tax", r"ein|tin|itin|tax(?:payer)?(?: id(?:entification)?)?|vat|ust-?id(?:nr)?|utr|gstin|cuit|cuil|rut"
        r"|nit|abn",
           r"(?:[A-Z]{2} ?)?\d[\d -]{6,14}[\dA-Z]|[A-Z]{2}[A-Z0-9]{8,12}\d"),
    _named("account", r"(?:bank |checking |savings |giro)?account|acct|a/c|konto(?:nummer)?|cuenta|compte"
        r"|conto corrente|rekening",
           r"(?:\d[ -]?){7,17}\d"),
    _named("routing", r"routing|aba|rtn|transit", r"\d{9}", "us.rtn"),
    _named("sort_code", r"sort[ -]?code", r"\d{2}[- ]?\d{2}[- ]?\d{2}"),
    _named("bic", r"bic|swift(?:[ /-]?bic)?", r"[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?"),
    _named("blz", r"blz|bankleitzahl", r"\d{3} ?\d{3} ?\d{2}"),
    _named("imei", r"imei", r"\d{15}|\d{2}-\d{6}-\d{6}-\d"),
    _named("medical", r"mrn|medical record|patient(?: id)?|health (?:card|insurance)|insurance (?:policy"
        r"|member)", r"[A-Z]{0,3}-?\d{5,12}"),
    _named("plate", r"licen[cs]e plate|number ?plate"
        r"|kennzeichen", r"[A-Z0-9ÄÖÜ]{1,4}[ -]?[A-Z0-9]{1,4}(?:[ -]?[A-Z0-9]{1,4})?"),
    _named("birth", r"born(?: on)?|dob|d\.o\.b\.?|date of birth|birth ?date|birthday|geboren(?: am)?|née? le"
        r"|geburtsdatum",
           r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4}|\d{1,2}(?:st|nd|rd|th)? [A-Z][a-zä]{2,8},? \d{4}"
           r"|[A-Z][a-z]{2,8} \d{1,2}(?:st|nd|rd|th)?,? \d{4}"),
    _named("cvv", r"cvv2?|cvc2?|security code", r"\d{3,4}", kind="CREDIT_CARD"),
    _named("card", r"(?:credit |debit |bank )?card|visa|master ?card|amex|american express|maestro|unionpay|kreditkarte"
           r"|tarjeta|carte bancaire", r"\d{4}[ -]?(?:\d[ -]?){7,14}\d", "luhn", kind="CREDIT_CARD"),
)  # fmt: skip

_CARD = re.compile(
    r"(?<![\w.+/-])(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6(?:011|[2458]\d{2})|35(?:2[89]"
    r"|[3-8]\d))(?:[ -]?\d{4}){3}(?![\w-]|\.\d)"
    r"|(?<![\w.+/-])3[47]\d{2}[ -]?\d{6}[ -]?\d{5}(?![\w-]|\.\d)"
    r"|(?<![\w.+/-])3(?:0[0-5]|[68]\d)\d[ -]?\d{6}[ -]?\d{4}(?![\w-]|\.\d)"
    r"|(?<![\w.+/-])4\d{3}[ -]\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{3}(?![\w-]|\.\d)"
)
_IBAN = re.compile(r"(?<![^\W_])(?=([A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}))")


def find_numbers(text: str) -> Iterator[Span]:
    """Every number of an account, a card or a paper, in no order."""
    if not any(map(str.isdigit, text)):
        return
    for number in _NUMBERS:
        for found in number.form.finditer(text):
            value = found[1]
            if not number.checks or any(_module(one).is_valid(value) for one in number.checks):
                yield Span(*found.span(1), number.kind, "rule", label=number.label)
    for found in _CARD.finditer(text):
        if _module("luhn").is_valid(re.sub(r"\D", "", found[0])):
            yield Span(*found.span(), "CREDIT_CARD", "rule", label="card")
    for found in _IBAN.finditer(text):
        if end := _iban_end(found[1]):
            yield Span(found.start(), found.start() + end, "REDACTED", "rule", label="iban")


def _iban_end(text: str) -> int:
    """Where the IBAN that begins here ends; words may follow it. 0 if it is none."""
    ends = [found.end() for found in re.finditer(r"[A-Za-z0-9]", text)]
    letters = re.sub(r"[ -]", "", text).upper()
    for length in range(min(34, len(ends)), 14, -1):
        end = ends[length - 1]
        if text[end : end + 1].isalnum() or int(_in_digits(letters[4:length] + letters[:4])) % 97 != 1:
            continue
        if _module("iban").is_valid(text[:end]):
            return end
    return 0


def _in_digits(letters: str) -> str:
    return "".join(str(int(letter, 36)) for letter in letters)
