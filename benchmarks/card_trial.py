"""The live trial on planted cards: what the estimates are worth, and how often verdicts are wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from card_streams import OF_A_TOPIC, PLANTED, TOPICS, Bools, Floats, Ints, Trial, tried

from wisen.memory.rank import estimated_effect
from wisen.memory_ci.statistics import ALTERNATIVES, trial_bets, wilson_interval
from wisen.memory_ci.trial import TrialRule
from wisen.trials import DrawCounts

_PROPENSITY = 1.0 - TrialRule().holdout
_EPISODES = 2000
_LONGER = 20_000
_ENOUGH = 0.9
_SEED = 6
_AT_RANDOM, _MOSTLY_BAD = (0.2, 0.2), (0.05, 0.425)
"""Shares of good and of bad runs without a score: a fifth of all, since three of five runs are good."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a trial says of its 50 cards, in one order."""

    effects: Floats
    in_context: Floats
    counts: Ints
    """Of each card: shown and good, shown and not, held out and good, held out and not. Without a score is not good."""
    unknown: float
    """The share of all runs without a score."""
    verdicts: Ints
    """The first one: 1 helps, -1 hurts, 0 undecided."""


def live(trials: int) -> list[str]:
    """The tables."""
    usual = [_found(number, _EPISODES) for number in range(trials)]
    log_odds = [_found(number, _EPISODES, in_points=False) for number in range(trials)]
    longer = [_found(number, _LONGER) for number in range(trials)]
    at_random = [_found(number, _EPISODES, unknown=_AT_RANDOM) for number in range(trials)]
    mostly_bad = [_found(number, _EPISODES, unknown=_MOSTLY_BAD) for number in range(trials)]
    longer_bad = [_found(number, _LONGER, unknown=_MOSTLY_BAD) for number in range(trials)]
    kinds = {
        "2,000 runs": usual,
        "2,000 runs, effects add in log-odds": log_odds,
        f"2,000 runs, {_share(at_random)} without a score, at random": at_random,
        f"2,000 runs, {_share(mostly_bad)} without a score, mostly failed ones": mostly_bad,
        "20,000 runs": longer,
        f"20,000 runs, {_share(longer_bad)} without a score, mostly failed ones": longer_bad,
    }
    return [
        f"**Live: which cards have an effect above 0, by AUC over {trials} trials**\n\n{_rankings(kinds)}",
        f"**Live: first verdict, looked at after every run**\n\n{_verdicts(kinds)}",
    ]


def _found(number: int, episodes: int, *, in_points: bool = True, unknown: tuple[float, float] = (0.0, 0.0)) -> Found:
    rng = np.random.default_rng((_SEED, number))
    trial = tried(rng, runs=episodes, propensity=_PROPENSITY, in_points=in_points, unknown=unknown)
    by_topic = [_of_topic(trial, topic) for topic in range(TOPICS)]
    return Found(
        effects=trial.effects.ravel(),
        in_context=trial.in_context.ravel(),
        counts=np.concatenate([counts[:, -1] for counts in by_topic]),
        verdicts=np.concatenate([_first(counts) for counts in by_topic]),
        unknown=float(1.0 - trial.known.mean()),
    )


def _of_topic(trial: Trial, topic: int) -> Ints:
    """Counts by card, run and kind, up to each run."""
    mine = trial.topics == topic
    shown, good = trial.shown[mine].T, trial.good[mine] & trial.known[mine]
    kinds: list[Bools] = [shown & good, shown & ~good, ~shown & good, ~shown & ~good]
    return np.stack([np.cumsum(kind, axis=1, dtype=np.int64) for kind in kinds], axis=2)


def _share(trials: Sequence[Found]) -> str:
    return f"{np.mean([one.unknown for one in trials]):.0%}".replace("%", " %")


def evidence(counts: Ints, *, hurts: bool = False) -> Floats:
    """The logarithm of `trial_e_value`, for arrays of counts."""
    bets = (counts[..., [1, 0, 3, 2]] if hurts else counts) @ np.array(trial_bets(_PROPENSITY)).T
    return np.logaddexp.reduce(bets + np.log([one.weight for one in ALTERNATIVES]), axis=-1)


def _first(counts: Ints) -> Ints:
    rule = TrialRule()
    better, worse = evidence(counts), evidence(counts, hurts=True)
    helps = (better >= log(rule.promote_at)) & (worse < 0)
    hurts = (worse >= log(rule.archive_at)) & (better < 0)
    run = (helps | hurts).argmax(axis=1)
    rows = np.arange(OF_A_TOPIC)
    return helps[rows, run].astype(np.int64) - hurts[rows, run]


def _scores(found: Found) -> Mapping[str, Floats]:
    good, bad, out_good, out_bad = found.counts.T
    shown, held_out = good + bad, out_good + out_bad
    effects = [
        estimated_effect([DrawCounts(shown=a + b, shown_good=a, held_out=c + d, held_out_good=c)])
        for a, b, c, d in found.counts.tolist()
    ]
    return {
        "`estimated_effect`": np.array(effects),
        "difference of the rates": good / shown - out_good / np.maximum(held_out, 1),
        "inverse propensity, not normalised": (good / _PROPENSITY - out_good / (1 - _PROPENSITY)) / (shown + held_out),
        "trial e-value, helps over hurts": evidence(found.counts) - evidence(found.counts, hurts=True),
        "success rate when shown": good / shown,
        "helpful minus harmful tags": (good - bad).astype(np.float64),
    }


def auc(scores: Floats, positive: Bools) -> float:
    """The chance that a card with an effect above 0 scores higher than one without; ties count half."""
    above, below = scores[positive][:, None], scores[~positive]
    return float((above > below).mean() + (above == below).mean() / 2)


def _rankings(kinds: Mapping[str, list[Found]]) -> str:
    rows: list[list[str]] = []
    for name, trials in kinds.items():
        found: dict[str, list[float]] = {}
        for one in trials:
            for score, values in _scores(one).items():
                found.setdefault(score, []).append(auc(values, one.effects > 0))
        for score, values in found.items():
            low, high = np.quantile(values, (0.05, 0.95)).tolist()
            enough = float(np.mean(np.array(values) >= _ENOUGH))
            rows.append([name, score, f"{np.mean(values):.3f}", f"{low:.3f} to {high:.3f}", f"{enough:.0%}"])
    return table(["trial", "ranked by", "mean AUC", "5 % to 95 % of trials", "trials at 0.9 or more"], rows)


def _verdicts(kinds: Mapping[str, list[Found]]) -> str:
    rows: list[list[str]] = []
    for name, trials in kinds.items():
        effects = np.concatenate([one.effects for one in trials])
        verdicts = np.concatenate([one.verdicts for one in trials])
        in_context = np.concatenate([one.in_context for one in trials])
        for planted in PLANTED:
            mine = effects == planted
            rows.append(
                [
                    name,
                    f"{100 * planted:+.0f}" if planted else "0",
                    f"{100 * in_context[mine].mean():+.1f}" if planted else "0",
                    f"{mine.sum():,}",
                    _rate(verdicts[mine] > 0),
                    _rate(verdicts[mine] < 0),
                ]
            )
    head = 'trial|planted|effect beside the others|cards|"helps" (95 % interval)|"hurts" (95 % interval)'
    return table(head.split("|"), rows)


def _rate(hits: Bools) -> str:
    low, high = wilson_interval(int(hits.sum()), len(hits))
    return f"{hits.mean():.1%} ({low:.1%} to {high:.1%})"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))
