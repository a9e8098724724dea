"""`wisen why`: what a run was told, and why: of each card whence, on whose word, on which evidence, for which reason.

Everything is looked up by id, so it takes no longer where many cards are stored.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from wisen.cards import MemoryCard
from wisen.cli.lessons import card_json
from wisen.cli.moves import status_of
from wisen.cli.output import AsJson, line, print_fields, print_json, score, when
from wisen.cli.runs import find_run
from wisen.cli.stores import StorePath, choose_store, drive, reading
from wisen.cli.telling import evidence_lines, history_lines, judge, origin
from wisen.errors import CardNotFoundError
from wisen.records import AttemptRecord, Injection, RunRecord

if TYPE_CHECKING:
    from wisen.stores.sqlite import SQLiteVectorStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What became of a card that was recalled for an attempt."""

    card_id: str
    fate: str
    """"shown", "held out", "not delivered", "blocked" or "left out"."""
    because: str = ""
    """Why it was blocked or left out."""
    injection: Injection | None = None


def why(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="The run's id, or a beginning that no other has.")],
    *,
    store: StorePath = None,
    as_json: AsJson = False,
) -> None:
    """Say of each card that a run recalled where it comes from, what speaks for it, and why it was shown or not."""

    async def get() -> tuple[RunRecord, dict[str, MemoryCard]]:
        async with reading(choose_store(store)) as opened:
            record = await find_run(opened, run_id)
            return record, await _cards(opened, _ids(record))

    record, cards = drive(get())
    if as_json:
        print_json(_as_json(record, cards))
        return
    print_fields(
        [
            ("run", record.run_id),
            ("task", line(record.task.prompt)),
            ("started", f"{when(record.started_at)} UTC" if when(record.started_at) else ""),
            ("status", f"{record.status.replace('_', ' ')}, score {score(record.score)}"),
        ]
    )
    for attempt in record.attempts:
        fates = fates_of(attempt)
        typer.echo(f"\nattempt {attempt.attempt}: {_summary(fates)}")
        for one in fates:
            typer.echo(f"\n  card {one.card_id}")
            print_fields(_fields(one, cards.get(one.card_id)), indent="    ")


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


def _ids(record: RunRecord) -> list[str]:
    return list(dict.fromkeys(one.card_id for attempt in record.attempts for one in fates_of(attempt)))


async def _cards(store: "SQLiteVectorStore", ids: Iterable[str]) -> dict[str, MemoryCard]:
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
    return ", ".join(f"{count} {fate}" for fate, count in counted.items()) or "nothing was recalled"


def _fields(one: Fate, card: MemoryCard | None) -> list[tuple[str, str]]:
    fields = [("fate", f"{one.fate}: {one.because}" if one.because else one.fate)]
    if one.injection is not None:
        drawn = one.injection.propensity
        fields += [
            ("drawn", f"to be shown with probability {drawn:g}" if drawn < 1.0 else ""),
            ("for this task", f"relevance {one.injection.score:.2f}: {'; '.join(one.injection.reasons)}"),
        ]
    if card is None:
        return [*fields, ("card", "is no longer stored")]
    return [
        *fields,
        ("says", line(card.text)),
        ("kind", card.kind.replace("_", " ")),
        ("status now", status_of(card)),
        ("from", origin(card.provenance)),
        ("judged by", judge(card.provenance)),
        ("evidence", "\n".join(evidence_lines(card)) or "none yet"),
        ("history", "\n".join(history_lines(card))),
        ("superseded by", card.superseded_by),
    ]


def _as_json(record: RunRecord, cards: dict[str, MemoryCard]) -> dict[str, object]:
    return {
        "run_id": record.run_id,
        "status": record.status,
        "score": record.score,
        "attempts": [
            {
                "attempt": attempt.attempt,
                "cards": [
                    {**asdict(one), "card": card_json(cards[one.card_id]) if one.card_id in cards else None}
                    for one in fates_of(attempt)
                ],
            }
            for attempt in record.attempts
        ],
    }
