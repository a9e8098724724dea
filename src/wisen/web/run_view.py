"""One run: its attempts and scores, what was recalled and why, its versions as a diff, and its steps."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Literal

from wisen.cards import MemoryCard
from wisen.explain.card_facts import drawn, origin, status_of, trial_word
from wisen.explain.card_fates import Fate, attempts_said, cards_still_there, fates_of, own_lessons, recalled_ids
from wisen.explain.idea_evidence import replays_of
from wisen.explain.wording import counted, score
from wisen.memory_ci.sequence_numbers import promoted_by_trials
from wisen.records import AttemptRecord, RunRecord
from wisen.screening.invisible import unveiled
from wisen.stores.whole_store import Store
from wisen.trial_records import Cohort

ATTEMPTS = 3
"""Attempts on a page, with all that is known of them."""
_MOST_LISTED = 60
_CARDS = 10
_DIFF_LINES = 80
_DIFF_WIDTH = 160
_COMPARED = 400
"""Lines of a version that are compared, and characters of each."""
_DONE = ("thought", "action", "observation", "error", "used")

Sign = Literal["+", "-", "@", " "]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledCard:
    """A card that was recalled for an attempt, and why it was shown or not."""

    fate: Fate
    said: str
    reasons: str
    card: MemoryCard | None
    """`None` where it is no longer stored."""
    status: str
    trial: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """A line of the difference between two versions."""

    sign: Sign
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptView:
    """An attempt, with what it changed of the version before it."""

    record: AttemptRecord
    recalled: Sequence[RecalledCard]
    recalled_left: int
    """Recalled cards that the page leaves out."""
    diff: Sequence[DiffLine]
    diff_left: int
    """Lines of the difference that the page leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStep:
    """One step of the run, in its order."""

    name: str
    said: str
    attempt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedLesson:
    """What the run itself taught."""

    card_id: str
    card: MemoryCard | None
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """The view: some attempts whole, and all of them in short."""

    record: RunRecord
    attempts: Sequence[AttemptView]
    first: int
    """The place of the first of these among the run's attempts, from 0."""
    steps: Sequence[RunStep]
    steps_left: int
    learned: Sequence[LearnedLesson]

    @property
    def listed(self) -> Sequence[AttemptRecord]:
        """The attempts of the table."""
        return self.record.attempts[:_MOST_LISTED]


async def look_at_run(store: Store, record: RunRecord, *, first: int = 0) -> RunView:
    """Look up what became of a run's cards, and compare its versions. Raises what the store raises."""
    cards = await cards_still_there(store, recalled_ids(record))
    heads = await cards_still_there(store, {card.idea for card in cards.values() if card.idea})
    promoted = await promoted_by_trials(store)
    first = min(max(first, 0), max(len(record.attempts) - 1, 0))
    shown = record.attempts[first : first + ATTEMPTS]

    def view(place: int, attempt: AttemptRecord) -> AttemptView:
        fates = fates_of(attempt)
        earlier = record.attempts[place - 1].output if place else ""
        diff = difference(earlier, attempt.output) if place else []
        return AttemptView(
            record=attempt,
            recalled=[_recalled(one, cards, heads, promoted) for one in fates[:_CARDS]],
            recalled_left=max(0, len(fates) - _CARDS),
            diff=diff[:_DIFF_LINES],
            diff_left=max(0, len(diff) - _DIFF_LINES),
        )

    views = await asyncio.to_thread(lambda: [view(place, one) for place, one in enumerate(shown, start=first)])
    steps = list(steps_of(record))
    learned = [
        LearnedLesson(
            card_id=one.card_id,
            card=cards.get(one.card_id),
            said=f"learned in attempt {one.attempt}, "
            + (f"told to {attempts_said(one.told)}" if one.told else "told to no later attempt"),
        )
        for one in own_lessons(record)[:_CARDS]
    ]
    return RunView(
        record=record,
        attempts=views,
        first=first,
        steps=steps[:_MOST_LISTED],
        steps_left=max(0, len(steps) - _MOST_LISTED),
        learned=learned,
    )


def _recalled(
    fate: Fate, cards: Mapping[str, MemoryCard], heads: Mapping[str, MemoryCard], promoted: Mapping[Cohort, int]
) -> RecalledCard:
    card = cards.get(fate.card_id)
    head = heads.get(card.idea, card) if card is not None else None
    injection = fate.injection
    if injection is None:
        said, reasons = fate.fate, fate.because
    else:
        said, reasons = drawn(injection, delivered=fate.fate != "not delivered"), "; ".join(injection.reasons)
    return RecalledCard(
        fate=fate,
        said=said,
        reasons=reasons,
        card=card,
        status="" if head is None else status_of(head),
        trial="" if head is None else "; ".join(_words(head, promoted)),
        origin="" if card is None else origin(card.provenance),
    )


def _words(head: MemoryCard, promoted: Mapping[Cohort, int]) -> list[str]:
    """How far the first trials of an idea are."""
    return [trial_word(one, promoted, replays_of(head, one)) for one in head.trials[:2]]


def difference(before: str, after: str) -> list[DiffLine]:
    """What one version changed of another, line by line, as far as both are compared."""
    one, other = (
        [line[:_COMPARED] for line in unveiled(text[: _COMPARED * 100]).splitlines()[:_COMPARED]]
        for text in (before, after)
    )
    found: list[DiffLine] = []
    for line in [*unified_diff(one, other, lineterm="", n=2)][2:]:
        sign: Sign = "+" if line[:1] == "+" else "-" if line[:1] == "-" else "@" if line[:1] == "@" else " "
        text = line if sign == "@" else line[1:]
        found.append(DiffLine(sign=sign, text=text if len(text) <= _DIFF_WIDTH else f"{text[: _DIFF_WIDTH - 1]}…"))
    return found


def steps_of(record: RunRecord) -> Iterable[RunStep]:
    """What happened, as far as the record keeps it."""
    yield RunStep(name="asked", said=f"task of {counted(len(record.task.prompt), 'character')}")
    for one in record.attempts:
        yield from _steps_of_attempt(one)
    for without in record.degradations:
        yield RunStep(name="went without", said=without)
    yield RunStep(name="ended", said=f"{record.status.replace('_', ' ')}, after {record.seconds:.1f} s")


def _steps_of_attempt(one: AttemptRecord) -> Iterable[RunStep]:
    number = one.attempt
    fates = fates_of(one)
    shown = sum(each.fate == "shown" for each in fates)
    if fates:
        yield RunStep(name="recalled", said=f"{counted(len(fates), 'card')}, {shown} of them shown", attempt=number)
    for line in one.did.splitlines() or [f"used: {each}" for each in one.used[:_CARDS]]:
        name, _, said = line.partition(": ")
        if said and name.split(" ")[0] in _DONE:  # other lines go on with what a tool returned
            yield RunStep(name=name, said=said, attempt=number)
    if one.failure:
        yield RunStep(name="failed", said=one.failure, attempt=number)
    if one.answered:
        usage = one.usage
        tokens = f"{usage.input_tokens} + {usage.output_tokens} tokens"
        calls = counted(usage.requests, "model call")
        yield RunStep(name="answered", said=f"after {one.seconds:.1f} s, {calls}, {tokens}", attempt=number)
    if one.evaluation is not None:
        said = f"{score(one.evaluation.overall_score)} by {one.evaluation.evaluator or 'an evaluator without a name'}"
        yield RunStep(name="judged", said=said, attempt=number)
    if one.lesson_ids:
        yield RunStep(name="learned", said=counted(len(one.lesson_ids), "lesson"), attempt=number)
