"""Who has logged in: sessions that the server keeps, known to a browser by a random id in a cookie."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hmac import compare_digest

COOKIE = "wisen_session"
_LIFE = 12 * 3600.0
"""Seconds that a session lasts."""
_MOST = 1_000
"""Sessions at a time; of more, the oldest end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A browser that may look at a tenant's memory."""

    id: str
    tenant: str
    form_token: str
    """Stands in each form of its pages, and in no other site's."""
    ends: float

    def wrote(self, form_token: str) -> bool:
        """Whether a form came from one of its pages."""
        return compare_digest(self.form_token.encode(), form_token.encode("utf-8", "surrogatepass"))


class Visits:
    """The sessions of one server; they end with it.

    Args:
        monotonic: The clock, in seconds.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._open: OrderedDict[str, Visit] = OrderedDict()

    def begin(self, tenant: str, *, life: float = _LIFE) -> Visit:
        """A session of its own for this browser."""
        while len(self._open) >= _MOST:
            self._open.popitem(last=False)
        visit = Visit(
            id=secrets.token_urlsafe(32),
            tenant=tenant,
            form_token=secrets.token_urlsafe(32),
            ends=self._monotonic() + life,
        )
        self._open[visit.id] = visit
        return visit

    def find(self, session_id: str) -> Visit | None:
        """The session with this id, unless it has ended."""
        visit = self._open.get(session_id)
        if visit is not None and visit.ends <= self._monotonic():
            del self._open[session_id]
            return None
        return visit

    def end(self, visit: Visit) -> None:
        """Forget a session."""
        self._open.pop(visit.id, None)
