"""Outcomes that come later, from outside: a user's verdict, a test that ran overnight, a refund that was sent back."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from wisen.account.attempt_score import good_enough
from wisen.account.counts import Outcome, count_alone, settle
from wisen.errors import ConfigError
from wisen.events import CardMoved, TrialAdvanced
from wisen.json_values import share_problem
from wisen.memory_ci.pipeline import MemoryCI
from wisen.protocols import RunLog, SettlesFirst, VectorStore
from wisen.records import AttemptRecord, ReflectionEvaluation, RunRecord, RunStatus
from wisen.stores.pruning import call_scope

_GOOD_FROM = 0.8
OUTSIDE = "outside"
"""The evaluator of what was reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """The effect of a reported outcome."""

    record: RunRecord
    """The run's record, with the outcome if it had none."""
    counted: int
    """How many ideas it counted on. 0 if the run drew none, if they were counted before, or if their grace time
    was over."""
    events: Sequence[CardMoved | TrialAdvanced] = ()


async def report_outcome(
    store: VectorStore | MemoryCI, run_id: str, *, score: float, threshold: float = _GOOD_FROM, verified: bool = True
) -> Reported:
    """Report a run's outcome once it is known: with a `score` of `threshold` or more it was good.

    `verified` says that a check or a person decided, rather than a model's opinion.

    It counts on the ideas that the run's first attempt drew, unless they were counted already. It also settles an
    outcome that the judge left unknown. A run has one outcome: the first that was reported, if several come at once. A
    run that ended before anybody judged its first attempt wasn't good, and stays so.
    Where only the store is given, and not the `MemoryCI` whose rule the trial goes by, no verdict comes of it: the next
    run that tries one of these ideas decides.

    Raises `RunNotFoundError`, `ConfigError` for a score outside [0, 1], a run that hasn't ended or a store that keeps
    no runs, and `StoreError` if the store fails.
    """
    cards = store.store if isinstance(store, MemoryCI) else store
    told = _evaluation(score, threshold, verified=verified)
    if not isinstance(cards, RunLog):
        raise ConfigError(f"report_outcome(run_id={run_id!r}): this store keeps no runs")
    record = await cards.run(run_id)
    if record.status == "unfinished":
        raise ConfigError(f"run {run_id!r} hasn't ended: report its outcome once it has, or resume it first")
    if not record.attempts:
        return Reported(record=record, counted=0)
    first = record.attempts[0]
    if first.counted and first.evaluation is None:  # the run ended before anybody judged it, which isn't good
        return Reported(record=record, counted=0)
    known = first.evaluation is not None and first.evaluation.known
    standing = first.evaluation if known and first.evaluation is not None else await _first_told(cards, record, told)
    draws = {one.idea: one.draw for one in first.injections if one.draw}
    outcome = Outcome(good=good_enough(first.failure, standing, threshold), judged=not standing.verifiable)
    if isinstance(store, MemoryCI):
        settled = await settle(store, draws, outcome, at=store.now())
    else:
        settled = await count_alone(cards, draws, outcome, at=datetime.now(UTC))
    if not known:
        record = _with_outcome(record, first, standing)
        await cards.save_run(record)
    return Reported(record=record, counted=len(settled.counted), events=settled.events)


def _evaluation(score: float, threshold: float, *, verified: bool) -> ReflectionEvaluation:
    """What is reported, as an evaluation. Raises `ConfigError` for what isn't in [0, 1]."""
    for name, value in (("score", score), ("threshold", threshold)):
        if problem := share_problem(value):
            raise ConfigError(f"report_outcome({name}={value!r}): {problem}")
    return ReflectionEvaluation(
        overall_score=score, satisfactory=score >= threshold, verifiable=verified, evaluator=OUTSIDE
    )


async def _first_told(log: RunLog, record: RunRecord, told: ReflectionEvaluation) -> ReflectionEvaluation:
    """What was reported of a run first, by whichever process."""
    if not isinstance(log, SettlesFirst):
        return told
    mine = json.dumps([told.overall_score, told.satisfactory, told.verifiable]).encode()
    # An id of a run may come back; when it began doesn't.
    kept = await log.keep_call(call_scope(record.run_id), f"outcome {record.started_at.isoformat()}", 0, mine)
    score, satisfactory, verified = json.loads(kept)
    return replace(told, overall_score=score, satisfactory=satisfactory, verifiable=verified)


def _with_outcome(record: RunRecord, first: AttemptRecord, told: ReflectionEvaluation) -> RunRecord:
    record = replace(record, attempts=(replace(first, evaluation=told), *record.attempts[1:]))
    if record.score is None and record.status == "unevaluated":
        status: RunStatus = "satisfied" if told.satisfactory else "unsatisfied"
        record = replace(record, score=told.overall_score, status=status)
    return record
