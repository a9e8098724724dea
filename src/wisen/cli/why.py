"""`wisen why`: what a run was told, and why: each card's origin, author, evidence and reason.

Everything is looked up by id, so the size of the store doesn't matter.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from wisen.cards import MemoryCard
from wisen.cli.lessons import card_json
from wisen.cli.output import glance, print_fields, print_json
from wisen.cli.shared_options import OutputOptions, StoreOptions, TenantOptions
from wisen.cli.store_choice import drive, reading
from wisen.explain.by_id import find_run
from wisen.explain.card_facts import drawn, evidence_lines, history_lines, judge, origin, status_of, trial_lines
from wisen.explain.card_fates import Fate, attempts_said, cards_still_there, fates_of, own_lessons, recalled_ids
from wisen.explain.wording import score, when
from wisen.memory_ci.sequence_numbers import promoted_by_trials
from wisen.records import RunRecord
from wisen.trial_records import Cohort


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the store has by now of the cards of a run."""

    cards: Mapping[str, MemoryCard]
    heads: Mapping[str, MemoryCard]
    """Of those that are other wordings, what stands for their ideas."""
    promoted: Mapping[Cohort, int]
    """How many ideas the store's trials have promoted, by their cohorts."""

    def head(self, card: MemoryCard) -> MemoryCard:
        """What stands for the card's idea."""
        return self.heads.get(card.idea, card)

    def fields(self, card_id: str, *, own: bool = False) -> list[tuple[str, str]]:
        """What is known of a card. The run's `own` card comes without its origin."""
        card = self.cards.get(card_id)
        if card is None:
            return [("card", "is no longer stored")]
        head = self.head(card)
        return [
            ("says", glance(card.text)),
            ("kind", card.kind.replace("_", " ")),
            ("status now", status_of(head)),
            ("idea of", card.idea),
            ("trial", "\n".join(trial_lines(head, self.promoted, of=card))),
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
        return {"card": card_json(card), "idea": head.id, "trial": trial_lines(head, self.promoted, of=card)}


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
            cards = await cards_still_there(opened, recalled_ids(record))
            heads = await cards_still_there(opened, {card.idea for card in cards.values() if card.idea})
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
        typer.echo(f"{attempts_said(numbers)}: {summary}")
    for card_id, told in fates.items():
        typer.echo(f"\ncard {card_id}")
        fields = [
            (attempts_said(numbers) if name == "fate" else name, said)
            for one, numbers in told.items()
            for name, said in _fate_fields(one)
        ]
        print_fields([*dict.fromkeys(fields), *known.fields(card_id)], indent="  ")


def _print_own(record: RunRecord, known: _Known) -> None:
    """What the run itself taught, which its later attempts are told of."""
    for one in own_lessons(record):
        card = known.cards.get(one.card_id)
        typer.echo(f"\nown lesson {one.card_id}")
        told = (
            f"told to {attempts_said(one.told)}, as far as there was room" if one.told else "told to no later attempt"
        )
        merged = card is not None and card.provenance.run_id != record.run_id
        learned = f"in attempt {one.attempt}{', which says what a card says that was there' if merged else ''}"
        fields = [("learned", learned), ("used", told)]
        print_fields([*fields, *known.fields(one.card_id, own=not merged)], indent="  ")


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
