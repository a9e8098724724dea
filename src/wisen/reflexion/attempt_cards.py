"""The forms in which cards come into an attempt and out of it."""

from collections.abc import Sequence
from dataclasses import replace

from wisen.account.attempt import Account
from wisen.cards import MemoryCard, MemoryKind, Provenance
from wisen.errors import ReflectionError
from wisen.records import Advice, ReflectionEvaluation
from wisen.reports import card_to_report, to_markdown
from wisen.screening.taint import reads_others
from wisen.session import AgentSession, Dependencies

DERIVED = (MemoryKind.PRINCIPLE, MemoryKind.PROCEDURE)
"""Kinds of cards that a report of a failure feeds, and that say nothing which it doesn't."""


def as_card(reflected: object) -> MemoryCard:
    """What a reflector gave, as a card; raises `ReflectionError` for what can't be one."""
    if isinstance(reflected, MemoryCard):
        return reflected
    if isinstance(reflected, str):
        return MemoryCard(kind=MemoryKind.LESSON, content=reflected)
    raise ReflectionError(f"the reflector gave a {type(reflected).__name__}; it has to give MemoryCards or texts")


def chain(cards: Sequence[MemoryCard]) -> tuple[str, ...]:
    """What a run's next attempt hears about earlier ones: whole reports, and no principle that one of them holds."""
    reported = {card.provenance.attempt for card in cards if card.kind is MemoryKind.REFLECTION}
    texts: list[str] = []
    for card in cards:
        if card.is_episode or (card.kind in DERIVED and card.provenance.attempt in reported):
            continue
        report = card_to_report(card)
        texts.append(card.text if report is None else to_markdown(report).strip().replace("\n\n", "\n"))
    return tuple(texts)


def shown_ids(advice: Advice) -> tuple[str, ...]:
    """Ids of the cards that are shown by an advice."""
    return tuple(one.card_id for one in advice.injections if one.shown)


def without_draws(advice: Advice) -> Advice:
    """The advice, counting for no idea."""
    return replace(advice, injections=tuple(replace(one, draw="") for one in advice.injections))


def provenance_of(
    card: MemoryCard,
    account: Account,
    evaluation: ReflectionEvaluation,
    session: AgentSession,
    deps: Dependencies,
    *,
    accepted: bool,
) -> Provenance:
    """Where a card of this attempt comes from; only an accepted answer can be a verified skill."""
    # Whether the run had read others' text by now: tools' results, or cards that come from such.
    told = any(one.shown and one.tainted for one in account.advice.injections)
    return Provenance(
        run_id=session.id,
        attempt=account.attempt,
        trace_id=session.id,
        created_by="reflexion",
        model=deps.model.model_name,
        evaluator=evaluation.evaluator,
        verified=evaluation.verifiable and (accepted or card.kind is not MemoryKind.SKILL_CARD),
        created_at=deps.clockwork.now(),
        agent=deps.agent,
        owner=session.task.owner,
        tainted=told or reads_others(session.recorder.trace()),
    )
