"""`wisen why`: what a run was told, and why: of each card whence, on whose word, on which evidence, for which reason.

Everything is looked up by id, so it takes no longer where many cards are stored.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from wisen.cards import MemoryCard
from wisen.cli.card_decisions import status_of
from wisen.cli.card_views import drawn, evidence_lines, history_lines, judge, origin, trial_lines
from wisen.cli.lessons import card_json
from wisen.cli.output import glance, print_fields, print_json, score, when
from wisen.cli.runs import find_run
from wisen.cli.shared_options import OutputOptions, StoreOptions, TenantOptions
from wisen.cli.store_choice import Store, drive, reading
from wisen.errors import CardNotFoundError
from wisen.memory_ci.sequence_numbers import promoted_by_trials
from wisen.records import AttemptRecord, Injection, RunRecord


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the store has by now of the cards of a run."""

    cards: Mapping[str, MemoryCard]
    heads: Mapping[str, MemoryCard]
    """Of those that are other wordings, what stands for their ideas."""
    promoted: Mapping[int, int]
    """How many ideas the store's trials have promoted, by their cohorts."""

    def head(self, card: MemoryCard) -> MemoryCard:
        """What stands for the card's idea."""
        return self.heads.get(card.idea, card)

    def fields(self, card_id: str, *, own: bool = False) -> list[tuple[str, str]]:
        """What is known of a card; whence it comes isn't said of the run's `own` one."""
        card = self.cards.get(card_id)
        if card is None:
            return [("card", "is no longer stored")]
        head = self.head(card)
        return [
            ("says", glance(card.text)),
            ("kind", card.kind.replace("_", " ")),
            ("status now", status_of(head)),
            ("idea of", card.idea),
            ("trial", "\n".join(trial_lines(head, self.promoted))),
            ("evidence", "\n".join(evidence_lines(head))),
            ("from", "" if own else origin(card.provenance)),
            ("judged by", judge(card.provenance)),
            ("history", "\n".join(history_lines(card))),
            ("superseded by", card.superseded_by),
        ]

    def json(self, card_id: str) -> dict[str, object]:
        """The card, and how far the trial of its idea is."""
        card = self.cards.get(card_id)
        if card is None:
            return {"card": None, "idea": "", "trial": []}
        head = self.head(card)
        return {"card": card_json(card), "idea": head.id, "trial": trial_lines(head, self.promoted)}


def why(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="The run's id, or a beginning that no other has.")],
    *,
    whose: TenantOptions,
    store: StoreOptions,
    output: OutputOptions,
) -> None:
    """Say of a run's cards where they come from, what speaks for them, and why they were shown or not."""

    async def get() -> tuple[RunRecord, _Known]:
        async with reading(store.choose()) as opened:
            record = await find_run(opened, run_id, whose.tenant)
            cards = await _cards(opened, _ids(record))
            heads = await _cards(opened, {card.idea for card in cards.values() if card.idea})
            return record, _Known(cards=cards, heads=heads, promoted=await promoted_by_trials(opened))

    record, known = drive(get())
    if output.as_json:
        print_json(_as_json(record, known))
        return
    print_fields(
        [
            ("run", record.run_id),
            ("task", glance(record.task.prompt)),
            ("started", f"{when(record.started_at)} UTC" if when(record.started_at) else ""),
            ("status", f"{record.status.replace('_', ' ')}, score {score(record.score)}"),
        ]
    )
    _print_recalled(record, known)
    _print_own(record, known)


def _print_recalled(record: RunRecord, known: _Known) -> None:
    """Each card once, however many attempts recalled it."""
    summaries: dict[str, list[int]] = {}
    fates: dict[str, dict[Fate, list[int]]] = {}
    for attempt in record.attempts:
        found = fates_of(attempt)
        summaries.setdefault(_summary(found), []).append(attempt.attempt)
        for one in found:
            fates.setdefault(one.card_id, {}).setdefault(one, []).append(attempt.attempt)
    if summaries:
        typer.echo()
    for summary, numbers in summaries.items():
        typer.echo(f"{_attempts(numbers)}: {summary}")
    for card_id, told in fates.items():
        typer.echo(f"\ncard {card_id}")
        fields = [
            (_attempts(numbers) if name == "fate" else name, said)
            for one, numbers in told.items()
            for name, said in _fate_fields(one)
        ]
        print_fields([*dict.fromkeys(fields), *known.fields(card_id)], indent="  ")


def _print_own(record: RunRecord, known: _Known) -> None:
    """What the run itself taught, which its later attempts are told of."""
    for one in own_lessons(record):
        card = known.cards.get(one.card_id)
        typer.echo(f"\nown lesson {one.card_id}")
        told = f"told to {_attempts(one.told)}, as far as there was room" if one.told else "told to no later attempt"
        merged = card is not None and card.provenance.run_id != record.run_id
        learned = f"in attempt {one.attempt}{', which says what a card says that was there' if merged else ''}"
        fields = [("learned", learned), ("used", told)]
        print_fields([*fields, *known.fields(one.card_id, own=not merged)], indent="  ")


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


def _attempts(numbers: Sequence[int]) -> str:
    """Which attempts, with a dash where one follows the other."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    said = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}\N{EN DASH}{run[-1]}" for run in runs)
    return f"attempt{'' if len(numbers) == 1 else 's'} {said}"


def _ids(record: RunRecord) -> list[str]:
    recalled = (one.card_id for attempt in record.attempts for one in fates_of(attempt))
    return list(dict.fromkeys((*recalled, *(one.card_id for one in own_lessons(record)))))


async def _cards(store: Store, ids: Iterable[str]) -> dict[str, MemoryCard]:
    """The cards that are still there, by id."""
    wanted = list(ids)
    while wanted:
        try:
            return dict(zip(wanted, await store.get(wanted), strict=True))
        except CardNotFoundError as missing:
            wanted.remove(missing.card_id)
    return {}


def _summary(fates: list[Fate]) -> str:
    counted = {one.fate: sum(other.fate == one.fate for other in fates) for one in fates}
    said = {"held out": "left out by the trial's draw", "left out": "left out for other reasons"}
    return ", ".join(f"{count} {said.get(fate, fate)}" for fate, count in counted.items()) or "nothing was recalled"


def _fate_fields(one: Fate) -> list[tuple[str, str]]:
    if one.injection is None:
        return [("fate", f"{one.fate}: {one.because}")]
    fits, whys = f"relevance {one.injection.score:.2f}: ", "; ".join(one.injection.reasons)
    return [
        ("fate", drawn(one.injection, delivered=one.fate != "not delivered")),
        ("for every task", whys) if one.injection.rule else ("for this task", fits + whys),
    ]


def _as_json(record: RunRecord, known: _Known) -> dict[str, object]:
    return {
        "run_id": record.run_id,
        "status": record.status,
        "score": record.score,
        "attempts": [
            {
                "attempt": attempt.attempt,
                "cards": [{**asdict(one), **known.json(one.card_id)} for one in fates_of(attempt)],
            }
            for attempt in record.attempts
        ],
        "own_lessons": [{**asdict(one), **known.json(one.card_id)} for one in own_lessons(record)],
    }
