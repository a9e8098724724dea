"""How many model calls all workers of a queue together may make to a provider in a time."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wisen.errors import ConfigError
from wisen.queue.database import QueueConnection, Tables

_FORM = re.compile(r"([^=\s]+)=(\d+)/(\d*)(s|sec|second|min|minute|h|hour)")
_SECONDS = {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """So many calls in so many seconds, evenly spread."""

    calls: int
    seconds: float

    def __post_init__(self) -> None:
        """Refuse what can't be, with `ConfigError`."""
        if self.calls < 1 or self.seconds <= 0:
            raise ConfigError(f"rate {self.calls}/{self.seconds:g}s: must be 1 or more calls, in more than no time")


def parse_rates(given: Iterable[str]) -> dict[str, Rate]:
    """Read rates as `openai=60/min`, `fake=5/2s`; raises `ConfigError`."""
    found: dict[str, Rate] = {}
    for text in given:
        parts = _FORM.fullmatch(text)
        if parts is None:
            raise ConfigError(f"rate {text!r}: write it as provider=60/min, with s, min or h")
        provider, calls, many, unit = parts.groups()
        found[provider] = Rate(calls=int(calls), seconds=int(many or 1) * _SECONDS[unit])
    return found


class Rates:
    """Gives each call its moment. The moments are handed out by the database, so that they hold for all workers.

    Args:
        tables: The database.
        queue: Whose workers share the rates.
        rates: By the provider's name or the model's; the model's comes first.
    """

    def __init__(self, tables: Tables, queue: str, rates: Mapping[str, Rate]) -> None:
        self._tables = tables
        self._queue = queue
        self._rates = rates

    async def wait(self, *names: str) -> None:
        """Wait until a call under one of these names may be made."""
        name = next((one for one in names if one in self._rates), None)
        if name is None:
            return
        rate = self._rates[name]

        async def work(connection: QueueConnection) -> float:
            return await connection.fetchval(
                "INSERT INTO rates AS r (queue, provider, free) "
                "VALUES ($1, $2, clock_timestamp() + $3 * interval '1 s') "
                "ON CONFLICT (queue, provider) DO UPDATE "
                "SET free = greatest(r.free, clock_timestamp()) + $3 * interval '1 s' "
                "RETURNING extract(epoch FROM free - $3 * interval '1 s' - clock_timestamp())::float8",
                *(self._queue, name, rate.seconds / rate.calls),
            )

        wait = await self._tables.run(work)
        if wait > 0:
            await asyncio.sleep(wait)
