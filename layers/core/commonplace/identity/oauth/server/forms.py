"""Bodies of requests, read strictly: the media type, the size, the encoding, and each parameter once."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.requests import Request

from commonplace.identity.oauth.errors import OAuthError

FORM = "application/x-www-form-urlencoded"
MAX_FORM_BYTES = 16 * 1024
MAX_PARAMETERS = 50


async def read_form(request: Request) -> Mapping[str, str]:
    """The parameters of a form; the query string is never looked at. Raises OAuthError `invalid_request`.

    An empty value counts as absent (RFC 6749, section 3.1).
    """
    if media_type(request) != FORM:
        raise _refused(f"The body must be a form: Content-Type {FORM}.", "media_type")
    body = await read_body(request, MAX_FORM_BYTES)
    if body is None:
        raise _refused(f"The body must not be larger than {MAX_FORM_BYTES} bytes.", "too_large")
    try:
        pairs = parse_qsl(
            body.decode("utf-8"),
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except UnicodeDecodeError:
        raise _refused("The body must be UTF-8.", "encoding") from None
    except ValueError:
        raise _refused(f"The body must not have more than {MAX_PARAMETERS} parameters.", "too_many") from None
    if len({name for name, _ in pairs}) < len(pairs):
        raise _refused("A parameter was sent more than once.", "repeated")
    return {name: value for name, value in pairs if value}


async def read_body(request: Request, max_bytes: int) -> bytes | None:
    """None for a body that is larger; what is beyond the bound is not kept."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and len(announced) < 16 and int(announced) > max_bytes:
        return None
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > max_bytes:
            return None
        parts.append(part)
    return b"".join(parts)


def media_type(request: Request) -> str:
    """Lower case and without parameters; empty when there is none, or more than one."""
    values = request.headers.getlist("content-type")
    return values[0].partition(";")[0].strip().lower() if len(values) == 1 else ""


def header_map(request: Request) -> dict[str, str]:
    """By lower-case name; several of one name are joined, as gateways do."""
    found: dict[str, str] = {}
    for name, value in request.headers.items():
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


def _refused(description: str, reason: str) -> OAuthError:
    return OAuthError("invalid_request", description, reason=reason)
