"""Which addresses may be reached for strangers: a corpus of those that may not, and what Python thinks of the rest."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.kernel.public_addresses import is_public

NAT64 = IPv6Network("64:ff9b::/96")

PRIVATE_4 = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.170",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
]

PUBLIC_4 = ["1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "223.255.255.254"]

PRIVATE_6 = [
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:53aa:64c:0:fb05:53d9:fbf7",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700:4700::1111%eth0",
    "fec0::1",
    "ff02::1",
]

PUBLIC_6 = ["2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001:81b::200e", "2600:1f18::1"]

NO_ADDRESSES = ["", "localhost", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.0.0.01", "1.1.1.1 ", "::g"]


def test_c7_an_address_of_no_public_machine_is_refused() -> None:
    for address in [*PRIVATE_4, *PRIVATE_6, *NO_ADDRESSES]:
        assert not is_public(address)


def test_an_address_of_a_public_machine_is_reached() -> None:
    for address in [*PUBLIC_4, *PUBLIC_6]:
        assert is_public(address)


def test_c7_an_ipv4_address_inside_an_ipv6_one_is_judged_as_itself() -> None:
    for prefix in [0xFFFF << 32, 0x64FF9B << 96]:
        for inner in [*PRIVATE_4, *PUBLIC_4]:
            assert is_public(str(IPv6Address(prefix | int(IPv4Address(inner))))) == is_public(inner)


def test_c7_tunnels_that_nobody_should_use_any_more_lead_nowhere() -> None:
    for inner in [*PRIVATE_4, *PUBLIC_4]:
        number = int(IPv4Address(inner))

        assert not is_public(str(IPv6Address((0x2002 << 112) | (number << 80))))
        assert not is_public(str(IPv6Address((0x20010000 << 96) | (0x01020304 << 64) | (number ^ 0xFFFFFFFF))))


@settings(deadline=None)
@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_what_is_taken_for_public_is_global_to_python_as_well(address: IPv4Address | IPv6Address) -> None:
    if is_public(str(address)):
        mapped = getattr(address, "ipv4_mapped", None)
        assert (mapped or address).is_global or address in NAT64
