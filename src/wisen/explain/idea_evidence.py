"""The figures behind an idea: the runs of its trials, the replays that count with them, and their e-values.

It stands apart from `card_facts`, which imports no statistics until it is asked for them.
"""

from dataclasses import replace

from wisen.cards import CardEvidence, MemoryCard
from wisen.trial_records import Trial


def replays_of(head: MemoryCard, trial: Trial) -> CardEvidence | None:
    """The replays that count with a trial: those under the terms with the most pairs."""
    mine = [one for one in head.evidence if (one.model, one.layout) == (trial.model, trial.layout)]
    mine = [one for one in mine if one.gained + one.lost + one.ties and not one.shown + one.held_out]
    return max(mine, key=lambda one: one.gained + one.lost, default=None)


def pooled(trial: Trial, replays: CardEvidence | None) -> CardEvidence:
    """The runs of a trial's stage, or of those before where it has none yet, beside its replays."""
    runs = trial.counts or trial.before
    return replace(
        replays or CardEvidence(model=trial.model, layout=trial.layout),
        shown=sum(one.shown for one in runs),
        shown_successes=sum(one.shown_good for one in runs),
        shown_unknown=sum(one.shown_unknown for one in runs),
        held_out=sum(one.held_out for one in runs),
        held_out_successes=sum(one.held_out_good for one in runs),
        held_out_unknown=sum(one.held_out_unknown for one in runs),
    )


def e_values_of(trial: Trial, replays: CardEvidence | None) -> tuple[float, float] | None:
    """The e-values that its verdict follows from; once it has begun a new stage, its replays alone speak for it."""
    from wisen.memory_ci.statistics import trial_e_value  # noqa: PLC0415 - keeps `wisen --help` quick

    if replays is None and not trial.counts:
        return None
    gained, lost = (replays.gained, replays.lost) if replays else (0, 0)
    if trial.counts and trial.stage in ("promoted", "recheck"):
        gained = lost = 0
    return (
        trial_e_value(trial.counts, gained=gained, lost=lost),
        trial_e_value(trial.counts, gained=gained, lost=lost, hurts=True),
    )
