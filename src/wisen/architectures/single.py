"""The attempt of an architecture that makes only one: its record, and its judgement by the agent's evaluator.

It stands apart from `run`, which judges nothing: architectures that learn judge their attempts themselves.
"""

from dataclasses import replace

from wisen.account.attempt import did_in
from wisen.account.attempt_score import evaluation_of_failure, good_enough
from wisen.deadlines import calling
from wisen.errors import BudgetExceededError
from wisen.evaluation.asking import judgement_of
from wisen.events import Degraded, described
from wisen.protocols import Evaluator, bound_to_run
from wisen.records import AttemptRecord, ReflectionEvaluation
from wisen.session import AgentSession, Dependencies


def only_attempt(session: AgentSession, failure: str = "") -> AttemptRecord:
    """The attempt as far as it came."""
    meter = session.meter
    return AttemptRecord(
        attempt=1,
        output=session.output,
        failure=failure,
        did=did_in(session.recorder.trace()),
        usage=meter.spent,
        seconds=meter.seconds,
    )


async def judge_once(session: AgentSession, deps: Dependencies, *, threshold: float) -> None:
    """Judge the answer of an architecture that doesn't evaluate by itself, if the agent has an evaluator."""
    attempt, evaluation = only_attempt(session, session.failure), None
    if deps.evaluator is not None:
        try:
            evaluation = await _judgement(session, deps, deps.evaluator) if attempt.answered else None
        except BudgetExceededError:
            session.attempts.append(attempt)
            raise
        if attempt.failure:
            evaluation = evaluation_of_failure(attempt.failure, evaluation)
            session.satisfied = None if good_enough(attempt.failure, evaluation, threshold) else False
    meter = session.meter
    session.attempts.append(replace(attempt, evaluation=evaluation, usage=meter.spent, seconds=meter.seconds))


async def _judgement(session: AgentSession, deps: Dependencies, evaluator: Evaluator) -> ReflectionEvaluation:
    try:
        bound = bound_to_run(evaluator, deps.bind)
        with calling(f"evaluator {evaluator.name!r}"):
            evaluation = await judgement_of(bound, session.task, session.output, session.recorder.trace())
        return replace(evaluation, evaluator=evaluation.evaluator or evaluator.name)
    except BudgetExceededError:
        raise
    except Exception as error:  # noqa: BLE001 - an evaluator may be anybody's code; the answer stays
        deps.emit(Degraded(stage="evaluate", error=described(error), skipped="the score", attempt=1))
    return ReflectionEvaluation(overall_score=None, confidence=0.0, evaluator=evaluator.name)
