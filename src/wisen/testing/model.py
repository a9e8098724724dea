"""A Hypothesis state machine that compares any store with the simplest one thinkable: a dictionary.

It finds the orders of operations that no example test thought of. Needs `hypothesis`.
"""
# ruff: noqa: S101 - these modules' assertions are what they are for

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from wisen.cards import MemoryCard, MemoryKind, MemoryScope, MemoryStatus
from wisen.errors import CardNotFoundError, StoreError
from wisen.protocols import VectorStore
from wisen.recall import CardFilter, RecallHit, Written
from wisen.testing.material import card, query

_Result = TypeVar("_Result")
_PROMPTS = ("", "Count the chairs.", "Paint the northern wall.", "count the CHAIRS", "Write a letter to the bank.")
_CONTENTS = ("Look twice.", "Look  twice.", "Ask first.", "Mix the paint before use.", "Number the pages.")
_SCOPES = (
    MemoryScope(),
    MemoryScope(agent_roles=("clerk",)),
    MemoryScope(tool_names=("shell",)),
    MemoryScope(tenant="north"),
    MemoryScope(tenant="north", task_types=("letters",)),
)


def _with_reason(made: MemoryCard) -> MemoryCard:
    """Some rejected cards are known again by what they said."""
    known = made.status is MemoryStatus.REJECTED and made.provenance.run_id == "r1"
    return replace(made, refused="abc") if known else made


_cards = st.builds(
    card,
    st.sampled_from(_CONTENTS),
    prompt=st.sampled_from(_PROMPTS),
    scope=st.sampled_from(_SCOPES),
    status=st.sampled_from(MemoryStatus),
    kind=st.sampled_from((MemoryKind.LESSON, MemoryKind.PRINCIPLE)),
    run_id=st.sampled_from(("r1", "r2")),
    minute=st.integers(0, 3),
).map(_with_reason)
_filters = st.builds(
    CardFilter,
    tenant=st.sampled_from((None, "", "north", "south")),
    statuses=st.lists(st.sampled_from(MemoryStatus), max_size=2).map(tuple),
    kinds=st.sampled_from(((), (MemoryKind.LESSON,))),
    run_id=st.sampled_from(("", "", "r1")),
    agent_role=st.sampled_from(("", "", "pilot")),
    task_type=st.sampled_from(("", "", "letters")),
    tools=st.sampled_from(((), (), ("hammer",))),
    refused=st.sampled_from(("", "", "", "abc")),
)


def check_against_model(
    opener: Callable[[], Callable[[], VectorStore]], *, settings: hypothesis_settings | None = None
) -> None:
    """Run the state machine; fails with the shortest sequence of steps after which store and model differ.

    Args:
        opener: Called once per sequence of steps; what it gives opens that sequence's store, empty at first. It is
            called again in between, and the earlier store closed: a durable one must then hold what it held. A store
            that forgets is given out as the same object each time, and isn't closed in between.
        settings: Hypothesis settings, such as the number of examples.
    """

    class Machine(StoreMachine):
        def __init__(self) -> None:
            super().__init__(opener())

    run_state_machine_as_test(Machine, settings=settings)


class StoreMachine(RuleBasedStateMachine):
    """Steps that a store and a dictionary take side by side."""

    def __init__(self, open_store: Callable[[], VectorStore]) -> None:
        """Open the store in a loop that lives as long as the sequence of steps."""
        super().__init__()
        self._runner = asyncio.Runner()
        self._open = open_store
        self._store: VectorStore | None = None
        self._kept: dict[str, MemoryCard] = {}
        self._order: list[str] = []

    def _do(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        return self._runner.run(work)

    @property
    def store(self) -> VectorStore:
        """The store under test."""
        assert self._store is not None
        return self._store

    @initialize()
    def begin(self) -> None:
        """Open the empty store."""
        self._store = self._open()

    def teardown(self) -> None:
        """Close what was opened."""
        if self._store is not None:
            self._do(self._store.close())
        self._runner.close()

    @rule(cards=st.lists(_cards, max_size=5))
    def add(self, cards: list[MemoryCard]) -> None:
        """Add a batch; the model says how each card ends up."""
        expected = [self._expect(each) for each in cards]
        assert self._do(self.store.add(cards)) == expected

    def _expect(self, added: MemoryCard) -> Written:
        if added.id in self._kept:
            return Written(card_id=added.id, outcome="unchanged")
        for card_id in self._order:
            kept = self._kept[card_id]
            if kept.duplicate_key == added.duplicate_key:
                self._kept[card_id] = replace(kept, duplicates=kept.duplicates + 1)
                return Written(card_id=card_id, outcome="duplicate")
        self._kept[added.id] = added
        self._order.append(added.id)
        return Written(card_id=added.id, outcome="added")

    @rule(data=st.data(), status=st.sampled_from(MemoryStatus), content=st.sampled_from((None, *_CONTENTS)))
    def update(self, data: st.DataObject, status: MemoryStatus, content: str | None) -> None:
        """Change a stored card's status, and perhaps its text."""
        if self._order:
            kept = self._kept[data.draw(st.sampled_from(self._order))]
            changed = replace(kept.with_status(status), content=content or kept.content)
            self._do(self.store.update(changed))
            self._kept[kept.id] = changed

    @rule(data=st.data(), behind=st.sampled_from((-1, 0, 2)))
    def update_of_a_wrong_version(self, data: st.DataObject, behind: int) -> None:
        """A lost update is refused."""
        if self._order:
            kept = self._kept[data.draw(st.sampled_from(self._order))]
            try:
                self._do(self.store.update(replace(kept, version=kept.version + behind, strategy="Changed.")))
            except StoreError:
                return
            raise AssertionError("a card of a wrong version was taken")

    @rule(data=st.data())
    def supersede(self, data: st.DataObject) -> None:
        """Let one card take another's place."""
        if self._order:
            kept = self._kept[data.draw(st.sampled_from(self._order))]
            changed = replace(kept, version=kept.version + 1, superseded_by="another")
            self._do(self.store.update(changed))
            self._kept[kept.id] = changed

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """Remove some cards, and some that were never there."""
        chosen = data.draw(st.lists(st.sampled_from([*self._order, "nowhere"]), max_size=3))
        there = {card_id for card_id in chosen if card_id in self._kept}
        assert self._do(self.store.delete(chosen)) == len(there)
        for card_id in there:
            del self._kept[card_id]
            self._order.remove(card_id)
            try:
                self._do(self.store.get([card_id]))
            except CardNotFoundError:
                continue
            raise AssertionError("a deleted card is still there")

    @rule(where=_filters, limit=st.integers(0, 4), offset=st.integers(0, 4))
    def list_and_count(self, where: CardFilter, limit: int, offset: int) -> None:
        """The same cards in the same order, and as many."""
        meant = [kept for kept in self._kept.values() if where.accepts(kept)]
        meant.sort(key=lambda kept: (kept.provenance.created_at, kept.id))
        assert self._do(self.store.list(where, limit=limit, offset=offset)) == meant[offset : offset + limit]
        assert self._do(self.store.count(where)) == len(meant)

    @rule(
        where=_filters,
        prompt=st.sampled_from(_PROMPTS),
        k=st.integers(1, 6),
        floor=st.sampled_from((None, 0.0, 1.0)),
        superseded=st.booleans(),
    )
    def search(self, where: CardFilter, prompt: str, k: int, floor: float | None, *, superseded: bool) -> None:
        """Only what may be found is found, and cards of the same prompt are, newest first."""
        asked = query(prompt, where=replace(where, tenant=where.tenant or "", refused=""), k=k, floor=floor)
        asked = replace(asked, superseded=superseded)
        hits = self._do(self.store.search(asked))
        fitting = [each for each in self._kept.values() if asked.accepts(each)]
        fitting.sort(key=lambda each: each.id)
        fitting.sort(key=lambda each: each.provenance.created_at, reverse=True)
        same = [each for each in fitting if prompt and each.situation.key == asked.situation.key]
        assert [hit.card for hit in hits[: len(same)]] == same[:k]
        assert all(hit.card in fitting for hit in hits)
        assert len({hit.card.id for hit in hits}) == len(hits) <= k
        assert [_rank(hit) for hit in hits] == sorted(_rank(hit) for hit in hits)
        if floor == 0.0 and prompt:
            assert len(hits) == min(k, len(fitting))

    @rule()
    def reopen(self) -> None:
        """Close the store and open it again: nothing may have been lost."""
        again = self._open()
        if again is not self._store:
            self._do(self.store.close())
            self._store = again

    @invariant()
    def cards_are_equal(self) -> None:
        """After every step each card reads as the model has it."""
        if self._store is not None:
            assert self._do(self._store.get(self._order)) == [self._kept[card_id] for card_id in self._order]


def _rank(hit: RecallHit) -> tuple[float, float, str]:
    return -hit.relevance, -hit.card.provenance.created_at.timestamp(), hit.card.id
