"""Short texts that say the same, and texts that differ in one word that matters."""

import pytest

from commonplace.search.near_duplicates import nearly_equal

SAME = (
    ("Never check and then insert.", "never check, and then insert!"),
    ("**Pass** the clock in, always.", "Pass the clock in always"),
    ("Run the migration before the deploy.", "Run migrations before the deploy."),
    ("Put specific routes before parameterised ones.", "Put specific routes before the parameterized ones"),
    ("Split stories with more than 20 acceptance criteria.", "Split a story with more than 20 acceptance criteria."),
    (
        "Money is an integer of cents, which rounds half to even.",
        "Money is an integer of cents that rounds half to even",
    ),
)
OTHER = (
    ("Postgres listens on port 5432.", "Postgres listens on port 5433."),
    ("The check is run in staging.", "The check is run in production."),
    ("Deploys on Friday are allowed.", "Deploys on Friday are not allowed."),
    ("The cabin list doesn't need a lock.", "The cabin list does need a lock."),
    ("Fix the handler in src/auth/token.py first.", "Fix the handler in src/auth/session.py first."),
    ("TS2345 comes from the parser.", "TS2344 comes from the parser."),
    ("Run the migration before the deploy.", "Run the migration after the deploy."),
    ("Deploy the API and then the site.", "Deploy the site and then the API."),
    ("The admin deletes a berth.", "The guest deletes a berth."),
    ("Berths in Harwich are closed on Monday.", "Berths in Harwich are closed on Sunday."),
    ("Enable caching for the price list.", "Disable caching for the price list."),
    ("Call it with --force.", "Call it with force."),
    ("Written in C++.", "Written in C."),
    ("!!!", "???"),
)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_short_texts_that_say_the_same_are_nearly_equal(one: str, other: str) -> None:
    assert nearly_equal(one, other)
    assert nearly_equal(other, one)


def test_short_texts_that_differ_in_a_word_that_matters_are_not() -> None:
    for one, other in OTHER:
        assert not nearly_equal(one, other)
        assert not nearly_equal(other, one)
