"""Each line that docs/reference/where.md names decides what the page says: broken, its test fails."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import wisen

TESTS = Path(__file__).parent
SOURCE = Path(wisen.__file__).parent
PAGE = TESTS.parent / "docs" / "reference" / "where.md"
SECONDS = 25
"""What hangs without its line has noticed."""
BROKEN = {
    "screening/cleaning.py": 'redacted = redact("", tuple(detectors))',
    "memory_ci/circles.py": 'sinks = find_sinks("")',
    "stores/sqlite/cards.py": '"INSERT INTO nowhere ("',
    "stores/index/ranking.py": "return self.same | (relevance >= 0)",
    "account/draws.py": "shown = True",
    "memory_ci/verdicts.py": "if False:",
    "models/advised.py": "section = []",
    "account/attempt_score.py": "return evaluation.overall_score > threshold",
    "reflexion/loop.py": "for event in ():",
    "architectures/selection.py": "return attempts[-1]",
    "deadlines.py": "left = 1e6",
    "models/journaled.py": "return await self.wrapped.request(messages, settings, parameters)",
    "queue/leases.py": "taken = 0",
    "claims/normal_form.py": "return text",
}
"""What stands in the place of each file's line."""


class Row(NamedTuple):
    question: str
    file: str
    line: str
    test: str


def rows() -> list[Row]:
    cells = [
        re.split(r"(?<!\\)\|", line)[1:-1] for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")
    ]
    return [Row(*(cell.strip().strip("`").replace("\\|", "|") for cell in row)) for row in cells[2:]]


def test_each_question_has_its_line() -> None:
    assert len(rows()) >= 14
    assert {row.file for row in rows()} == set(BROKEN)
    for row in rows():
        assert (SOURCE / row.file).read_text("utf-8").count(row.line) == 1, row.question


BREAKS = pytest.mark.skipif("WISEN_WHERE" not in os.environ, reason="not run here: lines are broken by make where")


@BREAKS
@pytest.mark.parametrize("row", rows(), ids=lambda row: row.file)
def test_a_broken_line_is_noticed(row: Row, tmp_path: Path) -> None:
    assert run_with(row, BROKEN[row.file], tmp_path) != "passed"


@BREAKS
def test_an_unbroken_copy_passes(tmp_path: Path) -> None:
    row = next(row for row in rows() if row.file == "account/attempt_score.py")
    assert run_with(row, row.line, tmp_path) == "passed"


def run_with(row: Row, line: str, folder: Path) -> str:
    """What becomes of the row's test on a copy of the package in which `line` stands in the place of its line."""
    shutil.copytree(SOURCE, folder / "wisen", ignore=shutil.ignore_patterns("__pycache__"))
    changed = folder / "wisen" / row.file
    changed.write_text(changed.read_text("utf-8").replace(row.line, line), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", TESTS / row.test]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    try:
        done = subprocess.run(
            command, cwd=TESTS.parent, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    assert done.returncode in (0, 1), f"{row.test} didn't run: {done.stdout[-500:]}{done.stderr[-500:]}"
    return "passed" if done.returncode == 0 else "failed"
