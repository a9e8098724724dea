"""Runs the live trial of an idea: the probability that the next run sees it, and the effect of an outcome.

All functions are pure. A trial goes through these stages:

| stage | shown to a run with probability | ends with |
|---|---|---|
| waiting | 1 for its first deliveries, once it has a place | its first draw that may hold it out: `began` |
| on trial | 1 - `holdout`; less once it is losing | a verdict: promoted, archived, or benched ("no difference") |
| promoted | 1 - `recheck` | suspicion, which `counted` raises |
| recheck | one half | a verdict: promoted again, or archived |
| archived, benched | 0 | a person, who puts it on trial again: `again` |

The probability may follow all that was seen before, by this rule, which is fixed beforehand. The evidence stays valid,
since each run's bet knows the probability of its own coin.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import log

from wisen.errors import ConfigError
from wisen.memory_ci.statistics import harm_bet, shrunken_rate, trial_log_e_value, wilson_interval
from wisen.trial_records import GRACE, DrawCounts, Family, OpenDraw, Stage, Trial

_HALF = 0.5
_LOSING = log(2.0)
_AHEAD = log(2.5)
"""From here what is said of a rival doesn't put an idea back."""
_BETTER = 5.0
"""By which factor the odds of a good run rise with an idea that is worth trying first, as 35 % to 73 %."""
_STARTED = log(10.0)
_VERIFIED = log(2.0)
_SAG = 0.4
"""By which factor the odds of a good run have fallen if a promoted idea has come to hurt, as 65 % to 45 %."""
_SAGGING = 4.0
_HARMING = 2.0
"""Both are crossed about once in 1,000 runs of an idea that stays as it is."""
_ENDED: tuple[Stage, ...] = ("archived", "benched")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRule:
    """How ideas are tried: what a trial costs, and how much evidence ends it."""

    holdout: float = 0.4
    """The probability with which a run doesn't see an idea that is on trial. At one half a trial ends soonest, and
    costs half of the benefit meanwhile; at 0.2 it takes half as long again. 0 shows everything, and decides nothing.
    """
    first_shown: int = 3
    """The first so many deliveries of an idea aren't held out: an agent that has just failed sees the lesson next
    time."""
    at_once: int = 2
    """So many ideas of one situation are on trial at once. The others wait, and reach no other run."""
    promote_at: float = 20.0
    """The least e-value that promotes: at 20, at most 5 % of useless ideas are ever promoted. `bar` may ask for more.
    """
    archive_at: float = 20.0
    """The e-value for "hurts" that archives."""
    no_difference_at: float = 20.0
    """How much evidence against a real benefit ends a trial without a verdict, so that another idea gets its place."""
    false_discoveries: float = 0.1
    """Of the ideas that a store's trials promote, at most this share is useless or harmful, on average: of each cohort
    of trials that began one after another, 30 of them."""
    recheck: float = 0.1
    """The probability with which a run doesn't see a promoted idea, so that it goes on being tested."""
    grace: timedelta = GRACE
    """How long a draw may wait for its outcome. Then it counts as not good."""

    def __post_init__(self) -> None:
        """Refuse rules that would decide without evidence, or show nothing."""
        for name in ("holdout", "recheck"):
            share: float = getattr(self, name)
            if not 0.0 <= share <= _HALF:
                raise ConfigError(f"TrialRule({name}={share!r}): must be in [0, 0.5]")
        for name in ("promote_at", "archive_at", "no_difference_at"):
            limit: float = getattr(self, name)
            if not limit > 1.0:
                raise ConfigError(f"TrialRule({name}={limit!r}): must be above 1, which is no evidence at all")
        if not 0.0 < self.false_discoveries <= 1.0:
            raise ConfigError(f"TrialRule(false_discoveries={self.false_discoveries!r}): must be in (0, 1]")
        if self.first_shown < 0:
            raise ConfigError(f"TrialRule(first_shown={self.first_shown!r}): must be at least 0")
        if self.at_once < 1:
            raise ConfigError(f"TrialRule(at_once={self.at_once!r}): must be at least 1")
        if self.grace <= timedelta(0):
            raise ConfigError(f"TrialRule(grace={self.grace!r}): must be longer than nothing")


DEFAULT_TRIAL_RULE = TrialRule()


def propensity(
    trial: Trial,
    rule: TrialRule = DEFAULT_TRIAL_RULE,
    *,
    open_draws: Iterable[OpenDraw] = (),
    screened: bool = False,
) -> float:
    """With which probability the next run should see the idea.

    Its first deliveries are certain; `open_draws` of the idea, whose outcome isn't known yet, are deliveries too. With
    `screened`, which trusts everything that passed the screen, an idea on trial is held out as seldom as a promoted
    one, until it is losing.
    """
    match trial.stage:
        case "archived" | "benched":
            return 0.0
        case "recheck":
            return _HALF
        case "promoted":
            return 1.0 - rule.recheck
        case "waiting" if trial.first + _first_open(trial, open_draws) < rule.first_shown:
            return 1.0
        case "waiting" | "on trial":
            usual = 1.0 - (rule.recheck if screened else rule.holdout)
            return min(usual, _HALF) / 2 if is_losing(trial) else usual


def begins(
    trial: Trial,
    rule: TrialRule = DEFAULT_TRIAL_RULE,
    *,
    open_draws: Iterable[OpenDraw] = (),
    screened: bool = False,
) -> bool:
    """Whether the next draw is the first that may hold the idea out, so that its trial needs a number: see `began`."""
    return trial.number == 0 and 0.0 < propensity(trial, rule, open_draws=open_draws, screened=screened) < 1.0


def began(trial: Trial, number: int, family: Family = "") -> Trial:
    """The trial with its number, counted from 1 over all trials of its family, whatever the model or layout.

    Raises `ValueError` for a number below 1, and for a trial that has another.
    """
    if number < 1 or trial.number not in (0, number):
        raise ValueError(f"trial {trial.number!r} can't begin as {number!r}: numbers start at 1, and never change")
    stage = "on trial" if trial.stage == "waiting" else trial.stage
    return replace(trial, number=number, family=trial.family if trial.number else family, stage=stage)


def counted(trial: Trial, draw: OpenDraw, good: bool | None, *, judged: bool = False) -> Trial:
    """The trial after a draw's outcome: the first attempt was good, it wasn't, or the judge was down (`None`).

    An unknown outcome isn't good, whether the run saw the idea or not. `judged` says that a model's opinion decided. A
    promoted idea comes under suspicion here. The caller makes sure that a draw counts once.
    """
    trial = replace(trial, told_later=trial.told_later or (draw.unknown and good is not None))
    if not 0.0 < draw.propensity < 1.0:
        trial = replace(trial, first=trial.first + 1, first_good=trial.first_good + (good is True))
    else:
        trial = replace(trial, counts=added(trial.counts, _one(draw, good, judged=judged)))
    return _watched(trial, draw, good=good is True) if trial.stage == "promoted" else trial


def decided(trial: Trial, verdict: str) -> Trial:
    """The trial after its verdict: "helps" promotes, "hurts" archives, "no difference" benches; else it goes on.

    A promoted idea that makes no difference any more is archived. The counts begin again.
    """
    match verdict:
        case "helps":
            shown = sum(one.shown for one in trial.counts)
            good = sum(one.shown_good for one in trial.counts)
            # An idea is promoted when its runs went well, by luck too: what is to be expected of it is less.
            return replace(_fresh(trial), stage="promoted", expected=wilson_interval(good, shown, z=1.0)[0])
        case "hurts":
            return replace(_fresh(trial), stage="archived")
        case "no difference":
            return replace(_fresh(trial), stage="archived" if trial.stage == "recheck" else "benched")
        case _:
            return trial


def again(trial: Trial) -> Trial:
    """The idea on trial once more, as a hypothesis of its own: its next number is a new one, and counts are new.

    Nothing does this by itself: every further trial is a further chance for an idea that does nothing.
    """
    return Trial(model=trial.model, layout=trial.layout, before=_fresh(trial).before, rounds=trial.rounds + 1)


def expired(draws: Iterable[OpenDraw], now: datetime) -> list[OpenDraw]:
    """The draws whose outcome wasn't reported in time: `counted` takes them as not good."""
    return [one for one in draws if now - one.at >= (one.grace or GRACE)]


def is_losing(trial: Trial) -> bool:
    """Whether the evidence so far speaks against a benefit, short of a verdict."""
    return trial_log_e_value(trial.counts) <= -_LOSING


def is_ahead(trial: Trial) -> bool:
    """Whether the evidence so far speaks for a benefit, short of a verdict."""
    return trial_log_e_value(trial.counts) >= _AHEAD


def added(counts: Sequence[DrawCounts], more: DrawCounts) -> tuple[DrawCounts, ...]:
    """The counts with `more` on the entry of its propensity, or on a new one."""
    place = next((at for at, one in enumerate(counts) if one.propensity == more.propensity), None)
    if place is None:
        return (*counts, more)
    old = counts[place]
    both = DrawCounts(
        propensity=old.propensity,
        shown=old.shown + more.shown,
        shown_good=old.shown_good + more.shown_good,
        shown_unknown=old.shown_unknown + more.shown_unknown,
        held_out=old.held_out + more.held_out,
        held_out_good=old.held_out_good + more.held_out_good,
        held_out_unknown=old.held_out_unknown + more.held_out_unknown,
        judged=old.judged + more.judged,
    )
    return (*counts[:place], both, *counts[place + 1 :])


def with_open(trial: Trial, open_draws: Iterable[OpenDraw], *, hurts: bool = False) -> tuple[DrawCounts, ...]:
    """The counts as if draws that were overtaken had come out against the idea; with `hurts`, for it.

    So runs that take longer with the idea, or without it, or with one outcome, prove nothing by that. Draws that came
    after all of those whose outcome is known are left out: an e-value may be looked at after any of the draws. A run
    whose judge was down isn't good, as in `counted`, until such an outcome is told from outside: see `unjudged`.
    """
    counts = trial.counts
    for one in open_draws:
        mine = (one.model, one.layout) == (trial.model, trial.layout) and 0.0 < one.propensity < 1.0
        final = one.unknown and not trial.told_later
        if mine and (one.overtaken or final):
            counts = added(counts, _one(one, good=None if final else one.shown is hurts, judged=False))
    return counts


def with_score(counts: Iterable[DrawCounts]) -> list[DrawCounts]:
    """The runs of these whose outcome is known."""
    return [
        replace(
            one,
            shown=one.shown - one.shown_unknown,
            shown_unknown=0,
            held_out=one.held_out - one.held_out_unknown,
            held_out_unknown=0,
        )
        for one in counts
    ]


def without(open_draws: Sequence[OpenDraw], settled: OpenDraw) -> tuple[OpenDraw, ...]:
    """The draws that stay open once the outcome of one is known: it has overtaken those before it."""
    place = open_draws.index(settled)
    terms = settled.model, settled.layout
    before = (replace(one, overtaken=True) if (one.model, one.layout) == terms else one for one in open_draws[:place])
    return (*before, *open_draws[place + 1 :])


def unjudged(open_draws: Sequence[OpenDraw], draw: OpenDraw, trial: Trial) -> tuple[OpenDraw, ...]:
    """The draws once the judge was down for one of them.

    It is as good as known, and overtakes those before it, as long as nobody tells such outcomes later. Both arms are
    unknown alike then. Once one was told it stays open, as if it had not been judged yet.
    """
    place = open_draws.index(draw)
    before = open_draws if trial.told_later else without(open_draws, draw)
    return (*before[:place], replace(draw, unknown=True), *open_draws[place + 1 :])


def base_rate(trials: Iterable[Trial]) -> float:
    """How often a situation's runs are good, as far as its ideas have seen; near one half where they have seen few."""
    good = runs = 0
    for trial in trials:
        good += trial.first_good + sum(one.shown_good + one.held_out_good for one in trial.counts)
        runs += trial.first + trial.runs
    return shrunken_rate(good, runs)


def priority(
    trial: Trial,
    *,
    base: float = 0.5,
    told: int = 1,
    verified: bool = False,
    gained: int = 0,
    lost: int = 0,
    open_draws: Iterable[OpenDraw] = (),
) -> float:
    """How soon an idea should have one of its situation's places on trial: the highest first, of equals the newest.

    It is the logarithm of the odds that the idea helps, roughly: how often it was taught, in whatever wording, times
    the evidence so far. Its first deliveries, which no control stands beside, count here and nowhere else, against
    `base`, the rate of the situation's good runs. `verified` says that a check decided on the run that taught it;
    `gained` and `lost` are its pairs of replays. What is on trial, or waits among its `open_draws` for
    the outcome of its first deliveries, keeps its place until another is ten times likelier. Then its counts wait for
    it: who has a place may follow all that was seen, since that says nothing of the coins to come.
    """
    prior = log(max(told, 1)) + (_VERIFIED if verified else 0.0)
    started = _STARTED if trial.first or trial.number or _first_open(trial, open_draws) else 0.0
    better = base / (1.0 - base) * _BETTER
    better /= 1.0 + better
    hints = trial.first_good * log(better / base)
    hints += (trial.first - trial.first_good) * log((1.0 - better) / (1.0 - base))
    return prior + started + hints + trial_log_e_value(trial.counts, gained=gained, lost=lost)


def _first_open(trial: Trial, open_draws: Iterable[OpenDraw]) -> int:
    mine = (one for one in open_draws if (one.model, one.layout) == (trial.model, trial.layout))
    return sum(one.propensity == 1.0 for one in mine)


def _one(draw: OpenDraw, good: bool | None, *, judged: bool) -> DrawCounts:
    if draw.shown:
        return DrawCounts(
            propensity=draw.propensity,
            shown=1,
            shown_good=int(good is True),
            shown_unknown=int(good is None),
            judged=int(judged),
        )
    return DrawCounts(
        propensity=draw.propensity,
        held_out=1,
        held_out_good=int(good is True),
        held_out_unknown=int(good is None),
        judged=int(judged),
    )


def _watched(trial: Trial, draw: OpenDraw, *, good: bool) -> Trial:
    """A promoted trial after one more run: put to a recheck where its last runs look worse than those before.

    Two sums that forget what was long ago (Page 1954). One compares its shown runs with what was expected of it, which
    is quick, and is fooled where tasks get harder. The other bets on the coins, which is slow, and isn't fooled (an
    e-detector: Shin, Ramdas, Rinaldo 2024). Both only raise suspicion: the recheck decides.
    """
    sagging, harming = trial.sagging, trial.harming
    if draw.shown and trial.expected:
        odds = trial.expected / (1.0 - trial.expected) * _SAG
        worse = odds / (1.0 + odds)
        step = log(worse / trial.expected) if good else log((1.0 - worse) / (1.0 - trial.expected))
        sagging = max(0.0, sagging + step)
    if draw.propensity < 1.0:
        harming = max(0.0, harming + harm_bet(draw.propensity, shown=draw.shown, good=good))
    if sagging < _SAGGING and harming < _HARMING:
        return replace(trial, sagging=sagging, harming=harming)
    return replace(_fresh(trial), stage="recheck", rechecks=trial.rechecks + 1)


def _fresh(trial: Trial) -> Trial:
    before = trial.before
    for one in trial.counts:
        before = added(before, one)
    return replace(trial, before=before, counts=(), sagging=0.0, harming=0.0)
