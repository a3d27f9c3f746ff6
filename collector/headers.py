"""Headers of every reply, added around the application so that nothing is without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Environment: TypeAlias = dict[str, Any]
Application: TypeAlias = Callable[[Environment, Callable[..., Any]], Iterable[bytes]]

#: A page may load our own scripts, styles and pictures, and send to us; nothing else.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)

ALWAYS = [
    ("Content-Security-Policy", POLICY),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
]

#: Only over TLS: two years, as browsers' preload lists ask.
STRICT = ("Strict-Transport-Security", "max-age=63072000")


class Headers:
    """Wraps a WSGI application. What a view has set itself stays, but nothing may be stored."""

    def __init__(self, application: Application) -> None:
        self._application = application

    def __call__(
        self, environment: Environment, start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        # A proxy that ends TLS says so here. Who forges it only gets a stricter reply.
        if environment.get("HTTP_X_FORWARDED_PROTO") == "https":
            environment["wsgi.url_scheme"] = "https"

        def start(status: str, headers: list[tuple[str, str]], *problem: Any) -> Any:
            given = {name for name, _ in headers} - {"Cache-Control"}
            headers = [pair for pair in headers if pair[0] in given]
            headers += [pair for pair in ALWAYS if pair[0] not in given]
            if environment["wsgi.url_scheme"] == "https":
                headers.append(STRICT)
            return start_response(status, headers, *problem)

        return self._application(environment, start)
