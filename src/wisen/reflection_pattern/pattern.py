"""ReflectionPattern: generate, evaluate and critique, revise, and know when to stop.

Madaan et al. 2023, "Self-Refine: Iterative Refinement with Self-Feedback" (arXiv:2303.17651), with checks and limits.
Read `ReflectionPattern.run` first: it is the whole loop. Its decisions are in `reflection_pattern.loop`.
"""

import copy
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from wisen import models
from wisen.architectures.introspection import tools_of
from wisen.architectures.react import ReAct
from wisen.architectures.selection import Selection
from wisen.architectures.triggers import TriggerOptions, Triggers
from wisen.architectures.wrapped import as_architecture
from wisen.errors import BudgetExceededError, ConfigError
from wisen.evaluation.build import EvaluatorLike, as_evaluator
from wisen.evaluation.criteria import CriteriaEvaluator, QualityCriterion
from wisen.evaluation.quoting import without_marks
from wisen.events import Event, FailureModeSeen, GenerationMade, Revised
from wisen.records import ReflectionEvaluation, Task
from wisen.reflection_pattern import standalone
from wisen.reflection_pattern.callbacks import check_callbacks
from wisen.reflection_pattern.convergence import ConvergenceOptions, ConvergenceReason
from wisen.reflection_pattern.history import (
    ReflectionCallbacks,
    ReflectionHistory,
    ReflectionResult,
    ReflectionVersion,
)
from wisen.reflection_pattern.loop import PatternRun
from wisen.reflection_pattern.options import ReflectionParts, SafeguardOptions, check_count, check_share
from wisen.reflection_pattern.revision import (
    REVISION_LIMIT,
    RevisionOptions,
    Strategy,
    ask_for_edits,
)
from wisen.reflection_pattern.revision_requests import Revision
from wisen.reflection_pattern.runner import Ended, Runner
from wisen.session import AgentSession, Architecture, Dependencies, told_unrepeatable

if TYPE_CHECKING:
    from pydantic_ai.models import Model


@dataclass(slots=True)
class _Runs:
    """What one pattern object remembers of its runs."""

    live: list[tuple[str, PatternRun]] = field(default_factory=list[tuple[str, PatternRun]])
    last: ReflectionResult | None = None
    taken_on_trust: int = 0
    """First drafts in a row that a model's opinion alone accepted."""


class ReflectionPattern:
    """Improves one output within a run, until it is good enough or stops getting better.

    One object may serve many runs at the same time. `RunResult.metadata["reflection"]` holds the `ReflectionResult` of
    each; `get_history()` describes the run of this object that finished last, unless you pass a result.

    Args:
        max_iterations: Most cycles of reflection and revision; 1 or more. The last revision is judged too.
        quality_criteria: Criteria or names of some; by default those of the task's type.
        quality_threshold: Score in [0, 1] from which a version is good enough. Criteria have thresholds of their own
            beside it.
        reflection_prompt: System prompt of the model that judges under the criteria.
        revision_strategy: "full_rewrite" lets the base do it again, "targeted_edit" and "incremental" apply edits to
            the text, "hybrid" chooses by the size of the change needed.
        reflection_triggers: When to reflect besides after each version; see `TriggerOptions`.
        best_version_selection: Which version is the answer; see `select`.
        structured_reflection: Whether reflections are asked for as structured output.
        reflection_model: A pydantic-ai `Model`, or the name of one, that reflects in place of the run's own model. It
            judges under the criteria, says what is wrong if another evaluator refuses without a reason, and reflects on
            triggers.
        preserve_all_versions: False keeps only the best and the final version in the history.
        evaluator: Judges in place of the criteria; anything that `as_evaluator` takes. If you give no evaluator,
            criteria or prompt, the agent's evaluator judges, if it has one. Otherwise the agent's evaluator confirms
            versions that the pattern finds good enough. The score decides, not the evaluator's own verdict, which
            follows its own threshold.
        base: What makes the draft and rewrites: an architecture, an async function or another framework's agent.
            `ReAct()` by default.
        callbacks: Called at every step; can override decisions.
        revision: What revisions see, and what they may cost.
        triggers: Settings of the triggers.
        convergence: When the loop stops making progress.
        safeguards: What is done about a loop that misbehaves.

    """

    name: str = "reflection"

    def __init__(  # noqa: PLR0913, PLR0917 - the source names these parameters one by one, in this order
        self,
        max_iterations: int = 3,
        quality_criteria: Sequence[QualityCriterion | str] | None = None,
        quality_threshold: float = 0.8,
        reflection_prompt: str | None = None,
        revision_strategy: Strategy = "hybrid",
        reflection_triggers: Sequence[str] = ("completion",),
        best_version_selection: Selection = "highest_score",
        structured_reflection: bool = True,
        *,
        reflection_model: "Model | str | None" = None,
        preserve_all_versions: bool = True,
        evaluator: EvaluatorLike | None = None,
        base: object = None,
        callbacks: ReflectionCallbacks | None = None,
        revision: RevisionOptions | None = None,
        triggers: TriggerOptions | None = None,
        convergence: ConvergenceOptions | None = None,
        safeguards: SafeguardOptions | None = None,
    ) -> None:
        check_count("ReflectionPattern", "max_iterations", max_iterations)
        check_share("ReflectionPattern", "quality_threshold", quality_threshold)
        callbacks = ReflectionCallbacks() if callbacks is None else callbacks
        check_callbacks(callbacks)
        if evaluator is not None and (quality_criteria is not None or reflection_prompt is not None):
            raise ConfigError(
                "ReflectionPattern: an evaluator judges in place of quality_criteria and reflection_prompt; give one"
            )
        criteria = CriteriaEvaluator(
            quality_criteria,
            threshold=quality_threshold,
            model=reflection_model,
            prompt=reflection_prompt,
            structured=structured_reflection,
        )
        self.base: Architecture | None = None if base is None else as_architecture(base)
        safeguards = SafeguardOptions() if safeguards is None else safeguards
        validator = getattr(safeguards, "validator", None)
        self._parts = ReflectionParts(
            judge=criteria if evaluator is None else as_evaluator(evaluator),
            validator=None if validator is None else as_evaluator(validator),
            critic=criteria,
            explicit=not evaluator is quality_criteria is reflection_prompt is None,
            threshold=quality_threshold,
            max_iterations=max_iterations,
            strategy=revision_strategy,
            selection=best_version_selection,
            structured=structured_reflection,
            preserve_all=preserve_all_versions,
            reflection_model=reflection_model,
            callbacks=callbacks,
            revision=RevisionOptions() if revision is None else revision,
            triggers=Triggers.of(reflection_triggers, TriggerOptions() if triggers is None else triggers),
            convergence=ConvergenceOptions() if convergence is None else convergence,
            safeguards=safeguards,
        )
        self._runs = _Runs()

    @property
    def threshold(self) -> float:
        """The quality threshold."""
        return self._parts.threshold

    @property
    def max_iterations(self) -> int:
        """Most cycles of reflection and revision."""
        return self._parts.max_iterations

    def declared_workers(self) -> Mapping[str, object]:
        """The workers of the base."""
        return self.base.declared_workers() if self.base else {}

    async def run(self, session: AgentSession, deps: Dependencies, prompt: str) -> AsyncIterator[Event]:
        """See `Architecture.run`."""
        pattern_run = PatternRun(self._parts, session, deps, prompt)
        live = (session.id, pattern_run)
        self._runs.live.append(live)
        if (tools := tools_of(self, deps)) is not None:
            pattern_run.steering.expects(tools)
        try:
            async for event in self._draft(pattern_run, session, prompt):
                yield event
            while pattern_run.reason is None:
                yield await pattern_run.reflect()
                async for event in pattern_run.decide():
                    yield event
                if pattern_run.reason is None:
                    async for event in self._revise(pattern_run, session):
                        yield event
            for event in self._finish(pattern_run):
                yield event
        except BudgetExceededError:
            pattern_run.reason = ConvergenceReason.TOKEN_BUDGET
            raise
        finally:
            self._runs.live.remove(live)
            for event in self._finish(pattern_run):  # where the run was cut short
                deps.emit(event)

    async def _draft(self, pattern_run: PatternRun, session: AgentSession, prompt: str) -> AsyncIterator[Event]:
        pattern_run.open_version()
        for last in (False, True):
            try:
                async for event in self._attempt(session, pattern_run.deps, prompt):
                    yield event
                break
            except BudgetExceededError:
                raise
            except ConfigError:
                pattern_run.abandon()
                raise
            except Exception as error:
                note = None if last or _final(session, error) else await pattern_run.note_on(error)
                if note is None:
                    pattern_run.abandon()
                    raise
                pattern_run.degraded("attempt", error, "the first try of the draft")
                prompt = _noted(prompt, note)
        if session.broken_off:
            pattern_run.degraded("attempt", f"Interrupted: {session.broken_off}", "judging and revising the draft")
            pattern_run.reason = ConvergenceReason.INTERRUPTED
            return
        await pattern_run.made(session.output)
        yield GenerationMade(iteration=0, output=session.output)

    async def _revise(self, pattern_run: PatternRun, session: AgentSession) -> AsyncIterator[Event]:
        if session.unrepeatable:  # to rewrite it could call the tool again
            pattern_run.give_up(told_unrepeatable(session))
            return
        old, iteration, note = pattern_run.standing.output, pattern_run.open_version(), ""
        revision = pattern_run.revising.begin(pattern_run.standing)
        for last in (False, True):
            try:
                async for event in self._revised(pattern_run, session, revision, note):
                    yield event
                break
            except BudgetExceededError as error:
                if error.limit != REVISION_LIMIT:
                    raise
                pattern_run.reason = ConvergenceReason.TOKEN_BUDGET
                return
            except Exception as error:  # noqa: BLE001 - a base may be anybody's code; the versions so far stay
                learnt = None if last or _final(session, error) else await pattern_run.note_on(error)
                if learnt is None:
                    pattern_run.give_up(error)
                    return
                pattern_run.degraded("revise", error, "the first try of this revision")
                note = learnt
        if session.broken_off:
            pattern_run.give_up(f"Interrupted: {session.broken_off}")
            session.failure, session.interrupted = "", False  # there is an answer: the best version so far
            return
        new, edited = session.output, revision.edited
        await pattern_run.made(new, revision)
        yield GenerationMade(iteration=iteration, output=new)
        yield Revised(
            iteration=iteration,
            old_output=old,
            new_output=new,
            strategy=revision.approach,
            edits_applied=len(edited.applied) if edited else 0,
            edits_failed=edited.failed if edited else (),
        )

    async def _revised(
        self, pattern_run: PatternRun, session: AgentSession, revision: Revision, note: str
    ) -> AsyncIterator[Event]:
        """Try to revise the standing version, by edits if it can be."""
        old, system = pattern_run.standing.output, session.instructions
        if revision.approach != "full_rewrite":
            session.turns += 1
            prompt = _noted(
                pattern_run.revising.prompt_for(revision.approach, pattern_run.standing, pattern_run.versions), note
            )
            model = pattern_run.revising.deps.model
            revision.edited = await ask_for_edits(model, revision.approach, old, system=system, prompt=prompt)
            revision.tried.add(revision.approach)
            if revision.edited.text != old:
                pattern_run.take(revision.edited.text)
                return
        revision.approach = "full_rewrite"
        prompt = _noted(
            pattern_run.revising.prompt_for("full_rewrite", pattern_run.standing, pattern_run.versions), note
        )
        async for event in self._attempt(session, pattern_run.revising.deps, prompt):
            yield event

    async def _attempt(self, session: AgentSession, deps: Dependencies, prompt: str) -> AsyncIterator[Event]:
        """Let the base do it, in a conversation of its own."""
        session.messages, session.output, session.structured = [], "", None
        base = self.base or ReAct()
        async for event in base.run(session, deps, prompt):
            yield event
        session.output = without_marks(session.output, prompt)

    def _finish(self, pattern_run: PatternRun) -> list[Event]:
        runs, events = self._runs, pattern_run.finish()
        if pattern_run.result is None:
            runs.last = None  # what this object finished last came to nothing
        if not events or pattern_run.result is None:
            return events
        runs.last = pattern_run.result
        runs.taken_on_trust = runs.taken_on_trust + 1 if pattern_run.accepted_first_draft_on_trust() else 0
        if runs.taken_on_trust >= self._parts.safeguards.undercritical_after:
            response = f"{runs.taken_on_trust} first drafts in a row accepted unconfirmed; give the agent an evaluator"
            events.insert(0, FailureModeSeen(mode="undercritical", iteration=0, response=response))
        return events

    async def execute(self, agent: Runner, query: str | Task, *, run_id: str | None = None) -> ReflectionResult:
        """Run `agent` on `query` with this pattern as its architecture.

        Unless the pattern has a base of its own, the agent's architecture makes drafts and rewrites. `run_id` works as
        in `Agent.run`. Raises as `Agent.run` does. Raises `ConfigError` if a budget ended the run before there was any
        output, or if the run had ended earlier, so that only its record is kept.
        """
        lent = copy.copy(agent)
        if agent.architecture is not self:
            pattern = copy.copy(self)
            pattern.base = self.base or agent.architecture
            lent.architecture = pattern
        result = await lent.run(query, run_id=run_id)
        return self._result_of(result) if run_id is None else result.reflection

    async def reflect(
        self,
        output: str,
        criteria: Sequence[QualityCriterion | str] | None = None,
        *,
        task: str | Task = "",
        model: "Model | str | None" = None,
    ) -> ReflectionEvaluation:
        """Judge an output outside of a run, under `criteria` if they are given.

        The output is satisfactory if it would be so in a run: by the pattern's threshold, and confirmed by the
        validator of its safeguards, if it has one. `model` judges if the pattern has no `reflection_model`. Raises
        `EvaluationError` if there is no judgement.
        """
        about = task if isinstance(task, Task) else Task(prompt=task)
        return await standalone.reflect(self._parts, output, criteria, about, model)

    async def revise(
        self,
        output: str,
        evaluation: ReflectionEvaluation,
        *,
        task: str | Task = "",
        model: "Model | str | None" = None,
    ) -> str:
        """Revise an output outside of a run, as the revision strategy says; one with known choices is rewritten.

        `model` writes; by default the `reflection_model`. The base isn't used, since it only works in runs. The output
        comes back unchanged if the answer is empty, or `max_revision_tokens` are used up without one. Raises
        `ModelError`.
        """
        about = task if isinstance(task, Task) else Task(prompt=task)
        return await standalone.revise(self._parts, output, evaluation, about, model)

    def request_reflection(self, run_id: str | None = None) -> int:
        """Ask for a reflection before the next step of a run under way; of all of them without `run_id`.

        Gives the number of runs that were asked. A run whose draft is finished is about to be reflected on anyway.
        """
        asked = [pattern_run for live_id, pattern_run in self._runs.live if run_id in (None, live_id)]
        for pattern_run in asked:
            pattern_run.steering.ask()
        return len(asked)

    def get_history(self, result: Ended | None = None) -> ReflectionHistory:
        """The history of a run; without `result`, of the run of this object that finished last.

        Raises `ConfigError` if there is none.
        """
        return self._result_of(result).history

    def get_best_version(self, result: Ended | None = None) -> ReflectionVersion:
        """The best version of a run; as `get_history`."""
        return self.get_history(result).best_version

    def _result_of(self, result: Ended | None) -> ReflectionResult:
        found = self._runs.last
        if result is not None:
            found = cast("ReflectionResult | None", result.metadata.get("reflection"))
        if found is None:
            raise ConfigError("no run of this ReflectionPattern has finished with an output yet")
        return found


def _final(session: AgentSession, error: Exception) -> bool:
    """Whether what broke off isn't to be tried again."""
    return bool(session.unrepeatable) or models.ends_run(error)


def _noted(prompt: str, note: str) -> str:
    return f"{prompt}\n\n{note}" if note else prompt
