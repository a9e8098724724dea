"""What a command's own waiting looks like to people: a line on standard error, where a program would log it."""

import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import cast

import typer

from wisen.explain.wording import line


class _Notices(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Print the record, without what was raised: an error that matters is the command's last line."""
        said = record.getMessage()
        if said == "database.awaited":
            fields = cast("Mapping[str, object]", getattr(record, "wisen_fields", {}))
            most = f", {fields['seconds']:g} s at most" if "seconds" in fields else ""
            said = f"the queue's database doesn't answer; waiting{most}"
        typer.echo(f"wisen: {line(said, 2000)}", err=True)


@contextmanager
def noticing() -> Generator[None]:
    """For as long as the block lasts, warnings of this package are lines for people; a worker's log replaces this."""
    logger, handler = logging.getLogger("wisen"), _Notices(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
