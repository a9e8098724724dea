"""The examples run as they are."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def output_of(example: str) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / example)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wrapped_agent_learns() -> None:
    lines = output_of("wrap_your_agent.py").splitlines()
    assert lines[0] == "291 km after 2 attempts"
    assert lines[1].startswith("105 km after 1 attempt")
    assert any("lesson because of" in line for line in lines[2:])


def test_an_agent_of_ones_own_keeps_to_the_protocol() -> None:
    lines = output_of("keep_reflections.py").splitlines()
    assert [line for line in lines if not line.startswith("  ")] == [
        "first try: 503",
        "# Reflection: 2026-03-01 - scraper - read the prices of a shop",
        "retry: 12.50, on the second look",
        "another task, 1 report in its brief: sold-out",
        "that is no report",
        "no other task before the report",
    ]


@pytest.mark.local_model
def test_local_model_routes_tickets() -> None:
    lines = output_of("route_tickets.py").splitlines()
    assert len(lines) == 9
    assert all("attempt(s)" in line for line in lines)
