"""Defines queries to memory, hits with their reasons, and the outcome of writing."""

from dataclasses import dataclass
from typing import Literal

from wisen.cards import ANYONE, MemoryCard, MemoryKind, MemoryStatus, Situation
from wisen.errors import ConfigError
from wisen.records import Task

Awaited = Literal["", "release", "verdict", "choice"]
"""A person's decision on a card: to release it to runs, to end its trial, or to choose between rivals."""
_UNDECIDED = ("on trial", "recheck")

RECALLABLE = (MemoryStatus.QUARANTINED, MemoryStatus.PROMOTED)
"""The statuses that a card in use can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFilter:
    """Selects cards. Every condition must hold; an empty one always does, except for the tenant and the tools.

    `tenant=None` means all tenants, and is for listing, exporting and counting; recall always names one.
    """

    tenant: str | None = None
    statuses: tuple[MemoryStatus, ...] = ()
    kinds: tuple[MemoryKind, ...] = ()
    run_id: str = ""
    agent_role: str = ""
    """Keeps cards whose scope names this role, or no role."""
    task_type: str = ""
    """Keeps cards whose scope names this task type, or none."""
    tools: tuple[str, ...] | None = None
    """Keeps cards whose scope names one of these tools, or none. `None`: no condition."""
    refused: str = ""
    """Keeps rejected cards with this `MemoryCard.refused`. Every submission asks for it, so stores find them without
    scanning the other rejected ones."""
    idea: str = ""
    """Keeps the other wordings of the idea that the card with this id stands for."""
    corrected: bool = False
    """Keeps cards that have been corrected: another one stands in their place."""
    awaits: Awaited = ""
    """Keeps cards that wait for this: "release" those in quarantine that no run may try, "verdict" those on trial or
    under suspicion, "choice" those in use or in quarantine that have rivals."""
    circle: str = ""
    """Keeps promoted cards, and of others those that runs of this circle may try (`MemoryCard.circle`)."""

    def _awaited(self, card: MemoryCard) -> bool:
        match self.awaits:
            case "":
                return True
            case "release":
                return card.status is MemoryStatus.QUARANTINED and not card.circle
            case "verdict":
                return card.status in RECALLABLE and any(one.stage in _UNDECIDED for one in card.trials)
            case "choice":
                return card.status in RECALLABLE and bool(card.rivals)

    @classmethod
    def of_task(
        cls, task: Task, *, agent_role: str = "", circle: str = "", tools: tuple[str, ...] | None = None
    ) -> "CardFilter":
        """Which cards a run of this task may be shown.

        A task that names no tools may use any: then `tools` decide, those that its run can call, as far as they are
        known.
        """
        used = task.tools or tools
        return cls(tenant=task.tenant, agent_role=agent_role, task_type=task.type, tools=used, circle=circle)

    def accepts(self, card: MemoryCard) -> bool:
        """Whether `card` passes. Every store's own filtering has to agree with this one definition."""
        scope = card.scope
        return (
            (self.tenant is None or scope.tenant == self.tenant)
            and (not self.statuses or card.status in self.statuses)
            and (not self.kinds or card.kind in self.kinds)
            and (not self.run_id or card.provenance.run_id == self.run_id)
            and (not self.idea or card.idea == self.idea)
            and (not self.corrected or bool(card.superseded_by))
            and self._awaited(card)
            and (not self.refused or (card.refused == self.refused and card.status is MemoryStatus.REJECTED))
            and (not self.circle or card.status is MemoryStatus.PROMOTED or card.circle in (self.circle, ANYONE))
            and (not self.agent_role or not scope.agent_roles or self.agent_role in scope.agent_roles)
            and (not self.task_type or not scope.task_types or self.task_type in scope.task_types)
            and (self.tools is None or not scope.tool_names or not set(self.tools).isdisjoint(scope.tool_names))
        )


UNREVIEWED = CardFilter(awaits="release")
"""What is shown to no run until a person has seen it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """A question to memory: what helps in this situation?

    `filter.tenant` must be a string (the empty one is a tenant of its own), so that forgetting it can't cross tenants.
    `filter.refused`, `idea`, `corrected` and `awaits` must be empty: they are for listings.
    """

    situation: Situation
    filter: CardFilter
    k: int = 5
    floor: float | None = None
    """Relevance in [0, 1] below which nothing is returned; `None` takes the store's default."""
    superseded: bool = False
    """Whether cards that a correction has replaced are found, too: for those who look for what was said before."""
    without_run: str = ""
    """The run that asks. It knows its own cards already: a `Ranker` that takes a fixed number leaves them out. Stores
    ignore it."""

    def __post_init__(self) -> None:
        """Refuse a missing tenant, a filter that is for listings, and a `k` below 1, with `ConfigError`."""
        if self.filter.tenant is None:
            msg = "RecallQuery.filter.tenant is None: recall needs a tenant ('' is the one without a name)"
            raise ConfigError(msg)
        asked = self.filter
        if asked.refused or asked.idea or asked.corrected or asked.awaits:
            listed = "'refused', 'idea', 'corrected' and 'awaits'"
            msg = f"RecallQuery.filter: {listed} are for list() and count(), not for a search"
            raise ConfigError(msg)
        if self.k < 1:
            msg = f"RecallQuery.k={self.k!r}: must be 1 or more"
            raise ConfigError(msg)

    def accepts(self, card: MemoryCard) -> bool:
        """Whether `card` may be an answer, whatever its relevance."""
        return (self.superseded or not card.superseded_by) and self.filter.accepts(card)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallHit:
    """A card that answers a query."""

    card: MemoryCard
    relevance: float
    """In [0, 1]; 1 for the same prompt."""
    reasons: tuple[str, ...]
    """Why, for a reader: "same prompt", "similar situation (0.81)", "shares rare words: invoice, nordic"."""
    vector: float = 0.0
    """Best cosine similarity of the situation's vector with the card's two."""
    lexical: float = 0.0
    """Share of the query's words, weighted by rarity, that the card has; in [0, 1]."""
    agrees: bool = False
    """Whether the query's prompt and the card's have the same hard content, such as numbers and names, and have any.
    Such a card comes before one that only sounds alike, whose relevance may be higher."""
    contradicts: bool = False
    """Whether one of the two prompts denies what the other says. Such a card comes after all others."""

    @property
    def fit(self) -> int:
        """What comes before relevance: 1 where the prompts agree, -1 where they contradict each other, else 0."""
        return self.agrees - self.contradicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What `VectorStore.add` or `add_unscreened` did with one card."""

    card_id: str
    """The id that the card is kept under, or that of the stored card that it duplicates."""
    outcome: Literal["added", "duplicate", "unchanged", "rejected"]
    """"duplicate": counted on the stored card. "unchanged": this very card (same id) was there already. "rejected": the
    screen rejected it, so what is kept of it has no text."""
