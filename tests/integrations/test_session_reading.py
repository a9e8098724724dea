"""What a coding session's transcript counts for."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from session_files import Ran, rollout

from wisen.integrations.session_outcomes import (
    TurnOutcome,
    is_correction,
    outcome_by_checks,
    outcome_by_next,
    outcome_by_revert,
)
from wisen.trace_import.coding_sessions import read_session
from wisen.trace_import.session_turns import SessionTurn


def turn(path: Path, *calls: Ran) -> SessionTurn:
    return read_session(rollout(path / "r.jsonl", ("mend it", calls))).turns[0]


@pytest.mark.parametrize(
    ("calls", "score"),
    [
        ([("pytest -q", 1, "no"), ("pytest -q", 0, "")], 1.0),
        ([("pytest -q", 0, ""), ("ruff check .", 1, "no")], 0.0),
        ([("uv run ruff check src", 0, "")], 1.0),
        ([("npm run build", 0, "")], None),
        ([("npm test", 0, "")], 1.0),
        ([("make clean", 1, "no")], None),
        ([("cat pytest.ini", 0, "")], None),
        ([], None),
    ],
)
def test_checks_decide_by_their_last_run(tmp_path: Path, calls: Sequence[Ran], score: float | None) -> None:
    found = outcome_by_checks(turn(tmp_path, *calls))
    assert found == (None if score is None else TurnOutcome(kind="checked", score=score))
    assert found is None or found.verified


@pytest.mark.parametrize(
    ("following", "kind", "score"),
    [
        ("No, the other table", "corrected", 0.0),
        ("That\u2019s wrong: it is the second", "corrected", 0.0),
        ("Mend  the report.", "again", 0.0),
        ("Now write the page", "went_on", 1.0),
        ("Nothing else; notes next", "went_on", 1.0),
    ],
)
def test_the_next_prompt_says_something_of_the_one_before(following: str, kind: str, score: float) -> None:
    found = outcome_by_next("mend the report", following)
    assert (found.kind, found.score, found.verified) == (kind, score, False)
    assert is_correction(following) is (kind == "corrected")


def test_work_that_is_taken_back_was_not_good(tmp_path: Path) -> None:
    for command in ("git revert HEAD", "git checkout -- a.py", "git restore a.py", "git reset --hard"):
        found = outcome_by_revert(turn(tmp_path, (command, 0, "")))
        assert found is not None
        assert (found.score, found.verified) == (0.0, False)
    assert outcome_by_revert(turn(tmp_path, ("git checkout main", 0, ""), ("git revert HEAD", 1, "no"))) is None
