"""Where a lesson goes: through the screen first, and then to the store or the memory block.

What leaves this module has passed the screen. Of a card that hasn't, only its id and the names of the rules do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from wisen.cards import MemoryCard
from wisen.deadlines import calling, named
from wisen.events import LessonPersisted
from wisen.memory_ci.circles import Circles
from wisen.memory_ci.pipeline import MemoryCI
from wisen.protocols import Blocks, Finding, Screen
from wisen.screening.screens import verdict_of

_Stage = Literal["screen", "persist"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenLesson:
    """What became of a card."""

    card: MemoryCard | None
    """As screened; `None` if it was rejected or held, or couldn't be screened: then it may not be used."""
    persisted: LessonPersisted | None
    """`None` where it couldn't be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonWriter:
    """Writes the cards of one run."""

    ci: MemoryCI | None
    """`None`: to the block."""
    screen: Screen
    memory: Blocks
    block: str
    tenant: str
    known: Callable[[], str]
    """What the run's task and tools name."""
    degraded: Callable[[_Stage, Exception, str, int], None]

    async def keep(self, card: MemoryCard, attempt: int, *, again: bool) -> WrittenLesson:
        """Screen and write a card; a card that can't be written but is clean still serves this run.

        `again` says that it may be written already, by a process that was cut off before it could say so.
        """
        try:
            with calling(named("store", self.memory if self.ci is None else self.ci.store)):
                if self.ci is None:
                    return await self._to_block(card, attempt)
                return await self._to_store(self.ci, card, attempt, again=again)
        except Exception as error:  # noqa: BLE001 - stores and screens may be anybody's code; the answer matters more
            self.degraded("persist", error, "keeping a lesson for later runs", attempt)
        try:
            clean = verdict_of(self.screen, card).card
            held = await self._held(clean, log=None) if clean is not None else ()
            return WrittenLesson(card=None if held else clean, persisted=None)
        except Exception as error:  # noqa: BLE001 - an unscreened lesson may not be used, not even in its own run
            self.degraded("screen", error, "a lesson that could not be screened", attempt)
        return WrittenLesson(card=None, persisted=None)

    async def _to_store(self, ci: MemoryCI, card: MemoryCard, attempt: int, *, again: bool) -> WrittenLesson:
        submission = await ci.submit(card, at=card.provenance.created_at, again=again, known=self.known())
        persisted = LessonPersisted(
            attempt=attempt,
            target="lesson_store",
            card_id=submission.card_id,
            kind=card.kind.value,
            outcome=submission.outcome,
            rules=rules_of(submission.findings),
            held=submission.held,
        )
        return WrittenLesson(card=None if submission.held else submission.card, persisted=persisted)

    async def _to_block(self, card: MemoryCard, attempt: int) -> WrittenLesson:
        verdict = verdict_of(self.screen, card)
        if verdict.card is not None:
            card = replace(verdict.card, id="")  # an id that is computed of a secret could be used to guess it
        outcome: Literal["added", "duplicate", "rejected", "held"] = "rejected"
        held = await self._held(verdict.card, log=self.memory) if verdict.card is not None else ()
        if held:
            outcome = "held"
        elif verdict.card is not None:
            line = f"- {' '.join(verdict.card.text.split())}"
            known = (await self.memory.block(self.block, tenant=self.tenant)).splitlines()
            outcome = "duplicate" if line in known else "added"
            if outcome == "added":
                await self.memory.append_block(self.block, line, tenant=self.tenant)
        persisted = LessonPersisted(
            attempt=attempt,
            target=self.block,
            card_id=card.id,
            kind=card.kind.value,
            outcome=outcome,
            rules=rules_of(verdict.findings),
            held=held,
        )
        return WrittenLesson(card=None if held else verdict.card, persisted=persisted)

    async def _held(self, card: MemoryCard, *, log: object) -> tuple[str, ...]:
        """What holds a card, as far as a log of runs can tell what its circle has used; `None` where it can't."""
        return await Circles(log).held_for(card, self.known())


def block_of(name: str, owner: str) -> str:
    """The block of one owner's tasks: its lines are never tested, so they stay with their owner."""
    return f"{name} of {owner}" if owner else name


def rules_of(findings: Sequence[Finding]) -> tuple[str, ...]:
    """The rules that spoke, each once."""
    return tuple(dict.fromkeys(finding.rule for finding in findings))
