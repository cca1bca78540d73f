"""Data that have a form of their own in prose: addresses of mail, of machines and of houses, handles.

Names, numbers and telephones have modules of their own. `find_personal` is all of them together.
"""

import ipaddress
import re
from collections.abc import Iterator

from commonplace.redaction.given_names import find_given_names
from commonplace.redaction.model import Kind, Span
from commonplace.redaction.names import find_names
from commonplace.redaction.numbers import find_numbers
from commonplace.redaction.phones import find_phones
from commonplace.redaction.vocabulary import ACCOUNTS, ANNOTATIONS, COMMON, TECHNICAL, Forms, keyed

FORMS = Forms(
    "personal", ignore_case="no_email about_machines about_versions about_documents host no_host ens", multiline="home"
)
_PUBLIC_MACHINES = FORMS.words("public_machines")

_FOR_DOCUMENTS = tuple(
    map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"))
)
EXPLAINED = FORMS.many("explained")
_LOGINS = FORMS.many("logins")
_LOGIN_KEYED = keyed(FORMS.text("login_keys"), FORMS.text("login"))
_POSTAL_KEYED = keyed(FORMS.text("postal_keys"), FORMS.text("postal"))
_PLACES = Forms("places").many("forms")


def find_personal(text: str, *, keep_public_identities: bool) -> Iterator[Span]:
    """Yield every datum that a rule knows in prose, in no order; they may overlap."""
    yield from _emails(text)
    yield from _machines(text)
    if "@" in text:
        for found in FORMS.handle.finditer(text):
            word = found["value"].casefold()
            if (
                word.partition(".")[0] not in ANNOTATIONS
                and word not in TECHNICAL
                and not word.isdigit()
                and len(word) > 2
                and not FORMS.cited.fullmatch(word)
            ):
                yield Span(found.start(), found.end(), "USERNAME", "rule", label="handle")
        yield from (_span(found, "USERNAME", "handle") for found in FORMS.mention.finditer(text))
    for pattern, name in ((FORMS.home, "home"), (FORMS.remote, "account"), (FORMS.account, "account")):
        for found in pattern.finditer(text):
            word = found["value"].casefold()
            if word in ACCOUNTS or word in ANNOTATIONS or FORMS.file.search(word):
                continue
            if (
                pattern is not FORMS.account
                or re.search(r"[\d._#]", word)
                or re.search(r"[:=@][ \t\"'`*@]*$", text[: found.start("value")][-6:])
            ):
                yield _span(found, "USERNAME", name)
    for pattern in (*_LOGINS, _LOGIN_KEYED):
        for found in pattern.finditer(text):
            word = found["value"].casefold()
            if word not in ACCOUNTS | ANNOTATIONS | TECHNICAL | COMMON and not FORMS.file.search(word):
                yield _span(found, "USERNAME", "account")
    yield from find_names(text)
    yield from find_given_names(text)
    yield from find_numbers(text)
    yield from find_phones(text)
    yield from find_places(text)
    if not keep_public_identities:
        for form, label in ((FORMS.wallet, "wallet"), (FORMS.bitcoin, "wallet"), (FORMS.ens, "ens")):
            yield from (_span(found, "REDACTED", label) for found in form.finditer(text))


def find_in_address(address: str) -> Iterator[Span]:
    """Yield what is taken out of a URL: all of it where only an organisation's own network knows the host."""
    host = re.match(r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:[^/?#@]*@)?([^/?#:]+)", address)
    if host and (bool(FORMS.host.fullmatch(host[1])) and not FORMS.no_host.fullmatch(host[1])):
        yield Span(0, len(address), "REDACTED", "rule", label="host")
    yield from _emails(address)
    yield from _machines(address)
    yield from (
        _span(found, "USERNAME", "home")
        for found in FORMS.home.finditer(address)
        if found["value"].casefold() not in ACCOUNTS
    )
    if (found := FORMS.profile.match(address)) and found["value"].casefold() not in ACCOUNTS:
        yield _span(found, "USERNAME", "profile")
    if address.startswith("tel:"):
        yield from find_phones(address)


def find_in_code(code: str) -> Iterator[Span]:
    """Yield what is taken out of code: mail that somebody may have, and numbers that have a check digit or a key."""
    for span in _emails(code):
        found = code[span.start : span.end]
        if FORMS.plain_email.match(found) and not FORMS.reserved_email.search(found):
            yield span
    yield from find_numbers(code, in_code=True)


def _span(found: re.Match[str], kind: Kind, label: str) -> Span:
    group: str | int = next((one for one in ("value", "also") if found.re.groupindex.get(one) and found[one]), 0)
    return Span(*found.span(group), kind, "rule", label=label)


def _emails(text: str) -> Iterator[Span]:
    if "@" in text:
        for found in FORMS.email.finditer(text):
            domain = found["domain"] or ""
            is_remote = found["local"] in ("git", "hg", "svn") and text[found.end() : found.end() + 1] in (":", "/")
            if FORMS.reached.search(text[max(0, found.start() - 80) : found.start()]) or FORMS.nobody.fullmatch(
                found[0]
            ):
                continue
            if not is_remote and not FORMS.no_email.fullmatch(domain) and not (found["local"] or "").startswith("//"):
                yield _span(found, "EMAIL", "email")
    yield from (_span(found, "EMAIL", "email") for found in FORMS.spelt_email.finditer(text) if len(found[0]) > 8)


def _machines(text: str) -> Iterator[Span]:
    quads = list(FORMS.ipv4.finditer(text))
    versions = {one[0] for one in quads if FORMS.about_versions.search(text[max(0, one.start() - 40) : one.start()])}
    for found in quads:
        if found[0] in versions:
            continue
        end = found.end() - (len(found["after"] or "") if (found["after"] or "").startswith(":") else 0)
        if _is_machine(text, found):
            yield Span(found.start(), end, "IP_ADDRESS", "rule", label="ip")
    if text.count(":") > 1:
        for found in FORMS.ipv6.finditer(text):
            if _is_ipv6(text, found):
                yield _span(found, "IP_ADDRESS", "ip")
        yield from (_span(found, "REDACTED", "mac") for found in FORMS.mac.finditer(text))
    elif text.count("-") > 4 or text.count(".") > 1:
        yield from (_span(found, "REDACTED", "mac") for found in FORMS.mac.finditer(text))
    yield from (
        _span(found, "REDACTED", "host") for found in FORMS.host.finditer(text) if not FORMS.no_host.fullmatch(found[0])
    )


def _is_machine(text: str, found: re.Match[str]) -> bool:
    after = found["after"] or ""
    value = found[0].removesuffix(after) if after else found[0]
    octets = value.split(".")
    if any(int(octet) > 255 or (len(octet) > 1 and octet[0] == "0") for octet in octets):
        return False
    address = ipaddress.IPv4Address(value)
    if address.is_loopback or value in _PUBLIC_MACHINES or octets[0] in ("0", "255"):
        return False
    if after.startswith("/"):
        network = ipaddress.ip_interface(value + after) if int(after[1:]) <= 32 else None
        if network and not address.is_global and network.network.network_address == address and int(after[1:]) < 32:
            return False
    before = text[max(0, found.start() - 40) : found.start()]
    if FORMS.about_versions.search(before) or _is_for_documents(text, found, address):
        return False
    if after or FORMS.about_machines.search(before) or any(int(octet) > 99 for octet in octets):
        return True
    return sum(int(octet) < 10 for octet in octets) < 2 or octets[0] == "10"


def _is_for_documents(text: str, found: re.Match[str], address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether nobody has this address (RFC 5737, RFC 3849), and the text says so: in a log it stands for somebody's."""
    if not any(address in network for network in _FOR_DOCUMENTS if network.version == address.version):
        return False
    return FORMS.about_documents.search(text, max(0, found.start() - 120), found.start()) is not None


def _is_ipv6(text: str, found: re.Match[str]) -> bool:
    value = found[0].partition("%")[0].partition("/")[0]
    try:
        address = ipaddress.IPv6Address(value)
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified or len(value) < 7 or not any(map(str.isdigit, value)):
        return False
    # Serial numbers and fingerprints are eight pairs, or more.
    return not re.fullmatch(
        r"(?:[0-9A-Fa-f]{2}:){7}"
        r"[0-9A-Fa-f]{2}",
        value,
    ) and not _is_for_documents(text, found, address)


def find_places(text: str) -> Iterator[Span]:
    """Yield every address, in no order; those of one house overlap.

    A street without a number, a town alone, a country stay: they say where something happens, not where somebody lives.
    """
    if not any(map(str.isdigit, text)):
        return
    for form in (*_PLACES, _POSTAL_KEYED):
        for found in form.finditer(text):
            start, end = found.span("value" if "value" in form.groupindex else 0)
            yield Span(start, end - (text[end - 1] in ",\n "), "LOCATION", "rule", label="address")
