"""The command `wisen`: its nouns and verbs, and the one place where errors become a line and an exit code."""

import logging
import os
import re
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, NamedTuple, Protocol, cast, runtime_checkable

import typer

from wisen.cli.option_sets import PanelCommand, expanded
from wisen.errors import WisenError
from wisen.explain.wording import line

_BAD_INPUT = 2
_IN_WORDS = {
    r"Input should be greater than or equal to (\S+)": r"must be \1 or more",
    r"Input should be less than or equal to (\S+)": r"must be \1 or less",
    r"Input should be a valid integer.*": "must be a whole number",
    r"Input should be a valid number.*": "must be a number",
    r"Input should be a finite number.*": "must be a number",
}
"""What the parser's own checks say of numbers, and what they mean."""
_COMPLETE = "_WISEN_COMPLETE"
"""Set by a shell that asks what may come next; the parser's own completion answers."""
_INTERRUPTED = 130
_CLOSED_PIPE = 141
"""What shells report for a program that wrote to a pipe nobody reads any more."""


@runtime_checkable
class _Misuse(Protocol):
    """An error of the command line's parser, whichever library it stands on."""

    ctx: Any
    exit_code: int

    def format_message(self) -> str: ...


class _Group(NamedTuple):
    """A command that has others under it: what it is about, and its verbs and groups by name."""

    about: str
    verbs: "Mapping[str, str | _Group]"
    """A verb is "module:function", in `wisen.cli`."""


_COMMAND = _Group(
    "LLM agents that learn from their own runs, without fine-tuning, and with proof.",
    {
        "demo": "demo:demo",
        "run": "run:run",
        "submit": "submit:submit",
        "worker": "worker:worker",
        "batch": _Group(
            "Tasks that were submitted together: how it goes, and what came of them.",
            {
                "list": "batches:list_batches",
                "status": "batches:status",
                "results": "batches:results",
                "cancel": "batches:cancel",
                "retry": "batches:retry",
                "delete": "batches:delete",
                "prune": "batches:prune",
            },
        ),
        "learn": "learn:learn",
        "install": "hooks:install",
        "uninstall": "hooks:uninstall",
        "status": "hooks:status",
        "hooks": _Group(
            "The hooks of coding agents, which `wisen install` puts into their settings.",
            {"on": "hooks:on", "off": "hooks:off", "stop": "hooks:stop", "serve": "hooks:serve"},
        ),
        "lessons": _Group(
            "What runs have taught: the memory cards of a store.",
            {
                "list": "lessons:list_lessons",
                "show": "lessons:show",
                "add": "lessons_add:add",
                "search": "lessons:search",
                "export": "lessons:export",
                "why": "card_decisions:why_card",
                "review": "review:review",
                "promote": "card_decisions:promote",
                "release": "card_decisions:release",
                "archive": "card_decisions:archive",
                "quarantine": "card_decisions:quarantine",
                "reject": "card_decisions:reject",
                "pin": "card_decisions:pin",
                "unpin": "card_decisions:unpin",
                "split": "card_decisions:split",
                "rollback": "rollback:rollback",
                "path": "lessons:path",
            },
        ),
        "rules": _Group(
            "Standing rules: promoted principles and procedures that stand in every system prompt of their agent.",
            {"list": "rules:list_rules", "add": "rules:add", "drop": "rules:drop", "rollback": "rules:rollback"},
        ),
        "runs": _Group(
            "Records of finished runs.", {"list": "runs:list_runs", "show": "runs:show", "outcome": "runs:outcome"}
        ),
        "ci": _Group(
            "Tests of what was learned: which lessons help, which hurt, and how that is known.",
            {
                "run": "ci:run",
                "status": "ci_status:status",
                "history": "ci:history",
                "demo": "ci_demo:demo",
            },
        ),
        "why": "why:why",
        "forget": "forget:forget",
        "reflect": _Group(
            "Reports of failed, partial and done tasks and of decisions, in a folder of Markdown files.",
            {
                "new": "reflect_new:new",
                "list": "reflect:list_reports",
                "show": "reflect:show",
                "archive": "reflect:archive",
            },
        ),
        "store": _Group(
            "Whole stores: what is in them, copies, checks and backups; files, folders and Postgres alike.",
            {
                "show": "store:show",
                "copy": "store:copy",
                "check": "store:check",
                "backup": "store:backup",
                "prune": "store:prune",
                "tune": "store:tune",
            },
        ),
        "screen": "screen:screen",
        "serve": "serve:serve",
        "mcp": "mcp:mcp",
        "doctor": "doctor:doctor",
    },
)


def application(args: Sequence[str] | None = None) -> typer.Typer:
    """The command with all that belongs to it, or with the part of it that these arguments ask for.

    Each command's module is imported with it, so a command waits for no other's.
    """
    return _with_top(_made(_COMMAND, args))


def _with_top(app: typer.Typer) -> typer.Typer:
    app.callback()(_top)
    return app


def main(args: Sequence[str] | None = None) -> None:
    """Run the command with `args`, by default the process's own, and exit."""
    if os.environ.get(_COMPLETE):
        _complete()
    # Python has none where the caller has closed them.
    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with noticing():
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
    command = typer.main.get_command(application(args))
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


def _made(group: _Group, args: Sequence[str] | None) -> typer.Typer:
    """The group: whole without arguments, else with the verb that they name, or else with all that its help lists."""
    made = _empty(group)
    named = group.verbs.get(args[0]) if args else None
    for name, verb in group.verbs.items() if args is None or named is None else [(args[0], named)]:
        if isinstance(verb, str):
            made.command(name, cls=PanelCommand)(expanded(_function(verb)))
        elif args is None or named is not None:
            made.add_typer(_made(verb, args and args[1:]), name=name)
        else:
            made.add_typer(_empty(verb), name=name)
    return made


def _complete() -> None:
    """Answer the shell by typer's own completion, without what options mean: rich would be loaded to render that."""
    command: Any = typer.main.get_command(_with_top(_offered(_COMMAND, _typed())))
    for option in command.params:
        option.help = None
    command(prog_name="wisen")


def _typed() -> list[str]:
    """The words before the one at the cursor, as the shell's completion script hands them over."""
    if (words := os.environ.get("COMP_WORDS")) is not None:  # bash
        return words.split()[1 : int(os.environ.get("COMP_CWORD", "1"))]
    words = os.environ.get("_TYPER_COMPLETE_ARGS", "")
    return words.split()[1 : None if words[-1:].isspace() else -1]


def _offered(group: _Group, words: Sequence[str]) -> typer.Typer:
    """The group with every name in it; only the command that these words call is loaded."""
    made = _empty(group)
    for name, verb in group.verbs.items():
        named = words[:1] == [name]
        if isinstance(verb, str):
            made.command(name, cls=PanelCommand, help="")(expanded(_function(verb)) if named else _not_loaded)
        else:
            made.add_typer(_offered(verb, words[1:]) if named else _empty(verb), name=name, help="")
    return made


def _not_loaded() -> None:
    """Stand for a command whose name alone is asked for."""


def _empty(group: _Group) -> typer.Typer:
    return typer.Typer(
        help=group.about,
        no_args_is_help=True,
        add_completion=group is _COMMAND,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _function(named: str) -> Callable[..., None]:
    module, _, function = named.partition(":")
    return cast("Callable[..., None]", getattr(import_module(f"wisen.cli.{module}"), function))


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # noqa: PLC0415 - slow to import, and for this option alone

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
