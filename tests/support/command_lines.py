"""Reads command lines as `wisen` itself would, without running anything."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import typer
import typer.main

from wisen.cli.main import application


@cache
def whole_command() -> Any:
    """The parser of `wisen` with all of its commands."""
    return typer.main.get_command(application())


def parse(arguments: Sequence[str]) -> str:
    """Let the command line's own parser read these arguments; gives the command that they call."""
    command: Any = whole_command()
    context: Any = None
    rest, called = list(arguments), list[str]()
    while True:
        try:
            context = command.make_context(command.name, rest, parent=context)
        except typer.Exit:  # such as after --version
            break
        if not hasattr(command, "resolve_command"):
            break
        rest = [*context._protected_args, *context.args]
        name, command, rest = command.resolve_command(context, rest)
        called.append(name)
    return " ".join(called)
