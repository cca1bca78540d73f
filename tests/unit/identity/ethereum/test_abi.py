"""Our few words of Solidity's ABI are those of the library, which the guard does not carry."""

from eth_abi.abi import encode
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.identity.ethereum import hats

NUMBERS = st.lists(st.integers(0, 2**256 - 1), max_size=6)
ADDRESSES = st.lists(st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex()), max_size=6)


@settings(deadline=None)
@given(ADDRESSES, NUMBERS)
def test_arrays_are_encoded_as_the_library_encodes_them(addresses: list[str], numbers: list[int]) -> None:
    ours = hats.arrays([hats.address_word(one) for one in addresses], [hats.word(one) for one in numbers])
    assert ours == encode(["address[]", "uint256[]"], [addresses, numbers])


@settings(deadline=None)
@given(NUMBERS)
def test_an_array_is_read_as_the_library_wrote_it(numbers: list[int]) -> None:
    assert hats.words(encode(["uint256[]"], [numbers]), len(numbers)) == [hats.word(one) for one in numbers]


@settings(deadline=None)
@given(NUMBERS, st.data())
def test_any_byte_more_less_or_other_in_its_frame_makes_it_none(numbers: list[int], data: st.DataObject) -> None:
    good = encode(["uint256[]"], [numbers])
    at = data.draw(st.integers(0, 63))
    other = good[:at] + bytes([good[at] ^ data.draw(st.integers(1, 255))]) + good[at + 1 :]
    for bad in (good + b"\0", good[:-1], other, good + b"\0" * 32):
        assert hats.words(bad, len(numbers)) is None
    assert hats.words(good, len(numbers) + 1) is None
