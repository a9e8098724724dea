"""The order of stored things in time, the same in every store.

It stands apart from the backends because all sort by it, and none knows another.
"""

from datetime import datetime, timedelta

from wisen.records import NEVER


def moment(when: datetime) -> int:
    """Microseconds since `NEVER`, which is 0; a time without a zone counts as UTC."""
    since = (when if when.tzinfo else when.replace(tzinfo=NEVER.tzinfo)) - NEVER
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def moment_of(microseconds: int) -> datetime:
    """The reverse of `moment`, in UTC."""
    return NEVER + timedelta(microseconds=microseconds)


def latest(*times: datetime | None) -> datetime | None:
    """The last of the times that are known; `None` where none is."""
    return max((one for one in times if one is not None), key=moment, default=None)
