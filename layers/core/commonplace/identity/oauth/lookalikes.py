"""Client names that imitate a well-known client's, and the hosts by which that client is known.

Two names that look alike have one skeleton, as in Unicode's UTS #39, section 4. The table holds the letters that are
taken for Latin ones, not the whole of Unicode's list: a name that it misses is still shown as verified by nobody.
"""

import unicodedata
from dataclasses import dataclass
from urllib.parse import urlsplit

from commonplace.identity.redirects import is_loopback_redirect

MAX_CHARACTERS = 1_000
"""The characters of a name that are looked at: far more than any page shows."""

_LOOK_ALIKES = {
    "a": "аАɑαΑᴀᎪꓮ@4",
    "b": "ЬВвΒβᏴꓐʙƄ8",
    "c": "сСϲϹᴄᏟꓚ¢ƈ",
    "d": "ԁԀɗđĐᴅᎠꓓժ",
    "e": "еЕεΕɛєЄᴇᎬꓰ3ҽ",
    "f": "ғҒϝϜꓝƒſ",
    "g": "ɡցԍԌᏀꓖɢ9",
    "h": "һҺНнΗհᎻꓧʜ",
    "i": "іІıΙιӏӀᎥꓲɪɩ1|!lLʟᏞꓡłŁ",
    "j": "јЈյϳᎫꓙ",
    "k": "кКκΚᴋᏦꓗ",
    "m": "мМΜᴍᎷꓟ",
    "n": "пΝηոɴꓠƞ",
    "o": "оОοΟօᴏꓳ0σøØ",
    "p": "рРρΡᴘᏢꓑƿ",
    "q": "ԛԚզ",
    "r": "гʀᏒꓣɾ",
    "s": "ѕЅꓢᏚ$5ƽ",
    "t": "тТτΤᴛᎢꓔ7†",
    "u": "υսᴜꓴʋцμ",
    "v": "ѵѴνᴠᏙꓦ",
    "w": "ԝԜωᴡᎳꓪա",
    "x": "хХχΧꓫ×",
    "y": "уУүҮΥγʏᎩꓬ",
    "z": "ΖζᴢᏃꓜ2",
}
_LATIN = str.maketrans({letter: latin for latin, letters in _LOOK_ALIKES.items() for letter in letters})


@dataclass(frozen=True, slots=True)
class Known:
    """A client that many people know by name."""

    name: str
    words: tuple[str, ...]
    """Each of which is enough to be taken for it."""
    hosts: tuple[str, ...]
    """Its own, with everything below them. Nobody else may publish a page or receive a redirect there."""
    schemes: tuple[str, ...] = ()


KNOWN = (
    Known("Claude", ("claude", "anthropic"), ("claude.ai", "claude.com", "anthropic.com")),
    Known("ChatGPT", ("chatgpt", "openai"), ("chatgpt.com", "openai.com")),
    Known("Cursor", ("cursor",), ("cursor.com", "cursor.sh"), ("cursor",)),
    Known("VS Code", ("vscode", "visualstudio"), ("vscode.dev", "visualstudio.com"), ("vscode", "vscode-insiders")),
    Known(
        "Copilot",
        ("copilot", "github"),
        ("github.com", "copilot.microsoft.com", "copilotstudio.microsoft.com", "vscode.dev"),
        ("vscode", "vscode-insiders"),
    ),
    Known("Gemini", ("gemini", "google"), ("gemini.google.com", "vertexaisearch.cloud.google.com")),
    Known("Windsurf", ("windsurf", "codeium"), ("windsurf.com", "codeium.com")),
    Known("Perplexity", ("perplexity",), ("perplexity.ai",)),
    Known("Mistral", ("mistral", "lechat"), ("mistral.ai",)),
)


def imitated(name: str, host: str | None, redirect_uri: str) -> str | None:
    """The well-known client that this name would be taken for, although neither its verified `host` nor the place
    where its codes go is that client's own."""
    letters, shape = _letters(name), skeleton(name)
    claimed = (
        one for one in KNOWN if any(word in letters or skeleton(word) in shape for word in map(_letters, one.words))
    )
    return next((one.name for one in claimed if not _belongs(one, host, redirect_uri)), None)


def skeleton(text: str) -> str:
    """The letters and digits of a text, those that look alike made the same, pairs like `rn` too."""
    return _letters(text).replace("rn", "m").replace("vv", "w")


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text[:MAX_CHARACTERS]).translate(_LATIN).casefold().translate(_LATIN)
    return "".join(letter for letter in plain if letter.isalnum())


def _belongs(known: Known, host: str | None, redirect_uri: str) -> bool:
    parts = urlsplit(redirect_uri)
    led = (parts.hostname or "") if parts.scheme == "https" and not is_loopback_redirect(redirect_uri) else ""
    own = any(f".{one}".endswith(f".{place}") for one in (host or "", led) if one for place in known.hosts)
    return own or parts.scheme in known.schemes
