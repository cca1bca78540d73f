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
from commonplace.redaction.vocabulary import ACCOUNTS, ANNOTATIONS, TECHNICAL, Forms

FORMS = Forms("personal")
_EMAIL = FORMS.one("email")
_SPELT_EMAIL = FORMS.one("spelt_email")
_NO_EMAIL = FORMS.one("no_email", re.IGNORECASE)
_IPV4 = FORMS.one("ipv4")
_IPV6 = FORMS.one("ipv6")
_ABOUT_MACHINES = FORMS.one("about_machines", re.IGNORECASE)
_ABOUT_VERSIONS = FORMS.one("about_versions", re.IGNORECASE)
_PUBLIC_MACHINES = FORMS.words("public_machines")

_FOR_DOCUMENTS = tuple(
    map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"))
)
_ABOUT_DOCUMENTS = FORMS.one("about_documents", re.IGNORECASE)
_MAC = FORMS.one("mac")
_HOST = FORMS.one("host", re.IGNORECASE)
_NO_HOST = FORMS.one("no_host", re.IGNORECASE)
_HANDLE = FORMS.one("handle")
_CITED = FORMS.one("cited")
_FILE = FORMS.one("file")
_MENTION = FORMS.one("mention")
_HOME = FORMS.one("home", re.MULTILINE)
_PROFILE = FORMS.one("profile")
_ACCOUNT = FORMS.one("account")
_REMOTE = FORMS.one("remote")
_WALLET = FORMS.one("wallet")
_BITCOIN = FORMS.one("bitcoin")
_ENS = FORMS.one("ens", re.IGNORECASE)
EXPLAINED = FORMS.many("explained")
_PLACES = Forms("places").many("forms")


def find_personal(text: str, *, keep_public_identities: bool) -> Iterator[Span]:
    """Yield every datum that a rule knows in prose, in no order; they may overlap."""
    yield from _emails(text)
    yield from _machines(text)
    if "@" in text:
        for found in _HANDLE.finditer(text):
            word = found["value"].casefold()
            if (
                word.partition(".")[0] not in ANNOTATIONS
                and word not in TECHNICAL
                and not word.isdigit()
                and len(word) > 2
                and not _CITED.fullmatch(word)
            ):
                yield Span(found.start(), found.end(), "USERNAME", "rule", label="handle")
        yield from (_span(found, "USERNAME", "handle") for found in _MENTION.finditer(text))
    for pattern, name in ((_HOME, "home"), (_REMOTE, "account"), (_ACCOUNT, "account")):
        for found in pattern.finditer(text):
            word = found["value"].casefold()
            if word in ACCOUNTS or word in ANNOTATIONS or _FILE.search(word):
                continue
            if (
                pattern is not _ACCOUNT
                or re.search(r"[\d._#]", word)
                or re.search(r"[:=@][ \t\"'`*@]*$", text[: found.start("value")][-6:])
            ):
                yield _span(found, "USERNAME", name)
    yield from find_names(text)
    yield from find_given_names(text)
    yield from find_numbers(text)
    yield from find_phones(text)
    yield from find_places(text)
    if not keep_public_identities:
        for form, label in ((_WALLET, "wallet"), (_BITCOIN, "wallet"), (_ENS, "ens")):
            yield from (_span(found, "REDACTED", label) for found in form.finditer(text))


def find_in_address(address: str) -> Iterator[Span]:
    """Yield what is taken out of a URL: all of it where only an organisation's own network knows the host."""
    host = re.match(r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:[^/?#@]*@)?([^/?#:]+)", address)
    if host and (bool(_HOST.fullmatch(host[1])) and not _NO_HOST.fullmatch(host[1])):
        yield Span(0, len(address), "REDACTED", "rule", label="host")
    yield from _emails(address)
    yield from _machines(address)
    yield from (
        _span(found, "USERNAME", "home")
        for found in _HOME.finditer(address)
        if found["value"].casefold() not in ACCOUNTS
    )
    if (found := _PROFILE.match(address)) and found["value"].casefold() not in ACCOUNTS:
        yield _span(found, "USERNAME", "profile")
    if address.startswith("tel:"):
        yield from find_phones(address)


def _span(found: re.Match[str], kind: Kind, label: str) -> Span:
    group: str | int = next((one for one in ("value", "also") if found.re.groupindex.get(one) and found[one]), 0)
    return Span(*found.span(group), kind, "rule", label=label)


def _emails(text: str) -> Iterator[Span]:
    if "@" in text:
        for found in _EMAIL.finditer(text):
            domain = found["domain"] or ""
            is_remote = found["local"] in ("git", "hg", "svn") and text[found.end() : found.end() + 1] in (":", "/")
            if not is_remote and not _NO_EMAIL.fullmatch(domain) and not (found["local"] or "").startswith("//"):
                yield _span(found, "EMAIL", "email")
    yield from (_span(found, "EMAIL", "email") for found in _SPELT_EMAIL.finditer(text) if len(found[0]) > 8)


def _machines(text: str) -> Iterator[Span]:
    for found in _IPV4.finditer(text):
        end = found.end() - (len(found["after"] or "") if (found["after"] or "").startswith(":") else 0)
        if _is_machine(text, found):
            yield Span(found.start(), end, "IP_ADDRESS", "rule", label="ip")
    if text.count(":") > 1:
        for found in _IPV6.finditer(text):
            if _is_ipv6(text, found):
                yield _span(found, "IP_ADDRESS", "ip")
        yield from (_span(found, "REDACTED", "mac") for found in _MAC.finditer(text))
    elif text.count("-") > 4 or text.count(".") > 1:
        yield from (_span(found, "REDACTED", "mac") for found in _MAC.finditer(text))
    yield from (_span(found, "REDACTED", "host") for found in _HOST.finditer(text) if not _NO_HOST.fullmatch(found[0]))


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
    if _ABOUT_VERSIONS.search(before) or _is_for_documents(text, found, address):
        return False
    if after or _ABOUT_MACHINES.search(before) or any(int(octet) > 99 for octet in octets):
        return True
    return sum(int(octet) < 10 for octet in octets) < 2 or octets[0] == "10"


def _is_for_documents(text: str, found: re.Match[str], address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether nobody has this address (RFC 5737, RFC 3849), and the text says so: in a log it stands for somebody's."""
    if not any(address in network for network in _FOR_DOCUMENTS if network.version == address.version):
        return False
    return _ABOUT_DOCUMENTS.search(text, max(0, found.start() - 120), found.start()) is not None


def _is_ipv6(text: str, found: re.Match[str]) -> bool:
    value = found[0].partition("%")[0].partition("/")[0]
    try:
        address = ipaddress.IPv6Address(value)
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified or len(value) < 5 or not any(map(str.isdigit, value)):
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
    for form in _PLACES:
        for found in form.finditer(text):
            start, end = found.span("value" if "value" in form.groupindex else 0)
            yield Span(start, end - (text[end - 1] in ",\n "), "LOCATION", "rule", label="address")
