"""Options and arguments that several commands have, and how a value that the library refuses is told by its option."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from wisen.cli.models import FORMS
from wisen.errors import ConfigError

MOST = 1_000_000_000
"""More than anybody lists, and less than any store's numbers end at."""

TasksFile = Annotated[Path, typer.Argument(metavar="TASKS", help="Tasks: a .toml, .yaml or .jsonl file.")]
ModelName = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help=f"{FORMS}. Default: the bundled local model.", show_default=False),
]
Instructions = Annotated[str, typer.Option(metavar="TEXT", help="The agent's system prompt.")]
MaxAttempts = Annotated[int, typer.Option(metavar="N", help="Most attempts at one task.")]
Threshold = Annotated[float, typer.Option(metavar="X", help="Score in [0, 1] that is good enough.")]
JudgeModel = Annotated[
    str | None,
    typer.Option(
        "--judge-model",
        metavar="NAME",
        help="Judges tasks without an exact check. Default: the agent's.",
        show_default=False,
    ),
]
Trust = Literal["replayed", "trial", "screened"]
TrustPolicy = Annotated[
    Trust,
    typer.Option(
        "--trust",
        metavar="POLICY",
        help="Lessons of other runs that are shown: replayed (proven ones), trial (those on trial too), "
        "or screened (all that passed the screen).",
    ),
]
MostCalls = Annotated[
    int | None,
    typer.Option("--budget-requests", metavar="N", help="Most model calls for one task.", show_default=False),
]
MostTokens = Annotated[
    int | None, typer.Option("--budget-tokens", metavar="N", help="Most tokens for one task.", show_default=False)
]
MostDollars = Annotated[
    float | None, typer.Option("--budget-usd", metavar="X", help="Most US dollars for one task.", show_default=False)
]
MostSeconds = Annotated[
    float | None, typer.Option("--budget-seconds", metavar="X", help="Most seconds for one task.", show_default=False)
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, max=MOST, help="How many at most.")]
Offset = Annotated[int, typer.Option("--offset", metavar="N", min=0, max=MOST, help="How many to pass over.")]

_REFUSED = re.compile(r"\w+\((\w+)=(.*?)\): (.*)", re.DOTALL)


def check_attempts(max_attempts: int, threshold: float) -> None:
    """Refuse what can't be, with `ConfigError`."""
    if max_attempts < 1:
        raise ConfigError(f"--max-attempts {max_attempts}: must be 1 or more")
    if not 0.0 <= threshold <= 1.0:
        raise ConfigError(f"--threshold {threshold:g}: must be in [0, 1]")


@contextmanager
def told_by_option(**options: str) -> Generator[None]:
    """Name a value that the library's own objects refuse by the option that it was given with."""
    try:
        yield
    except ConfigError as error:
        found = _REFUSED.fullmatch(str(error))
        if found is None or found[1] not in options:
            raise
        said = found[3].removesuffix(", or None for no limit")
        raise ConfigError(f"{options[found[1]]} {found[2]}: {said}") from None
