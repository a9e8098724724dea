"""Replays beside a live trial: the evidence of both is one, and the trial's rule decides.

It stands apart from the stages of a test because a live trial's rule decides here, and no replay's.
"""

from collections.abc import Callable
from datetime import datetime

from wisen.account.counts import give_number, weigh
from wisen.account.eligibility import trial_of
from wisen.memory_ci.pipeline import MemoryCI
from wisen.replay.tested_card import CardUnderTest

_FRESH = 0.5
"""What an idea promises that nothing is known of: less than one that is level after three clusters, so that few are
begun at a time."""
_ON_TRIAL = 0.2
"""By how much more one promises that is on trial: a verdict gives its place to another."""


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

    def promise(self, case: CardUnderTest) -> tuple[bool, float]:
        """The worth of the next pair: how the idea did, and more where little is known yet, or a trial waits for it.

        An upper confidence bound, as in Auer, Cesa-Bianchi, Fischer (2002), "Finite-time analysis of the multiarmed
        bandit problem". Ideas that can't be decided on the clusters that there are come last.
        """
        counts = case.counts
        mean = (counts.gained - counts.lost) / (counts.pairs + 2)
        index = mean + (counts.pairs + 1) ** -0.5 if counts.pairs else _FRESH
        on_trial = trial_of(case.card, self._model, self._layout).stage == "on trial"
        return not case.too_few, index + (_ON_TRIAL if on_trial else 0.0)

    async def begin(self, case: CardUnderTest) -> None:
        """Give the idea its number among the store's trials before the first bet on it.

        How much evidence an idea needs depends on that number, so it may not depend on the evidence.
        """
        if case.card.id not in self._begun:
            await give_number(self._ci, case.card.id, model=self._model, layout=self._layout)
            self._begun.add(case.card.id)

    async def weigh(self, case: CardUnderTest) -> None:
        """Move the idea if runs and replays together decide."""
        if case.waiting and await weigh(self._ci, case.card.id, model=self._model, layout=self._layout, at=self._now()):
            case.card = (await self._ci.store.get([case.card.id]))[0]
