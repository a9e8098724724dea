"""The reference's usage runs, and each row of the page's table of behaviours names code and a test that exist."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from documented import found, is_test

from wisen import HashEmbedder, InMemoryVectorStore, ScriptedModel, Trace, TraceEvent
from wisen.cards import MemoryStatus
from wisen.reflection.retroformer import RETROSPECTION_PROMPT

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "retroformer.md"
ROW = re.compile(r"^\| (?P<what>.+) \| (?P<how>(?:kept|other).*) \| `(?P<code>[\w.]+)` \| `(?P<test>[\w/.]+::\w+)` \|$")


@pytest.mark.anyio
async def test_usage_example() -> None:
    from wisen import MemoryCI, Retroformer

    everything: dict[str, Any] = {
        "skills": [{"pattern": "A {table}", "strategy": "Read it row by row.", "steps": []}],
        "failures": [],
        "policies": [{"tool": "fetch", "constraint": "Look at the status first."}],
        "observations": [],
    }
    model = ScriptedModel([json.dumps(everything)])
    ci = MemoryCI(InMemoryVectorStore(embedder=HashEmbedder()))
    action = TraceEvent(kind="action", step=1, at=0.0, data={"name": "fetch", "params": {}, "thought": "First look."})
    trace = Trace(trace_id="t-1", purpose="Read the table.", events=(action,))

    retro = Retroformer(model, memory_ci=ci)

    # After each task:
    memories = await retro.reflect(trace)

    assert [card.status for card in memories] == [MemoryStatus.QUARANTINED] * 2
    assert [card.provenance.trace_id for card in memories] == ["t-1", "t-1"]
    told = retro.reflections[0]
    assert (told.trace_id, told.skills, told.failures, told.policies, told.total_cards) == ("t-1", 1, 0, 1, 2)


@pytest.mark.parametrize("asked", ["skills", "failures", "policies", "observations", "in braces"])
def test_prompt_asks_for_what_the_reference_asks(asked: str) -> None:
    assert asked in RETROSPECTION_PROMPT


def rows() -> Iterator[Any]:
    lines = PAGE.read_text("utf-8").partition("## What is as in the reference")[2].splitlines()
    for line in [line for line in lines if line.startswith("|")][2:]:
        yield pytest.param(line, id=line.split("|")[1].strip())


@pytest.mark.parametrize("line", list(rows()))
def test_row_points_to_code_and_test(line: str) -> None:
    row = ROW.match(line)
    assert row, f"not a row of behaviour, kept or other, code and test: {line}"
    assert row["how"].startswith("kept") or len(row["how"]) > 20, "a difference needs its reason"
    found(f"wisen.{row['code']}")
    assert is_test(row["test"])


def test_a_row_that_points_to_nothing_is_noticed() -> None:
    with pytest.raises((ImportError, AttributeError)):
        found("wisen.reflection.retroformer.Retroformer.forget")
