"""Outcomes that come later, from outside: a user's verdict, a test that ran overnight, a refund that was sent back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wisen.account.counts import Outcome, settle
from wisen.errors import ConfigError
from wisen.events import CardMoved, TrialAdvanced
from wisen.memory_ci.ideas import still_there
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.trial import expired
from wisen.protocols import RunLog, VectorStore
from wisen.records import AttemptRecord, ReflectionEvaluation, RunRecord, RunStatus

_GOOD_FROM = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """The effect of a reported outcome."""

    record: RunRecord
    """The run's record, with the outcome if it had none."""
    counted: int
    """How many ideas it counted on. 0 if the run drew none, if they were counted before, or if the rule's grace time
    was over."""
    events: Sequence[CardMoved | TrialAdvanced] = ()


async def report_outcome(
    store: VectorStore | MemoryCI, run_id: str, *, score: float, threshold: float = _GOOD_FROM, verified: bool = True
) -> Reported:
    """Report a run's outcome once it is known: with a `score` of `threshold` or more it was good.

    `verified` says that a check or a person decided, rather than a model's opinion.

    It counts on the ideas that the run's first attempt drew, unless they were counted already. It also settles an
    outcome that the judge left unknown. Raises `RunNotFoundError`, `ConfigError` for a score outside [0, 1] or a store
    that keeps no runs, and `StoreError` if the store fails.
    """
    ci = store if isinstance(store, MemoryCI) else MemoryCI(store)
    for name, value in (("score", score), ("threshold", threshold)):
        if not 0.0 <= value <= 1.0:
            raise ConfigError(f"report_outcome({name}={value!r}): must be in [0, 1]")
    log = ci.store
    if not isinstance(log, RunLog):
        raise ConfigError(f"report_outcome(run_id={run_id!r}): this store keeps no runs")
    record = await log.run(run_id)
    first = record.attempts[0] if record.attempts else None
    draws = {one.idea: one.draw for one in (first.injections if first else ()) if one.draw}
    heads, now = await still_there(ci.store, list(draws)), ci.now()
    waiting = {one.id for head in heads for one in head.open_draws if not expired([one], now, ci.trial)}
    still_open = {idea: draw for idea, draw in draws.items() if draw in waiting}
    events = await settle(ci, still_open, Outcome(good=score >= threshold, judged=not verified), at=now)
    if first is not None and (first.evaluation is None or not first.evaluation.known):
        told = ReflectionEvaluation(
            overall_score=score, satisfactory=score >= threshold, verifiable=verified, evaluator="outside"
        )
        record = _with_outcome(record, first, told)
        await log.save_run(record)
    return Reported(record=record, counted=len(still_open), events=events)


def _with_outcome(record: RunRecord, first: AttemptRecord, told: ReflectionEvaluation) -> RunRecord:
    record = replace(record, attempts=(replace(first, evaluation=told), *record.attempts[1:]))
    if record.score is None and record.status == "unevaluated":
        status: RunStatus = "satisfied" if told.satisfactory else "unsatisfied"
        record = replace(record, score=told.overall_score, status=status)
    return record
