"""What speaks for a card, in words: its trials, replays, moves and origin, and the idea that it is a wording of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wisen.cards import CardEvidence, MemoryCard, MemoryStatus, Provenance
from wisen.explain.idea_evidence import replays_of
from wisen.explain.wording import clean, counted, when
from wisen.protocols import Embedder, VectorStore
from wisen.recall import UNREVIEWED
from wisen.records import Injection
from wisen.trial_records import Cohort, Trial

if TYPE_CHECKING:
    from wisen.memory_ci.decisions import Act


_OF_NO_RUN = "of no run of your own: imported, or written by a program"


def trials_told(head: MemoryCard) -> list[Trial]:
    """The trials of an idea, given as its head; where replays decided on it, one that hasn't begun says nothing."""
    on_trial = head.status is MemoryStatus.QUARANTINED and not UNREVIEWED.accepts(head)
    return [one for one in head.trials if on_trial or one.stage != "waiting"]


def why_waiting(card: MemoryCard) -> str:
    """Why no run may try a card until a person has reviewed it; "" where some may, or nobody has to."""
    if not UNREVIEWED.accepts(card):
        return ""
    return f"new to its circle: {', '.join(map(clean, card.held))}" if card.held else _OF_NO_RUN


def waits_for(card: MemoryCard) -> str:
    """What a card in quarantine waits for; "" where its idea's trial tells, or it waits for nothing."""
    if why := why_waiting(card):
        return f"waits for a review: {why}"
    return "waits for its trial" if card.status is MemoryStatus.QUARANTINED and not (card.idea or card.trials) else ""


def trial_lines(
    head: MemoryCard, promoted: Mapping[Cohort, int] | None = None, *, of: MemoryCard | None = None
) -> list[str]:
    """How far each trial of an idea is, given as its head, and its counts on a line of their own.

    `promoted` counts the ideas that the store's trials have promoted, by their cohorts. `of` is a wording of the idea,
    which may wait by itself.
    """
    lines = list(dict.fromkeys(filter(None, (waits_for(of or head), waits_for(head)))))
    for one in trials_told(head):
        over = ", and is shown no more" if one.stage in ("archived", "benched") else ""
        lines.append(f"{trial_word(one, promoted, replays_of(head, one))}{over} ({_place(one.model, one.layout)})")
        lines += [counts] if (counts := _runs(one)) else []
    return lines


def evidence_lines(card: MemoryCard) -> list[str]:
    """A line for each model, layout and kind of replays, and of runs that an earlier version counted."""
    return [f"{_where(one)}: {'; '.join(_counts(one)) or 'nothing yet'}" for one in card.evidence]


def trial_word(trial: Trial, promoted: Mapping[Cohort, int] | None = None, replays: CardEvidence | None = None) -> str:
    """How far a trial is, with the `replays` that count with it: "on trial, 37 of about 90 runs, ahead"."""
    from wisen.memory_ci.trial import DEFAULT_TRIAL_RULE  # noqa: PLC0415 - keeps `wisen --help` quick
    from wisen.memory_ci.verdicts import needed, progress  # noqa: PLC0415 - as above

    match trial.stage:
        case "on trial":
            gained, lost = (replays.gained, replays.lost) if replays else (0, 0)
            return progress(trial, at=needed(trial, promoted or {}), gained=gained, lost=lost).text
        case "waiting":
            first = DEFAULT_TRIAL_RULE.first_shown
            return f"shown to {trial.first} of its first {first} runs" if trial.first else "waits for its trial"
        case "promoted":
            return "in use"
        case "recheck":
            return "in use, under suspicion"
        case "benched":
            return "made no difference"
        case "archived":
            return "no longer helps" if trial.rechecks else "hurts"


def history_lines(card: MemoryCard) -> list[str]:
    """A line for each move, oldest first."""
    lines: list[str] = []
    for one in card.history:
        step = one.after if one.before is one.after else f"{one.before} to {one.after}"
        lines.append(" ".join(filter(None, (when(one.at), f"{step}, by {one.by or 'unknown'}: {one.why}"))))
    return lines


def drawn(injection: Injection, *, delivered: bool) -> str:
    """Whether a card was shown, and what the trial's draw had to do with it."""
    left_out = f"{1.0 - injection.propensity:g}"
    if not injection.shown:
        return f"left out by the trial's draw (probability {left_out}), to see how the run goes without it"
    fate = "shown" if delivered else "not delivered"
    return (
        f"{fate} (the trial's draw leaves it out with probability {left_out})" if injection.propensity < 1.0 else fate
    )


def origin(source: Provenance) -> str:
    """From which run or other source a card comes, and who wrote it."""
    place = f"run {source.run_id}, attempt {source.attempt}" if source.run_id else source.source or "no run"
    return ", ".join(filter(None, (place, f"by {source.created_by or 'unknown'}", when(source.created_at))))


def judge(source: Provenance) -> str:
    """Who judged the attempt that a card comes from."""
    if not source.evaluator:
        return "nobody that is known"
    return f"{source.evaluator} ({'check' if source.verified else 'opinion'})"


def _where(one: CardEvidence) -> str:
    judged = "as a model judged" if one.judged else ""
    return ", ".join(filter(None, (_place(one.model, one.layout), judged)))


def _place(model: str, layout: str) -> str:
    return ", ".join(filter(None, (model or "any model", layout)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """A card's idea, as far as it is stored."""

    head: MemoryCard
    wordings: Sequence[MemoryCard]
    """All of them, the head first."""
    rivals: Sequence[MemoryCard]
    joined_by: str
    """How other wordings are known."""


async def find_idea(store: VectorStore, card: MemoryCard, embedder: Embedder) -> Idea:
    """The idea that a card is a wording of; the store's vectors come from `embedder`. Raises what the store raises."""
    from wisen.memory_ci.ideas import head_of, is_example, still_there, wordings_of  # noqa: PLC0415 - keeps `wisen --help` quick

    head = await head_of(store, card)
    joined_by = "like tasks, since it is an example" if is_example(card) else _joined_by(embedder)
    rivals = await still_there(store, head.rivals)
    return Idea(head=head, wordings=[head, *await wordings_of(store, head)], rivals=rivals, joined_by=joined_by)


async def archived_rivals(store: VectorStore, card: MemoryCard) -> list[str]:
    """The ids of the archived rivals of a card's idea. Raises what the store raises."""
    from wisen.memory_ci.ideas import head_of, still_there  # noqa: PLC0415 - keeps `wisen --help` quick

    rivals = await still_there(store, (await head_of(store, card)).rivals)
    return [one.id for one in rivals if one.status is MemoryStatus.ARCHIVED]


def _joined_by(embedder: Embedder) -> str:
    from wisen.embedders.absent import AbsentEmbedder  # noqa: PLC0415 - keeps `wisen --help` quick
    from wisen.embedders.meaning import meaning_of  # noqa: PLC0415 - as above

    if isinstance(embedder, AbsentEmbedder):
        return f"what {embedder.name} says of them, which isn't to be had here"
    if meaning_of(embedder) is not None:
        return f"meaning ({embedder.name})"
    return f"equal words only: {embedder.name} compares words, and doesn't know meaning"


def _counts(one: CardEvidence) -> list[str]:
    counts: list[str] = []
    if one.shown or one.held_out:
        drawn = f" (shown with probability {one.propensity:g})" if one.propensity else ""
        counts.append(
            f"shown {_came_to(one.shown, one.shown_successes, one.shown_unknown)}; "
            f"left out {_came_to(one.held_out, one.held_out_successes, one.held_out_unknown)}{drawn}"
        )
    if one.gained or one.lost or one.ties:
        counts.append(f"of {one.gained + one.lost + one.ties} replays {one.gained} gained, {one.lost} lost")
    return counts


def _runs(trial: Trial) -> str:
    """What the runs of its stage came to, or those before where it has none yet."""
    runs = trial.counts or trial.before
    shown, good = sum(one.shown for one in runs), sum(one.shown_good for one in runs)
    unknown, out = sum(one.shown_unknown for one in runs), sum(one.held_out for one in runs)
    out_good, out_unknown = sum(one.held_out_good for one in runs), sum(one.held_out_unknown for one in runs)
    said = f"shown {_came_to(shown, good, unknown)}; left out {_came_to(out, out_good, out_unknown)}"
    return said if shown + out else ""


def _came_to(runs: int, good: int, unknown: int) -> str:
    return f"{counted(runs, 'time')}, {good} good" + (f", {unknown} without a score" if unknown else "")


def seen(card: MemoryCard) -> str:
    """How often it came, and how many of these times it may have said something else."""
    times = counted(card.duplicates + 1, "time")
    if not card.alike:
        return times
    return f"{times}; {card.alike} of them counted by spelling under an earlier version; what those said wasn't kept"


def status_of(card: MemoryCard) -> str:
    """The status in words."""
    return f"{card.status}, pinned" if card.pinned else str(card.status)


def decided(act: "Act", before: MemoryCard, after: MemoryCard) -> str:
    """What a person's decision changed."""
    if act == "release":
        return _let_out(after)
    if act == "split":
        return "an idea of its own, on trial" if before.idea else "its other wordings are another idea, on trial"
    was, now = status_of(before), status_of(after)
    if act == "quarantine" and was == now:
        return "on trial again"
    if was == now:
        return f"{was} as before"
    if before.status is after.status:
        return "pinned" if after.pinned else "unpinned"
    return f"{was} to {now}{_of_its_idea(act, before)}"


def _let_out(after: MemoryCard) -> str:
    if after.status is MemoryStatus.PROMOTED:
        return f"in use, as its idea {after.idea} is"
    return f"all runs of its tenant may try it{f', and its idea {after.idea}' if after.idea else ''}"


def _of_its_idea(act: "Act", before: MemoryCard) -> str:
    """What a decision on another wording of an idea was for the idea."""
    if not before.idea:
        return ""
    alone = act == "reject" and UNREVIEWED.accepts(before)
    return f"; its idea {before.idea} stays" if alone else f", as its idea {before.idea} is"
