"""Addresses that anybody on the Internet could have: where requests to URLs of strangers may go.

Public addresses are those outside the IANA special-purpose registries (RFC 6890 and its successors), the same on every
version of Python. An IPv6 address that carries an IPv4 one is judged by that where networks still translate
(IPv4-mapped, NAT64), and refused where it is obsolete (6to4, Teredo, IPv4-compatible).
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_NOT_PUBLIC_4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
)

_UNICAST_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3ffe::/16", "3fff::/20")
)
"""Within global unicast: protocol assignments with Teredo among them, documentation, 6to4, and what was given back."""

_NAT64 = IPv6Network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Whether an address is one that anybody on the Internet could have, and nothing of ours or of our neighbours."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return _public_4(address)
    if address.scope_id is not None:
        return False
    inner = address.ipv4_mapped or (IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None)
    return _public_4(inner) if inner else _public_6(address)


def _public_4(address: IPv4Address) -> bool:
    return not any(address in network for network in _NOT_PUBLIC_4)


def _public_6(address: IPv6Address) -> bool:
    return address in _UNICAST_6 and not any(address in network for network in _NOT_PUBLIC_6)
