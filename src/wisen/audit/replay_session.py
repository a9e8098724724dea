"""The course of a replay test: stage by stage, round by round, until cards are decided or the budget is used up."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import repeat
from typing import Literal

from wisen.audit.attempts import Condition
from wisen.audit.releases import ReleaseFindings, ReleaseTest
from wisen.audit.replay_cards import Bench, Case, Control, OwnTask
from wisen.audit.replay_log import Counts, Release, ReplayLog
from wisen.audit.replay_plan import Recalls, solved_before
from wisen.audit.replays import Replays, side_of
from wisen.cards import MemoryStatus, fingerprint
from wisen.errors import BudgetExceededError, ConfigError
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.statistics import e_bh
from wisen.memory_ci.verdicts import Rule, replay_finished
from wisen.records import Task

Stage = Literal["own task", "solved neighbour", "related task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """Finer choices of a replay test."""

    top_k: int = 5
    """How many cards an attempt is shown at most; what the agent uses."""
    neighbours: int = 3
    """How many solved neighbours are tried first."""
    repetitions: int = 1
    """How often each task may be used, each time with another seed. More than 1 says something only where sampling is
    on."""
    nearest: int = 100
    """On how many related tasks a card is tested in each round, the most similar ones."""
    rounds: int = 2
    """After a round that promoted cards, undecided ones are tested beside these, in so many rounds at most."""
    control: Control = "nothing"
    """What stands in the card's place on the side without: nothing, or an empty lesson of equal length."""
    threshold: float = 0.8
    """Score in [0, 1] from which an attempt is good enough."""
    condition: Condition | None = None
    """Under what evidence is kept; by default, what the `Attempt` says."""

    def __post_init__(self) -> None:
        """Refuse what can't be meant with `ConfigError`."""
        for name, least in (("top_k", 1), ("neighbours", 0), ("repetitions", 1), ("nearest", 1), ("rounds", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"ReplayOptions({name}={getattr(self, name)!r}): must be {least} or more")
        if not 0.0 < self.threshold <= 1.0:
            raise ConfigError(f"ReplayOptions(threshold={self.threshold!r}): must be in (0, 1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A pair is finished."""

    card_id: str
    stage: Stage
    counts: Counts
    """Of the card, as they stand now."""
    round: int


@dataclass(slots=True, kw_only=True)
class Session:
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
    cases: list[Case]
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

    async def run(self, tasks: Iterable[Task]) -> None:
        """All rounds."""
        given = tuple(tasks)
        solved = await solved_before(self.ci.store, self.options.threshold)
        for number in range(1, self.options.rounds + 1):
            waiting = [case for case in self.cases if _in_quarantine(case)]
            if not waiting or self.exhausted:
                return
            self.round = number
            self.recalls = await Recalls.of(self.ci, given, top_k=self.options.top_k, role=self.condition.role)
            self.beside = self.recalls.in_use
            self._plan(waiting)
            if number == 1:
                await self._side_by_side(self._own(case) for case in waiting)
                await self._side_by_side(self._neighbours(case, solved) for case in waiting)
            await self._related([case for case in waiting if case.tasks])
            if not await self._release():
                return

    def _plan(self, cases: list[Case]) -> None:
        for case in cases:
            tasks = self.recalls.related(case.card.id, self.beside)[: self.options.nearest]
            case.tasks = max(case.tasks, len(tasks))
            numbers = range(self.options.repetitions)
            case.queue = deque((task, number) for number in numbers for task in tasks)

    async def _own(self, case: Case) -> None:
        """Does the card fix the task it came from?"""
        task = self.recalls.own(case.card)
        if task is None:
            case.own = "not among the tasks"
            return
        treated, control = self.bench.arms(case, self.recalls, task, self.beside)
        case.own = self._fixed(await self.replays.pair(task, treated, control))
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

    async def _neighbours(self, case: Case, solved: frozenset[tuple[str, str]]) -> None:
        """Does the card break neighbours that were solved? Their attempts serve the evidence, too, in their turn."""
        near = (task for task, number in case.queue if not number and (task.tenant, fingerprint(task.prompt)) in solved)
        for task, _ in zip(near, range(self.options.neighbours), strict=False):
            scores = await self.replays.pair(task, *self.bench.arms(case, self.recalls, task, self.beside))
            if scores[0] is None or scores[1] is None or scores[1] < self.options.threshold:
                continue
            kept = scores[0] >= self.options.threshold
            case.kept, case.broken = case.kept + kept, case.broken + (not kept)
            self._tell(case, "solved neighbour")

    async def _related(self, cases: list[Case]) -> None:
        """Does the card help related tasks? Card by card to its verdict, then those that many cards ask more of."""
        first = sorted(cases, key=lambda case: case.interest)
        await self._side_by_side(self._pairs(case, len(case.queue), self._decided) for case in first)
        self._choose()
        while not self.exhausted and (waiting := [case for case in cases if self._waits(case)]):
            await self._side_by_side(self._pairs(case, 1, _never) for case in waiting)
            self._choose()

    async def _pairs(self, case: Case, most: int, enough: Callable[[Case], bool]) -> None:
        """Buy the card's next pairs, looking at the evidence after each; as many at a time as nobody else needs."""
        width = max(1, self.parallel // (2 * len(self.cases)))
        while case.queue and most > 0 and not enough(case):
            batch = [case.queue.popleft() for _ in range(min(width, most, len(case.queue)))]
            most -= len(batch)
            arms = [self.bench.arms(case, self.recalls, task, self.beside) for task, _ in batch]
            bought = await asyncio.gather(
                *(self.replays.pair(one[0], *arm, one[1]) for one, arm in zip(batch, arms, strict=True)),
                return_exceptions=True,
            )
            for one, (_, control), scores in zip(batch, arms, bought, strict=True):
                if isinstance(scores, BaseException):
                    raise scores
                if await self.bench.count(case, one, control, scores):
                    self._tell(case, "related task")
        if case.hurts >= self.rule.archive_at and case.hurts > case.helps:
            await self.bench.move(case, MemoryStatus.ARCHIVED, f"hurts: {case.why()}", self.now())

    def _decided(self, case: Case) -> bool:
        counts = case.counts
        return replay_finished(counts.gained, counts.lost, counts.ties, self.rule)

    def _waits(self, case: Case) -> bool:
        """Whether the card helps by itself, and not yet clearly enough for one of so many."""
        counts = case.counts
        room = counts.pairs < self.rule.max_pairs
        quarantined = case.card.status is MemoryStatus.QUARANTINED
        return bool(case.queue) and room and quarantined and self._promising(case) and case.card.id not in self._chosen

    def _promising(self, case: Case) -> bool:
        return case.helps >= self.rule.promote_at

    def _choose(self) -> None:
        """Choose for promotion by e-BH among all cards that could be tested; what is chosen once stays so."""
        family = [case for case in self.cases if case.tasks]
        values = [self._chosen.get(case.card.id, case.helps) for case in family]
        for case, value, good in zip(family, values, e_bh(values, 1.0 / self.rule.promote_at), strict=True):
            if good and case.card.status is MemoryStatus.QUARANTINED:
                self._chosen.setdefault(case.card.id, value)

    async def _release(self) -> bool:
        """Promote what was chosen, together; says whether anything was."""
        chosen = [case for case in self.cases if case.card.id in self._chosen and _in_quarantine(case)]
        if not chosen:
            return False
        findings = await self._findings([case.card.id for case in chosen])
        release = Release(
            number=len(await self.log.releases()) + 1,
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
        )
        # Kept first: a card's history names the release, which has to be there then.
        await self.log.keep_release(release)
        self.releases.append(release)
        for case in chosen:
            if case.card.id in findings.kept:
                note = f"release {release.number}: helps: {case.why()}"
                await self.bench.move(case, MemoryStatus.PROMOTED, note, self.now())
            elif case.card.id in findings.culprits:
                note = f"release {release.number} regressed with it, found in {findings.searches} tests; by itself: "
                await self.bench.move(case, MemoryStatus.ARCHIVED, note + case.why(), self.now())
        return bool(findings.kept)

    async def _findings(self, cards: list[str]) -> ReleaseFindings:
        test = ReleaseTest(self.replays, self.recalls, self.beside, rule=self.rule, threshold=self.options.threshold)
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

    def _tell(self, case: Case, stage: Stage) -> None:
        self.watch(Replayed(card_id=case.card.id, stage=stage, counts=case.counts, round=self.round))


def _in_quarantine(case: Case) -> bool:
    return case.card.status is MemoryStatus.QUARANTINED


def _never(_: Case) -> bool:
    """Never enough."""
    return False
