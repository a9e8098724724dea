"""A pytest plugin that tries mutants in place of running tests: each in a fork, until a test fails.

First all tests run once without any change, with coverage, which tells the tests that come to a statement. A mutant
runs only those that come to the statement it changes: the ones that noticed another mutant of the function first, then
the quickest, as many as fit into the seconds that it is given. What takes longer is left out, so the score is a lower
bound. `tools/mutants.py` starts it.
"""

import ast
import difflib
import gc
import json
import os
import select
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import coverage
import pytest

ORIGINAL = "__mutmut_orig"
SEPARATOR = "__mutmut_"
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.ExceptHandler)
_LEAST_SECONDS, _TIMES = 3.0, 8
"""What a test may take beside a mutant: so many seconds, and so many times what it takes without."""
_SOUND = 5
"""So often a test that notices a mutant has to pass without it, to be trusted."""
_EVERY = 20
"""So many results are written down at once: a run that was broken off goes on from there with `--again`."""


@dataclass(slots=True)
class Function:
    """A function of the package, with what its mutants look like."""

    bodies: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """By name in the file."""
    first: int = 0
    """Line of the original's body in the file."""
    statements: list[range] = field(default_factory=list[range])
    """Lines of its statements, of those with a body without it; the inner ones last."""

    def changed(self, mutant: str) -> range:
        """The lines of the statement that a mutant changes."""
        original, body = self.bodies[original_of(mutant)], self.bodies[mutant]
        same = next((at for at, pair in enumerate(zip(original, body, strict=False)) if pair[0] != pair[1]), None)
        if same is None:  # it is in the first line, with the name
            return self.statements[0]
        return [one for one in self.statements if self.first + same in one][-1]


@dataclass(slots=True)
class Trial:
    """A mutant whose tests run in a child."""

    mutant: str
    chosen: Sequence[pytest.Item]
    pipe: int
    until: float
    """By `time.monotonic`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what needs a server or local weights: a child would start them once more for each mutant."""
    items[:] = [
        one
        for one in items
        if "postgres_server" not in getattr(one, "fixturenames", ()) and not one.get_closest_marker("local_model")
    ]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try the mutants that `wanted.json` names; writes down what became of each, and tells the survivors."""
    wanted = json.loads(Path("wanted.json").read_text("utf-8"))
    trials = Trials(session, wanted["mutants"], seconds=wanted["seconds"])
    trials.look()
    results: dict[str, str] = wanted["kept"]
    for number, (mutant, by) in enumerate(trials.run(wanted["processes"]), 1):
        results[mutant] = by
        print(f"\r{number} tried", end="", file=sys.stderr, flush=True)  # noqa: T201 - a program's output
        if number % _EVERY == 0 or number == len(wanted["mutants"]):
            Path(wanted["results"]).write_text(json.dumps(results, indent=1), "utf-8")
    for mutant in (name for name in wanted["mutants"] if not results[name]):
        print(f"\n{mutant}\n{trials.difference(mutant)}", end="")  # noqa: T201 - a program's output
    print()  # noqa: T201 - a program's output
    session.testsfailed = 0
    return True


class Trials:
    """Mutants, and the tests that may notice each."""

    def __init__(self, session: pytest.Session, mutants: Sequence[str], *, seconds: float) -> None:
        self._session = session
        self._mutants = mutants
        self._seconds = seconds
        self._failed = False
        self._functions = {module: functions_of(module) for module in {module_of(name) for name in mutants}}
        self._took = dict[str, float]()
        """By test, without any change."""
        self._sound = Counter[str]()
        """How often each test that noticed a mutant has passed right after, in the same order without any change."""
        self._coming = dict[str, dict[int, list[str]]]()
        """Tests by module and line."""
        self._noticed = defaultdict[str, Counter[str]](Counter)
        """How many of a function's mutants each test has noticed."""
        self._items = {item.nodeid: item for item in session.items}
        session.config.pluginmanager.register(self)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember that a test has failed."""
        self._failed = self._failed or report.failed

    def look(self) -> None:
        """Run each test once without any change, to see what it enters and how long it takes."""
        files = [str(path_of(module)) for module in self._functions]
        measured = coverage.Coverage(data_file=None, config_file=False, include=files)
        measured.start()
        for item in self._session.items:
            measured.switch_context(item.nodeid)
            began = time.perf_counter()
            if self._fails([item]):
                print(f"left out, since it fails without any change: {item.nodeid}")  # noqa: T201 - a program's output
            else:
                self._took[item.nodeid] = time.perf_counter() - began
        measured.stop()
        data = measured.get_data()
        self._coming = {module: data.contexts_by_lineno(str(path_of(module))) for module in self._functions}

    def run(self, processes: int) -> Iterator[tuple[str, str]]:
        """Mutants, each with the test that noticed it, or "timeout"; "" where none did."""
        waiting, running = list(reversed(self._mutants)), dict[int, Trial]()
        sys.stdout.flush()
        gc.freeze()  # children share what they don't write to
        gc.disable()
        while waiting or running:
            while waiting and len(running) < processes:
                mutant = waiting.pop()
                chosen = self._chosen(mutant)
                if chosen:
                    pid, trial = self._begun(mutant, chosen)
                    running[pid] = trial
                else:
                    yield mutant, ""
            for pid, trial in ended(running).items():
                by = os.read(trial.pipe, 4096).decode()
                os.close(trial.pipe)
                del running[pid]
                if self._is_sound(by, trial.chosen):
                    self._noticed[function_of(trial.mutant)][by] += by in self._items
                    yield trial.mutant, by
                else:
                    waiting.append(trial.mutant)
        gc.enable()

    def difference(self, mutant: str) -> str:
        """The changed lines."""
        bodies, name = self._function(mutant).bodies, mutant.rpartition(".")[2]
        lines = [*difflib.unified_diff(bodies[original_of(name)], bodies[name], n=0, lineterm="")][2:]
        return "".join(f"  {line[0]} {line[1:].strip()}\n" for line in lines if not line.startswith("@@"))

    def _function(self, mutant: str) -> Function:
        return self._functions[module_of(mutant)][function_of(mutant).rpartition(".")[2]]

    def _chosen(self, mutant: str) -> list[pytest.Item]:
        lines, by_line = self._function(mutant).changed(mutant.rpartition(".")[2]), self._coming[module_of(mutant)]
        coming = {test for line in lines for test in by_line.get(line, ()) if test in self._took}
        noticed, left = self._noticed[function_of(mutant)], self._seconds
        chosen = list[pytest.Item]()
        for test in sorted(coming, key=lambda one: (-noticed[one], self._took[one])):
            left -= self._took[test]
            if left > 0 or not chosen:
                chosen.append(self._items[test])
        return chosen

    def _is_sound(self, by: str, chosen: Sequence[pytest.Item]) -> bool:
        """Whether a test passes without the mutant that it noticed; one that doesn't is left out from now on."""
        if by not in self._items or self._sound[by] >= _SOUND:
            return True
        until = [one.nodeid for one in chosen].index(by) + 1
        pid, trial = self._begun("", chosen[:until])
        os.waitpid(pid, 0)
        failed = os.read(trial.pipe, 4096).decode()
        os.close(trial.pipe)
        self._sound[by] += not failed
        if failed:
            print(f"left out, since it fails when it is run again: {failed}", flush=True)  # noqa: T201 - a program's output
            self._took.pop(failed, None)
        return not failed

    def _begun(self, mutant: str, chosen: Sequence[pytest.Item]) -> tuple[int, Trial]:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._tried(mutant, chosen, writing)
        os.close(writing)
        expected = sum(self._took.get(one.nodeid, 0.0) for one in chosen)
        return pid, Trial(mutant=mutant, chosen=chosen, pipe=reading, until=time.monotonic() + 20 + _TIMES * expected)

    def _tried(self, mutant: str, chosen: Sequence[pytest.Item], writing: int) -> None:
        """In the child."""
        try:
            os.environ["MUTANT_UNDER_TEST"] = mutant
            os.setpgrp()
            self._session.config.pluginmanager.unregister(name="terminalreporter")
            signal.signal(signal.SIGALRM, partial(_too_long, writing))
            for item in chosen:
                signal.setitimer(signal.ITIMER_REAL, _LEAST_SECONDS + _TIMES * self._took.get(item.nodeid, 0.0))
                if self._fails([item]):
                    os.write(writing, item.nodeid.encode())
                    break
        except BaseException:  # noqa: BLE001 - whatever ends a test has noticed the mutant
            os.write(writing, b"error")
        finally:
            os._exit(0)

    def _fails(self, items: Sequence[pytest.Item]) -> bool:
        self._failed = False
        for item in items:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return self._failed


def _too_long(writing: int, *_: object) -> None:
    """End this child, whose test takes too long beside the mutant."""
    os.write(writing, b"timeout")
    os._exit(0)


def ended(running: dict[int, Trial]) -> dict[int, Trial]:
    """Wait until a child has ended, or has taken too long; gives those."""
    found = dict[int, Trial]()
    while running and not found:
        select.select([trial.pipe for trial in running.values()], [], [], 1.0)
        for pid, trial in running.items():
            if os.waitpid(pid, os.WNOHANG)[0]:
                found[pid] = trial
            elif time.monotonic() > trial.until:
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                os.close(trial.pipe)
                trial.pipe, writing = os.pipe()
                os.write(writing, b"timeout")
                os.close(writing)
                found[pid] = trial
    return found


def functions_of(module: str) -> dict[str, Function]:
    """The functions of a module that has mutants in it, by the name that mutmut gives them."""
    path = path_of(module)
    lines = path.read_text("utf-8").splitlines()
    found = defaultdict[str, Function](Function)
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and SEPARATOR in node.name:
            function = found[node.name.rpartition(SEPARATOR)[0]]
            last = node.end_lineno or node.lineno
            function.bodies[node.name] = lines[node.lineno : last]
            if node.name.endswith(ORIGINAL):
                function.first = node.lineno + 1
                # Whoever comes to the function comes to its signature.
                function.statements = [range(node.lineno, last + 1), *map(lines_of, ast.walk(node))]
                function.statements = [one for one in function.statements if one]
    return dict(found)


def lines_of(node: ast.AST) -> range:
    """The lines that a statement has by itself, without a body; none for other parts of code, and for a function."""
    if isinstance(node, ast.match_case):
        return range(node.pattern.lineno, max(node.body[0].lineno, node.pattern.lineno + 1))
    if isinstance(node, ast.Match):
        after = node.cases[0].pattern.lineno
    elif isinstance(node, BLOCKS):
        after = node.body[0].lineno
    elif isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        after = (node.end_lineno or node.lineno) + 1
    else:
        return range(0)
    return range(node.lineno, max(after, node.lineno + 1))


def original_of(mutant: str) -> str:
    """The name of the original function of a mutant in its module."""
    return mutant.rpartition(SEPARATOR)[0] + ORIGINAL


def function_of(mutant: str) -> str:
    """The function that a mutant changes."""
    return mutant.rpartition(SEPARATOR)[0]


def module_of(mutant: str) -> str:
    """The module that a mutant is in."""
    return mutant.rpartition(".")[0]


def path_of(module: str) -> Path:
    """Where a module stands in the copy."""
    return Path("src", *module.split(".")).with_suffix(".py").resolve()
