"""The middleware of REST: shared layers with its parameters."""

from collections.abc import Sequence

from starlette.middleware import Middleware

from commonplace.kernel.limits import Limiter
from commonplace.web.compression import Compression
from commonplace.web.limits import Limits, Sizes
from commonplace.web.middleware import CORS, Errors, HeadAsGet, RateLimits, SecurityHeaders
from commonplace.web.private import Public
from commonplace.web.representations import API, NO_STORE
from commonplace.web.rest.declaration import Routes
from commonplace.web.rest.errors import METHODS, allowed, render

CACHEABLE = "public, max-age=300, stale-while-revalidate=3600"
"""Of every answer that says nothing else (seed 000, section 8.1)."""

EXPOSED = (
    *("ETag", "Link", "Content-Location", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"),
    *("RateLimit-Policy", "WWW-Authenticate"),
)


def limits_of(limiter: Limiter, reads: int, searches: int, declared: Sequence[Routes]) -> Limits:
    """Calls a minute, for what these capabilities answer."""
    unlimited = [path for each in declared for path in each.unlimited]
    return Limits(
        limiter,
        reads,
        searches,
        frozenset(f"{API}{path}" for each in declared for path in each.searches),
        frozenset([*unlimited, *(f"{API}{path}" for path in unlimited)]),
    )


def layers(limits: Limits, private: Middleware | None = None) -> list[Middleware]:
    """Outermost first; `private` is what lets on who may read."""
    return [
        Middleware(HeadAsGet),
        *([] if private else [Middleware(Public), Middleware(Compression)]),
        Middleware(
            SecurityHeaders,
            headers={"x-content-type-options": "nosniff", "cross-origin-resource-policy": "cross-origin"},
            cached={"cache-control": CACHEABLE},
            uncached=NO_STORE,
        ),
        Middleware(
            CORS,
            allow_origins="*",
            allow_methods=METHODS,
            allow_headers=["*", "Authorization"],
            expose_headers=EXPOSED,
            max_age=86_400,
            allowed=allowed,
        ),
        Middleware(RateLimits, count=limits.spend_address, render=render),
        Middleware(Errors, render=render),
        *([private] if private else []),
        Middleware(Sizes),
    ]
