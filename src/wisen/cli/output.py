"""How commands print: tables for people, aligned columns for pipes, JSON for programs; what is invisible is shown."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import typer

from wisen.explain.wording import clean, line

_CUT = 100
_ID = 12
_TEXT = 20
"""Characters that a column of free text gets at least, if it has as many."""
_BEGINNING = 16
"""And one of which the beginning is enough."""
_GAP = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table."""

    heading: str
    number: bool = False
    """Numbers stand at the right."""
    wide: bool = False
    """Holds free text: gives way where the screen is narrow."""
    cut: bool = False
    """Free text of which the beginning is enough: one line of it, on a screen."""
    id: bool = False
    """Holds ids, of which a terminal shows as much as a command needs."""
    spare: int = 0
    """Where the screen is narrow, the columns with the highest number go first; those with 0 stay."""


def print_json(value: object) -> None:
    """Print one JSON document, in ASCII, so that no text can steer a terminal or fail to be encoded."""
    typer.echo(json.dumps(value, indent=2))


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """A table as wide as the screen on a terminal, plain aligned columns elsewhere."""
    cells = [[glance(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        if cells:
            _rich_table(columns, cells)
        return
    widths = [max(map(len, (column.heading, *texts))) for column, *texts in zip(columns, *cells, strict=True)]
    for row in ([column.heading for column in columns], *cells):
        padded = (
            cell.rjust(width) if column.number else cell.ljust(width)
            for column, width, cell in zip(columns, widths, row, strict=True)
        )
        typer.echo("  ".join(padded).rstrip())


def _rich_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - keeps `wisen --help` quick
    from rich.cells import cell_len  # noqa: PLC0415 - as above
    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    console = Console()
    texts = [
        (column, _short_ids(cells) if column.id else cells)
        for column, *cells in zip(columns, *rows, strict=True)
        if any(cells) or not column.spare
    ]
    measured = [(column, cells, max(map(cell_len, (column.heading, *cells)))) for column, cells in texts]
    shown = _fitting(measured, console.width)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, _GAP - 1, 0, 0))
    for column, _, width in shown:
        table.add_column(
            column.heading,
            justify="right" if column.number else "left",
            no_wrap=not column.wide,
            overflow="fold" if column.wide else "ellipsis",
            ratio=_least(column) if column.wide else None,
            min_width=min(width, _least(column)) if column.wide else width if column.id else None,
        )
    beginning = _room_for_cut(shown, console.width)
    for row in zip(*(cells for _, cells, _ in shown), strict=True):
        written = [Text(cell) for cell in row]
        for (column, _, _), text in zip(shown, written, strict=True):
            if column.cut:
                text.truncate(beginning, overflow="ellipsis")
        table.add_row(*written)
    console.print(table)


_Measured = tuple[Column, Sequence[str], int]


def _fitting(columns: Sequence[_Measured], room: int) -> list[_Measured]:
    """The columns, given with cells and widths, without those that a screen of this width has no room for."""
    shown = list(columns)
    while sum(min(width, _least(column)) for column, _, width in shown) + _GAP * (len(shown) - 1) > room:
        last = max(shown, key=lambda one: one[0].spare)
        if not last[0].spare:
            break
        shown.remove(last)
    return shown


def _room_for_cut(columns: Sequence[_Measured], room: int) -> int:
    """How much of the screen a column has whose texts are cut; those of free text share it as what each needs."""
    needed = sum(_least(column) for column, _, _ in columns if column.wide)
    taken = sum(width for column, _, width in columns if not column.wide) + _GAP * (len(columns) - 1)
    return max((room - taken) * _BEGINNING // max(needed, 1), _BEGINNING)


def _least(column: Column) -> int:
    """How wide a column has to be at least, if its cells are."""
    return _BEGINNING if column.cut else _TEXT if column.wide else sys.maxsize


def _short_ids(ids: Sequence[str]) -> list[str]:
    """The ids' beginnings, as long as tells them apart."""
    length = _ID
    while len({one[:length] for one in ids}) < len(set(ids)):
        length += 1
    return [one[:length] for one in ids]


def print_fields(fields: Sequence[tuple[str, str]], *, indent: str = "") -> None:
    """Names and values in two columns; empty values are left out, and further lines of a value are indented."""
    shown = [(name, clean(value)) for name, value in fields if value]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        first, *others = value.splitlines() or [""]
        typer.echo(f"{indent}{name.ljust(width)}  {first}".rstrip())
        for other in others:
            typer.echo(f"{indent}{' ' * width}  {other}".rstrip())


def glance(text: str, limit: int = _CUT) -> str:
    """The text as one line: at most `limit` characters of it on a terminal, and all where a program reads it."""
    return line(text, limit if sys.stdout.isatty() else sys.maxsize)
