"""`wisen lessons rollback` says what it would do, and does it when told to."""

import json
from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

import pytest

Wisen = Callable[..., CompletedProcess[str]]


def contents(wisen: Wisen) -> list[str]:
    found: dict[str, Any] = json.loads(wisen("lessons", "list", "--json").stdout)
    return [card["content"] for card in found["lessons"]]


def run_of(wisen: Wisen, tenant: str) -> str:
    runs: list[dict[str, Any]] = json.loads(wisen("runs", "list", "--tenant", tenant, "--json").stdout)
    return str(runs[0]["run_id"])


def test_without_yes_nothing_changes(learned: Wisen) -> None:
    said = learned("lessons", "rollback", "--tenant", "acme")
    assert (said.returncode, said.stderr) == (
        0,
        "nothing was changed (1 withdrawn, 0 restored, 1 left as they are); add --yes to do it\n",
    )
    assert "Lima" in contents(learned)


def test_a_run_is_withdrawn(learned: Wisen) -> None:
    run = run_of(learned, "")
    done = learned("lessons", "rollback", "--run", run, "--note", "wrong region", "--yes", "--json")
    told = json.loads(done.stdout)
    assert (told["done"], len(told["withdrawn"]), [one["what"] for one in told["left"]]) == (True, 2, ["run"])
    assert contents(learned) == ["", "", "Lima"]
    shown = learned("lessons", "show", told["withdrawn"][0]).stdout
    assert "withdrawn: wrong region" in shown


def test_the_beginning_of_a_runs_id_will_do(learned: Wisen) -> None:
    run = run_of(learned, "acme")
    done = learned("lessons", "rollback", "--run", run[:-1], "--yes", "--json")
    assert len(json.loads(done.stdout)["withdrawn"]) == 1
    assert "Lima" not in contents(learned)
    again = learned("lessons", "rollback", "--run", run)
    assert (again.returncode, again.stderr) == (0, "nothing came from there, or it is withdrawn already\n")


def test_a_run_that_is_unknown_is_an_error(learned: Wisen) -> None:
    done = learned("lessons", "rollback", "--run", "zzz")
    assert (done.returncode, done.stderr.partition(";")[0], done.stderr.count("\n")) == (2, "wisen: no run 'zzz'", 1)


def test_a_note_is_kept_without_secrets(learned: Wisen) -> None:
    secret = "ghp_" + "Ab3" * 12
    assert learned("lessons", "rollback", "--tenant", "acme", "--note", f"leaked {secret}", "--yes").returncode == 0
    exported = learned("lessons", "export").stdout
    assert "withdrawn: leaked" in exported
    assert secret not in exported


@pytest.mark.parametrize(
    ("args", "said"),
    [((), "doesn't withdraw everything"), (("--since", "yesterday"), "--since 'yesterday': isn't a time")],
)
def test_bad_input_changes_nothing(learned: Wisen, args: tuple[str, ...], said: str) -> None:
    done = learned("lessons", "rollback", "--yes", *args)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(contents(learned)) == 3
