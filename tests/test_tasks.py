"""A task is checked whole when it is made: what couldn't be judged, kept or sent is refused in one line."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wisen import InMemoryVectorStore, MarkdownStore, RunRecord, SQLiteVectorStore, Task
from wisen.errors import ConfigError

CIRCLE: dict[str, object] = {}
CIRCLE["again"] = CIRCLE
HALF = "holds half of a surrogate pair, which can't be kept or sent"
LIST = "which JSON can't hold; pass value.tolist()"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("prompt", None, "Task(prompt=None): must be a text, not NoneType"),
        ("prompt", b"bytes", "Task(prompt=b'bytes'): must be a text, not bytes"),
        ("prompt", "\ud800", f"Task(prompt=…): {HALF}"),
        ("id", 7, "Task(id=7): must be a text, not int"),
        ("type", None, "Task(type=None): must be a text, not NoneType"),
        ("type", "\udfff", f"Task(type=…): {HALF}"),
        ("tenant", 3, "Task(tenant=3): must be a text, not int"),
        ("tenant", None, "Task(tenant=None): must be a text, not NoneType"),
        ("reference", 5, "Task(reference=5): must be a text, not int"),
        ("reference", np.int64(5), "Task(reference=np.int64(5)): must be a text, not numpy.int64"),
        ("tools", "search", "Task(tools='search'): must be several texts, such as ('search',)"),
        ("tools", None, "Task(tools=None): must be several texts, not NoneType"),
        ("choices", (1, 2), "Task(choices[0]=1): must be a text, not int"),
        ("choices", {"a"}, "Task(choices={'a'}): must be several texts, not set"),
        ("choices", ["\ud800"], f"Task(choices[0]=…): {HALF}"),
        ("metadata", None, "Task(metadata=None): must be a mapping, not NoneType"),
        ("metadata", [1], "Task(metadata=[1]): must be a mapping, not list"),
        ("metadata", {1: 2}, "Task(metadata=…): the key 1 must be a text, not int"),
        ("metadata", {"a": {"\ud800": 2}}, f"Task(metadata=…): ['a'] the key '\\ud800' {HALF}"),
        ("metadata", {"n": np.int64(5)}, f"Task(metadata=…): ['n'] is of type numpy.int64, {LIST}"),
        ("metadata", {"n": [0, np.zeros(2)]}, f"Task(metadata=…): ['n'][1] is of type numpy.ndarray, {LIST}"),
        ("metadata", {"n": float("nan")}, "Task(metadata=…): ['n'] is nan, and JSON has finite numbers only"),
        ("metadata", {"n": {1}}, "Task(metadata=…): ['n'] is of type set, which JSON can't hold"),
        ("metadata", {"n": "\ud800"}, f"Task(metadata=…): ['n'] {HALF}"),
        ("metadata", CIRCLE, "Task(metadata=…): is nested too deeply, or refers to itself"),
    ],
)  # fmt: skip
def test_what_is_no_task_is_refused_in_one_line(field: str, value: object, said: str) -> None:
    given: dict[str, Any] = {"prompt": "Count the chairs.", field: value}
    with pytest.raises(ConfigError) as caught:
        Task(**given)
    assert str(caught.value) == said


def test_a_long_value_is_shortened_and_stays_on_one_line() -> None:
    with pytest.raises(ConfigError) as caught:
        Task(prompt=["line\nbreak"] * 1000)  # type: ignore[arg-type] - what is tested
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 120


def test_lists_of_texts_are_taken_as_tuples() -> None:
    tools = ["search"]
    task = Task(prompt="Count.", tools=tools, choices=["a", "b"])  # type: ignore[arg-type] - what is tested
    tools.append("delete")
    assert task == Task(prompt="Count.", tools=("search",), choices=("a", "b"))


@pytest.fixture(params=["memory", "sqlite", "markdown"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    made = {
        "memory": InMemoryVectorStore,
        "sqlite": lambda: SQLiteVectorStore(tmp_path / "a.db"),
        "markdown": lambda: MarkdownStore(tmp_path / "notes"),
    }[request.param]()
    yield made
    await made.close()


@pytest.mark.anyio
async def test_every_task_that_is_taken_can_be_kept(store: Any) -> None:
    """Values of subclasses of Python's own types among them, which come back as these."""
    metadata = {"a": [1, 2.5, None, True, {"deep": ("x",)}], "n": np.float64(2.5), "t": np.str_("text")}
    task = Task(prompt="Count.", reference=np.str_("five"), id="7", metadata=metadata)
    await store.save_run(RunRecord(run_id="r", task=task))
    kept = (await store.run("r")).task
    assert kept.reference == "five"
    assert kept.metadata["n"] == 2.5
    assert kept.metadata["t"] == "text"
