"""Settings are declared once: keys, variables, checks and the documentation come from the declarations."""

import pytest

from commonplace.kernel.configuration import Settings, setting, whole
from commonplace.kernel.environment import SettingsError
from infra import configuration, declarations, docs
from infra.configuration import ConfigurationError, from_context


class Knobs(Settings):
    throwaway: int = setting(whole(1, 9), "THROWAWAY_KNOB", key="throwawayKnob", default=3)
    """How often it is turned."""


def test_a_knob_is_one_line_in_a_settings_class(monkeypatch: pytest.MonkeyPatch) -> None:
    for known in (declarations.ROOM_KEYS, configuration.KEYS):
        monkeypatch.setitem(known, "throwawayKnob", declarations.keys([Knobs])["throwawayKnob"])
    monkeypatch.setattr(declarations, "READS", {**declarations.READS, "turner": (Knobs,)})
    said = declarations.variables("turner")["THROWAWAY_KNOB"]

    assert from_context({}).throwaway_knob == Knobs.from_environ({}).throwaway == 3
    told = from_context({"throwawayKnob": "5"}).told(said)
    assert told == "5"
    assert Knobs.from_environ({"THROWAWAY_KNOB": told}).throwaway == 5
    with pytest.raises(ConfigurationError, match=r"^throwawayKnob is a whole number from 1 to 9, not 10$"):
        from_context({"throwawayKnob": 10})
    with pytest.raises(SettingsError, match=r"^THROWAWAY_KNOB is malformed\. It must be a whole number from 1 to 9\.$"):
        Knobs.from_environ({"THROWAWAY_KNOB": "many"})
    assert docs.key_rows([Knobs])["throwawayKnob"] == (
        "| `throwawayKnob`<br>`THROWAWAY_KNOB` | `3` | How often it is turned. |"
    )
    assert docs.variable_rows([Knobs]) == {}


def test_the_page_is_what_the_declarations_say() -> None:
    page = docs.PAGE.read_text(encoding="utf-8")
    assert docs.written(page) == page, "run `make docs`"
