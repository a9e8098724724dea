"""Random sequences of all that can happen to cards: only what is meant changes, and only as the table allows."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from wisen import (
    CardFilter,
    InMemoryVectorStore,
    MarkdownStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    MemoryScope,
    MemoryStatus,
    Situation,
    SQLiteVectorStore,
    VectorStore,
)
from wisen.account.counts import Outcome
from wisen.account.draws import Draws
from wisen.cards import Provenance
from wisen.errors import ConfigError
from wisen.memory_ci.pipeline import Submission
from wisen.memory_ci.rollback import Origin, rollback
from wisen.memory_ci.status import MOVES
from wisen.memory_ci.trial import TrialRule
from wisen.protocols import Finding, ScreenVerdict
from wisen.recall import RECALLABLE
from wisen.records import Advice
from wisen.stores.serialization import card_from_json, card_to_json

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
POISON = "Poison."
CONTENTS = (
    "Write the dates as YYYY-MM-DD, always.",
    "write the  dates as YYYY-MM-DD, always",
    "Write the dates as DD.MM.YYYY, always.",
    "Ask when the month isn't clear.",
    "Never guess.",
    POISON,
)
PROMPTS = ("Extract the dates.", "Extract the names.")
STEPS = 10


class Unit:
    """Every text has the same vector, so that all cards are candidates and next to no time is spent."""

    name = "unit"
    dimension = 8
    floor = 0.0

    async def embed(self, texts: Sequence[str]) -> Any:
        return np.full((len(texts), self.dimension), self.dimension**-0.5, dtype=np.float32)


class NoPoison:
    name = "no-poison"

    def check(self, card: MemoryCard) -> ScreenVerdict:
        if card.content == POISON:
            found = Finding(rule="poison", family="injection", start=0, end=1)
            return ScreenVerdict(outcome="rejected", card=None, findings=(found,))
        return ScreenVerdict(outcome="pass", card=card)


@dataclass
class World:
    """A store, what it held after the last step, and what may happen next."""

    store: VectorStore
    chance: Random
    held: dict[str, MemoryCard] = field(default_factory=dict[str, MemoryCard])
    exported: dict[str, str] = field(default_factory=dict[str, str])
    corrected: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    seed: int = 0
    time: int = 0
    runs: int = 0
    refusals: int = 0

    def __post_init__(self) -> None:
        # Little is enough for a verdict, so that trials decide within a few steps.
        little = TrialRule(
            first_shown=0, promote_at=1.2, archive_at=1.2, no_difference_at=1.2, false_discoveries=1.0, holdout=0.5
        )
        self.ci = MemoryCI(self.store, screen=NoPoison(), trial=little, now=self.now)

    def now(self) -> datetime:
        return NOON + timedelta(minutes=self.time)

    def card(self) -> MemoryCard:
        chance = self.chance
        return MemoryCard(
            kind=MemoryKind.LESSON,
            content=chance.choice(CONTENTS),
            situation=Situation(prompt=chance.choice(PROMPTS)),
            scope=MemoryScope(tenant=chance.choice(("", "", "", "acme"))),
            status=chance.choice(list(MemoryStatus)),
            pinned=chance.random() < 0.1,
            provenance=Provenance(run_id=f"run {chance.randrange(4)}", created_at=self.now()),
        )

    def any_id(self) -> str:
        return self.chance.choice(list(self.held))

    async def step(self) -> None:
        self.time += 1
        acts: list[tuple[int, Callable[[], Awaitable[set[str]]]]] = [(4, self.submit)]
        if self.held:
            acts += [(2, self.correct), (4, self.decide), (4, self.observe), (1, self.withdraw)]
        act = self.chance.choices([act for _, act in acts], [weight for weight, _ in acts])[0]
        concerned = await act()
        await self.look(concerned)

    def family(self, *ids: str) -> set[str]:
        """All wordings of the ideas of these cards, as they were before the step."""
        heads = {self.held[one].idea or one for one in ids if one in self.held}
        return {*ids, *heads, *(one for one, card in self.held.items() if card.idea in heads)}

    async def submit(self) -> set[str]:
        done = await self.ci.submit(self.card())
        return {done.card_id, done.idea, *done.rivals}

    async def correct(self) -> set[str]:
        wrong, new = self.any_id(), self.card()
        try:
            done: Submission = await self.ci.correct(wrong, new, "wrong")
        except ConfigError:
            self.refusals += 1
            return set()
        if done.outcome != "rejected":
            self.corrected.add((wrong, done.card_id))
        return {*self.family(wrong), done.card_id, done.idea, *done.rivals}

    async def decide(self) -> set[str]:
        card_id, ci = self.any_id(), self.ci
        family = self.family(card_id)
        restored = {one for each in family for one in self.family(self.held[each].supersedes)}
        acts = (ci.promote, ci.promote, ci.archive, ci.quarantine, ci.reject, ci.pin, ci.unpin, ci.split)
        act = self.chance.choice(acts)
        rivals = {rival for one in family if one in self.held for rival in self.held[one].rivals}
        try:
            await act(card_id, self.chance.choice(("because", "because", "")))
        except ConfigError:
            self.refusals += 1
            return set()
        entailed = {ci.reject: restored, ci.promote: self.family(*rivals)}
        return family | entailed.get(act, set())

    async def observe(self) -> set[str]:
        """Some runs of one model, which an idea helps, or hurts, or neither."""
        concerned, helps = set[str](), self.chance.choice((0.9, 0.5, 0.1))
        prompt, model = Situation(prompt=self.chance.choice(PROMPTS)), self.chance.choice(("m", "n"))
        for _ in range(4):
            self.runs += 1
            nonce = f"{self.seed} {self.runs}"
            draws = Draws(ci=self.ci, model=model, layout="l", run_id=nonce, nonce=nonce, now=self.now)
            found = await self.ci.recall(prompt, CardFilter(tenant=""))
            parts = [one.injection for one in await draws.with_draws(found, first=True) if not one.barred]
            advice = await draws.write(Advice(injections=tuple(parts)))
            shown = any(one.shown for one in parts)
            good = self.chance.choice((None, self.chance.random() < (helps if shown else 0.5)))
            if self.chance.random() < 0.9:  # else it is killed
                await draws.settle(advice, Outcome(good=good))
            heads = [one for part in parts if (one := self.held.get(part.idea))]
            concerned |= self.family(*(one for head in heads for one in (head.id, *head.rivals)))
        return concerned

    async def withdraw(self) -> set[str]:
        if self.chance.random() < 0.8:  # it looks at all that is stored
            return set()
        done = await rollback(self.store, Origin(run_id=f"run {self.chance.randrange(4)}"), at=self.now())
        faced = {rival for one in done.withdrawn for rival in self.held[one].rivals}
        return {*self.family(*done.withdrawn), *done.restored, *faced}

    async def look(self, concerned: set[str]) -> None:
        """Compare with what was held before."""
        known = dict.fromkeys((*self.held, *(one for one in concerned if one)))
        before, exported = self.held, self.exported
        self.held = {one.id: one for one in await self.store.get(list(known))}
        self.exported = {one: card_to_json(card) for one, card in self.held.items()}
        for card_id, text in self.exported.items():
            if text != exported.get(card_id):
                old = before.get(card_id)
                assert card_id in concerned or (old is not None and only_counted(old, self.held[card_id]))
                check_change(old, self.held[card_id])
        check_links(self.held)
        check_ideas(self.held)

    async def recalled(self) -> None:
        """No run sees a card that another one corrects, unless that one is rejected or corrected back."""
        for prompt in PROMPTS:
            drawn = await self.ci.recall(Situation(prompt=prompt), CardFilter(tenant=""), run_id="r", k=50)
            seen = {one.hit.card.id for one in drawn}
            assert len({one.head.id for one in drawn}) == len(drawn), "of each idea one wording"
            assert all(self.held[one].status in RECALLABLE and not self.held[one].superseded_by for one in seen)
            for old, new in self.corrected:
                outranked = self.held[new].status is not MemoryStatus.REJECTED
                assert old not in seen or not outranked or corrected_back(self.held, old, new)


def only_counted(old: MemoryCard, new: MemoryCard) -> bool:
    """Whether a card merely counts another one that says the same, as one of a refused correction may."""
    counted = replace(old, duplicates=new.duplicates, retold=new.retold, version=new.version)
    return (new.duplicates, new.retold) > (old.duplicates, old.retold) and counted == new


def check_ideas(held: Mapping[str, MemoryCard]) -> None:
    """Each wording that is left has a head, and the head's status; rivals know each other."""
    for card in held.values():
        if card.status is MemoryStatus.REJECTED:
            continue
        head = held[card.idea or card.id]
        assert head.idea == ""
        assert head.status is card.status, "wordings follow their idea"
        assert card is head or (card.trials, card.open_draws) == ((), ()), "the idea is what is tried"
        for rival in card.rivals:
            other = held[rival]
            assert other.status is MemoryStatus.REJECTED or other.idea or card.id in other.rivals


def corrected_back(held: Mapping[str, MemoryCard], old: str, new: str) -> bool:
    """Whether what corrected a card is corrected by that card, in the end."""
    while (later := held[new].superseded_by) and later in held:
        if later == old:
            return True
        new = later
    return False


def check_change(old: MemoryCard | None, new: MemoryCard) -> None:
    if old is None:
        assert (new.history[0].before, new.history[0].by) == (MemoryStatus.CANDIDATE, "screen")
        assert [one.by for one in new.history[1:]] in ([], ["idea"])
        assert new.history[0].after in (MemoryStatus.QUARANTINED, MemoryStatus.REJECTED)
        assert (new.status, new.pinned, new.evidence) == (new.history[-1].after, False, ())
        assert new.version in (1, 2)
        return
    assert new.history[: len(old.history)] == old.history
    at = old.status
    for move in new.history[len(old.history) :]:
        assert move.before is at
        assert move.after in MOVES[at] or (
            move.after is at and move.why.startswith(("pinned: ", "unpinned: ", "split", "stands for", "tried again: "))
        )
        assert move.by in ("human", "rollback") or not old.pinned
        assert move.why
        at = move.after
    assert new.status is at, "every move is in the history"
    assert new.text == ("" if at is MemoryStatus.REJECTED else old.text)
    assert new.version >= old.version
    assert new.scope.tenant == old.scope.tenant


def check_links(held: Mapping[str, MemoryCard]) -> None:
    for card in held.values():
        chain = [card.id]
        while (later := held[chain[-1]].superseded_by) and later in held:
            assert later not in chain, "a card is corrected, in the end, by itself"
            chain.append(later)


async def play(store: VectorStore, seed: int, steps: int = STEPS) -> World:
    world = World(store, Random(seed), seed=seed)
    for _ in range(steps):
        await world.step()
    await world.recalled()
    for text in world.exported.values():
        assert card_to_json(card_from_json(text)) == text
    return world


def export(world: World) -> bytes:
    return hashlib.sha256("\n".join(sorted(world.exported.values())).encode()).digest()


@pytest.mark.no_cover
@pytest.mark.parametrize("first", range(0, 1_200, 300))
async def test_random_sequences(first: int) -> None:
    moves, refusals = set[tuple[MemoryStatus, MemoryStatus]](), 0
    for seed in range(first, first + 300):
        world = await play(InMemoryVectorStore(embedder=Unit()), seed)
        moves |= {(one.before, one.after) for card in world.held.values() for one in card.history}
        refusals += world.refusals
        if seed % 100 == 0:
            again = await play(InMemoryVectorStore(embedder=Unit()), seed)
            assert export(again) == export(world)
    every = {(before, after) for before, possible in MOVES.items() for after in possible}
    assert {(before, after) for before, after in moves if before is not after} == every, "all were tried"
    assert refusals > 50


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", ["sqlite", "markdown"])
async def test_stores_on_disk_end_up_the_same(kind: str, tmp_path: Path) -> None:
    for seed in range(25 if kind == "sqlite" else 6):
        path = tmp_path / str(seed)
        store = SQLiteVectorStore(path, embedder=Unit()) if kind == "sqlite" else MarkdownStore(path, embedder=Unit())
        there = await play(store, seed, steps=20)
        await store.close()
        here = await play(InMemoryVectorStore(embedder=Unit()), seed, steps=20)
        assert export(there) == export(here)
