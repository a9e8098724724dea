"""Records of runs for a store that looks lived in: attempts, scores, what was recalled and why, what it cost."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

from wisen.cards import MemoryCard
from wisen.records import (
    AttemptRecord,
    Injection,
    LeftOut,
    ReflectionEvaluation,
    RunRecord,
    RunStatus,
    Task,
    TokenUsage,
)
from wisen.trial_records import OpenDraw

MODEL, LAYOUT, AGENT = "openai:gpt-5", "episodes-as-turns", "back office"
CHECK = "ledger check"
_AGAIN = 0.55
"""How often another attempt of a failed run is good."""
_ISSUES = (
    "the code isn't in the ledger",
    "the date isn't in ISO form",
    "the total is off by a cent",
    "no reference is given",
)
_TOOLS = ("ledger", "price_list", "calendar", "mail")


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """A card that takes part in a run, and what its coin said."""

    card: MemoryCard
    head: str
    """The card that stands for its idea."""
    draw: OpenDraw


@dataclass(frozen=True, kw_only=True)
class Happened:
    """What a run was about, and what became of it."""

    run_id: str
    task: Task
    at: datetime
    recalled: Sequence[Recalled]
    good: bool | None
    """Of the first attempt; `None` where the judge was down."""
    taught: MemoryCard | None = None
    over: bool = True


def run_record(draw: Random, happened: Happened) -> RunRecord:
    """The record of a run. What the first attempt fails at, the next ones may mend."""
    attempts = [_attempt(draw, happened, 1, happened.good)]
    while happened.good is False and attempts[-1].attempt < 3 and not _passed(attempts[-1]):  # noqa: PLR2004 - at most
        attempts.append(_attempt(draw, happened, attempts[-1].attempt + 1, draw.random() < _AGAIN))
    if not happened.over:
        attempts = attempts[:1]
    last = attempts[-1].evaluation
    usage = sum((one.usage for one in attempts), start=TokenUsage())
    return RunRecord(
        run_id=happened.run_id,
        task=happened.task,
        agent=AGENT,
        architecture="reflexion(react)",
        model=MODEL,
        status=_status(happened, passed=_passed(attempts[-1])),
        output=attempts[-1].output if happened.over else "",
        score=last.overall_score if last and happened.over else None,
        attempts=tuple(attempts),
        usage=usage,
        turns=usage.requests,
        started_at=happened.at,
        seconds=sum(one.seconds for one in attempts),
        degradations=("evaluate: EvaluationError: the judge gave no score",) if happened.good is None else (),
    )


def _attempt(draw: Random, happened: Happened, number: int, good: bool | None) -> AttemptRecord:
    asked = 1 + draw.randrange(4)
    score = None if good is None else round(0.85 + 0.15 * draw.random() if good else 0.7 * draw.random(), 2)
    issue = draw.choice(_ISSUES)
    evaluation = ReflectionEvaluation(
        overall_score=score,
        satisfactory=bool(good),
        issues=() if good else (issue,),
        suggestions=() if good else ("look the case up in the price list first",),
        verifiable=True,
        evaluator=CHECK,
        confidence=1.0 if good is not None else 0.0,
    )
    tools = draw.sample(_TOOLS, draw.randrange(3))
    learned = happened.taught is not None and number == 1
    return AttemptRecord(
        attempt=number,
        output=_output(draw, happened.task, number, issue),
        failure="the tool price_list timed out" if good is False and draw.random() < 0.05 else "",  # noqa: PLR2004
        evaluation=evaluation,
        injections=tuple(_injection(draw, one) for one in happened.recalled),
        left_out=(LeftOut(card_id=happened.recalled[0].head, why="no room"),) if len(happened.recalled) > 3 else (),  # noqa: PLR2004
        advice_delivered=any(one.draw.shown for one in happened.recalled) or number > 1,
        lesson_ids=(happened.taught.id,) if learned and happened.taught else (),
        used=tuple(tools),
        did="\n".join(_called(one, happened.task) for one in tools),
        usage=TokenUsage(
            requests=asked,
            input_tokens=asked * draw.randint(400, 1_900),
            output_tokens=asked * draw.randint(40, 300),
            cost_usd=asked * 0.004,
        ),
        seconds=round(asked * draw.uniform(0.8, 4.0), 2),
    )


def _injection(draw: Random, one: Recalled) -> Injection:
    score = round(draw.uniform(0.35, 1.0), 3)
    return Injection(
        card_id=one.card.id,
        kind=one.card.kind.value,
        reasons=(f"similar situation ({score:.2f})", f"shares rare words: {one.card.provenance.owner.lower()}"),
        score=score,
        shown=one.draw.shown,
        propensity=one.draw.propensity,
        idea=one.head,
        draw=one.draw.id,
        tainted=one.card.provenance.tainted,
    )


def _called(tool: str, task: Task) -> str:
    asked = json.dumps({"request": task.prompt.split(".")[0], "owner": task.owner})
    return f"action: {tool}({asked})\nobservation of {tool}: 1 entry for {task.owner}, of 12 March"


def _output(draw: Random, task: Task, number: int, issue: str) -> str:
    """Some lines, of which the next attempt changes a few."""
    asked = task.prompt.split(".")[0]
    lines = [
        f"Request: {asked}.",
        f"Owner: {task.owner}",
        f"Answer: RC{draw.randint(1, 9)}",
        f"Checked: {'nothing yet' if number == 1 else f'{issue}, now mended'}",
        "Source: the price list of 2026, section 4",
    ]
    return "\n".join(lines)


def _passed(attempt: AttemptRecord) -> bool:
    return attempt.evaluation is not None and attempt.evaluation.satisfactory


def _status(happened: Happened, *, passed: bool) -> RunStatus:
    if not happened.over:
        return "unfinished"
    if happened.good is None:
        return "unevaluated"
    return "satisfied" if passed else "unsatisfied"
