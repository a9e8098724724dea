"""Named sets of options: a command takes a set as one argument, and its help shows the set in a panel of its own.

After the options, help shows the command's examples from `data/examples.toml`.
"""

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, dataclass, fields
from functools import cache, wraps
from typing import Annotated, Any, ClassVar, cast, get_args, get_type_hints

from typer.core import TyperCommand

from wisen.data_files import read_table

_ARGUMENTS, _OWN = "Arguments", "Options"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionSet:
    """Options that belong together: a dataclass whose fields are annotated as typer's options are.

    A command takes one as a keyword argument. It may check its values when it is made. What a set inherits from
    another one stays in that one's panel.
    """

    PANEL: ClassVar[str] = ""
    """The heading in help of what several commands share; "" for a command's own options, which stand first."""


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of its sets in the place of the sets, as typer reads them."""
    signature = inspect.signature(command, eval_str=True)
    sets = {name: found for name, one in signature.parameters.items() if (found := _set(one.annotation)) is not None}
    parameters: list[inspect.Parameter] = []
    for name, one in signature.parameters.items():
        parameters += _options(sets[name]) if name in sets else [one]

    @wraps(command)
    def call(**given: object) -> None:
        made = {name: kind(**{one.name: given.pop(one.name) for one in fields(kind)}) for name, kind in sets.items()}
        command(**given, **made)

    read = cast("Any", call)  # what typer reads of it
    read.__signature__ = signature.replace(parameters=parameters)
    read.__annotations__ = {one.name: one.annotation for one in parameters}
    return call


def _set(annotation: object) -> type[OptionSet] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, OptionSet) else None


@cache
def _options(kind: type[OptionSet]) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    found: list[inspect.Parameter] = []
    for one in fields(kind):
        of, told = get_args(hints[one.name])
        option = copy(told)
        option.rich_help_panel = _home(kind, one.name).PANEL or None
        default = inspect.Parameter.empty if one.default is MISSING else one.default
        annotation = cast("Any", Annotated)[of, option]
        keyword = inspect.Parameter.KEYWORD_ONLY
        found.append(inspect.Parameter(one.name, keyword, default=default, annotation=annotation))
    return found


def _home(kind: type[OptionSet], name: str) -> type[OptionSet]:
    """The set that an option was defined in."""
    lineage = [one for one in kind.__mro__ if issubclass(one, OptionSet)]
    return next(one for one in lineage if name in inspect.get_annotations(one))


def examples(command: str) -> tuple[str, ...]:
    """Calls of a command such as "lessons add", as a user would type them; the plainest first."""
    found: Any = read_table("wisen.cli", "data/examples.toml")
    for word in command.split():
        found = found.get(word, {})
    return tuple(found)


class PanelCommand(TyperCommand):
    """A command whose plain help shows its own options first, then each panel, then examples."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - the types of typer's parser are private
        """Write arguments, options and panels, each under its heading."""
        panels: dict[str, list[tuple[str, str]]] = {_ARGUMENTS: [], _OWN: []}
        for one in self.get_params(ctx):
            if (told := one.get_help_record(ctx)) is not None:
                own = _ARGUMENTS if one.param_type_name == "argument" else _OWN
                panels.setdefault(getattr(one, "rich_help_panel", None) or own, []).append(told)
        for heading, rows in panels.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:  # noqa: ANN401 - as above
        """Options and values that may come next, by name alone: typer would import rich to render what they mean."""
        found: list[Any] = super().shell_complete(ctx, incomplete)
        for one in found:
            one.help = None
        return found

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - as above
        """Write the examples, each on a line of its own however long it is."""
        _, _, command = ctx.command_path.partition(" ")
        if shown := examples(command):
            with formatter.section("Examples"):
                for line in shown:
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")
