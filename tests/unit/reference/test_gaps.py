"""What is kept of a query that found nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.reference.model import MAX_CHARACTERS, digest, kept

JWT = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJlLW9mLWl0"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("helios gw users get john@example.com", "helios gw users get <email>"),
        ("john.o+test@mail.example.co.uk cannot sign in", "<email> cannot sign in"),
        ("call me at +49 (0)30 1234-5678", "call me at +<number>"),
        ("order 20261122000417 is lost", "order <number> is lost"),
        (f"authorization: Bearer {JWT}", "authorization: Bearer <token>"),
        (f"what is {JWT}", "what is <token>"),
        ("use sk-proj-abcdefghij0123456789", "use <token>"),
        ("token=hunter2hunter2", "token=<token>"),
        ("password: swordfish", "password: <token>"),
        ("api_key=abcdef", "api_key=<token>"),
        ("get /api/v1/users/3f2504e0-4f89-11d3-9a0c-0305e82c3301", "get /api/v1/users/<id>"),
        ("commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904", "commit <token>"),
        ("ping 192.168.0.17", "ping <address>"),
    ],
)
def test_what_may_be_somebodys_own_is_masked(said: str, told: str) -> None:
    assert kept(said) == told


@pytest.mark.parametrize(
    "said",
    [
        "helios get-users",
        "get-microsoft-365-users-list --json",
        "GET /api/v1/users/{id}/groups",
        "how do I rotate an api key",
        "password reset",
        "reset password <email>",
        "token --rotate",
        "listGoogleWorkspaceUsers",
        "2 of 10 users at 08:30",
        "since 2026",
        "архив пользователей",
    ],
)
def test_names_and_questions_stay_as_they_are(said: str) -> None:
    assert kept(said) == said


def test_a_query_becomes_one_short_line() -> None:
    assert kept("  archive\n\tusers\x00\u2028 now ") == "archive users now"
    assert len(kept("archive users " * 50)) <= MAX_CHARACTERS


def test_a_gap_is_the_same_whatever_its_case_and_spaces() -> None:
    assert digest("Archive  users", None) == digest(" archive USERS", None) != digest("archive users", "command")


@given(st.text(max_size=400))
def test_any_text_is_kept_short_and_printable(text: str) -> None:
    told = kept(text)
    assert len(told) <= MAX_CHARACTERS
    assert told.isprintable()
    assert kept(told) == told or "<" in told


@given(st.emails())
def test_no_address_of_mail_is_kept(address: str) -> None:
    assert address not in kept(f"find {address} please")
