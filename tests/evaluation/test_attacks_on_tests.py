"""No answer passes tests by anything but solving them: each file in `attacks` is one that tries."""

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import wisen
from wisen.evaluation.unit_tests import PythonTestsEvaluator
from wisen.records import ReflectionEvaluation, Task, Trace
from wisen.sandbox.sandbox import SandboxLimits

pytestmark = pytest.mark.anyio

ATTACKS = sorted((Path(__file__).parent / "attacks").glob("*.py"))
FULL = ("processes", "network", "files", "calls")
TASK = Task(prompt="write solve")
TRACE = Trace(trace_id="t", purpose="write solve")
PLACES = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path.cwd(), Path.home(), Path(os.__file__).parent)  # noqa: S108 - where attacks leave things
LIMITS = SandboxLimits(cpu_seconds=1, wall_seconds=6, memory_bytes=256 << 20, processes=24)
TESTS = [
    "assert candidate(3) == 41729",
    "got = candidate(4)\nassert not got != 90210",
    "assert abs(candidate(5) - 7.25) < 1e-9",
    "import math\nassert math.isclose(candidate(6), 1234.5)",
    "assert math.isclose(candidate(6), 1234.5)",
    "assert candidate(7) in {11, 13}",
    "assert [candidate(n) for n in range(3)] == [5, 8, 2]",
    "assert all(map(lambda n: candidate(n) == n + 1000, range(3)))",
    "assert sum(1 for n in range(3) if candidate(n) == 77) == 3",
    "with candidate(10) as opened:\n    assert opened == 31337",
    "assert sorted(candidate(11)) == [4, 6]",
    "import json\nassert json.dumps(candidate(12)) == '[1, 2]'",
    "assert {candidate(13): 1}.get(999) == 1",
    "try:\n    assert candidate(14) == 86\nexcept (ValueError, ZeroDivisionError):\n    pass",
    "def expected(n):\n    return n * 31 % 17\nassert candidate(expected) == 62",
]


def mechanism(attack: Path) -> str:
    return attack.read_text().splitlines()[0].removeprefix("# mechanism: ")


def marker_of(attack: Path) -> str:
    return f"wisen-attack-{os.getpid()}-{attack.stem}"


def answer_of(attack: Path) -> str:
    return attack.read_text().replace("MARKER", marker_of(attack))


def asked_of(attack: Path) -> str | list[str]:
    """The attack's own tests, where it brings some."""
    own = attack.with_suffix(".tests")
    return own.read_text().replace("MARKER", marker_of(attack)) if own.exists() else TESTS


async def judged(attack: Path) -> ReflectionEvaluation:
    tests = asked_of(attack)
    evaluator = PythonTestsEvaluator(tests, entry="solve" if tests is TESTS else None, limits=LIMITS)
    return await evaluator.evaluate(TASK, answer_of(attack), TRACE)


def left_behind(marker: str) -> list[str]:
    """Files and processes that are named after a run."""
    found = [str(path) for place in PLACES for path in place.glob(f"*{marker}*")]
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [str(path)] if marker.encode() in path.read_bytes() else []
        except OSError:
            continue
    return found


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda path: path.stem)
async def test_no_attack_passes_a_test_or_leaves_anything_behind(attack: Path):
    verdict = await judged(attack)
    assert verdict.isolation == FULL
    assert (verdict.satisfactory, verdict.verifiable) == (False, True), verdict.issues
    assert verdict.overall_score == 0 or attack.with_suffix(".tests").exists(), verdict.issues
    assert left_behind(marker_of(attack)) == []


def judged_elsewhere(mode: str) -> list[dict[str, Any]]:
    """The verdicts on all attacks by a process that runs as somebody else, or under a kernel that grants nothing."""
    script = Path(__file__).parents[1] / "support/attacked.py"
    places = os.pathsep.join([str(Path(wisen.__file__).parents[1]), *filter(None, sys.path)])
    run = subprocess.run(
        [sys.executable, "-X", "utf8", str(script), str(ATTACKS[0].parent), json.dumps(TESTS), mode],
        env={**os.environ, "PYTHONPATH": places}, capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    verdicts = [json.loads(line) for line in run.stdout.splitlines()]
    assert sorted(verdict["attack"] for verdict in verdicts) == [attack.stem for attack in ATTACKS]
    return verdicts


def test_no_attack_passes_where_nobody_runs_it():
    for verdict in judged_elsewhere("nobody"):
        assert verdict["user"] != 0
        assert tuple(verdict["isolation"]) == FULL, verdict
        assert (verdict["satisfactory"], verdict["verifiable"]) == (False, True), verdict
        assert verdict["overall_score"] == 0 or verdict["own_tests"], verdict


def test_nothing_is_verified_where_the_kernel_grants_no_isolation():
    for verdict in judged_elsewhere("without"):
        assert (verdict["isolation"], verdict["verifiable"]) == ([], False), verdict


@pytest.mark.parametrize(
    "code",
    [
        'x = "\udc80\ud800"', 'x = "a\0b"', "x = " + "(" * 200_000, "x = " + "-" * 300_000 + "1",
        "x = lambda: a" + ".b" * 300_000, "x = " + "+".join(["1"] * 300_000), "```python\n" * 300_000, "`" * 1_000_000,
        "x = " + "9" * 1_000_000, "x = [1, 2, 3, 4]\n" * 100_000,
    ],
    ids=["surrogates", "null", "brackets", "signs", "attributes", "sum", "fences", "ticks", "digits", "lines"],
)  # fmt: skip
async def test_a_text_that_breaks_readers_fails_and_no_more(code: str):
    answer = f"```python\ndef solve(n): return n\n{code}\n```"
    verdict = await PythonTestsEvaluator(TESTS, entry="solve", limits=LIMITS).evaluate(TASK, answer, TRACE)
    assert (verdict.satisfactory, verdict.isolation) == (False, FULL)


async def test_two_runs_at_once_find_nothing_of_each_other():
    code = (Path(__file__).parent / "attacks/meets_another_run.txt").read_text()
    pairs = [("a", "b"), ("b", "a")]
    runs = [PythonTestsEvaluator(f"assert double_sorted({me!r}) == [{other!r}]") for me, other in pairs]
    for verdict in await asyncio.gather(*(run.evaluate(TASK, code, TRACE) for run in runs)):
        assert (verdict.satisfactory, verdict.verifiable) == (False, True), verdict.issues


async def test_nothing_of_a_test_is_left_for_the_next():
    code = """
import os, pathlib, time
def leave():
    for place in ("/tmp/x-note", "/dev/shm/note"): pathlib.Path(place).touch()
    return os.fork() or time.sleep(99)
def find(): return os.listdir("/tmp") + os.listdir("/dev/shm")
def alive(): return [n for n in range(3, 99) if n != os.getpid() and lives(n)]
def lives(n):
    try: os.kill(n, 0)
    except OSError: return False
    return True
"""
    tests = ["assert leave() > 2", "assert find() == []", "assert alive() == []"]
    verdict = await PythonTestsEvaluator(tests, limits=LIMITS).evaluate(TASK, code, TRACE)
    assert (verdict.overall_score, verdict.issues) == (1.0, ())


def test_there_are_attacks_of_many_mechanisms():
    assert len(ATTACKS) >= 70
    assert all(re.match("# mechanism: .", attack.read_text()) for attack in ATTACKS)
    assert len(set(map(mechanism, ATTACKS))) >= 12


async def test_the_solution_itself_passes():
    answers = {3: 41729, 4: 90210, 5: 7.25, 6: 1234.5, 7: 13, 11: (6, 4), 12: [1, 2], 13: 999, 14: 86}
    code = f"def solve(n): return n(2) if callable(n) else {answers!r}[n]"
    tests = [test for test in TESTS if "range" not in test and "with" not in test and "expected" not in test]
    verdict = await PythonTestsEvaluator(tests, entry="solve").evaluate(TASK, code, TRACE)
    assert (verdict.overall_score, verdict.issues, verdict.verifiable) == (1.0, (), True)
