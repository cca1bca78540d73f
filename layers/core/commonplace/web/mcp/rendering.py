"""Answers as they are sent: results in the wire's own shape, as plain dicts, without invisible characters.

A person who reads a text must see what a model reads. Removed are the characters that no font draws: those with the
Unicode property Default_Ignorable_Code_Point, format characters (Cf) but for the signs that stand before numbers
(Prepended_Concatenation_Mark), controls but tab and line ends, surrogates, noncharacters. Two kinds stay, for a reader
sees what they do: a joiner between letters of a script that uses it (UAX 31, section 2.3.1), and those in an emoji
sequence that Unicode registers (UTS 51, ED-27).
"""

import json
import re
import unicodedata
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any

from commonplace.kernel.errors import CommonplaceError, TooLarge
from commonplace.web.mcp.budgets import MAX_TOKENS, estimate_tokens
from commonplace.web.mcp.declaration import Answer, Link, Text

MAX_ERROR_BYTES = 2_048
"""The most of an error's text: it goes into the context of a model."""

ERROR_META = "commonplace/error"
"""Where programs find the code of an error. Not in `structuredContent`: a client of the TypeScript SDK checks that
against the tool's output schema even if the call failed, and raises when it does not conform."""

COMPLETE: dict[str, Any] = {"resultType": "complete"}
"""Part of every result but a question to the client; the wire of older versions leaves it out."""
CACHED: dict[str, Any] = COMPLETE | {"ttlMs": 60_000, "cacheScope": "private"}
"""Part of lists and reads. They differ by account, and a client that signs in must not see the old ones for long."""

GENERIC = "INTERNAL_ERROR: The tool failed for a reason that is not yours. Hint: Try again later."

REMOVED = "commonplace/removed"
"""Key in `_meta` of a result, and in `data` of an error, of how many invisible characters were removed."""

EMOJI = Path(__file__).with_name("emoji_sequences.txt")
"""Registered sequences with an invisible character in them, one a line; `infra/emoji_sequences.py` writes it."""

_CODES = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
) + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000))
_HIDDEN = re.compile(f"[{_CODES}]")
_PLAIN = bytes([*b"\t\n\r", *range(0x20, 0x7F)])
"""The visible characters of ASCII, with tab and line ends."""
_RUNS = re.compile(f"[{_CODES}]+(?:[^{_CODES}]{{1,2}}[{_CODES}]+)*[^{_CODES}]{{0,2}}")
"""Invisible characters, with as many visible ones between and after them as an emoji sequence has (`_AROUND`)."""
_AROUND = 2
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
"""A string of JSON."""
_JOINERS = "\u200c\u200d"
_VIRAMA = 9
"""The combining class of the sign that a joiner may follow at the end of a word."""
_SCRIPTS = re.compile(
    "(?:ADLAM|ARABIC|BALINESE|BENGALI|BHAIKSUKI|BRAHMI|CHAKMA|CHORASMIAN|DEVANAGARI|DIVES AKURU|DOGRA|GRANTHA|GUJARATI|"
    "GUNJALA GONDI|GURMUKHI|HANIFI ROHINGYA|JAVANESE|KAITHI|KANNADA|KHAROSHTHI|KHMER|KHOJKI|KHUDAWADI|MALAYALAM|"
    "MANDAIC|MANICHAEAN|MASARAM GONDI|MEETEI MAYEK|MODI|MONGOLIAN|MYANMAR|NANDINAGARI|NEWA|NKO|OLD UYGHUR|ORIYA|"
    "PHAGS-PA|PSALTER PAHLAVI|SHARADA|SIDDHAM|SINHALA|SOGDIAN|SYLOTI NAGRI|SYRIAC|TAI THAM|TAKRI|TAMIL|TELUGU|TIBETAN|"
    "TIRHUTA|TULU-TIGALARI|VEDIC) "
)
"""The beginnings of names of letters in scripts whose letters join, or form conjuncts."""


def answered(answer: Answer, notes: tuple[str, ...], *, structured: bool) -> tuple[dict[str, Any], int]:
    """Return a complete answer of a tool, with notes on its arguments, and what it costs.

    Raises TooLarge for what no client would take.
    """
    text, data = answer.text, data_of(answer) if structured else None
    if notes:
        text += "\n\n" + "\n".join(f"Note: {note}" for note in notes)
        data = data | {"notes": list(notes)} if data is not None else None
    if (tokens := tokens_of(text, data)) > MAX_TOKENS:
        raise TooLarge(
            f"This answer would be about {tokens} tokens, more than the {MAX_TOKENS} there are room for.",
            hint="Ask for less: a smaller limit, fewer documents, or one part of a document.",
        )
    content = [{"type": "text", "text": whole(text)}, *(link_block(link) for link in answer.links)]
    return COMPLETE | {"content": content} | ({} if data is None else {"structuredContent": data}), tokens


def tokens_of(text: str, data: Any, links: tuple[Link, ...] = ()) -> int:
    """Return what an answer costs: the larger of its text, with the links, and its data. No client shows both."""
    blocks = estimate_tokens(compact([link_block(link) for link in links])) if links else 0
    return max(estimate_tokens(text) + blocks, estimate_tokens(compact(data)) if data is not None else 0)


def cost(answer: Answer) -> int:
    """Return the tokens of an answer as a whole."""
    return tokens_of(answer.text, data_of(answer), answer.links)


def data_of(answer: Answer) -> dict[str, Any]:
    """Return the structured half, as JSON values; absent values are left out."""
    return answer.data.model_dump(mode="json", by_alias=True, exclude_none=True)


def compact(data: Any) -> str:
    """Return JSON without spaces, in its own letters. Raises ValueError for what JSON cannot hold."""
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    written.encode()
    return written


def link_block(link: Link) -> dict[str, Any]:
    block = {"type": "resource_link", "uri": link.uri, "name": link.name}
    block |= {"title": link.title} if link.title else {}
    return block | ({"mimeType": link.mime_type} if link.mime_type else {})


def failure(text: str, meta: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a failed call, for a model to read."""
    content = [{"type": "text", "text": cut_bytes(text, MAX_ERROR_BYTES)}]
    answer = COMPLETE | {"content": content, "isError": True}
    return answer | ({"_meta": {ERROR_META: meta}} if meta else {})


def refusal(error: CommonplaceError) -> dict[str, Any]:
    """Return `CODE: sentence Hint: hint`, and the code for programs."""
    wait = error.details.get("retryAfterSeconds")
    meta = {"code": error.code} | ({"retryAfterSeconds": wait} if wait is not None else {})
    return failure(sentence(error), meta)


def sentence(error: CommonplaceError) -> str:
    wait = error.details.get("retryAfterSeconds")
    text = f"{error.code}: {error.message}" + (f" Try again in {wait} seconds." if wait is not None else "")
    return f"{text} Hint: {error.hint}" if error.hint else text


def contents(uri: str, mime_type: str, body: Text) -> dict[str, Any]:
    """Return one entry of a `resources/read` result."""
    if isinstance(body, bytes):
        return {"uri": uri, "mimeType": mime_type, "blob": b64encode(body).decode()}
    return {"uri": uri, "mimeType": mime_type, "text": whole(body)}


def cut_bytes(text: str, limit: int) -> str:
    """Return at most so many bytes of UTF-8, with an ellipsis where something is gone."""
    raw = text.encode("utf-8", "replace")
    return raw.decode() if len(raw) <= limit else raw[: limit - 3].decode("utf-8", "ignore") + "…"


def whole(text: str) -> str:
    """Return the text without halves of characters, which cannot be sent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def cleaned(text: str) -> tuple[str, int]:
    """Return the text without invisible characters, and how many there were.

    In a text that is JSON, such as that of a `verbatim` tool, they are also found where they are written as escapes.
    """
    removed = 0

    def without(found: re.Match[str]) -> str:
        nonlocal removed
        before = found.string[max(0, found.start() - _AROUND) : found.start()]
        visible = _visible(before + found[0])[len(before) :]
        removed += len(found[0]) - len(visible)
        return visible

    def string(found: re.Match[str]) -> str:
        try:
            before = json.loads(found[0], strict=False)
        except ValueError:
            return found[0]
        after = _RUNS.sub(without, before)
        return found[0] if after == before else json.dumps(after, ensure_ascii=False)

    if "\\u" in text and text.lstrip()[:1] in ("{", "["):
        text = _STRING.sub(string, text)
    return (_RUNS.sub(without, text) if _HIDDEN.search(text) else text), removed


def cleaned_data(data: Any) -> tuple[Any, int]:
    """Return the same for every text in JSON values, names of members included."""
    if isinstance(data, str):
        return cleaned(data)
    if isinstance(data, list):
        items = [cleaned_data(item) for item in data]
        return [item for item, _ in items], sum(count for _, count in items)
    if isinstance(data, dict):
        members = [(cleaned(name), cleaned_data(value)) for name, value in data.items()]
        return {name: value for (name, _), (value, _) in members}, sum(one + two for (_, one), (_, two) in members)
    return data, 0


def _visible(text: str) -> str:
    """Return the text without the invisible characters that nothing lets stay."""
    sequences, starts, longest = _emoji()
    kept: list[str] = []
    at = 0
    while at < len(text):
        one, size = text[at], 1
        if one in starts:
            size = next((size for size in range(longest, 1, -1) if text[at : at + size] in sequences), 1)
        elif _HIDDEN.match(one) and not (one in _JOINERS and joins(text[at - 1 : at], one, text[at + 1 : at + 2])):
            size = 0
        kept.append(text[at : at + size])
        at += size or 1
    return "".join(kept)


def joins(before: str, joiner: str, after: str) -> bool:
    """Return whether a joiner stands where a script uses it: between letters, or after a sign at the end of a word."""
    if not _is_letter(before):
        return False
    at_end = joiner == "\u200d" and unicodedata.combining(before) == _VIRAMA and not _HIDDEN.match(after)
    return at_end or _is_letter(after)


def _is_letter(text: str) -> bool:
    """Return whether it is a letter, or a mark on one, of a script with joiners."""
    return unicodedata.category(text or " ")[0] in "LM" and _SCRIPTS.match(unicodedata.name(text, "")) is not None


def is_emoji_sequence(text: str) -> bool:
    """Return whether this is a registered sequence with an invisible character in it."""
    return text in _emoji()[0]


@cache
def _emoji() -> tuple[frozenset[str], frozenset[str], int]:
    """Return the registered sequences, what they begin with, and the length of the longest."""
    lines = (line for line in EMOJI.read_text("ascii").splitlines() if not line.startswith("#"))
    sequences = frozenset("".join(chr(int(code, 16)) for code in line.split()) for line in lines)
    return sequences, frozenset(one[0] for one in sequences), max(map(len, sequences))


def cleaned_message(body: bytes, *, note: bool) -> bytes:
    """Return a JSON-RPC message without invisible characters; where there were some, it says how many.

    The number stands in `_meta`, and with `note` also where a tool's answer has its other notes. The id stays as the
    client wrote it. Raises ValueError for what is not JSON.
    """
    # Most letters are of those that stand alone: to look at each of a long answer takes a millisecond.
    if b"\\u" not in body and _HIDDEN.search(body.translate(None, _PLAIN).decode()) is None:
        return body
    message = json.loads(body)
    part = next((name for name in ("result", "error", "params") if isinstance(message.get(name), dict)), None)
    if part is None:
        return body
    found = {name: cleaned_data(value) for name, value in message[part].items()}
    counts = {name: count for name, (_, count) in found.items()}
    # The text and the data of a tool's answer say the same twice.
    count = sum(counts.values()) - min(counts.get("content", 0), counts.get("structuredContent", 0))
    if not count:
        return body
    said = {name: value for name, (value, _) in found.items()}
    meta = "data" if part == "error" else "_meta"
    if isinstance(said.get(meta, {}), dict):
        said[meta] = said.get(meta, {}) | {REMOVED: count}
    if note:
        words = f"{count} invisible characters were removed from this answer."
        for block in [one for one in said.get("content", ()) if one.get("type") == "text"][:1]:
            block["text"] += f"\n\nNote: {words}"
        if isinstance(data := said.get("structuredContent"), dict):
            data["notes"] = [*data.get("notes", ()), words]
    return compact(message | {part: said}).encode()
