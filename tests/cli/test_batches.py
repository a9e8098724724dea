"""`wisen submit`, `wisen worker` and `wisen batch`: a batch goes into Postgres, and its results come out."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from queues import working

from wisen.cli.model_choice import find_model
from wisen.queue.queue import Queue
from wisen.queue.worker import Worker, WorkerOptions
from wisen.testing.provider import FakeProvider

Wisen = Callable[..., CompletedProcess[str]]
Tasks = Callable[..., Path]
CAPITAL = {"id": "france", "prompt": "What is the capital of France?", "reference": "Paris", "evaluator": "normalised"}
BROKEN = {"id": "broken", "prompt": "break", "evaluator": "normalised", "reference": "x"}


def answer(prompt: str) -> str:
    if "break" in prompt:
        raise ValueError("down")
    return "Paris"


def work(url: str, batch: str) -> None:
    """Do a batch with a worker in this process."""

    async def run() -> None:
        options = WorkerOptions(poll=0.05, takeover=4.0, find_model=find_model)
        async with Queue(url, "support") as queue, working(Worker(url, queue="support", options=options)):
            await queue.batch(batch).wait(60)

    asyncio.run(run())


def test_a_batch_from_its_submission_to_its_results(wisen: Wisen, tasks: Tasks, postgres_url: str) -> None:
    where = ("--store", postgres_url)
    with FakeProvider(answer) as provider:
        options = ("--queue", "support", "--model", provider.model, "--embedder", "hash", "--tries", "1")
        file = tasks(CAPITAL, BROKEN)
        done = wisen("submit", file, *options, *where, "--batch", "one")
        assert (done.returncode, done.stdout) == (0, "one: 2 tasks in queue support\n")
        assert "batch status one --follow" in done.stderr
        again = wisen("submit", file, *options, *where, "--batch", "one", "--json")
        found = {"batch": "one", "queue": "support", "tasks": 2, "new": False}
        assert json.loads(again.stdout) == {**found, "why": "no worker of queue 'support' is running"}
        full = wisen("submit", file, *options, *where, "--most-waiting", "3")
        assert (full.returncode, "is full: 2 tasks wait" in full.stderr) == (2, True)
        assert wisen("batch", "results", "one", *where).returncode == 1
        work(postgres_url, "one")
        status = wisen("batch", "status", "one", "--follow", *where)
        assert status.stdout == (
            "one: 1 of 2 tasks done, 0 running, 0 waiting, 1 given up (`wisen batch retry one` sends them again)\n"
        )
        results = wisen("batch", "results", "one", *where)
        assert results.returncode == 1
        first, second = results.stdout.splitlines()[1:]
        assert first.split()[:6] == ["0", "france", "done", "satisfied", "1.00", "one-00000"]
        assert second.split()[:3] == ["1", "broken", "dead"]
        found = json.loads(wisen("batch", "results", "one", *where, "--json").stdout)
        assert [(one["task"], one["state"], one["tries"]) for one in found] == [
            ("france", "done", 0),
            ("broken", "dead", 1),
        ]
        assert found[0]["output"] == "Paris"
        assert wisen("batch", "retry", "one", *where).stdout == "one: 1 task sent again\n"
        cancelled = wisen("batch", "cancel", "one", *where)
        assert cancelled.stdout == "one: 1 of 2 tasks done, 0 running, 0 waiting, 1 cancelled\n"
        assert json.loads(wisen("batch", "retry", "one", "--anew", *where, "--json").stdout) == {
            "batch": "one",
            "sent": 1,
        }
        assert json.loads(wisen("batch", "cancel", "one", *where, "--json").stdout)["cancelled"] == 1
    listed = json.loads(wisen("batch", "list", "--queue", "support", *where, "--json").stdout)
    assert [(one["id"], one["done"], one["finished"]) for one in listed] == [("one", 1, True)]
    assert wisen("batch", "list", *where).stdout.splitlines()[1].split()[:2] == ["one", "support"]
    assert wisen("batch", "list", "--queue", "other", *where).stderr == "no batches yet\n"
    assert wisen("batch", "delete", "one", *where).stdout == "one: removed with 2 tasks\n"
    assert wisen("batch", "prune", "--older-than", "30d", *where).stdout == "0 batches removed\n"


def test_results_say_what_was_answered_and_why_something_wasnt(wisen: Wisen, tasks: Tasks, postgres_url: str) -> None:
    where = ("--store", postgres_url)
    nobody = "no worker of queue 'support' is running"
    with FakeProvider(answer) as provider:
        options = ("--queue", "support", "--model", provider.model, "--embedder", "hash", "--tries", "1")
        wisen("submit", tasks(CAPITAL, BROKEN), *options, *where, "--batch", "one")
        waiting = wisen("batch", "results", "one", *where)
        assert (waiting.returncode, waiting.stdout.count(nobody)) == (1, 2)
        assert json.loads(wisen("batch", "status", "one", *where, "--json").stdout)["why"] == nobody
        assert wisen("batch", "status", "one", *where).stdout.endswith(f"2 waiting; {nobody}\n")
        work(postgres_url, "one")
    found = json.loads(wisen("batch", "results", "one", *where, "--json").stdout)
    assert [(one["place"], one.get("output")) for one in found] == [(0, "Paris"), (1, None)]
    assert (found[0]["why"], "HTTP 500" in found[1]["why"]) == (None, True)
    assert wisen("batch", "results", "one", *where).stdout.splitlines()[1].endswith("  Paris")
    whole = wisen("batch", "results", "one", *where, "--full").stdout
    assert whole.startswith("0  france  done\n   status  satisfied\n")
    assert "   answer  Paris\n1  broken  dead\n" in whole
    assert whole.endswith(f"   why     {found[1]['why']}\n")


def test_what_is_wrong_is_told_in_a_line(wisen: Wisen, tasks: Tasks, store: Path, postgres_url: str) -> None:
    file = tasks(CAPITAL)
    for arguments, said in (
        (("submit", file, "--store", store), "queues need Postgres"),
        (("submit", file, "--store", postgres_url, "--queue", "a b"), "queue 'a b'"),
        (("submit", file, "--store", postgres_url, "--budget-usd", "-1"), "--budget-usd"),
        (("batch", "status", "none", "--store", postgres_url), "no batch 'none'"),
        (("worker", "--store", store), "queues need Postgres"),
        (("worker", "--store", postgres_url, "--rate", "fast"), "rate 'fast'"),
    ):
        done = wisen(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_worker_works_until_it_is_stopped(wisen: Wisen, tasks: Tasks, postgres_url: str) -> None:
    where = ("--store", postgres_url)
    with FakeProvider(answer) as provider:
        options = ("--queue", "support", "--model", provider.model, "--embedder", "hash")
        wisen("submit", tasks(CAPITAL), *options, *where, "--batch", "one")
        program = str(Path(sys.executable).with_name("wisen"))
        command = [program, "worker", "--queue", "support", "--id", "first", "--log", "json", "--log-level", "error"]
        process = subprocess.Popen([*command, *where], stderr=subprocess.PIPE)
        try:
            assert wisen("batch", "status", "one", "--follow", *where).returncode == 0
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=60)[1] == b""
            assert process.returncode == 0
        finally:
            process.kill()
            process.wait()
    (found,) = json.loads(wisen("batch", "results", "one", *where, "--json").stdout)
    assert (found["worker"], found["verified"]) == ("first", True)
