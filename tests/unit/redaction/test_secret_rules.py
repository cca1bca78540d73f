import pytest

from commonplace.redaction.model import Policy
from commonplace.redaction.pipeline import Pipeline
from commonplace.redaction.secret_rules import PROVIDERS, find_secrets
from tests.unit.redaction import examples

SECRETS = examples.secrets()
ASSIGNED = examples.assigned()
AROUND = (
    "{}",
    "It is {}, said the log.",
    "`{}`",
    "```env\nK={}\n```",
    "    {}\n\n    x",
    "| a | {} |",
    "[x]({})",
    "<{}>",
)


def redacted(text: str) -> str:
    return Pipeline().redact({"content": text}, Policy()).fields["content"]


def test_key_of_a_provider_is_masked_wherever_it_stands() -> None:
    for name in SECRETS:
        for around in AROUND:
            assert redacted(around.format(SECRETS[name])) == around.format("[API_KEY]")


def test_secret_is_known_by_what_it_is_assigned_to() -> None:
    for name in ASSIGNED:
        for around in ["{}{}", "`{}{}`", "```\n{}{}\n```", "x\n\n    {}{}\n"]:
            before, value = ASSIGNED[name]
            assert value not in redacted(around.format(before, value + ('"' if '"' in before else "")))


@pytest.mark.parametrize("syntax", examples.SYNTAXES)
@pytest.mark.parametrize("notation", examples.NOTATIONS)
def test_secret_is_known_by_its_name_in_every_notation_and_syntax(syntax: str, notation: str) -> None:
    for words, value in (("db password", "tR7kp2w!xQ"), ("client secret", ASSIGNED["env"][1] + ASSIGNED["yaml"][1])):
        text = syntax.format(examples.NOTATIONS[notation](words), value)
        for around in ("{}", "```\n{}\n```", "x `{}` y"):
            assert value not in redacted(around.format(text)), text


@pytest.mark.parametrize("syntax", examples.SYNTAXES[:8])
def test_password_of_plain_words_is_known_where_a_value_must_stand(syntax: str) -> None:
    text = syntax.format("password", "kastanie")
    assert "kastanie" not in redacted(f"```\n{text}\n```")


@pytest.mark.parametrize("syntax", examples.SYNTAXES)
@pytest.mark.parametrize("value", ["<YOUR_PASSWORD>", "${DB_PASSWORD}", "changeme", "required", "string", "postgres"])
def test_what_stands_for_a_password_is_kept(syntax: str, value: str) -> None:
    text = f"```\n{syntax.format('db_password', value)}\n```"
    assert redacted(text) == text


def test_many_providers_are_known() -> None:
    assert len(PROVIDERS) > 150


def test_private_key_is_masked_with_all_its_lines() -> None:
    key = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIGlVmFr\nAwEHoUQDQgAE\n-----END EC PRIVATE KEY-----"
    assert redacted(f"```\n{key}\n```\n") == "```\n[API_KEY]\n```\n"


def test_words_of_a_wallet_are_masked_and_words_of_a_sentence_are_not() -> None:
    words = "legal winner thank year wave sausage worth useful legal winner thank yellow"
    assert redacted(f"the recovery phrase: {words}") == "the recovery phrase: [API_KEY]"
    sentence = "it was found that when they used this tool then some tests would fail and could not be repeated"
    assert not list(find_secrets(sentence))


def test_key_for_the_guide_of_a_provider_is_masked_too() -> None:
    assert redacted("AKIAIOSFODNN7EXAMPLE") == "[API_KEY]"


def test_credentials_of_an_address_go_and_its_host_stays() -> None:
    assert redacted("`redis://:s3cr3tpw99@cache:6379/0`") == "`redis://[API_KEY]@cache:6379/0`"
