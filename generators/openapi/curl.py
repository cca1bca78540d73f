"""A call as `curl` makes it, with placeholders where the caller's own values go."""

import json
import re
from collections.abc import Sequence
from typing import Any

from commonplace.reference.model import Method
from generators.openapi.credentials import placeholder
from generators.openapi.security import Need

MAX_BODY = 4_000
ONE_LINE = 100

_PARAMETER = re.compile(r"\{([^{}]*)\}")


def quoted(text: str) -> str:
    """For a POSIX shell: nothing within is anything but itself."""
    return "'" + text.replace("'", "'\\''") + "'"


def command(
    method: Method,
    url: str,
    *,
    query: Sequence[str] = (),
    headers: Sequence[str] = (),
    cookies: Sequence[str] = (),
    needed: Sequence[Need] = (),
    body: Sequence[str] = (),
) -> str:
    """`url` with `{parameters}`; of `query`, `headers` and `cookies` the names; `body` is words for the shell."""
    query_pairs = [(one, placeholder(one)) for one in query] + _of(needed, "query")
    asked = "&".join(f"{name}={value}" for name, value in query_pairs)
    words = ["curl" if method == "GET" else f"curl -X {method}" if method != "HEAD" else "curl -I"]
    words.append(quoted(_PARAMETER.sub(lambda one: placeholder(one[1]), url) + (f"?{asked}" if asked else "")))
    words += [f"-H {quoted(f'{name}: {value}')}" for name, value in _of(needed, "header")]
    words += [f"-H {quoted(f'{one}: {placeholder(one)}')}" for one in headers]
    words += _other(needed, [(one, placeholder(one)) for one in cookies])
    return " \\\n  ".join([" ".join(words[:2]), *words[2:], *body])


def _of(needed: Sequence[Need], place: str) -> list[tuple[str, str]]:
    return [(one.scheme.name, one.scheme.value) for one in needed if one.scheme.place == place]


def _other(needed: Sequence[Need], cookies: list[tuple[str, str]]) -> list[str]:
    found = []
    if any(one.scheme.place == "basic" for one in needed):
        found.append("-u '<user>:<password>'")
    if any(one.scheme.place == "certificate" for one in needed):
        found.append("--cert '<certificate>' --key '<key>'")
    if sent := _of(needed, "cookie") + cookies:
        found.append(f"-b {quoted('; '.join(f'{name}={value}' for name, value in sent))}")
    return found


def body_words(media_type: str, sample: Any) -> list[str]:
    """How a body is given. A sample that is too long is left to the caller."""
    kind = media_type.split(";", maxsplit=1)[0].strip().lower()
    content = f"-H {quoted(f'Content-Type: {media_type}')}"
    if kind == "multipart/form-data":
        return [f"-F {quoted(f'{name}={_plain(value)}')}" for name, value in _pairs(sample)] or ["-F 'file=@<file>'"]
    if kind == "application/x-www-form-urlencoded":
        return [f"--data-urlencode {quoted(f'{name}={_plain(value)}')}" for name, value in _pairs(sample)]
    if kind.endswith("json") or "*" in kind:
        text = written(sample)
        content = "-H 'Content-Type: application/json'" if "*" in kind else content
        return [content, f"-d {quoted(text)}" if len(text) <= MAX_BODY else "-d '@<file.json>'"]
    if isinstance(sample, str) and kind.startswith("text/") and len(sample) <= MAX_BODY:
        return [content, f"--data-binary {quoted(sample)}"]
    return [content, "--data-binary '@<file>'"]


def written(value: Any) -> str:
    """JSON, in one line if it is short; the same whatever the order of its keys."""
    short = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    if len(short) <= ONE_LINE:
        return short
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str, indent=2)


def _pairs(sample: Any) -> list[tuple[str, Any]]:
    return sorted(sample.items()) if isinstance(sample, dict) else []


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
