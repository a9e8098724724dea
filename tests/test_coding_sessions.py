"""Sessions of a coding agent, through its hooks: lessons reach it before the call that fails, and it fails less."""

import re
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "coding_sessions.py"
SESSIONS = 24
"""Each kind twice: a new lesson isn't held out of the first sessions after the one that taught it."""


def test_lessons_come_in_time_and_failures_become_fewer() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--sessions", str(SESSIONS), "--seed", "11", "--details"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\| ([^|]+?) \| (\d+) \| [^|]+ \| ([\d.]+)% ", done.stdout, re.MULTILINE)
    repeated = {arm: (int(failures), float(told)) for arm, failures, told in rows}
    assert [*repeated] == ["without wisen", "wisen, all defaults", "all lessons at the prompt"]
    assert repeated["without wisen"][1] == 0.0
    assert repeated["wisen, all defaults"][1] == repeated["all lessons at the prompt"][1] == 100.0
    assert repeated["wisen, all defaults"][0] < repeated["without wisen"][0]
    for lesson in ("`APP_ENV=ci ./run-tests unit`", "after `python3 make_schema.py`", "`cd app && sh build.sh all`"):
        assert f"{lesson} | right |" in done.stdout
