"""What tests can do with code that is in another process."""

import pytest

from wisen.evaluation.unit_tests import PythonTestsEvaluator
from wisen.records import ReflectionEvaluation, Task, Trace
from wisen.sandbox.sandbox import SandboxLimits

pytestmark = pytest.mark.anyio

CODE = """
import asyncio, datetime, math
from collections import Counter, namedtuple
from decimal import Decimal
from enum import IntEnum

class TooBigError(ValueError):
    def __init__(self, size):
        super().__init__(f"{size} is too big")
        self.size = size

class Stack:
    def __init__(self, *items): self.items = list(items)
    def push(self, item): self.items.append(item); return self
    def pop(self): return self.items.pop()
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __getitem__(self, at): return self.items[at]
    def __enter__(self): return self
    def __exit__(self, *error): self.items.clear()
    def __add__(self, other): return Stack(*self.items, *other.items)
    def __eq__(self, other): return True

class Colour(IntEnum):
    RED = 1

Point = namedtuple("Point", "x y")
LIMIT = 10
def sort(items): items.sort()
def same(items): return items
def grow(groups): groups["a"].append(3); groups["b"] = groups["a"]
def check(size):
    if size > LIMIT: raise TooBigError(size)
    return size
def apply(function, *args, **named): return function(*args, **named)
def values():
    return [1, -0.5, 2j, "x", b"y", (1, [2]), {1: {2}}, frozenset({3}), None, True, Decimal("0.10"), range(3),
            datetime.date(2024, 2, 29), datetime.timedelta(days=1), Counter("aab"), 10**5000]
def count():
    yield from (1, 2, 3)
async def later(): await asyncio.sleep(0); return 5
def stop(n): raise StopIteration
def called(target, operation): return target + operation
"""
TASK, TRACE = Task(prompt="write"), Trace(trace_id="t", purpose="write")


async def judged(*tests: str) -> ReflectionEvaluation:
    return await PythonTestsEvaluator(tests).evaluate(TASK, CODE, TRACE)


async def test_values_calls_and_objects():
    verdict = await judged(
        "items = [3, 1, 2]\nsort(items)\nassert items == [1, 2, 3]",
        "items = []\nassert same(items) is items",
        "groups = {'a': [1]}\ninner = groups['a']\ngrow(groups)\nassert inner == [1, 3] and groups['b'] is inner",
        "assert LIMIT == 10",
        "from decimal import Decimal\nfrom collections import Counter\nimport datetime\n"
        "assert values() == [1, -0.5, 2j, 'x', b'y',"
        " (1, [2]), {1: {2}}, frozenset({3}), None, True, Decimal('0.10'), range(3), datetime.date(2024, 2, 29),"
        " datetime.timedelta(days=1), Counter('aab'), 10**5000]",
        "stack = Stack(1).push(2)\nassert len(stack) == 2 and stack.pop() == 2",
        "stack = Stack(1)\nassert stack[0] == 1 and list(stack) == [1]",
        "stack = Stack(1)\nstack.items = [7]\nassert stack.items == [7] and isinstance(stack, Stack)",
        "with Stack(1) as stack:\n    assert len(stack) == 1\nassert len(stack) == 0",
        "assert list(Stack(1) + Stack(2)) == [1, 2]",
        "assert Point(1, 2) == (1, 2) and Point(1, 2).x == 1 and Colour.RED == 1 and Colour.RED + 1 == 2",
        "assert list(count()) == [1, 2, 3] and next(count()) == 1",
        "import asyncio\nassert asyncio.run(later()) == 5",
        "assert apply(lambda n: n + 1, 2) == 3 and apply(len, 'abc') == 3",
        "assert apply(max, [1, 2], key=lambda n: -n) == 1",
        "assert called(target=1, operation=2) == 3",
    )
    assert (verdict.issues, verdict.overall_score) == ((), 1.0)


async def test_errors_are_the_tests_to_catch():
    verdict = await judged(
        "try:\n    check(11)\n    assert False\nexcept ValueError as error:\n    assert str(error) == '11 is too big'",
        "try:\n    check(11)\n    assert False\nexcept TooBigError as error:\n    assert error.size == 11",
        "try:\n    apply(lambda: 1 / 0)\n    assert False\nexcept ZeroDivisionError:\n    pass",
        "import pytest\nwith pytest.raises(IndexError):\n    Stack().pop()",
    )
    assert (verdict.issues, verdict.overall_score) == ((), 1.0)


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("assert Stack(1) == Stack(1)", "only plain values can be compared"),
        ("try:\n    assert Stack(1) == 5\nexcept BaseException:\n    pass", "only plain values can be compared"),
        ("with Stack(1) as stack:\n    assert False, 'kept'", "kept"),
        ("assert 1 in Stack(1)", "only plain values can be compared"),
        ("assert Stack(1) - 5 or True", "only plain values can be compared"),
        ("class Own: pass\nsame(Own())", "plain values and functions"),
        ("assert sum([1, 2]) == 3", "uses nothing that the code defines"),
        ("assert list(map(stop, [1])) == []", "the code raised StopIteration"),
    ],
)
async def test_what_a_test_leaves_to_the_code_fails(test: str, why: str):
    verdict = await judged(test)
    assert verdict.overall_score == 0.0
    assert why in verdict.issues[0]


async def test_each_test_has_the_code_and_itself_afresh():
    code = "seen = []\ndef add(n): seen.append(n); return len(seen)"
    tests = ["import math\nmath.pi = 3\nassert add(1) == 1", "import math\nassert add(1) == 1 and math.pi > 3"]
    verdict = await PythonTestsEvaluator(tests).evaluate(TASK, code, TRACE)
    assert verdict.overall_score == 1.0


async def test_the_code_has_the_standard_library_and_no_installed_package():
    code = "def have(name):\n    __import__(name)\n    return True"
    tests = ["assert have('sqlite3') and have('asyncio') and have('decimal')", "have('pydantic')"]
    verdict = await PythonTestsEvaluator(tests).evaluate(TASK, code, TRACE)
    assert (verdict.overall_score, len(verdict.issues)) == (0.5, 1)
    assert "No module named 'pydantic'" in verdict.issues[0]


async def test_the_code_cannot_see_what_a_test_holds():
    code = """
import gc
word = "eldeen"
def look(): return [each for each in gc.get_objects() if isinstance(each, (tuple, list)) and word[::-1] in each]
"""
    tests = ["hidden = ['needle']\nassert look() == []", "assert look() == []"]
    assert (await PythonTestsEvaluator(tests).evaluate(TASK, code, TRACE)).overall_score == 1.0


async def test_isolation_can_be_required():
    limits = SandboxLimits(wall_seconds=10)
    evaluator = PythonTestsEvaluator(["assert add(1) == 1"], limits=limits, require_isolation=True)
    assert (await evaluator.evaluate(TASK, "def add(n): return n", TRACE)).verifiable
