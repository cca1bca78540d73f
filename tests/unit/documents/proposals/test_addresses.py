import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.content.fields import coerce
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.proposals.proposal import web_address
from commonplace.kernel.errors import InvalidInput


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ("https://example.org/handbook", "https://example.org/handbook"),
        ("  HTTPS://Example.ORG:443/A/b?utm_source=x#Part ", "https://example.org/A/b?utm_source=x#Part"),
        ("http://example.org:80", "http://example.org"),
        ("http://example.org:8080/", "http://example.org:8080/"),
        ("https://[2001:DB8::1]:8443/x", "https://[2001:db8::1]:8443/x"),
        ("https://müller.example/straße", "https://müller.example/straße"),
        ("https://example.org/a@b?c=d@e", "https://example.org/a@b?c=d@e"),
    ],
)
def test_an_address_is_kept_but_for_the_case_of_its_host(given_: str, kept: str) -> None:
    assert web_address(given_) == kept


@pytest.mark.parametrize(
    "address",
    [
        "",
        "example.org",
        "ftp://example.org",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https:example.org",
        "https://",
        "https:///path",
        "https://user@example.org",
        "https://user:secret@example.org/",
        "https://good.example\\@evil.example/",
        "https://evil.example\\.good.example/",
        "https://example.org:99999/",
        "https://example.org:port/",
        "https://[::1/",
        "https://exa mple.org/",
        "https://example.org/a b",
        'https://example.org/"onclick',
        "https://example.org/<script>",
        "https://example.org/a\nb",
        "https://example.org/\u202e",
        "https://-\u0000.org/",
        "https://example..org/",
        "https://example.org/" + "x" * 2048,
    ],
)
def test_what_is_no_web_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="`url`") as caught:
        web_address(address)
    assert "secret" not in str(caught.value)


@given(st.text(max_size=60), st.sampled_from(["", "https://", "http://example.org/", "https://a.b:1/?q="]))
def test_whatever_is_taken_our_own_validator_takes_too(text: str, beginning: str) -> None:
    try:
        address = web_address(beginning + text)
    except InvalidInput:
        return
    assert coerce(ONTOLOGY.fields["url"], address) == (address, None)
    assert web_address(address) == address
