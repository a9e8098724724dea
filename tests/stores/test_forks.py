"""A forked process can go on with a store of its parent's, and neither loses what the other writes."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from wisen.forks import ForkLock
from wisen.recall import CardFilter
from wisen.stores.sqlite.store import SQLiteVectorStore

PROGRAM = """
import asyncio, os, sys, threading, time
from wisen import CardFilter, MemoryCard, MemoryKind, RecallQuery, RunRecord, Situation, Task, connect

def lesson(content):
    return MemoryCard(kind=MemoryKind.LESSON, content=content, situation=Situation(prompt="Fold the crane"))

async def use(store, name):
    await store.add([lesson(f"By the {name}.")])
    await store.append_block("notes", name)
    await store.save_run(RunRecord(run_id=name, task=Task(prompt="Fold.")))
    await store.keep_call("scope", name, 0, b"kept")
    hits = await store.search(RecallQuery(situation=Situation(prompt="Fold the crane"), filter=CardFilter(tenant="")))
    cards = await store.list(CardFilter(), limit=1000)
    runs = await store.runs()
    return sorted(card.content for card in cards), len(hits), sorted(run.run_id for run in runs)

def forked(work):
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        try:
            print("child", work(), flush=True)
            os._exit(0)
        except BaseException as error:
            print("child failed", type(error).__name__, error, flush=True)
            os._exit(1)
    return pid
"""


def run(code: str, url: str = "", seconds: float = 60) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM + textwrap.dedent(code), url],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


SHARED = """
    store = connect(sys.argv[1])
    asyncio.run(use(store, "parent"))
    pid = forked(lambda: asyncio.run(use(store, "child")))
    assert os.waitpid(pid, 0)[1] == 0
    print("parent", asyncio.run(use(store, "parent again")))
    asyncio.run(store.close())
"""


@pytest.mark.parametrize("kind", ["sqlite", "markdown"])
def test_parent_and_child_share_what_is_in_files(kind: str, tmp_path: Path) -> None:
    said = run(SHARED, f"{kind}:{tmp_path / 'store'}").splitlines()
    both = ["By the child.", "By the parent."]
    assert said[0] == f"child {(both, 2, ['child', 'parent'])}"
    assert said[1] == f"parent {(sorted([*both, 'By the parent again.']), 3, ['child', 'parent', 'parent again'])}"


def test_parent_and_child_share_a_database(postgres_url: str) -> None:
    said = run(SHARED, postgres_url).splitlines()
    both = ["By the child.", "By the parent."]
    assert said[0] == f"child {(both, 2, ['child', 'parent'])}"
    assert said[1] == f"parent {(sorted([*both, 'By the parent again.']), 3, ['child', 'parent', 'parent again'])}"


def test_a_child_goes_on_with_a_copy_of_what_was_in_memory() -> None:
    said = run(SHARED, "memory:").splitlines()
    assert said[0] == f"child {(['By the child.', 'By the parent.'], 2, ['child', 'parent'])}"
    assert said[1] == f"parent {(['By the parent again.', 'By the parent.'], 2, ['parent', 'parent again'])}"


BUSY = """
    store = connect(sys.argv[1])
    asyncio.run(store.open())
    stop = []

    def keep_at_it(number):
        async def write():
            for turn in range(10_000):
                if stop:
                    break
                await store.add([lesson(f"{number} {turn}")])
            written.append(turn)
        asyncio.run(write())

    written = []
    threads = [threading.Thread(target=keep_at_it, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for turn in range(8):
        pid = forked(lambda: asyncio.run(use(store, f"child {turn}"))[2])
        assert os.waitpid(pid, 0)[1] == 0
    stop.append(True)
    for thread in threads:
        thread.join()
    print("lost", sum(written) + 8 - asyncio.run(store.count(CardFilter())))
    asyncio.run(store.close())
"""


@pytest.mark.parametrize("kind", ["sqlite", "markdown"])
def test_nothing_is_lost_where_threads_write_while_processes_are_forked(kind: str, tmp_path: Path) -> None:
    said = run(BUSY, f"{kind}:{tmp_path / 'store'}", 300).splitlines()
    assert said[-1] == "lost 0"
    assert len(said) == 9


CLOSING = """
    store = connect(sys.argv[1])
    asyncio.run(use(store, "parent"))
    read, write = os.pipe()

    def child():
        other = connect(sys.argv[1])
        asyncio.run(use(other, "child"))
        os.read(read, 1)
        result = asyncio.run(use(other, "child again"))[0]
        return result  # not closed: what was acknowledged is there all the same

    pid = forked(child)
    time.sleep(0.5)
    asyncio.run(store.close())
    os.write(write, b"x")
    assert os.waitpid(pid, 0)[1] == 0
"""


def test_a_parent_that_closes_doesnt_take_the_childs_log_away(tmp_path: Path) -> None:
    """SQLite in the child would take the parent's locks for its own, and the parent would see none of the child's."""
    path = tmp_path / "store.db"
    run(CLOSING, f"sqlite:{path}")
    assert run("print(asyncio.run(connect(sys.argv[1]).count(CardFilter())))", f"sqlite:{path}") == "3\n"


AT_WORK = """
    store = connect(sys.argv[1])
    asyncio.run(store.open())
    begun = threading.Event()

    def long(connection):
        begun.set()
        time.sleep(20)

    thread = threading.Thread(target=lambda: asyncio.run(store._database.read(long)), daemon=True)
    thread.start()
    begun.wait()

    def child():
        said = []
        for one in (store, connect(sys.argv[1])):
            try:
                asyncio.run(one.count(CardFilter()))
            except Exception as error:
                said.append(f"{type(error).__name__}: {error}")
        return said

    pid = forked(child)
    assert os.waitpid(pid, 0)[1] == 0
    os._exit(0)
"""


def test_a_file_that_is_at_work_all_the_time_is_refused_in_the_child(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    hint = "fork when no store is at work, or start processes by 'spawn'"
    said = f"StoreError: store {str(path)!r} was in use when this process was forked; {hint}"
    assert run(AT_WORK, f"sqlite:{path}") == f"child {[said, said]}\n"


RUN = """
    from wisen import Agent, ScriptedModel
    from wisen.threads import THREADS
    agent = Agent(model=ScriptedModel(["42", "42"]), evaluator=lambda text: text == "42")
    assert agent.run_sync("Count.").score == 1.0
    while not THREADS._idle:
        time.sleep(0.01)
    pid = forked(lambda: agent.run_sync("Count again.").score)
    assert os.waitpid(pid, 0)[1] == 0
"""


def test_a_child_runs_an_agent_in_threads_of_its_own() -> None:
    assert run(RUN) == "child 1.0\n"


def test_the_lock_of_a_fork_that_waited_in_vain_is_left_alone() -> None:
    lock = ForkLock()
    with lock:
        lock.before_fork(0)
        assert not lock.rested
        lock.after_fork_in_parent()
    lock.before_fork(0)
    assert lock.rested
    lock.after_fork_in_parent()
    with lock:
        pass


@pytest.mark.anyio
async def test_a_killed_child_takes_nothing_with_it(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    code = """
    store = connect(sys.argv[1])
    asyncio.run(use(store, "parent"))
    pid = forked(lambda: asyncio.run(use(store, "child")) and time.sleep(60))
    while asyncio.run(store.count(CardFilter())) < 2:
        time.sleep(0.01)
    print(pid, flush=True)
    os.kill(pid, 9)
    """
    run(code, f"sqlite:{path}")
    async with SQLiteVectorStore(path) as store:
        assert await store.count(CardFilter()) == 2
