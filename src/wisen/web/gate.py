"""What stands before every page: for which hosts it answers, whose forms it takes, and what a browser may do."""

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wisen.errors import ConfigError

_MOST_BODY = 256 * 1024
_MOST_FIELDS = 32
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Gate:
    """Refuses requests for other hosts, and guards every answer.

    A page elsewhere can have its own name lead to this server's address. The browser then takes both for one site, and
    only the name in the request tells them apart.

    Args:
        app: What answers.
        names: The host names that it answers for, beside IP addresses and localhost.
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._names = {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        host = Headers(scope=scope).get("host", "")
        app = self._app if self._answers_for(host) else PlainTextResponse(_OTHER_HOST, status_code=421)
        await app(scope, receive, guarded)

    def _answers_for(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".") if _plain(host) else ""
            if name in self._names or name == "localhost":
                return True
            ip_address(name)
        except ValueError:
            return False
        return True


_OTHER_HOST = "this server doesn't answer for that host; start it with --name HOST\n"


def _plain(host: str) -> bool:
    return all(one.isascii() and (one.isalnum() or one in ".-_:[]") for one in host)


def same_site(request: Request) -> bool:
    """Whether a page of this very site sent it, as the browser says: each does so with every POST."""
    origin = request.headers.get("origin", "")
    try:
        found = urlsplit(origin)
    except ValueError:
        return False
    return found.scheme in ("http", "https") and found.netloc.lower() == request.headers.get("host", "").lower()


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, the first of each name. Raises `ConfigError` for what is no form, or too large for one."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise ConfigError("this isn't a form of the page")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_BODY:
            raise ConfigError(f"the form is larger than {_MOST_BODY // 1024} kB; write less")
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:  # UnicodeDecodeError is one
        raise ConfigError("this isn't a form of the page") from None
    return {name: values[0].replace("\r\n", "\n") for name, values in fields.items()}
