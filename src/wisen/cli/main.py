"""The command `wisen`: its nouns and verbs, and the one place where errors become a line and an exit code."""

import sys
from collections.abc import Sequence
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated

import typer

from wisen.cli import lessons, runs
from wisen.cli.demo import demo
from wisen.cli.doctor import doctor
from wisen.cli.output import line
from wisen.cli.run import run
from wisen.errors import WisenError

_BAD_INPUT = 2
_INTERRUPTED = 130


def application() -> typer.Typer:
    """The command with all that belongs to it."""
    app = _group("LLM agents that learn from their own runs, without fine-tuning, and with proof.")
    app.callback()(_top)
    app.command("demo")(demo)
    app.command("run")(run)
    app.add_typer(_lessons(), name="lessons")
    app.add_typer(_runs(), name="runs")
    app.command("doctor")(doctor)
    return app


def main(args: Sequence[str] | None = None) -> None:
    """Run the command with `args`, by default the process's own, and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        application()(args=args, prog_name="wisen")
    except WisenError as error:
        _exit(str(error), _BAD_INPUT)
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        _exit(f"{named}{error.strerror or error}", _BAD_INPUT)
    except KeyboardInterrupt:
        _exit("interrupted", _INTERRUPTED)


def _exit(said: str, code: int) -> None:
    typer.echo(f"wisen: {line(said, 2000)}", err=True)
    sys.exit(code)


def _group(text: str) -> typer.Typer:
    return typer.Typer(
        help=text,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _lessons() -> typer.Typer:
    group = _group("What runs have taught: the memory cards of a store.")
    group.command("list")(lessons.list_lessons)
    group.command("show")(lessons.show)
    group.command("search")(lessons.search)
    group.command("export")(lessons.export)
    group.command("path")(lessons.path)
    return group


def _runs() -> typer.Typer:
    group = _group("Records of finished runs.")
    group.command("list")(runs.list_runs)
    group.command("show")(runs.show)
    return group


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"wisen {version('wisen')}")
        raise typer.Exit


def _top(
    *,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """LLM agents that learn from their own runs, without fine-tuning, and with proof."""
    del show_version
