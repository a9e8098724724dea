"""The course of a replay test: stage by stage, round by round, until cards are decided or the budget is used up."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import repeat
from typing import Literal

from wisen.cards import MemoryCard, MemoryStatus, Situation
from wisen.errors import BudgetExceededError
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.statistics import e_bh, sign_e_value
from wisen.memory_ci.verdicts import Rule, replay_finished
from wisen.recall import CardFilter
from wisen.records import Task
from wisen.replay.attempts import Condition
from wisen.replay.clusters import Planned, planned
from wisen.replay.log import NONE, Counts, Release, ReplayLog, stay_of, task_key
from wisen.replay.pairs import Replays, Withdrawn, side_of
from wisen.replay.plan import Recalls, solved_before, standing_rules
from wisen.replay.releases import ReleaseFindings, ReleaseTest
from wisen.replay.replay_options import ReplayOptions
from wisen.replay.tested_card import Bench, CardUnderTest, OwnTask
from wisen.replay.trial_evidence import TrialEvidence
from wisen.replay.turns import Turns
from wisen.stores.paging import every_card

Bought = tuple[tuple[MemoryCard, ...], tuple[float | None, float | None]]
_NEAR = 0.75
"""Of the relevance of the best idea for a task, what an idea needs to be replayed on it. It is more than in a live
trial, where a run costs nothing that it wouldn't cost anyway."""
Stage = Literal["own task", "solved neighbour", "related task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A pair is finished."""

    card_id: str
    stage: Stage
    counts: Counts
    """Of the card's clusters, as they stand now."""
    round: int


@dataclass(slots=True, kw_only=True)
class ReplaySession:
    """One run of a `ReplayTest`."""

    ci: MemoryCI
    options: ReplayOptions
    rule: Rule
    parallel: int
    watch: Callable[[Replayed], None]
    now: Callable[[], datetime]
    condition: Condition
    bench: Bench
    replays: Replays
    log: ReplayLog
    cases: list[CardUnderTest]
    trial: TrialEvidence
    releases: list[Release] = field(default_factory=list[Release])
    exhausted: str = ""
    """Why it stopped early."""
    round: int = 0
    recalls: Recalls = field(default_factory=Recalls)
    """Of this round."""
    beside: frozenset[str] = frozenset()
    """The cards in use at the beginning of this round."""
    _chosen: dict[str, float] = field(default_factory=dict[str, float])
    """Cards chosen for promotion, with the e-value that they were chosen at."""

    async def run(self, tasks: Sequence[Task]) -> None:
        """All rounds."""
        for number in range(1, self.options.rounds + 1):
            waiting = [case for case in self.cases if case.in_test]
            if not waiting or self.exhausted:
                return
            self.round = number
            self.recalls = await Recalls.of(
                self.ci,
                tasks,
                top_k=self.options.top_k,
                role=self.condition.role,
                withdrawn=self.replays.withdrawn,
                rules=await standing_rules(self.ci, (task.tenant for task in tasks), self.condition),
                in_circles=self.options.order == "with the trial" and not self.ci.across_circles,
            )
            self.beside = self.recalls.in_use
            if number == 1:
                await self.log.cluster(self.recalls.tasks)
                for case in waiting:
                    await self.bench.resume(case)
            for case in waiting:
                await self._plan(case)
            if number == 1:
                await self._finish()
            tested = [case for case in waiting if case.tasks]
            if self.options.order == "with the trial":
                await self._with_the_trial(self.trial, tested)
                return
            if number == 1:
                await self._begin(waiting, self.trial)
            await self._related(tested)
            if not await self._release():
                return

    async def _begin(self, cases: Sequence[CardUnderTest], trial: TrialEvidence) -> None:
        """Give each card that can be tested its number, as live trials bet on its pairs; then ask what tells most."""
        solved = await solved_before(self.ci.store, self.options.threshold)
        for case in (one for one in cases if one.tasks):
            await trial.begin(case)
        await self._side_by_side(self._own(case) for case in cases if not case.outages)
        await self._side_by_side(self._neighbours(case, solved) for case in cases if not case.outages)

    async def _plan(self, case: CardUnderTest) -> None:
        """Which tasks are to be tried: none that the card came from, and no near-copy of such, for these had failed."""
        own = {cluster for prompt in case.learned_from for cluster in self.log.clusters.near(prompt)}
        near_from = _NEAR if self.options.order == "with the trial" else 0.0
        related = self.recalls.related(case.card.id, self.beside, near_from=near_from)
        related = [task for task in related if self.log.clusters.of[task_key(task)] not in own]
        tried = await self.bench.tried(case)
        tasks = planned(related, task_key, self.log.clusters, copies=self.options.copies, tried=tried)
        tasks = tasks[: self.options.nearest]
        case.tasks = max(case.tasks, len(tasks))
        case.clusters = max(case.clusters, len({one.cluster for one in tasks}))
        if near_from:  # in stages, nobody asks for it
            served = partial(self.recalls.served, case.card.id, beside=self.beside, near_from=near_from)
            case.served = 2 * sum(served(one.task) for one in tasks) > len(tasks)
        case.queue = Turns(tasks)

    async def _own(self, case: CardUnderTest) -> None:
        """Does the card fix the task it came from?"""
        task = self.recalls.own(case.card)
        if task is None:
            case.own = "not among the tasks"
            return
        if (bought := await self._buy(case, task)) is not None:
            case.own = self._fixed(bought[1])
            self._tell(case, "own task")

    def _fixed(self, scores: tuple[float | None, float | None]) -> OwnTask:
        if scores[0] is None or scores[1] is None:
            return "unknown"
        match side_of(scores[0], scores[1], self.options.threshold):
            case "gained":
                return "fixed"
            case "lost":
                return "broken"
            case _:
                return "solved anyway" if scores[0] >= self.options.threshold else "not solved"

    async def _neighbours(self, case: CardUnderTest, solved: frozenset[tuple[str, str]]) -> None:
        """Does the card break neighbours that were solved? Their attempts serve the evidence, too, in their turn."""
        near = [task for task in case.queue.tasks if (task.tenant, Situation(prompt=task.prompt).key) in solved]
        for task in near[: self.options.neighbours]:
            bought = await self._buy(case, task)
            if bought is None:
                continue
            scores = bought[1]
            if scores[0] is None or scores[1] is None or scores[1] < self.options.threshold:
                continue
            kept = scores[0] >= self.options.threshold
            case.kept, case.broken = case.kept + kept, case.broken + (not kept)
            self._tell(case, "solved neighbour")

    async def _related(self, cases: list[CardUnderTest]) -> None:
        """Does the card help related tasks? Card by card to its verdict, then those that many cards ask more of."""
        first = sorted(cases, key=lambda case: case.interest)
        await self._side_by_side(self._pairs(case, len(case.queue), self._decided) for case in first)
        others = await self._others()
        self._choose(others)
        while not self.exhausted and (waiting := [case for case in cases if self._waits(case)]):
            await self._side_by_side(self._pairs(case, 1, _never) for case in waiting)
            self._choose(others)

    async def _with_the_trial(self, trial: TrialEvidence, cases: list[CardUnderTest]) -> None:
        """Cluster by cluster, always the ideas that promise most. Which is next rests on the past alone."""
        while not self.exhausted and (left := [case for case in cases if self._open(case) and trial.goes_on(case)]):
            ordered = sorted(left, key=lambda case: (-case.outages, trial.promise(case)), reverse=True)
            best = ordered[: max(1, self.parallel // 2)]
            for case in best:
                await trial.begin(case)
            await self._side_by_side(self._pairs(case, 1, _never) for case in best)
            for case in best:
                await trial.weigh(case)

    def _open(self, case: CardUnderTest) -> bool:
        """Whether the next pair may still tell something of a card that waits for a verdict."""
        return bool(case.queue) and case.waiting and case.counts.pairs < self.rule.max_pairs

    async def _others(self) -> list[float]:
        """The e-values of the cards that were tested under this condition before, whatever became of them."""
        mine, found = {case.card.id for case in self.cases}, list[float]()
        async for card in every_card(self.ci.store, CardFilter()):
            if card.id in mine or not (card.evidence or card.status is MemoryStatus.REJECTED):
                continue
            counts = await self.log.counts(stay_of(card))
            if counts != NONE:
                found.append(sign_e_value(counts.gained, counts.lost))
        return found

    async def _pairs(self, case: CardUnderTest, most: int, enough: Callable[[CardUnderTest], bool]) -> None:
        """Buy the card's next pairs, looking at the evidence after each; as many at a time as nobody else needs."""
        width = max(1, self.parallel // (2 * len(self.cases)))
        while case.queue and most > 0 and not enough(case):
            batch, clusters = await self._next(case, min(width, most))
            most -= len(batch)
            found = await asyncio.gather(
                *(self._buy(case, one.task, one.number) for one in batch), return_exceptions=True
            )
            for one, bought in zip(batch, found, strict=True):
                if isinstance(bought, BaseException):
                    raise bought
                if bought is not None and await self.bench.count(case, one, *bought):
                    self._tell(case, "related task")
                    case.queue.again(one)
            if case.in_test:
                await self.bench.close(case, {cluster for cluster in clusters if not case.queue.begins(cluster)})
        harmful = case.waiting and case.hurts >= self.rule.archive_at and case.hurts > case.helps
        if harmful and self.options.order == "in stages":
            await self.bench.move(case, MemoryStatus.ARCHIVED, f"hurts: {case.why()}", self.now())

    async def _next(self, case: CardUnderTest, most: int) -> tuple[list[Planned], set[str]]:
        """The next tasks that have something new to say of the card, and the clusters that were looked at."""
        tries = self.options.tries if self.options.order == "with the trial" else 1
        found, clusters = list[Planned](), set[str]()
        while case.queue and len(found) < most:
            one = case.queue.take()
            clusters.add(one.cluster)
            _, control = self.bench.arms(case, self.recalls, one.task, self.beside)
            number = await self.bench.next_try(case, one, control, tries=tries)
            if number > 1 and one.number == 1:  # from an earlier test: in the turn of what is tried again
                case.queue.again(one)
            elif number:
                found.append(replace(one, number=number))
        return found, clusters

    async def _buy(self, case: CardUnderTest, task: Task, number: int = 1) -> Bought | None:
        """What was shown without the card, and the scores; `None` where it isn't tested any more, or can't be shown."""
        while True:
            await self.bench.look(case)
            if not case.in_test or case.card.id in self.replays.withdrawn:
                return None
            treated, control = self.bench.arms(case, self.recalls, task, self.beside)
            if not self.replays.fit(treated, control):
                case.unknown += 1
                return None
            with suppress(Withdrawn):  # with what is left, then
                return control, await self.replays.pair(task, treated, control, self.options.repetitions, number=number)

    def _decided(self, case: CardUnderTest) -> bool:
        counts = case.counts
        return replay_finished(counts.gained, counts.lost, counts.ties, self.rule)

    def _waits(self, case: CardUnderTest) -> bool:
        """Whether the card helps by itself, and not yet clearly enough for one of so many."""
        counts = case.counts
        room = counts.pairs < self.rule.max_pairs
        return bool(case.queue) and room and case.waiting and self._promising(case) and case.card.id not in self._chosen

    def _promising(self, case: CardUnderTest) -> bool:
        return case.helps >= self.rule.promote_at

    def _choose(self, others: list[float]) -> None:
        """Choose for promotion by e-BH among all cards that could be tested now or were before.

        What is chosen once stays so.
        """
        family = [case for case in self.cases if case.tasks or case.counts != NONE]
        values = [self._chosen.get(case.card.id, case.helps) for case in family]
        selected = e_bh([*values, *others], 1.0 / self.rule.promote_at)
        for case, value, good in zip(family, values, selected, strict=False):
            if good and case.waiting:
                self._chosen.setdefault(case.card.id, value)

    async def _release(self) -> bool:
        """Promote what was chosen, together; says whether anything was."""
        while True:
            chosen = [case for case in self.cases if case.card.id in self._chosen]
            for case in chosen:
                await self.bench.look(case)
            chosen = [case for case in chosen if case.waiting and case.card.id not in self.replays.withdrawn]
            if not chosen:
                return False
            with suppress(Withdrawn):  # with what is left, then
                findings = await self._findings([case.card.id for case in chosen])
                break
        release = Release(
            at=self.now().isoformat(),
            cards=findings.kept,
            withdrawn=(*findings.culprits, *findings.held_back),
            verdict=findings.verdict,
            gained=findings.counts.gained,
            lost=findings.counts.lost,
            ties=findings.counts.ties,
            searches=findings.searches,
            model=self.condition.model,
            layout=self.condition.layout,
            scope=self.log.scope,
            stays=tuple(case.stay for case in chosen if case.card.id in findings.kept),
        )
        # Kept first: a card's history names the release, which has to be there then.
        release = await self.log.keep_release(release)
        self.releases.append(release)
        for case in chosen:
            if case.card.id in findings.kept:
                await self._promote(case, release)
            elif case.card.id in findings.culprits:
                note = f"release {release.number} regressed with it, found in {findings.searches} tests; by itself: "
                await self.bench.move(case, MemoryStatus.ARCHIVED, note + case.why(), self.now())
        return bool(findings.kept)

    async def _promote(self, case: CardUnderTest, release: Release) -> None:
        note = f"release {release.number}: helps: {case.why()}"
        if await self.bench.move(case, MemoryStatus.PROMOTED, note, self.now()):
            await self.ci.standing.became(case.card)

    async def _finish(self) -> None:
        """Do what an earlier test had decided, and was killed before it had done it all."""
        for release in await self.log.releases():
            if release.scope == self.log.scope:
                for case in self.cases:
                    if case.waiting and case.stay in release.stays:
                        await self._promote(case, release)

    async def _findings(self, cards: list[str]) -> ReleaseFindings:
        test = ReleaseTest(
            self.replays,
            self.recalls,
            self.beside,
            plan=lambda tasks: planned(tasks, task_key, self.log.clusters, copies=self.options.copies, tried=()),
            rule=self.rule,
            threshold=self.options.threshold,
            repetitions=self.options.repetitions,
        )
        try:
            return await test.run(cards)
        except BudgetExceededError as error:
            self.exhausted = self.exhausted or str(error)
        # It has lost tasks, and nobody knows yet with which card: none of them goes into use.
        return ReleaseFindings(kept=(), held_back=tuple(cards)) if test.lost else ReleaseFindings(kept=tuple(cards))

    async def _side_by_side(self, works: Iterable[Coroutine[None, None, None]]) -> None:
        """Do all, in order, some at a time, until the budget is used up; `works` makes each when its turn comes."""
        waiting = iter(works)

        async def worker() -> None:
            while not self.exhausted and (work := next(waiting, None)) is not None:
                try:
                    await work
                except BudgetExceededError as error:
                    self.exhausted = self.exhausted or str(error)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in repeat(None, self.parallel):
                    group.create_task(worker())
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    def _tell(self, case: CardUnderTest, stage: Stage) -> None:
        self.watch(Replayed(card_id=case.card.id, stage=stage, counts=case.counts, round=self.round))


def _never(_: CardUnderTest) -> bool:
    """Never enough."""
    return False
