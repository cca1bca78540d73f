"""Made-up keys of real providers and made-up cards: right in form, the same every time, and valid nowhere.

They are put together when they are needed, so that no file holds what a scanner of secrets would stop at.
"""

import itertools
from base64 import b64encode
from collections.abc import Callable, Mapping
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits, hexdigits

Made = Callable[[Random], str]

_WORD = ascii_letters + digits
_HEX = hexdigits[:16]
_UPPER = ascii_uppercase + digits
_SPECIAL = _WORD + "!%*-_+."
# Two of the test vectors of BIP-39: their check sums are right.
_MNEMONICS = (
    "legal winner thank year wave sausage worth useful legal winner thank yellow",
    "letter advice cage absurd amount doctor acoustic avoid letter advice cage above",
)


def made(label: str, seed: str) -> str:
    """The value of a mark that has none. Raises KeyError for a label that stands for nothing."""
    return _MADE[label](Random(f"{label} {seed}"))


def _of(*parts: str | tuple[int, str]) -> Made:
    """Fixed parts as they are, and as many characters of an alphabet as a pair says."""

    def value(random: Random) -> str:
        return "".join(part if isinstance(part, str) else "".join(random.choices(part[1], k=part[0])) for part in parts)

    return value


def _card(prefix: str, length: int, groups: str) -> Made:
    """A number that passes Luhn's check, written in groups."""

    def value(random: Random) -> str:
        body = prefix + "".join(random.choices(digits, k=length - len(prefix) - 1))
        doubled = [int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(body))]
        number = body + str(-sum(each // 10 + each % 10 for each in doubled) % 10)
        cut = [0]
        for size in groups:
            cut.append(cut[-1] + int(size))
        return " ".join(number[start:end] for start, end in itertools.pairwise(cut))

    return value


def _encoded(text: bytes) -> str:
    return b64encode(text).decode().rstrip("=").replace("+", "-").replace("/", "_")


def _jwt(random: Random) -> str:
    claims = f'{{"sub":"{random.randrange(10**6)}","iss":"https://id.tallbridge.se","exp":1743700000}}'
    parts = (b'{"alg":"RS256","typ":"JWT"}', claims.encode(), random.randbytes(96))
    return ".".join(_encoded(part) for part in parts)


def _pem(random: Random, line_end: str = "\n") -> str:
    kind = "PRIVATE " + "KEY"
    body = b64encode(random.randbytes(240)).decode()
    lines = [body[start : start + 64] for start in range(0, len(body), 64)]
    return line_end.join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])


_MADE: Mapping[str, Made] = {
    "anthropic": _of("sk-", "ant-api03-", (93, _WORD + "-_"), "AA"),
    "aws": _of("AK", "IA", (16, ascii_uppercase + "234567")),
    "aws-secret": _of((40, _WORD + "/+")),
    "azure": _of((86, _WORD + "/+"), "=="),
    "base64": lambda random: b64encode(random.randbytes(18)).decode(),
    "databricks": _of("da", "pi", (32, _HEX)),
    "digitalocean": _of("dop", "_v1_", (64, _HEX)),
    "discord": _of("MT", (24, _WORD), ".G", (5, _WORD), ".", (38, _WORD + "-_")),
    "discord-hook": _of("https://discord.com/api/", "webhooks/", (18, "123456789"), "/", (68, _WORD + "-_")),
    "docker": _of("dckr", "_pat_", (27, _WORD)),
    "ethereum": _of("0x", (64, _HEX)),
    "figma": _of("fi", "gd_", (40, _WORD + "-_")),
    "github": _of("gh", "p_", (36, _WORD)),
    "github-fine": _of("github", "_pat_", (22, _WORD), "_", (59, _WORD)),
    "gitlab": _of("gl", "pat-", (20, _WORD)),
    "google": _of("AI", "za", (35, _WORD + "-_")),
    "grafana": _of("gl", "sa_", (32, _WORD), "_", (8, _HEX)),
    "groq": _of("gs", "k_", (52, _WORD)),
    "hex": _of((32, _HEX)),
    "huggingface": _of("h", "f_", (34, ascii_letters)),
    "jwt": _jwt,
    "linear": _of("lin", "_api_", (40, _WORD)),
    "mailgun": _of("ke", "y-", (32, _HEX)),
    "mnemonic": lambda random: random.choice(_MNEMONICS),
    "newrelic": _of("NR", "AK-", (27, _UPPER)),
    "notion": _of("nt", "n_", (11, digits), (35, _WORD)),
    "npm": _of("np", "m_", (36, _WORD)),
    "opaque": _of((43, _WORD + "-_")),
    "openai": _of("sk-", "proj-", (74, _WORD + "-_"), "T3Blbk" + "FJ", (74, _WORD + "-_")),
    "password": _of((3, ascii_lowercase), (2, digits), (9, _SPECIAL), (2, digits)),
    "pem": _pem,
    "pem-json": lambda random: _pem(random, "\\n"),
    "postman": _of("PM", "AK-", (24, _HEX), "-", (34, _HEX)),
    "pypi": _of("py", "pi-AgEIcHlwaS5vcmc", (150, _WORD + "-_")),
    "replicate": _of("r", "8_", (37, _WORD)),
    "sendgrid": _of("S", "G.", (22, _WORD + "-_"), ".", (43, _WORD + "-_")),
    "shopify": _of("shp", "at_", (32, _HEX)),
    "slack": _of("xo", "xb-", (12, "123456789"), "-", (13, "123456789"), "-", (24, _WORD)),
    "slack-hook": _of("https://hooks.slack.com/", "services/T", (10, _UPPER), "/B", (10, _UPPER), "/", (24, _WORD)),
    "stripe": _of("sk", "_live_", (24, _WORD)),
    "stripe-webhook": _of("wh", "sec_", (32, _WORD)),
    "supabase": _of("sb", "p_", (40, _HEX)),
    "telegram": _of((10, "123456789"), ":AA", (33, _WORD + "-_")),
    "twilio": _of((32, _HEX)),
    "twilio-sid": _of("A", "C", (32, _HEX)),
    "vault": _of("hv", "s.", (24, _WORD)),
    "amex": _card("37", 15, "465"),
    "discover": _card("6011", 16, "4444"),
    "mastercard": _card("53", 16, "4444"),
    "visa": _card("4", 16, "4444"),
}
