"""What `wisen submit` looks at before it puts anything into a queue, and how stores may be named."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from wisen.testing.provider import FakeProvider

Wisen = Callable[..., CompletedProcess[str]]
Tasks = Callable[..., Path]
CAPITAL = {"id": "france", "prompt": "Capital of France?", "reference": "Paris", "evaluator": "exact"}


def test_a_model_that_there_isnt_is_refused(wisen: Wisen, tasks: Tasks, postgres_url: str) -> None:
    file, where = tasks(CAPITAL), ("--store", postgres_url)
    for option in ("--model", "--judge-model"):
        done = wisen("submit", file, *where, option, "nosuch:thing")
        assert (done.returncode, "model 'nosuch:thing': no such model" in done.stderr) == (2, True)
    assert wisen("batch", "list", *where).stderr == "no batches yet\n"


def test_a_key_that_only_workers_have_is_told(wisen: Wisen, tasks: Tasks, postgres_url: str) -> None:
    done = wisen("submit", tasks(CAPITAL), "--model", "anthropic:claude-opus-4-7", "--store", postgres_url)
    assert done.returncode == 0
    assert done.stderr.startswith(
        "wisen: workers need what isn't here: model 'anthropic:claude-opus-4-7': "
        "set the environment variable ANTHROPIC_API_KEY\n"
    )


def test_the_hint_can_be_pasted(wisen: Wisen, tasks: Tasks, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider() as provider:
        given = ("submit", tasks(CAPITAL), "--model", provider.model)
        hint = wisen(*given, "--store", postgres_url).stderr.split("`")[1]
        program, *arguments = shlex.split(hint.replace("--follow ", ""))
        assert (program, wisen(*arguments).returncode) == ("wisen", 0)
        monkeypatch.setenv("WISEN_STORE", postgres_url)
        assert "--store" not in wisen(*given).stderr


def test_a_batch_that_is_there_already_is_told(wisen: Wisen, tasks: Tasks, postgres_url: str) -> None:
    with FakeProvider() as provider:
        given = ("submit", tasks(CAPITAL), "--model", provider.model, "--batch", "one", "--store", postgres_url)
        first, again = wisen(*given), wisen(*given)
        assert first.stdout == "one: 1 task in queue default\n"
        assert first.stderr.startswith("wisen: no worker of queue 'default' is running\n")
        assert again.stdout == "one: 1 task in queue default; it was there already, and nothing was added\n"
        assert json.loads(wisen(*given, "--json").stdout)["new"] is False


def test_a_store_may_be_named_in_either_way(
    wisen: Wisen, script: Callable[..., str], tasks: Tasks, store: Path
) -> None:
    wisen("run", tasks(CAPITAL), "--model", script("Paris"), "--embedder", "hash")
    for verb in (("show",), ("check",), ("prune", "--older-than", "1d")):
        found = [wisen("store", *verb, *named, "--json") for named in ((store,), ("--store", store), ())]
        assert {one.returncode for one in found} == {0}
        assert len({str(json.loads(one.stdout).get("runs")) for one in found}) == 1
        both = wisen("store", *verb, store, "--store", store)
        assert (both.returncode, "name one" in both.stderr) == (2, True)
