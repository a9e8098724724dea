"""Code is judged by tests that it can't talk its way out of."""

import pytest
from inline_snapshot import snapshot

from wisen.errors import ConfigError
from wisen.evaluation.unit_tests import PythonTestsEvaluator, code_of
from wisen.records import Task, Trace
from wisen.sandbox.sandbox import SandboxLimits

pytestmark = pytest.mark.anyio

TASK = Task(prompt="write add")
TRACE = Trace(trace_id="t", purpose="write add")
RIGHT = "def add(a, b):\n    return a + b\n"
TESTS = ["assert add(1, 2) == 3", "assert add(0, 0) == 0"]


async def test_right_code_passes():
    verdict = await PythonTestsEvaluator(TESTS).evaluate(TASK, f"Here:\n\n```python\n{RIGHT}```\nDone.", TRACE)
    assert (verdict.overall_score, verdict.satisfactory, verdict.issues, verdict.verifiable) == (1.0, True, (), True)


async def test_the_score_is_the_share_of_passed_tests_and_issues_name_the_others():
    tests = [*TESTS, "assert add('a', 'b') == 'ab', 'text too'", "add(1)"]
    verdict = await PythonTestsEvaluator(tests).evaluate(TASK, "def add(a, b): return int(a) + b", TRACE)
    assert (verdict.overall_score, verdict.satisfactory) == (0.5, False)
    assert verdict.issues == snapshot(
        (
            "assert add('a', 'b') == 'ab', 'text too': ValueError: invalid literal for int() with base 10: 'a'",
            "add(1): TypeError: add() missing 1 required positional argument: 'b'",
        )
    )


async def test_all_or_nothing():
    evaluator = PythonTestsEvaluator([*TESTS, "assert False"], partial=False)
    assert (await evaluator.evaluate(TASK, RIGHT, TRACE)).overall_score == 0.0


async def test_a_script_is_split_into_tests():
    script = """
expected = 3
assert add(1, 2) == expected
expected = 4
assert add(1, 2) == expected

def test_zero():
    assert add(0, 0) == 0

def test_wrong():
    assert add(0, 0) == 1, "zero"
"""
    verdict = await PythonTestsEvaluator(script).evaluate(TASK, RIGHT, TRACE)
    assert verdict.overall_score == 0.5
    assert verdict.issues == snapshot(
        ("assert add(1, 2) == expected: AssertionError", "test_wrong: AssertionError: zero")
    )


async def test_the_entry_has_to_be_defined_and_is_the_candidate():
    evaluator = PythonTestsEvaluator(["assert candidate(1, 2) == 3"], entry="add")
    assert (await evaluator.evaluate(TASK, RIGHT, TRACE)).satisfactory
    assert (await evaluator.evaluate(TASK, "def sum(a, b): ...", TRACE)).issues == snapshot(
        ("assert candidate(1, 2) == 3: NameError: the code doesn't define add",)
    )


CHEATS = {
    "exit": "import sys\nsys.exit(0)",
    "hard exit": "import os\nos._exit(0)",
    "exit when called": "import os\ndef add(a, b): os._exit(0)",
    "prints": "print('passed', '0 failed', [0, ''])\ndef add(a, b): return 7",
    "changed builtins": (
        "import builtins\nbuiltins.AssertionError = ValueError\nbuiltins.exec = lambda *a: None\n"
        "builtins.compile = lambda *a, **k: None\ndef add(a, b): return 7"
    ),
    "changed os and json": (
        "import os, json\nos.write = os._exit = os.fork = os.waitpid = lambda *a: 0\n"
        "json.dumps = lambda *a: '[0, \"\"]'\ndef add(a, b): return 7"
    ),
    "writes to every pipe": (
        "import os\nfor fd in range(3, 60):\n    try: os.write(fd, b'\"\"')\n    except OSError: pass\n"
        "def add(a, b): os._exit(0)"
    ),
    "kills its parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\ndef add(a, b): return 7",
    "swallows": "import sys\nsys.excepthook = sys.settrace = lambda *a: None\ndef add(a, b): return 7",
    "forks": "import os\nif os.fork() == 0: os._exit(0)\ndef add(a, b): return 7",
    "closes everything": "import os\nos.closerange(0, 100)\ndef add(a, b): return 7",
    "syntax error": "def add(a, b) return",
    "recursion": "def add(a, b): return add(a, b)",
    "nothing": "",
    "surrogate": "\ud800",
}


@pytest.mark.parametrize("code", CHEATS.values(), ids=CHEATS.keys())
async def test_wrong_code_does_not_pass(code: str):
    verdict = await PythonTestsEvaluator(TESTS).evaluate(TASK, code, TRACE)
    assert verdict.overall_score == 0.0
    assert len(verdict.issues) == len(TESTS)


async def test_with_an_entry_the_code_cannot_hide_builtins_from_the_tests():
    tests = ["assert all(candidate(n, 1) == n + 1 for n in range(3))"]
    evaluator = PythonTestsEvaluator(tests, entry="add")
    cheat = "def all(values): return True\ndef add(a, b): return 7"
    assert not (await evaluator.evaluate(TASK, cheat, TRACE)).satisfactory
    honest = "def all(values): return True\ndef add(a, b): return a + b if all([]) else 0"
    assert (await evaluator.evaluate(TASK, honest, TRACE)).satisfactory


async def test_an_endless_test_does_not_take_the_others_along():
    code = "def add(a, b):\n    while a == 0: pass\n    return a + b"
    limits = SandboxLimits(cpu_seconds=1, wall_seconds=20)
    verdict = await PythonTestsEvaluator(TESTS, limits=limits).evaluate(TASK, code, TRACE)
    assert (verdict.overall_score, len(verdict.issues)) == (0.5, 1)


async def test_the_wall_limit_fails_what_has_not_run():
    limits = SandboxLimits(wall_seconds=1)
    code = "import time\ndef add(a, b):\n    time.sleep(600 * (a == 0))\n    return a + b"
    verdict = await PythonTestsEvaluator(TESTS, limits=limits).evaluate(TASK, code, TRACE)
    assert verdict.issues == snapshot(("assert add(0, 0) == 0: stopped at the limit of wall",))


@pytest.mark.parametrize("tests", ["", "x = 1", [], "assert (", ["assert ("]])
async def test_tests_that_are_none_are_refused(tests: str | list[str]):
    with pytest.raises(ConfigError, match="tests"):
        PythonTestsEvaluator(tests)


async def test_which_block_is_the_code():
    text = "```python\nadd(1, 2)\n# how it is called, at length\n```\n```py\ndef add(a, b): ...\n```\n```sh\nls\n```"
    assert code_of(text, "add") == "def add(a, b): ...\n"
    assert code_of(text) == "add(1, 2)\n# how it is called, at length\n"
    assert code_of("x = 1") == "x = 1"
    assert code_of("```json\n{}\n```") == "```json\n{}\n```"
