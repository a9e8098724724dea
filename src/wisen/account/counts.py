"""Counts what a draw came to, once, and acts on the verdict.

A run is good if its first attempt met the threshold. It isn't if it didn't, raised, was cancelled, or was never
reported within the rule's grace time. Where the judge was down the outcome is unknown: it may still come from outside.
Until then it isn't good, whether the idea was shown or held out; once one was told, it is open: see `unjudged`.

A draw leaves `MemoryCard.open_draws` in the very write that counts it. So it counts once, for however many processes,
restarts and repeated reports.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from math import log

from wisen.account.cohorts import Chosen, chosen_together, evidence_on, may_be_decided, trial_name
from wisen.account.consequences import carry_out, moved_event
from wisen.account.eligibility import replayed, trial_of
from wisen.cards import CardEvidence, MemoryCard, MemoryStatus, Move
from wisen.errors import CardNotFoundError
from wisen.events import CardMoved, TrialAdvanced
from wisen.memory_ci.changes import change_card, change_if_there, to_its_end
from wisen.memory_ci.ideas import family_of
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.statistics import trial_e_value
from wisen.memory_ci.status import move
from wisen.memory_ci.trial import began, counted, decided, expired, unjudged, with_open, with_score, without
from wisen.memory_ci.verdicts import bar, needed, progress, promoted_for, verdict
from wisen.protocols import VectorStore
from wisen.trial_records import REMEMBERED, Cohort, OpenDraw, Trial, short_id

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What came of counting an outcome."""

    counted: list[str] = field(default_factory=list[str])
    """The ideas that it counted on. Those that it came too late for aren't among them."""
    events: list[CardMoved | TrialAdvanced] = field(default_factory=list[CardMoved | TrialAdvanced])
    """What became of the ideas."""


async def settle(ci: MemoryCI, draws: Mapping[str, str], outcome: Outcome, *, at: datetime) -> Settled:
    """Count an outcome on draws, given as ids of ideas and of their draws; says what became of the ideas.

    A draw that was counted before, or whose idea is gone, is passed over. What a verdict on these ideas has left
    undone, since a store failed, is done now. All of it is finished even if the caller is cancelled. Where the store
    fails, the other draws are counted, and those that failed are tried once more; what it raises then is raised.
    """
    return await to_its_end(ci.store, _counted(ci, draws, outcome, at))


async def count_alone(store: VectorStore, draws: Mapping[str, str], outcome: Outcome, *, at: datetime) -> Settled:
    """As `settle`, where the rule of the trial isn't known: no other draw is looked at, and nothing is decided.

    The next run that tries one of these ideas knows the rule, and decides. A draw whose grace time is over is left to
    it.
    """

    async def count() -> Settled:
        told = Settled()
        for idea, draw in draws.items():
            if await change_if_there(store, idea, partial(_told, draw_id=draw, outcome=outcome, at=at)):
                told.counted.append(idea)
            else:
                await change_if_there(store, idea, partial(_heard, draw_id=draw, outcome=outcome))
        return told

    return await to_its_end(store, count())


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

    async def judge() -> list[CardMoved]:
        moved = list[CardMoved]()
        with suppress(CardNotFoundError):
            await _decided(ci, idea, await change_card(ci.store, idea, one.ended), one, moved)
        return moved

    return await to_its_end(ci.store, judge())


async def _counted(ci: MemoryCI, draws: Mapping[str, str], outcome: Outcome, at: datetime) -> Settled:
    told, left = Settled(), dict(draws)
    for last in (False, True):
        errors = dict[str, Exception]()
        for idea, draw in left.items():
            try:
                await _settled(ci, idea, _Settlement(ci, at, draw=draw, outcome=outcome), told)
            except CardNotFoundError:  # deleted meanwhile
                continue
            except Exception as error:  # noqa: BLE001 - a store may be anybody's code; the other ideas are counted on
                errors[idea] = error
        left = {idea: draws[idea] for idea in errors}
        if last and errors:
            raise next(iter(errors.values()))
    return told


async def _settled(ci: MemoryCI, idea: str, one: "_Settlement", told: Settled) -> None:
    changed = await change_card(ci.store, idea, one.on)
    if changed is not None and one.in_time:
        told.counted.append(idea)
    await _decided(ci, idea, changed, one, told.events)
    if changed is None or one.trial is None or changed.status is MemoryStatus.ARCHIVED:
        return
    over = one.move is not None or any(isinstance(event, CardMoved) and event.card_id == idea for event in told.events)
    if not over and one.trial.stage in ("waiting", "on trial", "recheck"):
        told.events.append(one.advanced(changed, await ci.promotions.beside(one.trial)))


async def _decided(
    ci: MemoryCI,
    idea: str,
    changed: MemoryCard | None,
    one: "_Settlement",
    events: list[CardMoved] | list[CardMoved | TrialAdvanced],
) -> None:
    """What a settlement decides: of its own idea, and of others of its cohort that have enough evidence with it."""
    card = (await ci.store.get([idea]))[0] if changed is None else changed
    events += one.moved(card)
    events += await carry_out(ci, card, at=one.at)
    promoted = one.move is not None and one.move.after is MemoryStatus.PROMOTED
    if one.trial is None or not (one.near or promoted):
        return
    chosen = await chosen_together(ci, idea, one.trial, tenant=one.tenant)
    for candidate in chosen.together:
        other = _Settlement(ci, one.at, trial=candidate.trial, chosen=chosen)
        with suppress(CardNotFoundError):
            ended = await change_card(ci.store, candidate.idea, other.ended)
            if ended is not None:
                events += other.moved(ended)
                events += await carry_out(ci, ended, at=one.at)


class _Settlement:
    """One outcome on its way to one idea, or what replays say; asked again where the card changes meanwhile."""

    trial: Trial | None
    """The trial as it is now; `None` where nothing was counted."""
    move: Move | None
    in_time: bool
    """Whether the outcome was counted as it was told."""
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
        self.at = at
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
        self.near = self.in_time = self._ended = False
        self.tenant = card.scope.tenant
        if self._known is not None:
            if card.status is MemoryStatus.REJECTED:
                return None
            trial = trial_of(card, self._known.model, self._known.layout)
            if trial.number:  # replays may have bet on it, and no run yet
                trial = began(trial, trial.number)
            return self._judged(card, trial)
        draw = _waiting(card, self._draw, self._outcome)
        if draw is None:
            return _heard(card, draw_id=self._draw, outcome=self._outcome)
        if expired([draw], self.at):
            return self._too_late(card, draw)
        self.in_time = True
        card = without_late(_with_outcome(card, draw, self._outcome), self.at)
        return self._judged(card, trial_of(card, draw.model, draw.layout))

    def _too_late(self, card: MemoryCard, draw: OpenDraw) -> MemoryCard:
        """The card with the draw counted as one that nobody has reported."""
        card = without_late(card, self.at)
        return self._judged(card, trial_of(card, draw.model, draw.layout))

    def moved(self, card: MemoryCard) -> list[CardMoved]:
        """The idea's own move, if there was one."""
        return [] if self.move is None else [moved_event(card.id, self.move)]

    def advanced(self, card: MemoryCard, promoted: Mapping[Cohort, int]) -> TrialAdvanced:
        """How far the trial is, given how many ideas were promoted beside it."""
        trial, rule = self.trial or Trial(), self._ci.trial
        gained, lost = replayed(card, trial.model, trial.layout)
        said = progress(trial, rule, at=needed(trial, promoted, rule), gained=gained, lost=lost)
        return TrialAdvanced(card_id=card.id, runs=said.runs, of_about=said.of_about, standing=said.standing)

    def _judged(self, card: MemoryCard, trial: Trial) -> MemoryCard:
        self.trial = trial
        if not may_be_decided(card):
            return card
        rule, (gained, lost) = self._ci.trial, replayed(card, trial.model, trial.layout)
        enough = self._chosen.bar if self._chosen else self._bar(trial)
        said = verdict(trial, rule, at=enough, gained=gained, lost=lost, open_draws=card.open_draws)
        if said == "undecided":
            self.near = trial.stage == "on trial" and evidence_on(card, trial) >= log(rule.promote_at)
            return card
        if trial.stage != "on trial":
            gained = lost = 0  # runs alone decided
        seen = replace(trial, counts=with_open(trial, card.open_draws, hurts=said != "helps"))
        self._ended = True
        self.trial = after = decided(trial, said)
        card = with_trial(card, after)
        status = _status(card, trial, after)
        if status is None:
            return card
        others = len(self._chosen.together) - 1 if self._chosen else 0
        note = _why(seen, said, gained=gained, lost=lost, others=others, untold=_scored(seen) - _scored(trial))
        card = move(card, status, note=note, at=self.at, by="trial", evidence=_pooled(seen))
        self.move = card.history[-1]
        return card

    def _bar(self, trial: Trial) -> float:
        """As far as this process knows: see `near`."""
        return bar(trial.number, self._ci.promotions.in_cohort_of(trial.number, trial.family).known, self._ci.trial)


def _waiting(card: MemoryCard, draw_id: str, outcome: Outcome) -> OpenDraw | None:
    """The draw that an outcome is to be counted on; `None` where there is nothing to count."""
    draw = next((one for one in card.open_draws if one.id == draw_id), None)
    return None if draw is None or (draw.unknown and outcome.good is None) else draw


def _told(card: MemoryCard, *, draw_id: str, outcome: Outcome, at: datetime) -> MemoryCard | None:
    draw = _waiting(card, draw_id, outcome)
    return None if draw is None or expired([draw], at) else _with_outcome(card, draw, outcome)


def _with_outcome(card: MemoryCard, draw: OpenDraw, outcome: Outcome) -> MemoryCard:
    """The card with the outcome counted on one of its open draws, and nothing else done."""
    left = without(card.open_draws, draw)
    if outcome.good is None:  # it may still come from outside
        return replace(card, open_draws=unjudged(card.open_draws, draw, trial_of(card, draw.model, draw.layout)))
    trial = counted(trial_of(card, draw.model, draw.layout), draw, outcome.good, judged=outcome.judged)
    return with_trial(replace(_remembering(card, draw.id), open_draws=left), trial)


def _heard(card: MemoryCard, *, draw_id: str, outcome: Outcome) -> MemoryCard | None:
    """The card, which remembers an outcome that it has no draw for; `None` where it does, or nothing is known yet.

    A decision has ended the trial that the draw was of. Anyone who takes it back doesn't wait for that outcome again.
    """
    waits = any(one.id == draw_id for one in card.open_draws)
    known = outcome.good is None or waits or short_id(draw_id) in card.observed
    return None if known else _remembering(card, draw_id)


def _remembering(card: MemoryCard, draw_id: str) -> MemoryCard:
    return replace(card, observed=(*card.observed, short_id(draw_id))[-REMEMBERED:])


def with_trial(card: MemoryCard, trial: Trial) -> MemoryCard:
    """The card with this trial in the place of the one for the same model and layout."""
    others = [one for one in card.trials if (one.model, one.layout) != (trial.model, trial.layout)]
    return replace(card, trials=(*others, trial))


def without_late(card: MemoryCard, at: datetime) -> MemoryCard:
    """The card with those draws counted that nobody has reported in time, or that too many others wait behind."""
    late = expired(card.open_draws, at)
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


def _scored(trial: Trial) -> int:
    return sum(one.runs for one in with_score(trial.counts))


def _why(trial: Trial, said: str, *, gained: int, lost: int, others: int, untold: int) -> str:
    seen = _pooled(trial)
    e_value = trial_e_value(trial.counts, gained=gained, lost=lost, hurts=said == "hurts")
    judged = ", as a model judged" if seen.judged else ""
    shown = f", {seen.shown_unknown} without a score," if seen.shown_unknown else ""
    held_out = f", {seen.held_out_unknown} without a score" if seen.held_out_unknown else ""
    beside = f", with {untold} untold that count against this" if untold else ""
    beside += f", {gained} replays gained, {lost} lost" if gained or lost else ""
    together = f", together with {others} other{'s' if others > 1 else ''}" if others else ""
    return (
        f"{said}{judged}: good in {seen.shown_successes} of {seen.shown} runs with it{shown} "
        f"and {seen.held_out_successes} of {seen.held_out} without{held_out}{beside} (e = {e_value:.3g}{together})"
    )
