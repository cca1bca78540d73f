"""What no tool takes, over the wire: each is an error that says what to do, and nothing is written."""

from commonplace.web.mcp.rendering import ERROR_META
from tests.conformance.memory.worlds import Team
from tests.unit.memory.tools.test_bad_input import TABLE
from tests.unit.web.mcp.talking import text_of


def test_what_cannot_be_is_said_and_nothing_is_written(team: Team) -> None:
    team.add("Cars are blue.")
    before = team.world.written()
    results = team.results(*((name, arguments) for name, arguments, _, _ in TABLE))

    for (name, _, code, said), result in zip(TABLE, results, strict=True):
        text = text_of(result)
        assert result.is_error, (name, text)
        assert result.meta[ERROR_META]["code"] in code.split("|"), (name, text)
        assert said in text
        assert len(text) < 1_500
    assert team.world.written() == before
