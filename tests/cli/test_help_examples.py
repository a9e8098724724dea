"""Each command's help ends with examples, and the real command line reads them."""

import shlex
import subprocess
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from command_lines import parse, whole_command

from wisen.cli.option_sets import examples
from wisen.data_files import read_table

Wisen = Callable[..., subprocess.CompletedProcess[str]]


def commands(found: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    if hasattr(found, "commands"):
        for name, one in found.commands.items():
            yield from commands(one, (*path, name))
    else:
        yield " ".join(path)


def named(table: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    for name, one in table.items():
        if isinstance(one, dict):
            yield from named(cast("dict[str, Any]", one), (*path, name))
        else:
            yield " ".join((*path, name))


COMMANDS = sorted(commands(whole_command()))


def test_every_command_has_examples_and_nothing_else_has() -> None:
    assert sorted(named(read_table("wisen.cli", "data/examples.toml"))) == COMMANDS
    assert all(map(examples, COMMANDS))


@pytest.mark.parametrize("command", COMMANDS)
def test_an_example_calls_its_command_with_arguments_that_there_are(command: str) -> None:
    for line in examples(command):
        program, *arguments = shlex.split(line)
        assert program == "wisen"
        assert parse(arguments) == command


@pytest.mark.parametrize("wrong", ["lessons add", "lessons list --sort id", "ci demo --seed one", "lesson list"])
def test_an_example_that_does_not_parse_is_noticed(wrong: str) -> None:
    with pytest.raises(Exception, match=r"(?i)no such|missing|valid integer"):
        parse(wrong.split())


def test_help_ends_with_the_examples_each_on_one_line(wisen: Wisen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    told = wisen("lessons", "add", "--help").stdout
    assert told.endswith("Examples:\n" + "".join(f"  {line}\n" for line in examples("lessons add")))
    assert max(map(len, examples("lessons add"))) > 40
