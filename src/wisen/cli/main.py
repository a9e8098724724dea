"""The command `wisen`: its nouns and verbs, and the one place where errors become a line and an exit code."""

import os
import re
import sys
from collections.abc import Sequence
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated, Any, Protocol, runtime_checkable

import typer

from wisen.cli import batches, ci, ci_demo, lessons, moves, reflect, reflect_new, runs, store
from wisen.cli.demo import demo
from wisen.cli.doctor import doctor
from wisen.cli.learn import learn
from wisen.cli.output import line
from wisen.cli.rollback import rollback
from wisen.cli.run import run
from wisen.cli.screen import screen
from wisen.cli.submit import submit
from wisen.cli.why import why
from wisen.cli.worker import worker
from wisen.errors import WisenError

_BAD_INPUT = 2
_IN_WORDS = {
    r"Input should be greater than or equal to (\S+)": r"must be \1 or more",
    r"Input should be less than or equal to (\S+)": r"must be \1 or less",
    r"Input should be a valid integer.*": "must be a whole number",
    r"Input should be a valid number.*": "must be a number",
    r"Input should be a finite number.*": "must be a number",
}
"""What the parser's own checks say of numbers, and what they mean."""
_INTERRUPTED = 130
_CLOSED_PIPE = 141
"""What shells report for a program that wrote to a pipe nobody reads any more."""


@runtime_checkable
class _Misuse(Protocol):
    """An error of the command line's parser, whichever library it stands on."""

    ctx: Any
    exit_code: int

    def format_message(self) -> str: ...


def application() -> typer.Typer:
    """The command with all that belongs to it."""
    app = _group("LLM agents that learn from their own runs, without fine-tuning, and with proof.")
    app.callback()(_top)
    app.command("demo")(demo)
    app.command("run")(run)
    app.command("submit")(submit)
    app.command("worker")(worker)
    app.add_typer(_batches(), name="batch")
    app.command("learn")(learn)
    app.add_typer(_lessons(), name="lessons")
    app.add_typer(_runs(), name="runs")
    app.add_typer(_ci(), name="ci")
    app.command("why")(why)
    app.add_typer(_reflect(), name="reflect")
    app.add_typer(_store(), name="store")
    app.command("screen")(screen)
    app.command("doctor")(doctor)
    return app


def main(args: Sequence[str] | None = None) -> None:
    """Run the command with `args`, by default the process's own, and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _call(sys.argv[1:] if args is None else args)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        sys.exit(_CLOSED_PIPE)
    except WisenError as error:
        _exit(str(error), _BAD_INPUT)
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        _exit(f"{named}{error.strerror or error}", _BAD_INPUT)
    except KeyboardInterrupt:
        _exit("interrupted", _INTERRUPTED)
    else:
        sys.exit(code)


def _call(args: Sequence[str]) -> int:
    """Parse and run, as the parser's own entry would; that one turns an interruption into silence."""
    command = typer.main.get_command(application())
    try:
        with command.make_context("wisen", list(args)) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except Exception as error:
        if not isinstance(error, _Misuse):
            raise
        return _refuse(error)
    return 0


def _refuse(error: _Misuse) -> int:
    said = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(said, err=True)
        return error.exit_code
    said = said.removesuffix(".").replace("Value error, ", "")
    for pattern, plain in _IN_WORDS.items():
        said = re.sub(pattern, plain, said)
    see = f"; see `{error.ctx.command_path} --help`" if error.ctx is not None else ""
    typer.echo(f"wisen: {line(f'{said[:1].lower()}{said[1:]}{see}', 2000)}", err=True)
    return error.exit_code


def _drop_output() -> None:
    """Let go of what nobody reads, which the interpreter would otherwise try to write as it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


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
    group.command("why")(moves.why_card)
    group.command("promote")(moves.promote)
    group.command("archive")(moves.archive)
    group.command("quarantine")(moves.quarantine)
    group.command("reject")(moves.reject)
    group.command("pin")(moves.pin)
    group.command("unpin")(moves.unpin)
    group.command("rollback")(rollback)
    group.command("path")(lessons.path)
    return group


def _runs() -> typer.Typer:
    group = _group("Records of finished runs.")
    group.command("list")(runs.list_runs)
    group.command("show")(runs.show)
    return group


def _batches() -> typer.Typer:
    group = _group("Tasks that were submitted together: how it goes, and what came of them.")
    group.command("list")(batches.list_batches)
    group.command("status")(batches.status)
    group.command("results")(batches.results)
    group.command("cancel")(batches.cancel)
    group.command("retry")(batches.retry)
    group.command("delete")(batches.delete)
    group.command("prune")(batches.prune)
    return group


def _ci() -> typer.Typer:
    group = _group("Tests of what was learned: which lessons help, which hurt, and how that is known.")
    group.command("run")(ci.run)
    group.command("status")(ci.status)
    group.command("history")(ci.history)
    group.command("demo")(ci_demo.demo)
    return group


def _reflect() -> typer.Typer:
    group = _group("Reports of failed, partial and done tasks and of decisions, in a folder of Markdown files.")
    group.command("new")(reflect_new.new)
    group.command("list")(reflect.list_reports)
    group.command("show")(reflect.show)
    group.command("archive")(reflect.archive)
    return group


def _store() -> typer.Typer:
    group = _group("Whole stores: what is in them, copies, checks and backups; files, folders and Postgres alike.")
    group.command("show")(store.show)
    group.command("copy")(store.copy)
    group.command("check")(store.check)
    group.command("backup")(store.backup)
    group.command("prune")(store.prune)
    group.command("tune")(store.tune)
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
