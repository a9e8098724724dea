"""How commands that take long tell how far they are: a bar on a terminal, nothing elsewhere."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

Tell = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is, and of how much; 0 where that isn't known."""


@contextmanager
def bars() -> Generator[Tell]:
    """Bars on standard error, one for each thing that is done, gone at the end."""
    if not sys.stderr.isatty():
        yield lambda _what, _done, _of: None
        return
    from rich.console import Console  # noqa: PLC0415 - only where it is seen
    from rich.progress import (  # noqa: PLC0415 - as above
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        known: dict[str, TaskID] = {}

        def tell(what: str, done: int, of: int) -> None:
            if what not in known:
                known[what] = shown.add_task(what)
            shown.update(known[what], completed=done, total=of or None)

        yield tell
