import time

import pytest

from commonplace.redaction.model import Policy
from commonplace.redaction.pipeline import Pipeline
from commonplace.redaction.rules import EXPLAINED, find_personal
from commonplace.redaction.secret_rules import find_secrets
from tests.examples import SOAKING
from tests.unit.redaction import examples

POLICY = Policy()


def redacted(text: str, policy: Policy = POLICY) -> str:
    return Pipeline().redact({"content": text}, policy).fields["content"]


def test_datum_is_masked_as_what_it_is() -> None:
    for name in examples.PERSONAL:
        kind, value = examples.PERSONAL[name]
        assert redacted(f"Somebody wrote {value} on the board.") == f"Somebody wrote [{kind}] on the board."


def test_datum_is_known_by_what_introduces_it() -> None:
    for name in examples.INTRODUCED:
        kind, before, value = examples.INTRODUCED[name]
        assert redacted(f"Note: {before}{value}") == f"Note: {before}[{kind}]" or name == "trailer"
        assert redacted(f"{before}{value}\n") == f"{before}[{kind}]\n"


def test_what_only_looks_like_a_datum_is_kept() -> None:
    for text in examples.NOT_PERSONAL:
        assert redacted(text) == text


def test_number_whose_check_digit_is_wrong_is_kept() -> None:
    text = "see 4111 1111 1111 1112 and DE88 3704 0044 0532 0130 00 and 529.982.247-26"
    assert redacted(text) == text


def test_number_is_found_in_the_middle_of_others() -> None:
    assert redacted("DE89 3704 0044 0532 0130 00 and GB82WEST12345698765432.") == "[REDACTED] and [REDACTED]."


@pytest.mark.parametrize("octets", ["30.3.1.2", "1.2.3.4"])
def test_four_numbers_are_a_machine_only_where_the_text_says_so(octets: str) -> None:
    assert redacted(f"the hat {octets}") == f"the hat {octets}"
    assert redacted("we connect to server 30.3.1.2 at night") == "we connect to server [IP_ADDRESS] at night"


def test_public_identities_are_kept_or_masked_as_the_policy_says() -> None:
    text = "paid by vitalik.eth from 0x71C7656EC7ab88b098defB751B7401B5f6d8976F"
    assert redacted(text) == text
    assert redacted(text, Policy(keep_public_identities=False)) == "paid by [REDACTED] from [REDACTED]"


def test_transaction_is_no_private_key() -> None:
    number = "0x" + "4f2a9c01" * 8
    assert redacted(f"transaction {number}") == f"transaction {number}"
    assert redacted(f"the private key is {number}") == "the private key is [API_KEY]"


ADVERSARIAL = (
    *("1 ", "1-", "1.", "(1", "+", "12345678 ", "030 1234567, ", "DE89", "DE89 ", "4111 1111 1111 1112 ", "card 4"),
    *("a@", "a.", "a-", "a_", "a/", "a:", "::", "a.b@c.d.", "a at b dot ", "@a.", "0x", "af1", "Aa-Bb'Cc ", "A. "),
    *(
        "1 Aa Bb Cc Dd ",
        "Aa ",
        "rue de la ",
        "1 rue de la de la ",
        "Calle A A A ",
        "address ",
        "日",
        "/home/",
        "ssh a ",
    ),
    *("Dr. A", "regards\n\n", "My name is ", "C:\\Users\\", "login: ", "passport no ", "id ", "00 ", "!#$", "1a:"),
    *("password ", "password: ", "password=", "eyJaaaaaaaa.", "a://b:c", "://", "-----BEGIN PRIVATE KEY-----\n\n"),
    *(
        "abc ",
        "login a / ",
        "sk-",
        "AKIA",
        "x.",
        "mysql ",
        "_password",
        "bearer ",
        "?key=",
        "A1b2",
        "-p ",
        "secret is ",
    ),
    *(
        "`",
        "` ",
        "[](",
        "<",
        "\\`",
        "> ",
        "- ",
        "[a]: ",
        "http://",
        "a://b(",
        "[",
        "&#",
        "%4",
        "\u200b",
        "é\u0301",
        "|",
    ),
)


@pytest.mark.parametrize("unit", ADVERSARIAL if SOAKING else ADVERSARIAL[::3])
def test_time_grows_with_the_text_alone(unit: str) -> None:
    def spent(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        began = time.process_time()
        list(find_personal(text, keep_public_identities=False))
        list(find_secrets(text))
        for form in EXPLAINED:
            list(form.finditer(text))
        return time.process_time() - began

    # Quadratic time would be sixteen times as much; what is small is noise.
    assert spent(12_000) < max(0.4, 10 * spent(3_000))
