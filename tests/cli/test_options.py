"""What commands share: named sets of options that mean the same wherever they are, each in a panel of its own."""

import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, cast

import pytest
import typer
from inline_snapshot import snapshot
from typer.main import get_command
from typer.testing import CliRunner

from wisen.cli.main import application
from wisen.cli.option_sets import OptionSet, PanelCommand, expanded
from wisen.cli.shared_options import TaskOptions
from wisen.errors import ConfigError

Wisen = Callable[..., subprocess.CompletedProcess[str]]

MOST_OWN = 10


def commands(found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command that does something, by what is typed."""
    if hasattr(found, "commands"):
        for name, one in found.commands.items():
            yield from commands(one, (*path, name))
    else:
        yield " ".join(path), found


COMMANDS = dict(commands(get_command(application())))


def options(command: str) -> list[Any]:
    return [one for one in COMMANDS[command].params if one.param_type_name == "option"]


def test_all_commands_are_looked_at() -> None:
    assert len(COMMANDS) > 45
    assert {"run", "submit", "worker", "ci run", "reflect new"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_has_more_than_ten_options_of_its_own(command: str) -> None:
    own = [one.opts[0] for one in options(command) if not one.rich_help_panel]
    assert len(own) <= MOST_OWN, own


def test_a_shared_option_means_the_same_everywhere() -> None:
    meanings: dict[str, set[tuple[object, ...]]] = defaultdict(set)
    homes: dict[str, set[str]] = defaultdict(set)
    for command in COMMANDS:
        for one in options(command):
            if one.rich_help_panel:
                default = repr(one.default)
                told = (
                    tuple(one.opts),
                    one.help,
                    default,
                    one.metavar,
                    one.rich_help_panel,
                    one.required,
                    one.multiple,
                )
                meanings[one.opts[0]].add(told)
                homes[one.opts[0]].add(command)
    assert {name: told for name, told in meanings.items() if len(told) > 1} == {}
    assert {name for name, where in homes.items() if len(where) == 1} == set(), "shared by nobody"
    assert {"--store", "--embedder", "--tenant", "--model", "--judge-model", "--trust", "--json"} <= set(meanings)


def test_help_shows_own_options_first_then_each_panel(wisen: Wisen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert wisen("lessons", "promote", "--help").stdout == snapshot("""\
Usage: wisen lessons promote [OPTIONS] {ID}

  Show a quarantined card to every run from now on, and archive its rivals.

Arguments:
  ID <str>  The card's id, or a beginning that no other has.  [required]

Options:
  --why TEXT  The reason; it is kept in the card's history.  [required]
  -h, --help  Show this message and exit.

Tenant:
  --tenant <str>  Only this tenant; '' is the one without a name.

Store:
  --store STORE    A file, a folder with a Markdown store, or a URL:
                   postgresql://user@host/database (queues need this),
                   markdown:FOLDER, sqlite:PATH. Default: $WISEN_STORE, else
                   wisen/wisen.db in the user's data folder.
  --embedder NAME  hash, local, auto or provider:name, with @768 for a model
                   whose vectors' length isn't known. Default: the one that
                   the store's vectors come from, else auto.

Output:
  --json  Print JSON instead of text.

Examples:
  wisen lessons promote CARD_ID --why "checked by hand"
""")
    headings = [line for line in wisen("run", "--help").stdout.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == snapshot(
        ["Arguments:", "Options:", "Agent:", "For each task:", "Store:", "Output:", "Examples:"]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Place(OptionSet):
    PANEL: ClassVar[str] = "Place"

    town: Annotated[str, typer.Option("--town")]
    street: Annotated[list[str] | None, typer.Option("--street")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit(Place):
    PANEL: ClassVar[str] = ""

    days: Annotated[int, typer.Option("--days")] = 1

    def __post_init__(self) -> None:
        if self.days < 1:
            raise ValueError


def visited(*arguments: str) -> Any:
    found: list[Any] = []

    def visit(who: Annotated[str, typer.Argument()], *, place: Visit, quick: bool = False) -> None:
        found.append((who, place, quick))

    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(cls=PanelCommand)(expanded(visit))
    done = CliRunner().invoke(app, [*arguments])
    return found[0] if found else done


def test_a_set_reaches_its_command_whole() -> None:
    given = visited("anna", "--town", "Bonn", "--street", "a", "--street", "b", "--days", "2", "--quick")
    assert given == ("anna", Visit(town="Bonn", street=["a", "b"], days=2), True)
    assert visited("anna", "--town", "Bonn") == ("anna", Visit(town="Bonn"), False)


def test_a_set_keeps_what_it_needs_and_refuses() -> None:
    assert visited("anna").exit_code == 2
    assert isinstance(visited("anna", "--town", "Bonn", "--days", "0").exception, ValueError)


def test_what_a_set_inherits_stays_in_its_panel() -> None:
    said = cast("str", visited("--help").output)
    assert said.index("Options:") < said.index("--days") < said.index("Place:") < said.index("--town")


def test_two_sets_of_a_command_have_no_option_twice() -> None:
    def visit(*, one: Place, other: Visit) -> None:
        del one, other

    with pytest.raises(ValueError, match="town"):
        expanded(visit)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_attempts": 0}, "--max-attempts 0: must be 1 or more"),
        ({"threshold": 1.5}, "--threshold 1.5: must be in [0, 1]"),
        ({"budget_tokens": -1}, "--budget-tokens -1: "),
    ],
)
def test_what_a_task_cant_take_is_refused_before_anything_is_done(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        TaskOptions(**given)
