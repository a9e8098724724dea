"""Counts what a draw came to, once, and acts on the verdict.

A run is good if its first attempt met the threshold. It isn't if it didn't, raised, was cancelled, or was never
reported within the rule's grace time. Where the judge was down the outcome is unknown: it may still come from outside,
and isn't good until then, whether the idea was shown or held out.

A draw leaves `MemoryCard.open_draws` in the very write that counts it. So it counts once, for however many processes,
restarts and repeated reports.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from math import log

from wisen.account.cohorts import Chosen, chosen_together, evidence_on, may_be_decided, trial_name
from wisen.account.eligibility import replayed, trial_of
from wisen.cards import CardEvidence, MemoryCard, MemoryStatus, Move
from wisen.errors import CardNotFoundError
from wisen.events import CardMoved, TrialAdvanced
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.decisions import follow
from wisen.memory_ci.ideas import agree, family_of
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.statistics import trial_e_value
from wisen.memory_ci.status import move
from wisen.memory_ci.trial import TrialRule, began, counted, decided, expired, is_ahead, without
from wisen.memory_ci.verdicts import bar, progress, promoted_for, verdict
from wisen.trial_records import OpenDraw, Trial

_REMEMBERED = 64
"""Draws of one idea that are known as counted, so that they aren't opened again."""
_MOST_OPEN = 512
"""Draws of one idea that may wait for an outcome. Of more, the oldest are counted as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an attempt came to, as it counts."""

    good: bool | None
    """Whether it met the threshold; `None` where nobody could judge."""
    judged: bool = False
    """Whether a model's opinion decided, and not a check."""


_UNKNOWN = Outcome(good=None)


async def settle(
    ci: MemoryCI, draws: Mapping[str, str], outcome: Outcome, *, at: datetime
) -> list[CardMoved | TrialAdvanced]:
    """Count an outcome on draws, given as ids of ideas and of their draws; says what became of the ideas.

    A draw that was counted before, or whose idea is gone, is passed over. Raises what the store raises; what was
    counted until then stays counted.
    """
    events: list[CardMoved | TrialAdvanced] = []
    for idea, draw in draws.items():
        with suppress(CardNotFoundError):  # deleted meanwhile
            events += await _settled(ci, idea, draw, outcome, at)
    return events


async def give_number(ci: MemoryCI, idea: str, *, model: str, layout: str) -> None:
    """Give an idea's trial its number, before the first replay bets on it; the trial itself begins with a run's draw.

    How much evidence an idea needs follows from that number. So it is given before there is any. Raises what the store
    raises.
    """

    def numbered(card: MemoryCard) -> MemoryCard | None:
        trial = trial_of(card, model, layout)
        return None if trial.number else with_trial(card, replace(trial, number=number, family=family))

    with suppress(CardNotFoundError):
        head = (await ci.store.get([idea]))[0]
        known, family = trial_of(head, model, layout), family_of(head)
        if not known.number:
            number = await ci.numbers.of(trial_name(idea, known), family)
            await change_card(ci.store, idea, numbered)


async def weigh(ci: MemoryCI, idea: str, *, model: str, layout: str, at: datetime) -> list[CardMoved]:
    """Judge an idea whose evidence from replays has changed, with that of its runs; says which cards have moved.

    It has its number: see `give_number`. Raises what the store raises.
    """
    one = _Settlement(ci, at, trial=Trial(model=model, layout=layout))
    with suppress(CardNotFoundError):
        changed = await change_card(ci.store, idea, one.ended)
        return await _decided(ci, idea, changed, one, at)
    return []


async def _settled(
    ci: MemoryCI, idea: str, draw: str, outcome: Outcome, at: datetime
) -> Sequence[CardMoved | TrialAdvanced]:
    one = _Settlement(ci, at, draw=draw, outcome=outcome)
    changed = await change_card(ci.store, idea, one.on)
    if changed is None or one.trial is None:
        return []
    moved = await _decided(ci, idea, changed, one, at)
    over = one.move is not None or idea in {event.card_id for event in moved} or changed.status is MemoryStatus.ARCHIVED
    if not over and one.trial.stage in ("waiting", "on trial", "recheck"):
        return [*moved, one.advanced(changed)]
    return moved


async def _decided(
    ci: MemoryCI, idea: str, changed: MemoryCard | None, one: "_Settlement", at: datetime
) -> list[CardMoved]:
    """What a settlement decides: of its own idea, and of others of its cohort that have enough evidence with it."""
    moved = await _moved(ci, changed, one, at)
    promoted = one.move is not None and one.move.after is MemoryStatus.PROMOTED
    if one.trial is None or not (one.near or promoted):
        return moved
    chosen = await chosen_together(ci, idea, one.trial, tenant=one.tenant)
    for candidate in chosen.together:
        other = _Settlement(ci, at, trial=candidate.trial, chosen=chosen)
        with suppress(CardNotFoundError):
            moved += await _moved(ci, await change_card(ci.store, candidate.idea, other.ended), other, at)
    return moved


async def _moved(ci: MemoryCI, changed: MemoryCard | None, one: "_Settlement", at: datetime) -> list[CardMoved]:
    """What follows from a move: the idea's wordings follow, and its rivals give way."""
    if changed is None or one.move is None or one.trial is None:
        return []
    moved = [_moved_event(changed.id, one.move)]
    await follow(ci.store, changed.id, at=at)
    if one.move.after is MemoryStatus.PROMOTED:
        trial = one.trial
        name = "\x1f".join((changed.id, trial.model, trial.layout, str(trial.number)))
        await ci.promotions.in_cohort_of(trial.number, trial.family).of(name)
        moved += await _rivals_archived(ci, changed, trial, at)
        await ci.standing.became(changed)
    return moved


async def _rivals_archived(ci: MemoryCI, promoted: MemoryCard, trial: Trial, at: datetime) -> list[CardMoved]:
    """Archive what can't be right beside an idea that helps, unless a person has pinned it or put it in use.

    What was learned from a task with other numbers or names, and is ahead in its own trial, may be right there.
    """
    moved: list[CardMoved] = []

    def archived(card: MemoryCard) -> MemoryCard | None:
        decided_by = card.history[-1].by if card.history else ""
        if card.status not in (MemoryStatus.QUARANTINED, MemoryStatus.PROMOTED) or card.pinned:
            return None
        if card.status is MemoryStatus.PROMOTED and decided_by == "human":
            return None
        own = trial_of(card, trial.model, trial.layout)
        if not agree(card.situation, promoted.situation) and (own.stage == "promoted" or is_ahead(own)):
            return None
        why = f"its rival {promoted.id} helps, and both can't be right"
        return move(card, MemoryStatus.ARCHIVED, note=why, at=at, by="trial")

    for rival in promoted.rivals:
        with suppress(CardNotFoundError):
            changed = await change_card(ci.store, rival, archived)
            if changed is not None:
                await follow(ci.store, rival, at=at)
                moved.append(_moved_event(rival, changed.history[-1]))
    return moved


class _Settlement:
    """One outcome on its way to one idea, or what replays say; asked again where the card changes meanwhile."""

    trial: Trial | None
    """The trial as it is now; `None` where nothing was counted."""
    move: Move | None
    near: bool
    """Whether it would be decided if more ideas of its cohort had been promoted, or were together with it."""
    tenant: str
    """The card's."""

    def __init__(
        self,
        ci: MemoryCI,
        at: datetime,
        *,
        draw: str = "",
        outcome: Outcome = _UNKNOWN,
        trial: Trial | None = None,
        chosen: Chosen | None = None,
    ) -> None:
        self._ci = ci
        self._at = at
        self._draw = draw
        self._outcome = outcome
        self._known = trial
        self._chosen = chosen
        self._ended = False
        self.tenant = ""

    def ended(self, card: MemoryCard) -> MemoryCard | None:
        """As `on`, of a card whose trial that ends; `None` for others, which are left as they are."""
        weighed = self.on(card)
        return weighed if self._ended else None

    def on(self, card: MemoryCard) -> MemoryCard | None:
        """The card with the outcome counted, and moved if that decides; `None` where there is nothing to count."""
        self.trial = self.move = None
        self.near = self._ended = False
        self.tenant = card.scope.tenant
        if card.status is MemoryStatus.REJECTED:
            return None
        if self._known is not None:
            trial = trial_of(card, self._known.model, self._known.layout)
            if trial.number:  # replays may have bet on it, and no run yet
                trial = began(trial, trial.number)
            return self._judged(card, trial)
        draw = next((one for one in card.open_draws if one.id == self._draw), None)
        if draw is None or (draw.unknown and self._outcome.good is None):
            return None
        if expired([draw], self._at, self._ci.trial):
            return self._too_late(card, draw)
        card = replace(card, open_draws=without(card.open_draws, draw))
        card = without_late(card, self._at, self._ci.trial)
        trial = trial_of(card, draw.model, draw.layout)
        if self._outcome.good is None:  # it may still come from outside
            card = replace(card, open_draws=(*card.open_draws, replace(draw, unknown=True)))
        else:
            card = replace(card, observed=(*card.observed, short_id(draw.id))[-_REMEMBERED:])
            trial = counted(trial, draw, self._outcome.good, judged=self._outcome.judged)
        return self._judged(with_trial(card, trial), trial)

    def _too_late(self, card: MemoryCard, draw: OpenDraw) -> MemoryCard:
        """The card with the draw counted as one that nobody has reported."""
        card = without_late(card, self._at, self._ci.trial)
        return self._judged(card, trial_of(card, draw.model, draw.layout))

    def advanced(self, card: MemoryCard) -> TrialAdvanced:
        """How far the trial is."""
        trial, rule = self.trial or Trial(), self._ci.trial
        said = progress(trial, rule, at=self._bar(trial, max(trial.number, 1)))
        return TrialAdvanced(card_id=card.id, runs=said.runs, of_about=said.of_about, standing=said.standing)

    def _judged(self, card: MemoryCard, trial: Trial) -> MemoryCard:
        self.trial = trial
        if not may_be_decided(card):
            return card
        rule, (gained, lost) = self._ci.trial, replayed(card, trial.model, trial.layout)
        needed = self._chosen.bar if self._chosen else self._bar(trial, trial.number)
        said = verdict(trial, rule, at=needed, gained=gained, lost=lost, open_draws=card.open_draws)
        if said == "undecided":
            self.near = trial.stage == "on trial" and evidence_on(card, trial) >= log(rule.promote_at)
            return card
        self._ended = True
        self.trial = after = decided(trial, said)
        card = with_trial(card, after)
        status = _status(card, trial, after)
        if status is None:
            return card
        others = len(self._chosen.together) - 1 if self._chosen else 0
        note = _why(trial, said, gained=gained, lost=lost, others=others)
        card = move(card, status, note=note, at=self._at, by="trial", evidence=_pooled(trial))
        self.move = card.history[-1]
        return card

    def _bar(self, trial: Trial, number: int) -> float:
        return bar(number, self._ci.promotions.in_cohort_of(number, trial.family).known, self._ci.trial)


def short_id(draw: str) -> str:
    """A draw's id as it is remembered once it was counted."""
    return draw[:12]


def with_trial(card: MemoryCard, trial: Trial) -> MemoryCard:
    """The card with this trial in the place of the one for the same model and layout."""
    others = [one for one in card.trials if (one.model, one.layout) != (trial.model, trial.layout)]
    return replace(card, trials=(*others, trial))


def without_late(card: MemoryCard, at: datetime, rule: TrialRule) -> MemoryCard:
    """The card with those draws counted that nobody has reported in time, or that too many others wait behind."""
    late = expired(card.open_draws, at, rule)
    late += [one for one in card.open_draws[:-_MOST_OPEN] if one not in late]
    for draw in late:
        good = None if draw.unknown else False
        card = with_trial(card, counted(trial_of(card, draw.model, draw.layout), draw, good))
    return replace(card, open_draws=tuple(one for one in card.open_draws if one not in late))


def _status(card: MemoryCard, before: Trial, after: Trial) -> MemoryStatus | None:
    """Where the verdict moves the card; one that another model's evidence promoted is only barred for this one."""
    if after.stage == "promoted" and card.status is MemoryStatus.QUARANTINED:
        return MemoryStatus.PROMOTED
    if after.stage != "archived":
        return None
    if card.status is MemoryStatus.PROMOTED and not promoted_for(card, model=before.model, layout=before.layout):
        return None
    return MemoryStatus.ARCHIVED if card.status in (MemoryStatus.QUARANTINED, MemoryStatus.PROMOTED) else None


def _pooled(trial: Trial) -> CardEvidence:
    """The counts that decided, as a move keeps them."""
    counts = trial.counts
    runs = sum(one.runs for one in counts)
    return CardEvidence(
        model=trial.model,
        layout=trial.layout,
        terms="live trial",
        judged=runs > 0 and sum(one.judged for one in counts) == runs,
        shown=sum(one.shown for one in counts),
        shown_successes=sum(one.shown_good for one in counts),
        shown_unknown=sum(one.shown_unknown for one in counts),
        held_out=sum(one.held_out for one in counts),
        held_out_successes=sum(one.held_out_good for one in counts),
        held_out_unknown=sum(one.held_out_unknown for one in counts),
    )


def _why(trial: Trial, said: str, *, gained: int, lost: int, others: int) -> str:
    seen = _pooled(trial)
    e_value = trial_e_value(trial.counts, gained=gained, lost=lost, hurts=said == "hurts")
    judged = ", as a model judged" if seen.judged else ""
    shown = f", {seen.shown_unknown} without a score," if seen.shown_unknown else ""
    held_out = f", {seen.held_out_unknown} without a score" if seen.held_out_unknown else ""
    replays = f", {gained} replays gained, {lost} lost" if gained or lost else ""
    together = f", together with {others} other{'s' if others > 1 else ''}" if others else ""
    return (
        f"{said}{judged}: good in {seen.shown_successes} of {seen.shown} runs with it{shown} "
        f"and {seen.held_out_successes} of {seen.held_out} without{held_out}{replays} (e = {e_value:.3g}{together})"
    )


def _moved_event(card_id: str, done: Move) -> CardMoved:
    return CardMoved(card_id=card_id, before=done.before.value, after=done.after.value, why=done.why, by=done.by)
