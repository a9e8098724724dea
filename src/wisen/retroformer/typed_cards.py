"""Makes typed cards of what a retrospection found, each with the scope in which it holds and where it comes from."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from wisen.cards import MemoryCard, MemoryKind, MemoryScope, Provenance, Situation
from wisen.reflection.traced import TracedRun
from wisen.retroformer.prompt import Failure, Observation, Policy, RunLessons, Skill
from wisen.retroformer.repairs import COMMAND, steps_of
from wisen.screening.card_names import may_be_a_name
from wisen.screening.taint import reads_others

_NO_TOOL = ("", "none", "n/a", "any", "all", "-")
_NAME = re.compile(r"[\w.:/-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What all cards of one retrospection have in common."""

    run: TracedRun
    beside: TracedRun | None
    """The solved run that it was contrasted with."""
    agent_role: str
    model: str
    """Who looked back."""
    at: datetime

    def cards(self, lessons: RunLessons) -> Iterator[MemoryCard]:
        """One candidate card per lesson: skills first, then failures, policies and observations."""
        for skill in lessons.skills:
            yield self._skill(skill)
        for failure in lessons.failures:
            yield self._failure(failure)
        for policy in lessons.policies:
            yield self._policy(policy)
        for observation in lessons.observations:
            yield self._observation(observation)

    def _skill(self, said: Skill) -> MemoryCard:
        return MemoryCard(
            kind=MemoryKind.SKILL_CARD,
            pattern=said.pattern,
            strategy=said.strategy,
            steps=tuple(said.steps),
            situation=self.run.situation,
            scope=self._scope(),
            provenance=self._provenance(),
        )

    def _failure(self, said: Failure) -> MemoryCard:
        advice = (("AVOID", said.what_happened), ("INSTEAD", said.instead))
        return MemoryCard(
            kind=MemoryKind.FAILURE_PATTERN,
            pattern=said.pattern or said.what_happened,
            content=said.why,
            strategy=" ".join(f"{what}: {text.rstrip('.')}." for what, text in advice if text),
            situation=self.run.situation,
            scope=self._scope(),
            provenance=self._provenance(),
        )

    def _policy(self, said: Policy) -> MemoryCard:
        tool = said.tool.strip().strip("`'\"").removesuffix("()")
        # A model may write anything in its place; what is no name costs the scope, and not the card.
        named = _NAME.fullmatch(tool) is not None and tool.casefold() not in _NO_TOOL and may_be_a_name(tool)
        tenant, roles = self.run.asked.tenant, self._roles()
        # A rule for a tool holds for every type of task that uses it.
        scope = MemoryScope(tenant=tenant, agent_roles=roles, tool_names=(tool,)) if named else self._scope()
        situation = self.run.situation
        if named and (command := self._command_of(tool)):
            # A program of the shell's: its rule is recalled where a failure of it would be.
            situation = Situation(prompt=command, task_type=COMMAND, tools=(tool,))
            scope = replace(scope, task_types=(COMMAND,))
        return MemoryCard(
            kind=MemoryKind.TOOL_POLICY,
            content=said.constraint,
            pattern=f"Before using {tool}" if tool.casefold() not in _NO_TOOL else "",
            situation=situation,
            scope=scope,
            provenance=self._provenance(),
        )

    def _command_of(self, program: str) -> str:
        """The last command line that failed with a program, else the last one with it; "" for none."""
        calls = [call for call in steps_of(self.run) if call.program == program and call.teaches]
        failed = [call for call in calls if call.failed]
        return next((call.command for call in reversed(failed or calls)), "")

    def _observation(self, said: Observation) -> MemoryCard:
        return MemoryCard(
            kind=MemoryKind.EPISODIC_CASE,
            pattern=said.state_pattern,
            content=said.meaning,
            situation=self.run.situation,
            scope=self._scope(),
            provenance=self._provenance(),
        )

    def _roles(self) -> tuple[str, ...]:
        return (self.agent_role,) if self.agent_role else ()

    def _scope(self) -> MemoryScope:
        task = self.run.asked
        return MemoryScope(tenant=task.tenant, agent_roles=self._roles(), task_types=(task.type,) if task.type else ())

    def _provenance(self) -> Provenance:
        trace = self.run.trace
        foreign = self.run.foreign or (self.beside is not None and self.beside.foreign)
        both = trace.trace_id if self.beside is None else f"{trace.trace_id}+{self.beside.trace.trace_id}"
        return Provenance(
            run_id=trace.trace_id,
            trace_id=both,
            created_by="import" if foreign else "retroformer",
            model=self.model,
            evaluator=self.run.ended.evaluator,
            # However surely the run's outcome is known: why it ended so is a model's opinion.
            verified=False,
            created_at=self.at,
            agent=self.run.agent or self.agent_role,
            source=self.run.source,
            owner=self.run.asked.owner,
            tainted=reads_others(trace) or (self.beside is not None and reads_others(self.beside.trace)),
        )
