"""One lesson: what it claims, where it comes from, what its runs showed, and what a person may decide on it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from wisen.cards import ANYONE, CardEvidence, MemoryCard, MemoryStatus
from wisen.explain.card_facts import (
    Idea,
    evidence_lines,
    find_idea,
    judge,
    origin,
    seen,
    status_of,
    trial_word,
    trials_told,
    why_waiting,
)
from wisen.explain.idea_evidence import e_values_of, pooled, replays_of
from wisen.memory_ci.sequence_numbers import promoted_by_trials
from wisen.memory_ci.statistics import trial_log_e_value, wilson_interval
from wisen.memory_ci.status import MOVES, is_benched
from wisen.memory_ci.verdicts import needed
from wisen.records import RunRecord
from wisen.stores.whole_store import Store
from wisen.trial_records import Cohort, DrawCounts, Trial
from wisen.web.success import Drawn, evidence_picture

MOST_RUNS = 300
"""Runs, the newest, whose draws are drawn as a curve."""
_RUNS = 20
_WORDINGS = 12
_MOVES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A rate with its 95 % interval (Wilson)."""

    good: int
    runs: int

    @property
    def ends(self) -> tuple[float, float]:
        """The interval's ends."""
        return wilson_interval(self.good, self.runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialFigures:
    """A trial of the idea: its runs with it and held out, its replays, and what they amount to."""

    trial: Trial
    word: str
    shown: Share
    held_out: Share
    unknown: int
    replays: CardEvidence | None
    e_values: tuple[float, float] | None
    promotes_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UseOfIdea:
    """A run that recalled the idea."""

    record: RunRecord
    shown: bool
    drawn: bool
    """Whether a coin decided on that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonView:
    """The view."""

    card: MemoryCard
    idea: Idea
    status: str
    circle: str
    waits: str
    """Why no run may try it; "" where some may."""
    origin: str
    judge: str
    seen: str
    trials: Sequence[TrialFigures]
    replays: Sequence[str]
    picture: str
    uses: Sequence[UseOfIdea]
    uses_count: int
    decisions: Sequence[str]

    @property
    def wordings(self) -> Sequence[MemoryCard]:
        """Other wordings, as many as the page has."""
        return [one for one in self.idea.wordings if one.id != self.card.id][:_WORDINGS]

    @property
    def moves_left_out(self) -> int:
        """How many of its oldest moves the page leaves out."""
        return max(0, len(self.card.history) - _MOVES)


async def look_at_lesson(store: Store, card: MemoryCard) -> LessonView:
    """Look up what is known of a card. Raises what the store raises."""
    idea = await find_idea(store, card, store.embedder)
    head = idea.head
    promoted = await promoted_by_trials(store)
    records = await store.runs_with(head.id, tenant=card.scope.tenant, limit=MOST_RUNS)
    uses = [use for record in records if (use := _use(record, head.id)) is not None]
    trials = [_figures(head, trial, promoted) for trial in trials_told(head)]
    current = max(trials, key=lambda one: one.shown.runs + one.held_out.runs, default=None)
    return LessonView(
        card=card,
        idea=idea,
        status=status_of(head),
        circle=circle_of(card),
        waits=why_waiting(card),
        origin=origin(card.provenance),
        judge=judge(card.provenance),
        seen=seen(card),
        trials=trials,
        replays=evidence_lines(head),
        picture=evidence_picture(draws_of(uses, head.id, current.trial), bar=current.promotes_at) if current else "",
        uses=uses[:_RUNS],
        uses_count=len(uses),
        decisions=decisions_on(card, head, wordings=len(idea.wordings)),
    )


def circle_of(card: MemoryCard) -> str:
    """Who may try it."""
    source = card.provenance
    if card.status is MemoryStatus.PROMOTED:
        return "all runs of its tenant are shown it"
    if card.status is not MemoryStatus.QUARANTINED:
        return "no run is shown it"
    if card.circle == ANYONE:
        return "all runs of its tenant may try it"
    if not card.circle:
        return "no run may try it until a person releases it"
    owner = f" for {source.owner}" if source.owner else ""
    return f"runs of agent {source.agent or 'without a name'}{owner} may try it"


def decisions_on(card: MemoryCard, head: MemoryCard, *, wordings: int) -> list[str]:
    """What a person may decide now on a card of an idea with so many wordings, in the order of a page."""
    if head.status is MemoryStatus.REJECTED:
        return []
    possible = MOVES[head.status]
    found: list[str] = []
    if head.status is MemoryStatus.QUARANTINED and not card.released and card.circle != ANYONE:
        found.append("release")
    acts = {"promote": "promoted", "quarantine": "quarantined", "archive": "archived", "reject": "rejected"}
    found += [act for act, status in acts.items() if MemoryStatus(status) in possible]
    found += ["quarantine"] if is_benched(head) else []
    found.append("unpin" if head.pinned else "pin")
    found += ["split"] if wordings > 1 else []
    return found if card.superseded_by else [*found, "correct"]


def _figures(head: MemoryCard, trial: Trial, promoted: Mapping[Cohort, int]) -> TrialFigures:
    replays = replays_of(head, trial)
    runs = pooled(trial, replays)
    return TrialFigures(
        trial=trial,
        word=trial_word(trial, promoted, replays),
        shown=Share(good=runs.shown_successes, runs=runs.shown),
        held_out=Share(good=runs.held_out_successes, runs=runs.held_out),
        unknown=runs.shown_unknown + runs.held_out_unknown,
        replays=replays,
        e_values=e_values_of(trial, replays),
        promotes_at=needed(trial, promoted),
    )


def _use(record: RunRecord, idea: str) -> UseOfIdea | None:
    first = record.attempts[0] if record.attempts else None
    found = [one for one in (first.injections if first else ()) if idea in (one.idea, one.card_id)]
    if not found:
        return None
    return UseOfIdea(record=record, shown=found[0].shown, drawn=bool(found[0].draw))


def draws_of(uses: Iterable[UseOfIdea], idea: str, trial: Trial) -> list[Drawn]:
    """The evidence after each drawn run, oldest first; it ends at what the trial's counts amount to.

    What isn't among these runs, because it is older or was counted without a record, stands before the first.
    """
    steps = [step for use in reversed([*uses]) if (step := _step(use, idea, trial)) is not None]
    known = _summed([*trial.before, *trial.counts])
    before = _less(known, _summed([counts for _, counts in steps]))
    drawn: list[Drawn] = []
    counts = before
    for record, step in steps:
        counts = _summed([*counts, step])
        drawn.append(Drawn(at=record.started_at, log_e=trial_log_e_value(counts)))
    return drawn


def _step(use: UseOfIdea, idea: str, trial: Trial) -> tuple[RunRecord, DrawCounts] | None:
    """One run as counts."""
    record = use.record
    if not use.drawn or record.status == "unfinished" or (trial.model and record.model != trial.model):
        return None
    injection = next(one for one in record.attempts[0].injections if idea in (one.idea, one.card_id))
    if not 0.0 < injection.propensity < 1.0:
        return None
    good = record.mark is not None and record.mark.good
    base = DrawCounts(propensity=injection.propensity)
    if injection.shown:
        return record, replace(base, shown=1, shown_good=int(good))
    return record, replace(base, held_out=1, held_out_good=int(good))


_COUNTED = ("shown", "shown_good", "held_out", "held_out_good")


def _summed(counts: Iterable[DrawCounts]) -> list[DrawCounts]:
    """One entry for each propensity."""
    sums: dict[float, list[int]] = {}
    for one in counts:
        if 0.0 < one.propensity < 1.0:
            row = sums.setdefault(one.propensity, [0, 0, 0, 0])
            for at, name in enumerate(_COUNTED):
                row[at] += getattr(one, name)
    return [
        DrawCounts(propensity=propensity, **dict(zip(_COUNTED, row, strict=True))) for propensity, row in sums.items()
    ]


def _less(known: Sequence[DrawCounts], seen_here: Sequence[DrawCounts]) -> list[DrawCounts]:
    """What the trial has counted beside the runs that are seen here; nothing where these are more than it knows."""
    here = {one.propensity: one for one in seen_here}
    left: list[DrawCounts] = []
    for one in known:
        other = here.get(one.propensity, DrawCounts(propensity=one.propensity))
        rest = {name: getattr(one, name) - getattr(other, name) for name in _COUNTED}
        bad = rest["shown"] - rest["shown_good"], rest["held_out"] - rest["held_out_good"]
        if min(*rest.values(), *bad) < 0:
            return []
        left.append(DrawCounts(propensity=one.propensity, **rest))
    return left
