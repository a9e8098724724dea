"""What a card's evidence says: that it helps, that it hurts, or nothing yet.

A verdict is a function of counts, so that nothing else has to be stored. It may be asked after every pair and every
run: of the cards that don't help, at most one in `promote_at` is ever said to help by replays, and as many by a trial.
Act on the first verdict that isn't "undecided"; later data may weaken what it rested on, and don't undo it.

Papers: Xu, Ramdas (2024), "Online multiple testing with e-values"; Wang, Ramdas (2022), "False discovery rate control
with e-values".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Literal

from wisen.cards import CardEvidence, MemoryCard, MemoryStatus
from wisen.errors import ConfigError
from wisen.memory_ci.sequence_numbers import promoted_beside, size_of_cohort
from wisen.memory_ci.statistics import sign_e_value, trial_e_value, trial_log_e_value
from wisen.memory_ci.trial import DEFAULT_TRIAL_RULE, TrialRule, with_open, with_score
from wisen.trial_records import Cohort, DrawCounts, OpenDraw, Trial

Verdict = Literal["helps", "hurts", "undecided"]
TrialVerdict = Literal["helps", "hurts", "no difference", "undecided"]
Standing = Literal["ahead", "behind", "level"]

_LEANS = log(2.0)
_SPEED = 0.035
"""By how much the evidence's logarithm grows in one run at one half, of an idea that lifts 35 % to 60 %."""
_EARNED = 2.5
"""What was promoted once needs so much more evidence against it."""
_PACE = 60
"""After so many runs, their own pace counts as much as that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a trial is."""

    runs: int
    """Runs counted so far, first deliveries too."""
    of_about: int
    """After how many a verdict is to be expected."""
    standing: Standing

    @property
    def text(self) -> str:
        """It in words: "on trial, 37 of about 90 runs, ahead"."""
        return f"on trial, {self.runs} of about {self.of_about} runs, {self.standing}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How much evidence decides, and how many replays it may cost."""

    promote_at: float = 20.0
    """The e-value for "helps" from which a card helps: 20 lets at most 5 % of useless cards through."""
    archive_at: float = 20.0
    """The e-value for "hurts" from which a card hurts."""
    max_pairs: int = 300
    """After so many replayed pairs, ties among them, an undecided card stays undecided."""

    def __post_init__(self) -> None:
        """Refuse limits that would decide without evidence."""
        for name, limit in (("promote_at", self.promote_at), ("archive_at", self.archive_at)):
            if not limit > 1.0:
                raise ConfigError(f"Rule({name}={limit!r}): must be above 1, which is no evidence at all")
        if self.max_pairs < 1:
            raise ConfigError(f"Rule(max_pairs={self.max_pairs!r}): must be at least 1")


DEFAULT_RULE = Rule()


def replay_verdict(gained: int, lost: int, rule: Rule = DEFAULT_RULE) -> Verdict:
    """What pairs of runs with and without the card say; pairs that agree don't count."""
    if sign_e_value(gained, lost) >= rule.promote_at:
        return "helps"
    return "hurts" if sign_e_value(lost, gained) >= rule.archive_at else "undecided"


def replay_finished(gained: int, lost: int, ties: int, rule: Rule = DEFAULT_RULE) -> bool:
    """Whether no further pair is worth its cost.

    So it is once there is a verdict, once the pairs are used up, and once even the rest all alike couldn't decide.
    """
    if replay_verdict(gained, lost, rule) != "undecided":
        return True
    left = max(0, rule.max_pairs - gained - lost - ties)
    possible = {replay_verdict(gained + left, lost, rule), replay_verdict(gained, lost + left, rule)}
    return possible == {"undecided"}


def promoted_for(card: MemoryCard, *, model: str, layout: str) -> bool:
    """Whether what promoted the card holds for this model and layout: their own evidence, or a person's word.

    Also where it isn't known who promoted it, or on which evidence.
    """
    if card.status is not MemoryStatus.PROMOTED:
        return False
    made = next((one for one in reversed(card.history) if one.before is not one.after is MemoryStatus.PROMOTED), None)
    if made is None or made.evidence is None:
        return True
    return (made.evidence.model, made.evidence.layout) == (model, layout)


def trial_e_value_of(evidence: CardEvidence, *, hurts: bool = False) -> float:
    """The e-value of runs that were counted on a card before it had trials; it decides nothing any more."""
    if not 0.0 < evidence.propensity < 1.0:
        return 1.0
    counts = DrawCounts(
        propensity=evidence.propensity,
        shown=evidence.shown,
        shown_good=evidence.shown_successes,
        held_out=evidence.held_out,
        held_out_good=evidence.held_out_successes,
    )
    return trial_e_value((counts,), hurts=hurts)


def bar(number: int, promoted: int, rule: TrialRule = DEFAULT_TRIAL_RULE) -> float:
    """The e-value from which the store's trial `number` promotes, if `promoted` ideas of its cohort were before.

    `rule.promote_at`, or `size_of_cohort / (false_discoveries * (promoted + 1))` if that is more. Then at most
    `rule.false_discoveries` of the ideas that a cohort's trials promote are false, on average (e-LOND: Xu, Ramdas
    2024). Each promotion makes the next one easier, for trials that began before it too. Several may be promoted at
    once: then each of them counts for the others (e-BH: Wang, Ramdas 2022). It holds however trials depend on each
    other. Infinite for a trial that hasn't begun.
    """
    if number < 1:
        return inf
    return max(rule.promote_at, size_of_cohort(number) / (rule.false_discoveries * (promoted + 1)))


def needed(trial: Trial, promoted: Mapping[Cohort, int], rule: TrialRule = DEFAULT_TRIAL_RULE) -> float:
    """The e-value from which a trial by itself promotes; `promoted` has the promotions so far."""
    if trial.stage != "on trial":
        return rule.promote_at
    return bar(max(trial.number, 1), promoted_beside(trial, promoted), rule)


def evidence_of(trial: Trial, *, gained: int = 0, lost: int = 0, open_draws: Sequence[OpenDraw] = ()) -> float:
    """The logarithm of the e-value that promotes a trial.

    Of the `open_draws` those count against the idea that were overtaken. Otherwise one could win by making its failures
    late, or its successes early. `gained` and `lost` are pairs of replays, which are bet on beside the runs.
    """
    return trial_log_e_value(with_open(trial, open_draws), gained=gained, lost=lost)


def verdict(
    trial: Trial,
    rule: TrialRule = DEFAULT_TRIAL_RULE,
    *,
    at: float = inf,
    gained: int = 0,
    lost: int = 0,
    open_draws: Sequence[OpenDraw] = (),
) -> TrialVerdict:
    """What a trial says; it may be asked after every run.

    "Helps" needs an e-value of `at`, which is `bar`'s: see `evidence_of`. "No difference" is evidence against a benefit
    worth having, so that harm, too, mostly ends there, and sooner than at "hurts". Runs without a score are no evidence
    of it.

    Of a promoted idea only "hurts" can be said. A recheck counts its own runs alone. It promotes again at
    `rule.promote_at`, since that is no new discovery, and asks for more than a first trial before it gives an idea up.
    """
    at_best = with_open(trial, open_draws, hurts=True)
    match trial.stage:
        case "on trial":
            promote_at, give_up_at = at, rule.no_difference_at
        case "recheck":
            gained = lost = 0
            promote_at, give_up_at = rule.promote_at, rule.no_difference_at * _EARNED
        case "promoted":
            harmful = trial_log_e_value(at_best, hurts=True) >= log(rule.archive_at)
            return "hurts" if harmful else "undecided"
        case _:
            return "undecided"
    if evidence_of(trial, gained=gained, lost=lost, open_draws=open_draws) >= log(promote_at):
        return "helps"
    if trial_log_e_value(at_best, gained=gained, lost=lost, hurts=True) >= log(rule.archive_at):
        return "hurts"
    benefit = max(trial_log_e_value(some, gained=gained, lost=lost) for some in (at_best, with_score(at_best)))
    return "no difference" if benefit <= -log(give_up_at) else "undecided"


def progress(
    trial: Trial, rule: TrialRule = DEFAULT_TRIAL_RULE, *, at: float = 20.0, gained: int = 0, lost: int = 0
) -> Progress:
    """How far a trial is, for people: "on trial, 37 of about 90 runs, ahead".

    `at` is `needed`'s. Pairs of replays count as in `verdict`; how soon the rest comes follows from the runs alone.
    """
    if trial.stage == "recheck":
        gained = lost = 0
    runs, evidence = trial.runs, trial_log_e_value(trial.counts, gained=gained, lost=lost)
    against = trial_log_e_value(trial.counts, gained=gained, lost=lost, hurts=True)
    standing: Standing = "level"
    if max(evidence, against) >= _LEANS:
        standing = "ahead" if evidence > against else "behind"
    first = min(trial.first, rule.first_shown)
    goal = log(at) if standing != "behind" else log(rule.no_difference_at)
    made = evidence if standing != "behind" else -evidence
    shown = 1.0 - rule.holdout
    speed = _SPEED * 4.0 * shown * (1.0 - shown)
    own = trial_log_e_value(trial.counts) * (-1.0 if standing == "behind" else 1.0)
    pace = (speed * _PACE + max(own, 0.0)) / (_PACE + runs)
    left = max(1, round((goal - made) / pace)) if speed else 0
    return Progress(runs=first + runs, of_about=rule.first_shown + runs + left, standing=standing)
