"""Settings of the REST API."""

from typing import Literal

from commonplace.kernel.configuration import matching, one_of, setting
from commonplace.kernel.settings import Appearance
from commonplace.web.settings import PublicSettings

Audience = Literal["operators", "anyone"]


class RestSettings(PublicSettings, Appearance):
    explain: Audience = setting(one_of("operators", "anyone"), "EXPLAIN", default="operators")
    """Who may ask why a search answers as it does: `operators` or `anyone`."""
    operator_key_hash: str | None = setting(
        matching(r"[0-9a-f]{64}", "the sha256 of the operators' key, 64 hexadecimal digits"),
        "OPERATOR_KEY_HASH",
        key="operatorKeyHash",
        default=None,
    )
    """SHA-256 of the operators' key, 64 hexadecimal digits; with it explanations can be asked for."""
