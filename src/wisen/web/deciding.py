"""Does what a person decides on a card, as the commands do, and takes the last decision back."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from secrets import token_urlsafe

from wisen.cards import MemoryCard, Provenance
from wisen.errors import ConfigError
from wisen.explain.card_facts import decided
from wisen.memory_ci.decisions import ACTS
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.undoing import Undoable, after_decision, before_decision, take_back

_KEPT = 15 * 60.0
"""Seconds for which a decision can be taken back: until then its card's text stays in this process's memory."""
_LONGEST_FIELD = 2_000
"""Characters of a text that a form offers to be corrected."""

_LONGEST_FORM = 12_000
"""Characters of a refused form that its page shows again: 60 kB where each has to be escaped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The last decision of a tenant's people, which can be taken back."""

    said: str
    why: str
    made: Undoable
    until: float
    id: str = field(default_factory=partial(token_urlsafe, 16))
    """By which a form says what it takes back."""


class Deciding:
    """A person's decisions on one store.

    Args:
        ci: What guards the store.
        monotonic: The clock, in seconds.
    """

    def __init__(self, ci: MemoryCI, monotonic: Callable[[], float]) -> None:
        self._ci = ci
        self._monotonic = monotonic
        self._last: dict[str, Decided] = {}
        self._one_decides = asyncio.Lock()

    def last(self, tenant: str) -> Decided | None:
        """What can be taken back."""
        found = self._last.get(tenant)
        if found is not None and found.until <= self._monotonic():
            del self._last[tenant]
            return None
        return found

    async def as_written(self, card: MemoryCard, fields: dict[str, str]) -> str:
        """Do what a form says, unless its page showed the card before its last move. Raises as `decide` does."""
        act, why = fields.get("act", ""), fields.get("why", "")
        async with self._one_decides:
            now = (await self._ci.store.get([card.id]))[0]
            if fields.get("seen") != moves_of(now):
                raise ConfigError("the lesson was moved after its page was made; decide on it as it is now")
            return await (self.correct(now, fields, why) if act == "correct" else self.decide(now, act, why))

    async def decide(self, card: MemoryCard, act: str, why: str) -> str:
        """Do it, and say what changed. Raises `ConfigError` for what can't be, and what the store raises."""
        chosen = ACTS.get(act)
        if chosen is None:
            raise ConfigError(f"there is no decision {act[:40]!r}; take one of those on the page")
        before = await before_decision(self._ci.store, card.id)
        after = await self._ci.decide(chosen, card.id, _reason(why))
        return self._done(await after_decision(self._ci.store, before), after, decided(chosen, card, after), why)

    async def correct(self, card: MemoryCard, fields: dict[str, str], why: str) -> str:
        """Put what a person wrote in the card's place. Raises as `decide` does."""
        written = {name: fields.get(name, "").strip() or left for name, left in kept_texts(card).items()}
        pattern, content, strategy = (written[name] for name in ("pattern", "content", "strategy"))
        steps = tuple(line.strip() for line in written["steps"].splitlines() if line.strip())
        if not (pattern or content or strategy or steps):
            raise ConfigError("the correction is empty; write what is right")
        made = Provenance(
            created_by="human", agent=card.provenance.agent, owner=card.provenance.owner, created_at=self._ci.now()
        )
        new = MemoryCard(
            kind=card.kind,
            pattern=pattern,
            content=content,
            strategy=strategy,
            steps=steps,
            situation=card.situation,
            scope=card.scope,
            provenance=made,
        )
        before = await before_decision(self._ci.store, card.id)
        submitted = await self._ci.correct(card.id, new, _reason(why))
        if submitted.outcome == "rejected":
            rules = ", ".join(sorted({one.rule for one in submitted.findings}))
            raise ConfigError(f"the screen rejected the correction ({rules}); write it without that")
        made = await after_decision(self._ci.store, before, submitted)
        return self._done(made, card, f"corrected by {submitted.card_id}", why)

    async def undo(self, tenant: str, decision: str) -> MemoryCard:
        """Take the last decision back; gives its card.

        Raises `ConfigError` where there is none, or where it isn't `decision` any more, and as `take_back`.
        """
        last = self.last(tenant)
        if last is None or last.id != decision:
            raise ConfigError("there is nothing to undo any more; decide on the lesson as it is now")
        restored = await take_back(self._ci, last.made)
        self._last.pop(tenant, None)
        return restored

    def _done(self, made: Undoable, card: MemoryCard, said: str, why: str) -> str:
        until = self._monotonic() + _KEPT
        self._last[card.scope.tenant] = Decided(said=f"Lesson {card.id}: {said}", why=why, made=made, until=until)
        return said


def kept_texts(card: MemoryCard) -> dict[str, str]:
    """What stays of a card where its correction leaves a field empty: texts that are too long for the form."""
    texts = {
        "pattern": card.pattern,
        "content": card.content,
        "strategy": card.strategy,
        "steps": "\n".join(card.steps),
    }
    return {name: text if len(text) > _LONGEST_FIELD else "" for name, text in texts.items()}


def moves_of(card: MemoryCard) -> str:
    """By which a form says what its page showed: it changes with each decision, and not with what runs count."""
    return f"{len(card.history)} {card.status}"


def shown_again(wrote: Mapping[str, str]) -> Mapping[str, str]:
    """What a person wrote in a form that was refused, without what would make its page too large."""
    return wrote if sum(map(len, wrote.values())) <= _LONGEST_FORM else {"act": wrote.get("act", "")}


def _reason(why: str) -> str:
    if not why.strip():
        raise ConfigError("the reason is empty; say why")
    return why.strip()
