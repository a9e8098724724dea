"""Which cards an attempt at a task would be shown, and on which tasks a card is therefore tested."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from wisen.cards import REPORT_KINDS, MemoryCard, MemoryStatus, Situation, circle_key
from wisen.memory_ci.ideas import heads_of, is_example
from wisen.memory_ci.pipeline import MemoryCI
from wisen.protocols import RunLog, VectorStore
from wisen.recall import RECALLABLE, CardFilter, RecallHit, RecallQuery
from wisen.records import Task
from wisen.replay.attempts import Condition, as_rule
from wisen.replay.log import task_key

_DEPTH = 200
_RUNS_READ = 2_000
_AT_A_TIME = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalls:
    """What recall would find for each task, as it stood when the plan was made.

    Of an idea, its head stands for all wordings. What was learned from this very task is no part of it: shown its
    answer, an attempt would measure the copying.
    """

    tasks: tuple[Task, ...] = ()
    hits: Mapping[str, tuple[RecallHit, ...]] = field(default_factory=dict[str, tuple[RecallHit, ...]])
    """By task, best first, cards in quarantine and in use."""
    top_k: int = 1
    withdrawn: Collection[str] = ()
    """Ids of cards that are shown no more."""
    rules: tuple[MemoryCard, ...] = ()
    """Standing rules, in their order: shown for every task, as in runs."""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """By task, the key of its situation as the screen keeps it, by which cards that were learned from it are known."""

    @classmethod
    async def of(
        cls,
        ci: MemoryCI,
        tasks: Sequence[Task],
        *,
        top_k: int,
        role: str,
        withdrawn: Collection[str] = (),
        rules: Sequence[MemoryCard] = (),
        in_circles: bool = False,
    ) -> "Recalls":
        """Ask memory about every task; raises what the store raises.

        `in_circles` finds a card in quarantine for the tasks of its own circle alone, as runs do.
        """
        standing = {card.id for card in rules}
        room = asyncio.Semaphore(_AT_A_TIME)
        distinct = {task_key(task): task for task in tasks}
        keys = dict[str, str]()

        async def found(task: Task) -> tuple[RecallHit, ...]:
            circle = circle_key(task.tenant, role, task.owner) if in_circles else ""
            where = replace(CardFilter.of_task(task, agent_role=role, circle=circle), statuses=RECALLABLE)
            asked = Situation(prompt=task.prompt, task_type=task.type, tools=task.tools)
            async with room:
                situation = await ci.as_kept(asked)
                keys[task_key(task)] = situation.key
                hits = await ci.ranker.hits(ci.store, RecallQuery(situation=situation, filter=where, k=_DEPTH))
            hits = [hit for hit in hits if where.accepts(hit.card) and not hit.card.superseded_by]
            ideas = await _as_ideas(ci.store, hits, own=situation.key)
            return tuple(hit for hit in ideas if hit.card.id not in standing)

        answers = await asyncio.gather(*map(found, distinct.values()))
        hits = dict(zip(distinct, answers, strict=True))
        return cls(
            tasks=tuple(distinct.values()), hits=hits, top_k=top_k, withdrawn=withdrawn, rules=tuple(rules), keys=keys
        )

    @property
    def in_use(self) -> frozenset[str]:
        """The promoted cards among the hits, and the standing rules."""
        every = (*self.rules, *(hit.card for hits in self.hits.values() for hit in hits))
        return frozenset(card.id for card in every if card.status is MemoryStatus.PROMOTED)

    def shown(self, task: Task, cards: Collection[str], *, first: Sequence[MemoryCard] = ()) -> tuple[MemoryCard, ...]:
        """What an attempt at the task is shown if these cards are in use, best first, and rules before all.

        `first` is shown whether recall has found it or not.
        """
        cards = {card for card in cards if card not in self.withdrawn}
        allowed = (hit.card for hit in self.hits[task_key(task)] if hit.card.id in cards)
        standing = (as_rule(card) for card in self.rules if card.id in cards and self._stands(card, task))
        return (*standing, *islice((*first, *allowed), self.top_k))

    def related(self, card_id: str, beside: Collection[str], *, near_from: float = 0.0) -> list[Task]:
        """Tasks for which the card would be shown beside these, the most similar first, whatever came of them.

        None where a lesson has less than `near_from` of the relevance of the best one that waits for a verdict, or an
        example of the best example.
        """
        cards = {card_id, *beside}
        near: list[tuple[float, int, Task]] = []
        for number, task in enumerate(self.tasks):
            hits = self.hits[task_key(task)]
            mine = next((hit for hit in hits if hit.card.id == card_id), None)
            if mine is None or (near_from and mine.relevance < near_from * self._best(hits, mine)):
                continue
            if any(card.id == card_id for card in self.shown(task, cards)):
                near.append((-mine.relevance, number, task))
        return [task for _, _, task in sorted(near, key=lambda one: one[:2])]

    def served(self, card_id: str, task: Task, beside: Collection[str], *, near_from: float) -> bool:
        """Whether the task has a promoted lesson already: one that is shown, and nearly as relevant as the card."""
        hits = {hit.card.id: hit for hit in self.hits[task_key(task)]}
        mine = hits.get(card_id)
        shown = (hits[card.id] for card in self.shown(task, beside) if card.id in hits and card.id != card_id)
        return mine is not None and any(
            hit.relevance >= near_from * mine.relevance and is_example(hit.card) is is_example(mine.card)
            for hit in shown
        )

    def _best(self, hits: Sequence[RecallHit], mine: RecallHit) -> float:
        """The relevance of the best card of this one's sort that waits for a verdict; 0 for reports, as in runs."""
        if mine.card.kind in REPORT_KINDS:
            return 0.0
        waiting = (hit for hit in hits if hit.card.status is MemoryStatus.QUARANTINED)
        waiting = (hit for hit in waiting if is_example(hit.card) is is_example(mine.card))
        return max((hit.relevance for hit in waiting if hit.card.id not in self.withdrawn), default=0.0)

    def own(self, card: MemoryCard) -> Task | None:
        """The task that the card came from, if it is among them."""
        mine = (task for task in self.tasks if task.tenant == card.scope.tenant)
        return next((task for task in mine if self._taught(task, card)), None)

    def _stands(self, rule: MemoryCard, task: Task) -> bool:
        """Whether a rule stands in an attempt at the task: not where it was learned from this very one."""
        return not self._taught(task, rule) and CardFilter.of_task(task).accepts(rule)

    def _taught(self, task: Task, card: MemoryCard) -> bool:
        return bool(card.situation.key) and self.keys.get(task_key(task)) == card.situation.key


async def standing_rules(ci: MemoryCI, tenants: Iterable[str], condition: Condition) -> list[MemoryCard]:
    """The rules that stand in the agent's runs for these tenants. Raises what the store raises."""
    found = list[MemoryCard]()
    for tenant in sorted(set(tenants)):
        where = CardFilter(tenant=tenant, agent_role=condition.role)
        rules = await ci.standing.rules(where, model=condition.model, layout=condition.layout)
        found += [one.card for one in rules]
    return found


async def _as_ideas(store: VectorStore, hits: Sequence[RecallHit], *, own: str) -> list[RecallHit]:
    """The hits, with an idea's wordings replaced by its head, except for ideas that were learned from `own`.

    An example is tried as it is: each has an answer of its own.
    """
    heads = await heads_of(store, [hit.card for hit in hits if not is_example(hit.card)])
    learned = {heads.get(hit.card.id, hit.card).id for hit in hits if hit.card.situation.key == own}
    found = dict[str, RecallHit]()
    for hit in hits:
        card = heads.get(hit.card.id, hit.card)
        if card.id not in learned and card.status in RECALLABLE and not card.superseded_by:
            found.setdefault(card.id, replace(hit, card=card))
    return list(found.values())


async def solved_before(store: object, threshold: float) -> frozenset[tuple[str, str]]:
    """Tenant and situation's key of the tasks that the newest recorded runs have solved."""
    if not isinstance(store, RunLog):
        return frozenset()
    runs = await store.runs(limit=_RUNS_READ)
    solved = (run.task for run in runs if (run.score or 0.0) >= threshold)
    return frozenset((task.tenant, Situation(prompt=task.prompt).key) for task in solved)
