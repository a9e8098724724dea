"""Draws for a run: chance decides which ideas on trial its first attempt is shown, and that is written down before.

A run's first attempt draws. Its outcome is counted once (see `counts`). Later attempts know more than the ideas, so
they draw nothing.
"""

import asyncio
import hashlib
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from wisen.account.cohorts import trial_name
from wisen.account.counts import Outcome, settle, with_trial, without_late
from wisen.account.eligibility import WAITS, Assignment, Eligibility, behind, trial_of
from wisen.advice.compiler import Recalled
from wisen.cards import MemoryCard
from wisen.deadlines import calling, named
from wisen.errors import CardNotFoundError
from wisen.events import CardMoved, TrialAdvanced
from wisen.memory_ci.changes import change_card, change_if_there
from wisen.memory_ci.ideas import family_of, head_of
from wisen.memory_ci.pipeline import Found, MemoryCI
from wisen.memory_ci.trial import began
from wisen.recall import CardFilter
from wisen.records import Advice, Injection
from wisen.trial_records import OpenDraw, short_id

_MOST_WAITING_SHOWN = 5
"""So many of the ideas that wait for a place on trial are reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Draws for one run, and counts what its first attempt came to."""

    ci: MemoryCI
    model: str
    layout: str
    run_id: str
    nonce: str
    """Of this execution. A run's id may come back; a nonce doesn't."""
    now: Callable[[], datetime]
    circle: str = ""
    """The run's, as `CardFilter.circle` has it."""

    async def rules(self, where: CardFilter, *, known: Collection[str] = ()) -> list[Recalled]:
        """The standing rules for the run, whatever its task; nothing is drawn on them. Raises what the store raises."""
        return await self.ci.standing.rules(where, model=self.model, layout=self.layout, known=known)

    async def with_draws(self, found: Sequence[Found], *, first: bool, before: Advice | None = None) -> list[Recalled]:
        """The found cards on their way into the advice, with the draw of each; best first.

        Only the `first` attempt draws. In later ones what it had drawn, in `before`, holds. Raises what the store
        raises.
        """
        eligibility = Eligibility(ci=self.ci, model=self.model, layout=self.layout, circle=self.circle)
        drawn = {one.idea: one for one in before.injections if one.idea} if before is not None else {}
        assignments = await eligibility.assignments(found, first=first)
        waiting = [one for one in assignments if one.barred == WAITS and one.found.head.id not in drawn]
        told = [one for one in assignments if one not in waiting[_MOST_WAITING_SHOWN:]]
        recalled = [(one.beside, self._recalled(one, drawn.get(one.found.head.id), first=first)) for one in told]
        shown = {one.injection.idea for _, one in recalled if one.injection.shown and not one.barred}
        return [replace(one, barred=behind(newer)) if newer and newer not in shown else one for newer, one in recalled]

    async def write(self, advice: Advice) -> Advice:
        """Write down the draws of an advice before its attempt begins.

        The draw of an idea that is gone counts for nothing: it is taken out of the advice's injections. Where the store
        fails, none of them counts: those that were written are taken back. Raises `StoreError` then.
        """
        wanted = {one.idea: one for one in advice.injections if one.draw}
        if not wanted:
            return advice
        with calling(named("store", self.ci.store)):
            written = await asyncio.gather(*(self._written(one) for one in wanted.values()), return_exceptions=True)
        lost = {one.idea for one, done in zip(wanted.values(), written, strict=True) if isinstance(done, BaseException)}
        for done in written:
            if isinstance(done, BaseException) and not isinstance(done, CardNotFoundError):
                with suppress(Exception):  # what can't be taken back either counts later, as not good
                    await self.withdraw(advice, used=Advice())
                raise done
        injections = (replace(one, draw="") if one.idea in lost else one for one in advice.injections)
        return replace(advice, injections=tuple(injections))

    async def withdraw(self, advice: Advice, *, used: Advice) -> None:
        """Take back the draws of an advice that no attempt is made with, since another process has written `used`.

        Raises what the store raises.
        """
        kept = {one.draw for one in used.injections}
        with calling(named("store", self.ci.store), closing=True):
            for one in advice.injections:
                if one.draw and one.draw not in kept:
                    await change_if_there(self.ci.store, one.idea, partial(_without, draw=one.draw))

    async def settle(self, advice: Advice, outcome: Outcome) -> list[CardMoved | TrialAdvanced]:
        """Count the outcome of the draws of an advice; says which ideas have moved, and how far the others are.

        Counting again changes nothing. The count finishes even if the caller is cancelled. Raises what the store
        raises.
        """
        draws = {one.idea: one.draw for one in advice.injections if one.draw}
        with calling(named("store", self.ci.store), closing=True):
            return (await settle(self.ci, draws, outcome, at=self.now())).events

    def _recalled(self, assignment: Assignment, before: Injection | None, *, first: bool) -> Recalled:
        hit, head = assignment.found.hit, assignment.found.head
        shown, share, draw = True, assignment.propensity if first else 1.0, ""
        if before is not None:
            shown, share, draw = before.shown, before.propensity, before.draw
        elif first and assignment.drawn and not assignment.barred:
            draw, uniform = self._draw(head)
            shown = uniform < assignment.propensity
        injection = Injection(
            card_id=hit.card.id,
            kind=hit.card.kind.value,
            reasons=hit.reasons,
            score=hit.relevance,
            shown=shown,
            propensity=share,
            idea=head.id,
            draw=draw,
            tainted=hit.card.provenance.tainted,
        )
        barred = "" if before is not None and assignment.barred == WAITS else assignment.barred
        return Recalled(card=hit.card, injection=injection, barred=barred, rivals=head.rivals, fit=hit.fit)

    def _draw(self, head: MemoryCard) -> tuple[str, float]:
        """The id of a draw, and a number in [0, 1) that decides it.

        Both follow from the nonce and from how often the idea was drawn: a program that begins each time with the same
        seed doesn't draw the same each time. What this very run drew isn't counted, so that one which was cut off
        before its first attempt finds its draw again.
        """
        trial = trial_of(head, self.model, self.layout)
        often = trial.first + trial.runs + sum(one.runs for one in trial.before)
        often += sum(one.run_id != self.run_id for one in head.open_draws)
        text = "\x1f".join((self.nonce, head.id, self.model, self.layout, str(often)))
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        return digest[:24], int(digest[24:40], 16) / 2**64

    async def _written(self, one: Injection) -> None:
        ci, at = self.ci, self.now()
        draw = OpenDraw(
            id=one.draw,
            at=at,
            model=self.model,
            layout=self.layout,
            shown=one.shown,
            propensity=one.propensity,
            run_id=self.run_id,
            grace=ci.trial.grace,
        )
        head = (await ci.store.get([one.idea]))[0]
        if (await head_of(ci.store, head)).id != head.id:  # it has joined another idea
            raise CardNotFoundError(head.id)
        number, family = 0, family_of(head)
        known = trial_of(head, self.model, self.layout)
        if known.stage == "waiting" and one.propensity < 1.0:  # replays may have given it a number before
            number = known.number or await ci.numbers.of(trial_name(head.id, known), family)

        def opened(card: MemoryCard) -> MemoryCard | None:
            if any(known.id == draw.id for known in card.open_draws) or short_id(draw.id) in card.observed:
                return None  # written before, by a process that was cut off or that works on this very run too
            if card.idea != head.idea:
                raise CardNotFoundError(card.id)
            card = without_late(card, at)
            trial = trial_of(card, self.model, self.layout)
            if number and trial.stage == "waiting":
                trial = began(trial, trial.number or number, family)
            return replace(with_trial(card, trial), open_draws=(*card.open_draws, draw))

        await change_card(ci.store, one.idea, opened)


def _without(card: MemoryCard, *, draw: str) -> MemoryCard | None:
    left = tuple(one for one in card.open_draws if one.id != draw)
    return None if left == card.open_draws else replace(card, open_draws=left)
