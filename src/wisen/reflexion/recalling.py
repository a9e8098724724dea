"""What memory holds for an attempt, before chance decides what of it is shown."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from wisen.account.already_told import Told, told_by
from wisen.account.draws import Draws
from wisen.advice.compiler import Recalled
from wisen.advice.rank import rank
from wisen.advice.rankers import BySimilarity
from wisen.cards import MemoryCard, Situation
from wisen.deadlines import calling, named
from wisen.memory_ci.ideas import is_example
from wisen.memory_ci.pipeline import Found, alternating, weighed_as_idea
from wisen.recall import CardFilter
from wisen.records import Advice, Task
from wisen.reflexion.options import LearningParts
from wisen.session import Dependencies

_TO_CHOOSE_FROM = 3
"""How many times as many cards as may be shown are recalled: some are wordings of one idea, and some wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A run that asks for what was learned before."""

    draws: Draws
    parts: LearningParts
    deps: Dependencies
    task: Task
    tools: tuple[str, ...] | None
    """What the run can call, by name, where the task names nothing; `None` where that isn't known."""

    async def recalled(
        self, at: Situation, *, own: Collection[str], told_before: Collection[str], first: bool, drawn: Advice | None
    ) -> list[Recalled]:
        """The agent's rules, and then what fits the situation, best first, with its draws.

        What the run is told anyway isn't among them, in any wording: its `own` cards, those of the runs around it, and
        its standing rules. What contradicts it is marked. What the attempt before was told comes before the rest: the
        attempts' prompts are to begin alike. `first` and `drawn` are as `Draws.with_draws` has them. Raises what the
        store raises.
        """
        told = await self._told(own)
        rules = await self._rules(told)
        others = told.and_shown(one.injection for one in rules)
        found = await self._found(at, len(others.cards))
        recalled = self._in_turn(await others.drawn(self.draws, found, first=first, before=drawn))
        return told.marked([*rules, *sorted(recalled, key=lambda one: one.card.id not in told_before)])

    async def _told(self, own: Collection[str]) -> Told:
        """The run's own cards, and what the runs around this one are shown, and it with them."""
        told = await told_by(self.draws.ci.store, own)
        return told.and_shown(one for bound in self.deps.bound_advice for one in bound.advice.injections)

    async def _rules(self, told: Told) -> list[Recalled]:
        if not self.parts.options.compiler.rule_tokens:
            return []
        return await told.rules(self.draws, self.where)

    async def _found(self, at: Situation, told: int) -> list[Found]:
        """What fits, best first, with room for as many cards as are `told` anyway."""
        ci = self.draws.ci
        room = self.parts.top_k * (_TO_CHOOSE_FROM if self._by_similarity else 1) + told
        found = await ci.recall(at, self.where, run_id=self.draws.run_id, k=room)
        others = {one.hit.card.id: one for one in found}
        ranked = [weighed_as_idea(one) for one in others.values()]
        if self._by_similarity:
            model, layout = self.deps.model.model_name, self.parts.options.compiler.layout
            ranked = rank(ranked, model=model, layout=layout, where=self.where)
        return [others[hit.card.id] for hit in ranked]

    def _in_turn(self, recalled: Sequence[Recalled]) -> Sequence[Recalled]:
        """Lessons and examples alternating, so that neither crowds out the other; what is barred takes no turn.

        A ranker's order stays as it is.
        """
        if not self._by_similarity:
            return recalled
        barred = [one for one in recalled if one.barred]
        lessons = [one for one in recalled if not (one.barred or is_example(one.card))]
        examples = [one for one in recalled if not one.barred and is_example(one.card)]
        return [*alternating(lessons, examples), *barred]

    async def on_error(self, before: Advice, *, tool: str, error: str, own: Collection[str]) -> Advice:
        """What fits an error within an attempt, was learned where its tool was at hand, and isn't in the advice before.

        Nothing is drawn: what is still on trial isn't shown. Raises what the store raises.
        """
        at = Situation(prompt=self.task.prompt, task_type=self.task.type, tools=(tool,), error=error)
        known = {one.idea for one in before.injections}
        with calling(named("store", self.draws.ci.store)):
            told = (await self._told(own)).and_shown(before.injections)
            found = await self._found(at, len(told.cards))
            there = [one for one in found if one.head.id not in known and tool in _tools_of(one.hit.card)]
            recalled = told.marked(self._in_turn(await told.drawn(self.draws, there, first=False)))
        with calling("the prompt compiler"):
            return await self.parts.options.compiler.compile_for(self.deps.model, recalled, most=self.parts.top_k)

    @property
    def _by_similarity(self) -> bool:
        return isinstance(self.draws.ci.ranker, BySimilarity)

    @property
    def where(self) -> CardFilter:
        """Which cards the run may be shown."""
        return CardFilter.of_task(self.task, agent_role=self.deps.agent, circle=self.draws.circle, tools=self.tools)


def _tools_of(card: MemoryCard) -> tuple[str, ...]:
    return (*card.scope.tool_names, *card.situation.tools)
