"""Replays beside a live trial: the evidence of both is one, and the trial's rule decides.

It stands apart from the stages of a test because a live trial's rule decides here, and no replay's.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from wisen.account.counts import give_number, weigh
from wisen.account.eligibility import trial_of
from wisen.errors import CardNotFoundError
from wisen.events import CardMoved
from wisen.memory_ci.ideas import is_example
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.trial import base_rate, priority
from wisen.replay.tested_card import CardUnderTest


class TrialEvidence:
    """What replays have to do with the trials of one store.

    Args:
        ci: The store's.
        model: Whose trials.
        layout: As `model`.
        now: The clock.
    """

    def __init__(self, ci: MemoryCI, *, model: str, layout: str, now: Callable[[], datetime]) -> None:
        self._ci = ci
        self._model = model
        self._layout = layout
        self._now = now
        self._begun: set[str] = set()
        self.moved: list[CardMoved] = []
        """What verdicts have moved so far, rivals too."""

    def goes_on(self, case: CardUnderTest) -> bool:
        """Whether the idea's trial has no verdict yet: after "no difference" no pair can change anything."""
        return trial_of(case.card, self._model, self._layout).stage in ("waiting", "on trial")

    def promise(self, case: CardUnderTest) -> tuple[bool, bool, bool, float]:
        """How soon an idea should have the next pair: as `priority` orders a live trial, by the idea's own runs.

        Ideas that can't be decided on the clusters that there are come last, and examples behind lessons: each is an
        idea of its own. Ideas whose tasks mostly have no promoted lesson yet come before the others.
        """
        trial = trial_of(case.card, self._model, self._layout)
        worth = priority(
            trial,
            base=base_rate([trial]),
            told=1 + case.card.duplicates + case.card.retold,
            verified=case.card.provenance.verified,
            gained=case.counts.gained,
            lost=case.counts.lost,
        )
        return not case.too_few, not is_example(case.card), not case.served, worth

    async def begin(self, case: CardUnderTest) -> None:
        """Give the idea its number among the store's trials before the first bet on it.

        How much evidence an idea needs depends on that number, so it may not depend on the evidence.
        """
        if case.card.id not in self._begun:
            await give_number(self._ci, case.card.id, model=self._model, layout=self._layout)
            self._begun.add(case.card.id)

    async def weigh(self, case: CardUnderTest) -> None:
        """Move the idea if runs and replays together decide."""
        if case.waiting:
            at = self._now()
            self.moved += await weigh(self._ci, case.card.id, model=self._model, layout=self._layout, at=at)
            with suppress(CardNotFoundError):
                case.card = (await self._ci.store.get([case.card.id]))[0]
