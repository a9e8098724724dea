"""One attempt while it is made, and the forms in which cards come into and out of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from wisen.cards import MemoryCard, MemoryKind, MemoryStatus
from wisen.errors import ReflectionError
from wisen.memory.compiler import Recalled
from wisen.memory_ci.pipeline import Drawn
from wisen.memory_ci.verdicts import DEFAULT_RULE, Rule, replay_verdict, trial_verdict
from wisen.records import Advice, AttemptRecord, Injection, ReflectionEvaluation, TokenUsage
from wisen.reports import card_to_report, to_markdown
from wisen.session import AgentSession

DERIVED = (MemoryKind.PRINCIPLE, MemoryKind.PROCEDURE)
"""Kinds of cards that a report of a failure feeds, and that say nothing which it doesn't."""


@dataclass(slots=True, kw_only=True)
class Turn:
    """One attempt while it is made."""

    attempt: int
    advice: Advice
    spent_before: TokenUsage
    began: float
    carried: bool = False
    """Whether a model call has carried the advice."""
    failed: bool = False
    """Whether its base raised: there is no answer."""
    over: bool = False
    """Whether no attempt comes after it."""
    evaluation: ReflectionEvaluation | None = None
    structured: object = None
    metadata: dict[str, object] = field(default_factory=dict[str, object])
    """What its base has to say of it beyond the record."""
    accepted: bool = False
    """Whether the user took its output for the answer, whatever the score."""
    lesson_ids: list[str] = field(default_factory=list)
    taught: bool = False
    """Whether a card of it has passed the screen."""

    @property
    def score(self) -> float | None:
        """The score, as far as it is known."""
        return self.evaluation.overall_score if self.evaluation else None

    def delivered(self) -> None:
        """Note that a model call carried the advice."""
        self.carried = True

    def recorded(self, session: AgentSession) -> AttemptRecord:
        """The attempt as far as it came in this run, for the run record."""
        meter = session.meter
        return AttemptRecord(
            attempt=self.attempt,
            output=session.output,
            evaluation=self.evaluation,
            injections=self.advice.injections,
            blocked=self.advice.blocked,
            left_out=self.advice.left_out,
            advice_delivered=self.carried,
            lesson_ids=tuple(self.lesson_ids),
            usage=meter.spent.minus(self.spent_before),
            seconds=meter.seconds - self.began,
        )


def as_card(reflected: object) -> MemoryCard:
    """What a reflector gave, as a card; raises `ReflectionError` for what can't be one."""
    if isinstance(reflected, MemoryCard):
        return reflected
    if isinstance(reflected, str):
        return MemoryCard(kind=MemoryKind.LESSON, content=reflected)
    raise ReflectionError(f"the reflector gave a {type(reflected).__name__}; it has to give MemoryCards or texts")


def chain(cards: Sequence[MemoryCard]) -> tuple[str, ...]:
    """What a run's next attempt is told of those before it: reports whole, and no principle that one of them holds."""
    reported = {card.provenance.attempt for card in cards if card.kind is MemoryKind.REFLECTION}
    texts: list[str] = []
    for card in cards:
        if card.is_episode or (card.kind in DERIVED and card.provenance.attempt in reported):
            continue
        report = card_to_report(card)
        texts.append(card.text if report is None else to_markdown(report).strip().replace("\n\n", "\n"))
    return tuple(texts)


def hurts(card: MemoryCard, *, model: str, layout: str, rule: Rule = DEFAULT_RULE) -> bool:
    """Whether replays or the trial say that the card does harm to this model, with this layout of the prompt.

    What a person has promoted and pinned is that person's to judge.
    """
    if card.pinned and card.status is MemoryStatus.PROMOTED:
        return False
    return any(
        "hurts" in (replay_verdict(seen.gained, seen.lost, rule), trial_verdict(seen, seen.propensity, rule))
        for seen in card.evidence
        if (seen.model, seen.layout) == (model, layout)
    )


def as_recalled(drawn: Drawn, *, barred: str = "") -> Recalled:
    """A drawn card on its way into the advice, with what is logged of it."""
    hit = drawn.hit
    injection = Injection(
        card_id=hit.card.id,
        kind=hit.card.kind.value,
        reasons=hit.reasons,
        score=hit.relevance,
        shown=drawn.shown,
        propensity=drawn.propensity,
    )
    return Recalled(card=hit.card, injection=injection, barred=barred)


def shown_ids(advice: Advice) -> tuple[str, ...]:
    """Ids of the cards that are shown by an advice."""
    return tuple(one.card_id for one in advice.injections if one.shown)
