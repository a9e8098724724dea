"""What became of the cards that a run recalled, and of those that it wrote."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wisen.cards import MemoryCard
from wisen.errors import CardNotFoundError
from wisen.records import AttemptRecord, Injection, RunRecord
from wisen.stores.whole_store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What became of a card that was recalled for an attempt."""

    card_id: str
    fate: str
    """"shown", "held out", "not delivered", "blocked" or "left out"."""
    because: str = ""
    """Why it was blocked or left out."""
    injection: Injection | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLesson:
    """A card that the run itself wrote, and which of its later attempts had it."""

    card_id: str
    attempt: int
    """In which attempt it was learned."""
    told: tuple[int, ...]
    """The later attempts whose advice reached a model."""


def fates_of(attempt: AttemptRecord) -> list[Fate]:
    """Every card that was recalled for the attempt, once: those of the advice first, best first."""
    fates: dict[str, Fate] = {}
    for one in attempt.injections:
        fate = "held out" if not one.shown else "shown" if attempt.advice_delivered else "not delivered"
        fates[one.card_id] = Fate(card_id=one.card_id, fate=fate, injection=one)
    for one in attempt.blocked:
        because = f"the screen's rules {', '.join(one.rules)}" if one.rules else "the screen"
        fates.setdefault(one.card_id, Fate(card_id=one.card_id, fate="blocked", because=because))
    for one in attempt.left_out:
        fates.setdefault(one.card_id, Fate(card_id=one.card_id, fate="left out", because=one.why))
    return list(fates.values())


def own_lessons(record: RunRecord) -> list[OwnLesson]:
    """What the run itself taught, once each, with the later attempts that had advice of it."""
    found: dict[str, OwnLesson] = {}
    for attempt in record.attempts:
        later = tuple(one.attempt for one in record.attempts if one.attempt > attempt.attempt and one.advice_delivered)
        for card_id in attempt.lesson_ids:
            found.setdefault(card_id, OwnLesson(card_id=card_id, attempt=attempt.attempt, told=later))
    return list(found.values())


def attempts_said(numbers: Sequence[int]) -> str:
    """Which attempts, with a dash where one follows the other."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    said = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}\N{EN DASH}{run[-1]}" for run in runs)
    return f"attempt{'' if len(numbers) == 1 else 's'} {said}"


def recalled_ids(record: RunRecord) -> list[str]:
    """The cards that a run recalled or wrote, once each."""
    recalled = (one.card_id for attempt in record.attempts for one in fates_of(attempt))
    return list(dict.fromkeys((*recalled, *(one.card_id for one in own_lessons(record)))))


async def cards_still_there(store: Store, ids: Iterable[str]) -> dict[str, MemoryCard]:
    """The cards that are still there, by id."""
    wanted = list(ids)
    while wanted:
        try:
            return dict(zip(wanted, await store.get(wanted), strict=True))
        except CardNotFoundError as missing:
            wanted.remove(missing.card_id)
    return {}
