"""MemoryCI: what a card has to pass before other runs may see it, and which cards a run may be shown."""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from wisen.cards import MemoryCard, MemoryKind, MemoryStatus, Situation
from wisen.errors import CardNotFoundError, ConfigError
from wisen.memory.rankers import BySimilarity
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.corrections import check_correction, corrected_already, refused_already
from wisen.memory_ci.likeness import as_told_again
from wisen.memory_ci.reasons import kept_reason
from wisen.memory_ci.refusals import refused_before
from wisen.memory_ci.status import HUMAN, move, pinned
from wisen.memory_ci.twins import Twins
from wisen.memory_ci.verdicts import DEFAULT_RULE, Rule, helps_here, promoted_for
from wisen.protocols import Finding, Ranker, Screen, Scrubs, VectorStore
from wisen.recall import CardFilter, RecallHit, RecallQuery
from wisen.screening.names import with_clean_names
from wisen.screening.screens import DefaultScreen, verdict_of
from wisen.turns import Turns

_AT_ONCE = 4
"""Screenings in one turn of the event loop: each computes for up to a millisecond."""
TrustPolicy = Literal["replayed", "trial", "screened"]
_POLICIES: dict[str, tuple[MemoryStatus, ...]] = {
    "replayed": (MemoryStatus.PROMOTED,),
    "trial": (MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED),
    "screened": (MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What became of a submitted card."""

    outcome: Literal["added", "duplicate", "rejected"]
    card_id: str
    """The stored card: its own, the one that it was counted on, or the one that said the same and was rejected."""
    card: MemoryCard | None
    """The card as screened; `None` when rejected."""
    findings: tuple[Finding, ...] = ()
    """What the screen's rules found; of the rule "rejected-before", that a person or a test had refused the same."""
    known: bool = False
    """Whether this very card was stored before, from the same run, so that nothing has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A hit, and whether the live trial's draw lets this run see it."""

    hit: RecallHit
    shown: bool
    propensity: float
    """The probability of `shown=True`."""


class MemoryCI:
    """Guards one store.

    Args:
        store: Where cards go.
        screen: What may enter; `DefaultScreen()` by default.
        trust: What *other* runs may be shown. "replayed": promoted cards. "trial": quarantined ones too, each left out
            of a run with probability `holdout`, so that its effect can be told. "screened": everything that passed the
            screen.
        holdout: The probability of leaving a quarantined card out of a run, in [0, 0.5].
        recheck: The same for a promoted card that isn't pinned, so that it goes on being tested while it is used.
        near_duplicate: Similarity (`difflib` ratio) from which a card is counted on a stored one instead of being
            stored.
        ranker: Which cards `recall` gives, and in which order; `BySimilarity()` by default.
        rule: How much evidence a trial needs to promote a card or to archive it.
        now: The clock, for cards' histories.

    """

    def __init__(  # noqa: PLR0913 - each is a policy of its own
        self,
        store: VectorStore,
        *,
        screen: Screen | None = None,
        trust: TrustPolicy = "trial",
        holdout: float = 0.15,
        recheck: float = 0.05,
        near_duplicate: float = 0.9,
        ranker: Ranker | None = None,
        rule: Rule = DEFAULT_RULE,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Refuse unknown policies and probabilities outside their range with `ConfigError`."""
        if trust not in _POLICIES:
            raise ConfigError(f"MemoryCI(trust={trust!r}): must be one of {', '.join(_POLICIES)}")
        for name, share in (("holdout", holdout), ("recheck", recheck)):
            if not 0.0 <= share <= 0.5:  # noqa: PLR2004 - a card that is mostly left out serves nobody
                raise ConfigError(f"MemoryCI({name}={share!r}): must be in [0, 0.5]")
        if not 0.0 < near_duplicate <= 1.0:
            raise ConfigError(f"MemoryCI(near_duplicate={near_duplicate!r}): must be in (0, 1]")
        self.store = store
        self.screen: Screen = screen if screen is not None else DefaultScreen()
        self.trust: TrustPolicy = trust
        self.holdout = holdout
        self.recheck = recheck
        self.near_duplicate = near_duplicate
        self.ranker: Ranker = ranker if ranker is not None else BySimilarity()
        self.rule = rule
        self.now = now
        self._turns = Turns(_AT_ONCE)
        self._twins = Twins(store, near_duplicate)

    async def submit(
        self,
        card: MemoryCard,
        *,
        among: Sequence[RecallHit] | None = None,
        at: datetime | None = None,
        again: bool = False,
    ) -> Submission:
        """Screen a candidate and store what passes as quarantined; raises `StoreError` when the store fails.

        `among` are the hits of a recall for the card's situation, where there was one just now: near-duplicates are
        looked for there, which spares a search. Of near-duplicates that are submitted here at once, one is stored, and
        the others are counted on it; of cards with equal `duplicate_key`, wherever they are submitted. `at` is when it
        happens, for the card's history; by default the clock's time. A near-duplicate of an archived card is counted on
        that one, which stays archived. What a person, a trial or a replay rejected is rejected again, whatever run it
        comes from, unless a person submits it. Of a rejected card the store keeps id, provenance and reason, and none
        of its text.
        What a card claims of its own status, evidence and history counts for nothing here. Raises `ConfigError` for
        names that may not be kept, as `with_clean_names` does, and then stores nothing.

        `again` says that this very card may have been submitted before, by a process that was cut off: then nothing is
        counted, and what is stored under its id is the card.
        """
        return await self._take_in(card, among, at=at, again=again)

    async def _take_in(
        self,
        card: MemoryCard,
        among: Sequence[RecallHit] | None = None,
        *,
        corrects: str = "",
        why: str = "",
        at: datetime | None = None,
        again: bool = False,
    ) -> Submission:
        await self._turns.take()
        card, named = with_clean_names(card)
        at = at if at is not None else self.now()
        verdict = verdict_of(self.screen, card)
        findings = (*verdict.findings, *named)
        if verdict.card is None:
            note = f"screen {self.screen.name}: {', '.join(_rules(verdict.findings))}"
            rejected = move(_candidate(card, corrects), MemoryStatus.REJECTED, note=note, at=at, by="screen")
            await self.store.add([replace(rejected, version=card.version)])
            return Submission(outcome="rejected", card_id=card.id, card=None, findings=findings)
        passed = replace(_candidate(verdict.card, corrects), id=_id_of(verdict.card, card))
        note = f"passed screen {self.screen.name}{why}"
        moved = move(passed, MemoryStatus.QUARANTINED, note=note, at=at, by="screen")
        screened = replace(moved, note=passed.note, version=passed.version)
        if (refused := await refused_before(self.store, screened)) is not None:
            if corrects:
                raise refused_already(refused)
            return _again(refused, findings)
        # A correction is like what it corrects, and yet another card.
        if corrects or (again and await self._holds(screened.id)):
            return await self._added(screened, findings, corrects=corrects)
        async with self._twins.turn(screened) as turn:
            # A recall of promoted cards alone has not seen the others.
            seen = None if self.trust == "replayed" else among
            twin = turn.told or await self._twins.of(screened, seen)
            if twin is None:
                submission = await self._added(screened, findings)
                turn.kept = None if submission.card is None else replace(screened, id=submission.card_id)
            else:
                submission = await self._counted(twin, screened, findings, again=again)
                turn.kept = None if submission is None else twin
                if submission is None:
                    turn.vanished()
        # Nobody waits for this card any more, so it may wait for others.
        return submission if submission is not None else await self._take_in(card, at=at)

    async def _counted(
        self, twin: MemoryCard, screened: MemoryCard, findings: tuple[Finding, ...], *, again: bool
    ) -> Submission | None:
        """Count the card on the one that says the same; `None` where somebody has just rejected or deleted that."""
        # The same text in another run: the store counts it, which no concurrent change of the card can disturb.
        counted = [] if again else await self.store.add([as_told_again(twin, screened)])
        if counted and counted[0].outcome == "added":
            await self.store.delete([screened.id])
            return None
        return Submission(outcome="duplicate", card_id=twin.id, card=screened, findings=findings)

    async def _added(self, screened: MemoryCard, findings: tuple[Finding, ...], *, corrects: str = "") -> Submission:
        written = (await self.store.add([screened]))[0]
        if written.outcome == "unchanged" and not corrects:
            stored = (await self.store.get([written.card_id]))[0]
            if stored.status is MemoryStatus.REJECTED:
                return _again(stored, findings)
        outcome = "duplicate" if written.outcome == "duplicate" else "added"
        known = written.outcome == "unchanged"
        return Submission(outcome=outcome, card_id=written.card_id, card=screened, findings=findings, known=known)

    async def _holds(self, card_id: str) -> bool:
        with suppress(CardNotFoundError):
            return bool(await self.store.get([card_id]))
        return False

    async def recall(
        self,
        situation: Situation,
        where: CardFilter,
        *,
        run_id: str,
        k: int = 5,
        model: str | None = None,
        layout: str = "",
    ) -> list[Drawn]:
        """What fits `situation` and the trust policy lets this run know of, best first; held-out cards are among them.

        The draw follows from run and card ids, so a run that is repeated draws the same. For a `model` and `layout` on
        which a promoted card hasn't shown yet that it helps, it is on trial like one in quarantine.
        """
        await self._turns.take()
        query = RecallQuery(
            situation=self._as_kept(situation),
            filter=replace(where, statuses=_POLICIES[self.trust]),
            k=k,
            without_run=run_id,
        )
        # Whatever a store or ranker gives: what the filter doesn't accept goes no further.
        hits = [hit for hit in await self.ranker.hits(self.store, query) if query.filter.accepts(hit.card)]
        hits = [hit for hit in hits if not hit.card.superseded_by]
        corrected = {hit.card.supersedes for hit in hits}  # also where a correction's second half is yet to be written
        return [self._draw(hit, run_id, model, layout) for hit in hits if hit.card.id not in corrected]

    async def correct(self, card_id: str, new_card: MemoryCard, why: str) -> Submission:
        """Submit `new_card` in place of a card that is wrong: that one is recalled no more, and both are kept.

        The correction has to pass the screen, and is on trial as any other card is. Raises `ConfigError` where it can't
        be one: without a reason, of a card that is rejected or corrected already, with another tenant, or with the same
        words. Of two corrections at once the later one is refused so, and its card stays, as one of its own.
        """
        old = (await self.store.get([card_id]))[0]
        check_correction(old, new_card, why)
        submission = await self._take_in(new_card, corrects=card_id, why=f"; corrects {card_id}: {kept_reason(why)}")
        if submission.outcome == "rejected":
            return submission
        if submission.card_id == card_id:
            raise ConfigError(f"the correction of card {card_id!r} says what the card says; write what is right")
        await self._take_up(submission.card_id, instead_of=card_id)

        def superseded(card: MemoryCard) -> MemoryCard | None:
            if card.superseded_by not in ("", submission.card_id):
                raise corrected_already(card)
            return replace(card, superseded_by=submission.card_id)

        await change_card(self.store, card_id, superseded)
        return submission

    async def _take_up(self, new_id: str, *, instead_of: str) -> None:
        """Make sure that the correction holds: what it says may have been stored before, and been corrected since."""
        new = (await self.store.get([new_id]))[0]
        if new.status is MemoryStatus.REJECTED:
            raise refused_already(new)
        if new.superseded_by and instead_of not in await self._later_than(new):
            raise ConfigError(f"the correction says what card {new_id!r} says, which {new.superseded_by!r} corrects")

        def holding(card: MemoryCard) -> MemoryCard | None:
            held = replace(card, superseded_by="", supersedes=instead_of)
            return None if held == card else held

        await change_card(self.store, new_id, holding)

    async def _later_than(self, card: MemoryCard) -> list[str]:
        """What corrects the card, what corrects that, and so on, as far as it is stored."""
        later: list[str] = []
        with suppress(CardNotFoundError):
            while card.superseded_by and card.superseded_by not in later:
                later.append(card.superseded_by)
                card = (await self.store.get([card.superseded_by]))[0]
        return later

    async def promote(self, card_id: str, why: str) -> MemoryCard:
        """Show a quarantined card to every run, by a person's decision. Raises `ConfigError` as `move` does."""
        return await self._move(card_id, MemoryStatus.PROMOTED, why)

    async def archive(self, card_id: str, why: str) -> MemoryCard:
        """Keep a card and show it no more. Raises `ConfigError` as `move` does."""
        return await self._move(card_id, MemoryStatus.ARCHIVED, why)

    async def quarantine(self, card_id: str, why: str) -> MemoryCard:
        """Put a promoted or archived card on trial again, with new counts. Raises `ConfigError` as `move` does."""
        return await self._move(card_id, MemoryStatus.QUARANTINED, why)

    async def reject(self, card_id: str, why: str) -> MemoryCard:
        """Withdraw a card for good, text and all; what it had corrected holds again. Raises as `move` does."""
        rejected = await self._move(card_id, MemoryStatus.REJECTED, why)
        if rejected.supersedes:
            with suppress(CardNotFoundError):
                await change_card(
                    self.store,
                    rejected.supersedes,
                    lambda old: replace(old, superseded_by="") if old.superseded_by == card_id else None,
                )
        if isinstance(self.store, Scrubs):
            await self.store.scrub()
        return rejected

    async def pin(self, card_id: str, why: str) -> MemoryCard:
        """Keep rules and trials from moving a card. Raises `ConfigError` for a rejected one, or without a reason."""
        return await self._pin(card_id, why, on=True)

    async def unpin(self, card_id: str, why: str) -> MemoryCard:
        """Let rules and trials move the card again."""
        return await self._pin(card_id, why, on=False)

    async def _move(self, card_id: str, status: MemoryStatus, why: str) -> MemoryCard:
        at, why = self.now(), kept_reason(why)
        moved = await change_card(self.store, card_id, lambda card: move(card, status, note=why, at=at, by=HUMAN))
        return moved if moved is not None else (await self.store.get([card_id]))[0]

    async def _pin(self, card_id: str, why: str, *, on: bool) -> MemoryCard:
        at, why = self.now(), kept_reason(why)
        changed = await change_card(self.store, card_id, lambda card: pinned(card, on=on, why=why, at=at))
        return changed if changed is not None else (await self.store.get([card_id]))[0]

    def _as_kept(self, situation: Situation) -> Situation:
        """The situation as the screen would have let it be stored, so that the same prompt is found again."""
        screened = verdict_of(
            self.screen, MemoryCard(kind=MemoryKind.LESSON, content="A lesson.", situation=situation)
        ).card
        return situation if screened is None else screened.situation

    def _draw(self, hit: RecallHit, run_id: str, model: str | None, layout: str) -> Drawn:
        left_out = self.holdout
        if hit.card.status is MemoryStatus.PROMOTED:
            if hit.card.pinned:
                left_out = 0.0
            elif model is None or self._proven(hit.card, model, layout):
                left_out = self.recheck
        if self.trust != "trial" or not left_out:
            return Drawn(hit=hit, shown=True, propensity=1.0)
        digest = hashlib.sha256(f"{run_id}\x1f{hit.card.id}".encode()).digest()
        uniform = int.from_bytes(digest[:8], "big") / 2**64
        return Drawn(hit=hit, shown=uniform >= left_out, propensity=1.0 - left_out)

    def _proven(self, card: MemoryCard, model: str, layout: str) -> bool:
        if promoted_for(card, model=model, layout=layout):
            return True
        return helps_here(card, model=model, layout=layout, rule=self.rule)


def _id_of(screened: MemoryCard, card: MemoryCard) -> str:
    """The card's own id, or a new one where it was computed of a text that isn't kept, which could be guessed."""
    computed = screened is not card and card.id == replace(card, id="").id
    return "" if computed else card.id


def _candidate(card: MemoryCard, corrects: str) -> MemoryCard:
    """The card without what only its store can know of it."""
    return replace(
        card,
        status=MemoryStatus.CANDIDATE,
        evidence=(),
        history=(),
        pinned=False,
        observed=(),
        supersedes=corrects,
        superseded_by="",
    )


def _again(refused: MemoryCard, findings: Sequence[Finding]) -> Submission:
    found = Finding(rule="rejected-before", family="refused", start=0, end=0)
    return Submission(outcome="rejected", card_id=refused.id, card=None, findings=(*findings, found))


def _rules(findings: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(one.rule for one in findings))


def without_holdouts(drawn: Sequence[Drawn]) -> list[RecallHit]:
    """The hits that the run may see."""
    return [one.hit for one in drawn if one.shown]
