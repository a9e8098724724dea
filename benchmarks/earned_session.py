"""A sequence of runs of one real agent in the world of earned_trust.py, and what is noted of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import Any, cast

from earned_faults import Fault, Killed, Late
from earned_material import Idea
from earned_stores import MortalStore, all_cards
from earned_world import World, open_ledger, read_mail

from wisen import Agent, Clockwork, LearningOptions, MemoryCI, Reflexion
from wisen.cards import MemoryCard, MemoryKind, MemoryStatus, Provenance, Situation
from wisen.events import CardMoved, Event, LessonPersisted, LessonProduced, LessonsRecalled
from wisen.protocols import Reflector
from wisen.records import Injection
from wisen.replay.background import BackgroundReplays
from wisen.replay.card_tests import ReplayReport
from wisen.run import RunResult

_INSTRUCTIONS = "You work in the back office of a company. Settle the case."
_FROM = 0.8
_BETWEEN_RUNS = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """That an idea was drawn for a run."""

    idea: Idea
    shown: bool
    propensity: float


@dataclass(slots=True, kw_only=True)
class Note:
    """One run, as its watcher saw it."""

    number: int
    situation: int
    luck: float
    draws: tuple[Draw, ...] = ()
    """For the first attempt; of ideas that the world knows."""
    good: bool | None = None
    """Of the first attempt; `None` without a score."""
    solved: bool = False
    """Whether any attempt was good."""
    ended: bool = False
    """Whether the run gave an answer."""

    @property
    def shown(self) -> frozenset[Idea]:
        """What the first attempt saw."""
        return frozenset(draw.idea for draw in self.draws if draw.shown)


@dataclass(slots=True, kw_only=True)
class Fate:
    """What became of an idea."""

    stored: int
    """The run that it was first stored in."""
    promoted: int | None = None
    """The run after which it was first promoted; none where no event told of it, such as by another process: -1."""
    archived: int | None = None
    benched: bool = False
    """Whether its trial has ended without a verdict."""


@dataclass(kw_only=True)
class Setting:
    """What a session is made with."""

    open_store: Callable[[], Any]
    keep_answers: bool = True
    """The default; without, accepted answers don't become cards beside the lessons."""
    simulated_clock: bool = False
    """Half an hour from run to run, for the grace that draws without an outcome have; else the real clock."""
    verifiable: bool = True
    tools: bool = False
    """Whether each attempt calls two tools first, and a model judges: so every lesson is tainted, and an opinion's."""
    replays: bool = False
    """Whether recorded runs are replayed meanwhile, for at most as many calls as the runs have made."""
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    """More arguments of `MemoryCI`; none is the default."""


class Session:
    """Runs of one agent with one store."""

    def __init__(self, world: World, setting: Setting, *, first: int = 0) -> None:
        self.world = world
        self.first = first
        """The number of the first run, where another process had those before."""
        self._late: list[tuple[int, str, bool]] = []
        self.setting: Setting = setting
        self.notes: list[Note] = []
        self.fates: dict[Idea, Fate] = {}
        self.cards: dict[str, Idea] = {}
        self.store: Any = setting.open_store()
        self._ids = Random(f"{world.seed} ids")
        self._time = datetime(2026, 1, 1, tzinfo=UTC)
        self._lesson = ""
        self._note = Note(number=-1, situation=0, luck=0.0)
        self._ci: MemoryCI | None = None
        self._replays: BackgroundReplays | None = None
        self._broken: Exception | None = None
        """Why replays failed."""
        self.agent = self._agent()

    async def run(self, situation: int) -> Note:
        """The next run."""
        fault, number = self.world.fault, self.first + len(self.notes)
        if fault.renews and number and number % fault.renews == 0:
            await self.renew()
        task = self.world.begin(number, situation)
        self._time += _BETWEEN_RUNS
        self._note = note = Note(number=number, situation=situation, luck=self.world.luck())
        self.notes.append(note)

        async def start(run_id: str | None) -> RunResult:
            return await self.agent.run(task, run_id=run_id)

        await self._tell_late(number)
        result = await fault.around(start, number)
        if self._replays is not None:
            await self._replays.settled()
        if self._broken is not None:
            raise self._broken
        if result is None:
            if isinstance(fault, Killed):
                self.agent = self._agent()
            return note
        first = result.attempts[0].evaluation
        score = first.overall_score if first else None
        note.good = None if score is None else score >= _FROM
        if fault.late:
            note.good = self.world.right
            if self.world.luck(0) >= Late.lost:
                self._late.append((number + fault.late, result.run_id, bool(note.good)))
        note.solved = result.status == "satisfied"
        note.ended = True
        return note

    async def teach(self, idea: Idea, *, verifiable: bool = True) -> None:
        """Have a run of the idea's situation fail, and its reflector write this idea down, in a wording of its own."""
        world, setting = self.world, self.setting
        effects, write, fault = world.effects, world.write, world.fault
        once: list[Idea] = [idea]

        def lesson(situation: int, draw: Random) -> Idea | None:
            del situation, draw
            return once.pop() if once else None

        world.effects, world.write, world.fault = replace(effects, of={}, base=-1.0), lesson, Fault()
        self.setting = replace(setting, verifiable=verifiable)
        self.agent = self._agent()
        try:
            await self.run(idea.situation)
        finally:
            world.effects, world.write, world.fault = effects, write, fault
            self.setting = setting
            self.agent = self._agent()

    async def submit(self, ideas: Sequence[Idea], draw: Random) -> None:
        """Submit many ideas at once, as lessons of earlier runs that failed."""
        ci = self._ci or MemoryCI(self.store)
        for idea in ideas:
            card = MemoryCard(
                kind=MemoryKind.LESSON,
                content=draw.choice(self.world.material.wordings(idea)),
                situation=Situation(prompt=self.world.material.task(idea.situation, draw)),
                provenance=Provenance(
                    run_id=f"earlier {len(self.cards)}", created_by="reflexion", verified=True, agent=self.agent.name
                ),
            )
            submission = await ci.submit(card)
            if submission.outcome == "added":
                self._stored(submission.card_id, idea)

    async def know(self, situation: int) -> None:
        """Learn which ideas the store holds from other processes."""
        for card in await all_cards(self.store):
            idea = self.world.material.idea(situation, card.content)
            if idea is not None:
                self._stored(card.id, idea)

    async def _tell_late(self, number: int) -> None:
        while self._late and self._late[0][0] <= number:
            _, run_id, good = self._late.pop(0)
            await tell_outcome(self._ci, run_id, good=good)

    async def benched(self, idea: Idea) -> bool:
        """Whether every trial of an idea's wordings has ended without a verdict."""
        cards = [card for card in await all_cards(self.store) if self.cards.get(card.id) == idea and not card.idea]
        stages = [[trial.stage for trial in card.trials] for card in cards]
        return bool(stages) and all(set(one) == {"benched"} for one in stages)

    async def renew(self) -> None:
        """End the process, as far as this can be done within one: store, memory and agent are made anew."""
        if not isinstance(self.store, MortalStore):
            await self.store.close()
            self.store = self.setting.open_store()
        self.agent = self._agent()

    async def close(self) -> list[MemoryCard]:
        """Every card, after noting what no event told of; the store is closed."""
        cards = await all_cards(self.store)
        for card in cards:
            idea = self.cards.get(card.id)
            if idea is None:
                continue
            fate = self.fates[idea]
            fate.benched |= any(trial.stage == "benched" for trial in getattr(card, "trials", ()))
            if card.status is MemoryStatus.PROMOTED and fate.promoted is None:
                fate.promoted = -1
            if card.status is MemoryStatus.ARCHIVED and fate.archived is None:
                fate.archived = -1
        await self.store.close()
        return cards

    def _agent(self) -> Agent:
        world, setting = self.world, self.setting
        lesson_store: Any = self.store
        if setting.replays:
            lesson_store = self._ci = MemoryCI(self.store)
            self._replays = BackgroundReplays(self._ci, told=self._replayed)
        if setting.simulated_clock or setting.extra:
            clock = (lambda: self._time) if setting.simulated_clock else (lambda: datetime.now(UTC))
            lesson_store = self._ci = MemoryCI(self.store, now=clock, **setting.extra)
        if isinstance(world.fault, Killed) and isinstance(self.store, MortalStore):
            self.store.dying_with(world.fault)
        options = None if setting.keep_answers else LearningOptions(keep_successes="none")
        reflector = cast("Reflector", _Reflector(world))
        learner = Reflexion(lesson_store=lesson_store, reflector=reflector, options=options)
        clockwork = Clockwork(new_id=self._new_id, random=self._ids)
        if setting.simulated_clock:
            clockwork = replace(clockwork, now=lambda: self._time)
        return Agent(
            _INSTRUCTIONS,
            model=world.model(with_tools=setting.tools),
            architecture=learner,
            tools=[open_ledger, read_mail] if setting.tools else [],
            evaluator=world.judge() if setting.tools else world.evaluator(verifiable=setting.verifiable),
            watch=self._watch,
            clockwork=clockwork,
            replay=self._replays,
        )

    def _new_id(self) -> str:
        ids = self.world.fault.ids
        return f"ticket-{self.world.number % ids}" if ids else f"{self._ids.getrandbits(96):024x}"

    def _watch(self, event: Event) -> None:
        match event:
            case LessonsRecalled(attempt=1):
                self._note.draws = tuple(filter(None, map(self._drawn, event.injections)))
            case LessonProduced():
                self._lesson = event.lesson
            case LessonPersisted():
                self._persisted(event)
            case CardMoved():
                self._moved(event)
            case _:
                pass

    def _drawn(self, one: Injection) -> Draw | None:
        idea = self.cards.get(one.card_id)
        return None if idea is None else Draw(idea=idea, shown=one.shown, propensity=one.propensity)

    def _persisted(self, event: LessonPersisted) -> None:
        if event.outcome == "rejected" or event.card_id in self.cards:
            return
        situation = self.world.situation
        if event.kind == MemoryKind.SKILL_CARD.value:
            idea = Idea(situation, "answer", len(self.cards))
        else:
            idea = self.world.material.idea(situation, self._lesson)
        if idea is not None:
            self._stored(event.card_id, idea)

    def _stored(self, card_id: str, idea: Idea) -> None:
        self.cards[card_id] = idea
        self.fates.setdefault(idea, Fate(stored=max(0, len(self.notes) - 1)))

    def _replayed(self, said: ReplayReport | Exception) -> None:
        """Note what a session of replays has promoted; no event tells of it."""
        if isinstance(said, Exception):
            self._broken = said
            return
        for card in said.cards:
            idea = self.cards.get(card.card_id)
            if card.status is MemoryStatus.PROMOTED and idea is not None and self.fates[idea].promoted is None:
                self.fates[idea].promoted = len(self.notes) - 1

    def _moved(self, event: CardMoved) -> None:
        idea = self.cards.get(event.card_id)
        if idea is None:
            return
        fate, now = self.fates[idea], len(self.notes) - 1
        if event.after == "promoted" and fate.promoted is None:
            fate.promoted = now
        if event.after == "archived" and fate.archived is None:
            fate.archived = now


def can_tell_outcomes() -> bool:
    """Whether an outcome can be reported from outside."""
    return find_spec("wisen.account") is not None


async def tell_outcome(ci: Any, run_id: str, *, good: bool) -> None:
    """Report what a run came to, after it has ended."""
    outcomes: Any = import_module("wisen.account.outcomes")
    await outcomes.report_outcome(ci, run_id, score=1.0 if good else 0.0)


class _Reflector:
    """The world's reflector, without the rest of it."""

    def __init__(self, world: World) -> None:
        self.reflect = world.reflect
