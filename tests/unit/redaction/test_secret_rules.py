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


def test_many_providers_are_known() -> None:
    assert len(PROVIDERS) > 50


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
