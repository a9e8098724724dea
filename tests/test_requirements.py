"""Each row of the tables of requirements names code and a test that exist; every section of every source has rows."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from documented import found, is_test
from requirements import FOLDER, all_rows, rows, summary

ROWS = all_rows()
SECTIONS = {
    1: """modes, pattern 1, pattern 2, pattern 3, pattern 4, pattern 5, pattern 6, pattern 7, pattern 8, strengths,
          weaknesses, module, constructor, methods, prompts""",
    2: """signature, base, max_attempts, threshold, evaluator_prompt, reflector_prompt, lessons_block_name,
          lesson_store, top_k_lessons, declared_workers, run, cost, when it pays, example, note""",
    3: "1, 2, 3a, 3b, 3c, 3d, 4, 5, 6, 7, 8",
    4: """1, 2.1.1, 2.1.2, 2.2, 2.3, 2.4.1, 2.4.2, 2.4.3, 2.5.1, 2.5.2, 2.6.1, 2.6.2, 2.7.1, 2.7.2,
          3.1, 3.2, 3.3, 3.4, 4.1, 4.2, 4.3, 4.4, 5.1, 5.2, 5.3, 6, 7""",
    5: """idea, categories, prompt, schema, class, constructor, reflect, skills, failures, policies, observations,
          numbers, summary""",
}
"""The sources' tables of contents, as one reads them."""
EVERY = {number: [" ".join(one.split()) for one in said.split(",")] for number, said in SECTIONS.items()}


def listed() -> Iterator[Any]:
    for row in ROWS:
        yield pytest.param(row, id=f"{row.source} {row.section} {row.what}")


@pytest.mark.parametrize("row", list(listed()))
def test_row_points_to_code_and_test(row: Any) -> None:
    found(f"wisen.{row.code}")
    assert is_test(row.test)


@pytest.mark.parametrize("source", list(EVERY))
def test_every_section_has_rows_and_no_row_another_section(source: int) -> None:
    assert {row.section for row in ROWS if row.source == source} == set(EVERY[source])


def test_nothing_is_listed_twice() -> None:
    counted = Counter((row.source, row.section, row.what.casefold()) for row in ROWS)
    assert [row for row, times in counted.items() if times > 1] == []


def test_the_index_counts_the_rows() -> None:
    counted = Counter((row.source, row.differs is None) for row in ROWS)
    assert summary((FOLDER / "index.md").read_text("utf-8")) == {
        source: (counted[source, True], counted[source, False]) for source in EVERY
    }


@pytest.mark.parametrize(
    "line",
    [
        "| 2 | says what it wants | `agent.Agent` |",
        "| 2 | says what it wants | `agent.Agent` | so it is |",
        "| 2 | says what it wants | does it otherwise | `agent.Agent` | `test_import.py::test_x` |",
    ],
)
def test_a_line_that_is_no_row_is_noticed(line: str) -> None:
    with pytest.raises(ValueError, match="not a row of"):
        list(rows(f"# 1. A source\n| § | … |\n|---|---|\n{line}"))


def test_a_row_that_points_to_nothing_is_noticed() -> None:
    with pytest.raises((ImportError, AttributeError)):
        found("wisen.reflection_pattern.pattern.ReflectionPattern.forget")
    assert not is_test("test_requirements.py::test_that_nobody_wrote")
    with pytest.raises(OSError, match="test_nowhere"):
        is_test("test_nowhere.py::test_that_nobody_wrote")


TAKEN = """
from wisen.evaluation import judge
from wisen.retroformer import prompt, retroformer
from take_away import take_away

take_away("trace_text.summary")
try:
    prompt.summary(None)
except RuntimeError as error:
    print(error)
take_away("retroformer.prompt.RETROSPECTION_PROMPT")
print(repr(retroformer.RETROSPECTION_PROMPT))
take_away("evaluation.judge.JudgeEvaluator")
try:
    judge.JudgeEvaluator()
except RuntimeError as error:
    print(error)
"""


def test_what_is_taken_away_is_gone_wherever_it_was_imported() -> None:
    tools = str(FOLDER.parents[2] / "tools")
    done = subprocess.run([sys.executable, "-c", TAKEN], cwd=tools, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["this code was taken away", "''", "this code was taken away"]
