"""What has a form of its own in prose: addresses of mail and machines, handles.

Names, numbers, telephones and places have modules of their own. `find_personal` is all of them together.
"""

import ipaddress
import re
from collections.abc import Iterator

from commonplace.redaction.given_names import find_given_names
from commonplace.redaction.model import Kind, Span
from commonplace.redaction.names import find_names
from commonplace.redaction.numbers import find_numbers
from commonplace.redaction.phones import find_phones
from commonplace.redaction.places import find_places
from commonplace.redaction.vocabulary import ACCOUNTS, ANNOTATIONS, TECHNICAL, words

_EMAIL = re.compile(
    r"(?<![\w.+%'-])(?P<local>[\w.!#$%&'*+/=?^`{"
    r"|}~-]{1,64})@(?P<domain>(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}(?:--[a-z0-9-]{1,40})?)(?![\w-])"
    r"|(?<![\w.+%'-])\"[^\"\n@]{1,64}\"@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])"
    r"|(?<![\w.+%'-])[\w.+%-]{1,64}@\[(?:\d{1,3}\.){3}\d{1,3}\]"
)
_SPELT_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}\s?(?:[\[({<]\s?(?:at|@)\s?[\])}>]|\sAT\s)\s?[\w-]{1,63}(?:(?:\s?[\[({<]\s?(?:dot"
    r"|\.)\s?[\])}>]\s?|\.|\sDOT\s)[\w-]{1,63}){1,4}"
    r"|(?<![\w.+-])[\w.+-]{1,64}\sat\s[\w-]{1,63}(?:\sdot\s[\w-]{1,63}){1,3}(?![\w-])"
)
_NO_EMAIL = re.compile(
    r"\d+x\.(?:png|jpe?g|webp|gif|svg|avif)|v?\d+\.\d.*|[\w-]+\.(?:js|ts|py|rs|go|md|json|yaml|yml)", re.IGNORECASE
)

_IPV4 = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?P<after>:\d{1,5}|/\d{1,2})?(?![\w-]|\.\w)")
_IPV6 = re.compile(
    r"(?<![\w:.])(?=[0-9A-Fa-f:.]{3,45})[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:(?<=:)"
    r"(?:\d{1,3}\.){3}\d{1,3})?(?:%\w{1,15})?(?:/\d{1,3})?(?![\w:])"
)
_ABOUT_MACHINES = re.compile(
    r"(?:\b(?:ip|ips|ipv4|ipv6|address|addresses|addr|host|hosts|hostname|server|servers|machine|node|client|peer"
    r"|remote|gateway|subnet|dns"
    r"|nameserver|router|ping|ssh|curl|connect(?:ed|ing|ion|s)?|listen(?:ing|s)?|bind|bound|from|to|at|on|via|allow"
    r"|deny|block(?:ed)?|ban(?:ned)?"
    r"|whitelist|allowlist|firewall|proxy|vpn|origin|endpoint|traceroute|resolve[sd]?|x-forwarded-for)\b[^\n]{0,16}"
    r"|[@=/(\[]|://)$",
    re.IGNORECASE,
)
_ABOUT_VERSIONS = re.compile(
    r"(?:\b(?:v|ver|versions?|release[sd]?|build|rev|hat|hats|top hat|hat id|section|sections|chapter|clause"
    r"|paragraph|figure|table|item|appendix|§"
    r"|oid|upgrade[sd]?(?: from| to)?|update[sd]?(?: from| to)?|downgrade[sd]?(?: to)?|bump(?:ed)?(?: to| from)?"
    r"|since|firmware|driver|chrome|chromium|windows|edge|"
    r"requires|pinned(?: to| at)?|installed|rules?|step|ids?)|[#§~^<>]=?|==)[\s:#`'\"(v=]{0,4}$",
    re.IGNORECASE,
)
_PUBLIC_MACHINES = words("8.8.8.8 8.8.4.4 1.1.1.1 1.0.0.1 9.9.9.9 169.254.169.254 255.255.255.255 0.0.0.0 1.2.3.4")

_FOR_DOCUMENTS = tuple(
    map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"))
)
_ABOUT_DOCUMENTS = re.compile(
    r"\b(?:for|of|in) (?:the )?(?:documentation|docs)\b|documentation (?:range|network|prefix)"
    r"|rfc ?(?:5737|3849)|test-net",
    re.IGNORECASE,
)
_MAC = re.compile(
    r"(?<![\w:.-])(?:[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}"
    r"|[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4})(?![\w:-]|\.\w)"
)
_HOST = re.compile(
    r"(?<![\w@.-])(?:[A-Za-z0-9](?:[\w-]{0,61}[A-Za-z0-9])?\.){1,8}(?:internal|corp|local|lan|intranet|intra"
    r"|private|localdomain|home\.arpa|priv)\b(?!\.?\w|\()(?::\d{1,5})?"
    r"|(?<![\w@.-])ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:\.[a-z0-9-]{1,30}){0,3}(?:\.internal)?\b"
    r"|(?<![\w@.-])(?:[\w-]{1,63}\.){1,6}(?:corp|internal|intranet|int)\.(?:[\w-]{1,63}\.){0,2}[a-z]{2,12}\b",
    re.IGNORECASE,
)
_NO_HOST = re.compile(
    r"(?:host\.docker|kubernetes\.docker|metadata\.google|gateway\.docker)\.internal|(?:\.?env|settings|config"
    r"|values|docker-compose|vars|default|secrets?|conf|application|development|production|test|appsettings|compute"
    r"|_|__\w+__|py|java|jdk|sun|com|org|net|self|this|threading|asyncio)(?:\.\w+)?\.(?:local|internal|private)\b.*",
    re.IGNORECASE,
)

_HANDLE = re.compile(
    r"(?<![\w@/.:`\"'=-])@(?P<value>[A-Za-z0-9_][\w-]{1,38}(?:\.[\w-]{1,30}){0,2})(?!\w|/|\(|@|-\w|\.\w)"
)
_CITED = re.compile(r"[a-z-]+(?:19|20)\d\d[a-z]\w*")
"""The key of a publication, as Pandoc cites it."""
_FILE = re.compile(r"\.(?:py|rs|ts|tsx|js|jsx|go|rb|java|cs|cpp|hpp|sh|md|json|ya?ml|toml|html|css|sql)\Z")
_MENTION = re.compile(r"<@!?(?P<value>[UW][A-Z0-9]{7,11})(?:\|[^>\n]{1,60})?>")
_HOME = re.compile(
    r"(?:(?<![\w.~-])/(?:home|Users|export/home|var/home)/|\b[A-Za-z]:(?:\\{1,2}|/)(?:Users"
    r"|Documents and Settings)(?:\\{1,2}|/)"
    r"|(?<![\w/])~(?=[a-z][\w-]{2,30}/))(?P<value>[A-Za-z0-9_][\w.@+-]{0,62}?)(?=[\\/\s\"'`,;:)\]>]|\.?$|\. )",
    re.MULTILINE,
)
_PROFILE = re.compile(
    r"(?i:^(?:https?://)?(?:[\w-]{1,20}\.)?(?:linkedin\.com/in|t\.me|instagram\.com|facebook\.com|twitter\.com|x\.com"
    r"|tiktok\.com|medium\.com|threads\.net|mastodon\.social)/)@?(?P<value>[\w.%-]{2,60})(?=[/?#]?$|/$)"
)
"""A person's page, and nothing below it."""
_ACCOUNT = re.compile(
    r"(?i:(?<![\w.-])(?:user[ _-]?name|login|log-in|nick(?:name)?|handle|account name|userid|user[ _]id"
    r"|benutzer(?:name)?|usuario|utilisateur|telegram|discord|skype|github user|twitter|slack handle)"
    r"(?: (?:is|was|ist|es|est|to|of))?[ \t]{0,2}[:=]?[ \t]{0,2}[\"'`*@]{0,3}|(?<![\w.-])(?:user|uid|usr|owner"
    r"|author|assignee|committer)[ \t]{0,2}=[ \t]{0,2}[\"']?|\buser:[ \t]?(?=\S{2,40}(?:$|[,;\n])))"
    r"(?P<value>[A-Za-z][\w-]{1,30}(?:\.[\w-]{1,30}){0,3}(?:#\d{4})?)(?![\w(\[=]|://)"
)
_REMOTE = re.compile(
    r"\b(?:ssh|scp|rsync|sftp|mosh|ssh-copy-id)\b[^\n@]{0,80}?\s(?P<value>[A-Za-z][\w.-]{1,31})@(?=[\w.-])"
)

_WALLET = re.compile(r"(?<![\w])0x[0-9a-fA-F]{40}(?!\w)")
_BITCOIN = re.compile(r"(?<![\w])(?:bc1[02-9ac-hj-np-z]{25,87}|[13][1-9A-HJ-NP-Za-km-z]{25,34})(?!\w)")
_ENS = re.compile(r"(?<![\w@.-])(?:[^\W_](?:[\w-]{0,60}[^\W_])?\.){1,4}eth(?![\w-]|\.\w)", re.IGNORECASE)

EXPLAINED = tuple(
    re.compile(form)
    for form in (
        r"(?<!\w)0x[0-9A-Fa-f]{2,}(?!\w)",
        r"(?<![^\n>\s])(?:`{3,}|~{3,})[^\n]{0,80}",
        r"(?<!\w)[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?!\w)",
        r"(?<![\w])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,128}(?!\w)",
        r"(?<![\w.])[vV]?\d{1,20}(?:[.:/_-]\d{1,20}){1,9}(?:[-+.]?(?:alpha|beta|rc|dev|post|a|b|pre"
        r"|SNAPSHOT)[.-]?\d*)?(?!\w)",
        r"(?<!\w)(?:ISO(?:/IEC)?|RFC|CVE|CWE|EIP|ERC|BIP|IEEE|PEP|ADR|WCAG|DIN|ANSI|NIST|FIPS)[ -]?[\d][\d:.-]*",
        r"(?<!\w)\d{15,20}(?!\w)",
        r"(?<![\w./-])/?(?:[\w.-]{1,60}/){2,20}[\w.-]{0,60}|(?<![\w.-])[\w-]{1,60}\.(?:py|js|ts|tsx|jsx|rs|go|md"
        r"|json|ya?ml|toml|sh|sql|html|css|txt|lock|cfg|ini|java|rb|c|h|cpp)(?!\w)",
        r"(?<![\w.])[A-Za-z]{1,40}_\w{1,80}|(?<!\w)[a-z]{1,40}(?:[A-Z][a-z0-9]{1,40}){1,8}"
        r"|(?<![\w-])--?[a-z][\w-]{1,40}|(?<!\w)\w{1,60}\(\)",
    )
)
"""What a model takes for names and numbers of people, and is none: hashes, UUIDs, versions, standards, ids, paths,
identifiers of programs. It is masked before a model reads."""


def find_personal(text: str, *, keep_public_identities: bool) -> Iterator[Span]:
    """Every datum that a rule knows in prose, in no order; they may overlap."""
    yield from _emails(text)
    yield from _machines(text)
    yield from _accounts(text)
    yield from find_names(text)
    yield from find_given_names(text)
    yield from find_numbers(text)
    yield from find_phones(text)
    yield from find_places(text)
    if not keep_public_identities:
        for form, label in ((_WALLET, "wallet"), (_BITCOIN, "wallet"), (_ENS, "ens")):
            yield from (_span(found, "REDACTED", label) for found in form.finditer(text))


def find_in_address(address: str) -> Iterator[Span]:
    """What is taken out of a URL: all of it where only an organisation's own network knows the host."""
    host = re.match(r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:[^/?#@]*@)?([^/?#:]+)", address)
    if host and _is_private_host(host[1]):
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


def _is_private_host(host: str) -> bool:
    return bool(_HOST.fullmatch(host)) and not _NO_HOST.fullmatch(host)


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


def _accounts(text: str) -> Iterator[Span]:
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
    for form, label in ((_HOME, "home"), (_REMOTE, "account"), (_ACCOUNT, "account")):
        for found in form.finditer(text):
            word = found["value"].casefold()
            if word in ACCOUNTS or word in ANNOTATIONS or _FILE.search(word):
                continue
            if (
                form is not _ACCOUNT
                or re.search(r"[\d._#]", word)
                or re.search(r"[:=@][ \t\"'`*@]*$", text[: found.start("value")][-6:])
            ):
                yield _span(found, "USERNAME", label)
