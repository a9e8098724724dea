"""MemoryCI: what a card has to pass before other runs may see it, and which cards a run may be shown."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from wisen.cards import MemoryCard, MemoryKind, MemoryStatus, Situation
from wisen.errors import ConfigError
from wisen.memory.rankers import BySimilarity
from wisen.memory_ci.status import reject
from wisen.protocols import Finding, Ranker, Screen, VectorStore
from wisen.recall import RECALLABLE, CardFilter, RecallHit, RecallQuery
from wisen.screening.screens import DefaultScreen

TrustPolicy = Literal["replayed", "trial", "screened"]
_POLICIES: dict[str, tuple[MemoryStatus, ...]] = {
    "replayed": (MemoryStatus.PROMOTED,),
    "trial": (MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED),
    "screened": (MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED),
}
_COMPARED_BY_LETTER = 600
_COMPARED_WORDS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What became of a submitted card."""

    outcome: Literal["added", "duplicate", "rejected"]
    card_id: str
    """The stored card: its own, or the one that it was counted on."""
    card: MemoryCard | None
    """The card as screened; `None` when rejected."""
    findings: tuple[Finding, ...] = ()
    """What the screen's rules found."""


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
        near_duplicate: Similarity (`difflib` ratio) from which a card is counted on a stored one instead of being
            stored.
        ranker: Which cards `recall` gives, and in which order; `BySimilarity()` by default.

    """

    def __init__(
        self,
        store: VectorStore,
        *,
        screen: Screen | None = None,
        trust: TrustPolicy = "trial",
        holdout: float = 0.15,
        near_duplicate: float = 0.9,
        ranker: Ranker | None = None,
    ) -> None:
        """Refuse unknown policies and probabilities outside their range with `ConfigError`."""
        if trust not in _POLICIES:
            raise ConfigError(f"MemoryCI(trust={trust!r}): must be one of {', '.join(_POLICIES)}")
        if not 0.0 <= holdout <= 0.5:  # noqa: PLR2004 - a card that is mostly left out serves nobody
            raise ConfigError(f"MemoryCI(holdout={holdout!r}): must be in [0, 0.5]")
        if not 0.0 < near_duplicate <= 1.0:
            raise ConfigError(f"MemoryCI(near_duplicate={near_duplicate!r}): must be in (0, 1]")
        self.store = store
        self.screen: Screen = screen if screen is not None else DefaultScreen()
        self.trust: TrustPolicy = trust
        self.holdout = holdout
        self.near_duplicate = near_duplicate
        self.ranker: Ranker = ranker if ranker is not None else BySimilarity()

    async def submit(self, card: MemoryCard, *, among: Sequence[RecallHit] | None = None) -> Submission:
        """Screen a candidate and store what passes as quarantined; raises `StoreError` when the store fails.

        `among` are the hits of a recall for the card's situation, where there was one just now: near-duplicates are
        looked for there, which spares a search. Of a rejected card the store keeps id, provenance and reason, and none
        of its text.
        """
        verdict = self.screen.check(card)
        if verdict.card is None:
            note = f"screen {self.screen.name}: {', '.join(_rules(verdict.findings))}"
            await self.store.add([reject(card, note=note)])
            return Submission(outcome="rejected", card_id=card.id, card=None, findings=verdict.findings)
        screened = replace(verdict.card, status=MemoryStatus.QUARANTINED, id=_id_of(verdict.card, card))
        twin = await self._near_duplicate_of(screened, among)
        if twin is not None:
            # The same text in another run: the store counts it, which no concurrent change of the card can disturb.
            await self.store.add([replace(twin, id=screened.id)])
            return Submission(outcome="duplicate", card_id=twin.id, card=screened, findings=verdict.findings)
        written = (await self.store.add([screened]))[0]
        outcome = "duplicate" if written.outcome == "duplicate" else "added"
        return Submission(outcome=outcome, card_id=written.card_id, card=screened, findings=verdict.findings)

    async def recall(self, situation: Situation, where: CardFilter, *, run_id: str, k: int = 5) -> list[Drawn]:
        """What fits `situation` and the trust policy lets this run know of, best first; held-out cards are among them.

        The draw follows from run and card ids, so a run that is repeated draws the same.
        """
        query = RecallQuery(
            situation=self._as_kept(situation),
            filter=replace(where, statuses=_POLICIES[self.trust]),
            k=k,
            without_run=run_id,
        )
        # Whatever a store or ranker gives: what the filter doesn't accept goes no further.
        hits = [hit for hit in await self.ranker.hits(self.store, query) if query.filter.accepts(hit.card)]
        return [self._draw(hit, run_id) for hit in hits if not hit.card.superseded_by]

    def _as_kept(self, situation: Situation) -> Situation:
        """The situation as the screen would have let it be stored, so that the same prompt is found again."""
        screened = self.screen.check(MemoryCard(kind=MemoryKind.LESSON, content="A lesson.", situation=situation)).card
        return situation if screened is None else screened.situation

    def _draw(self, hit: RecallHit, run_id: str) -> Drawn:
        if self.trust != "trial" or hit.card.status is MemoryStatus.PROMOTED or not self.holdout:
            return Drawn(hit=hit, shown=True, propensity=1.0)
        digest = hashlib.sha256(f"{run_id}\x1f{hit.card.id}".encode()).digest()
        uniform = int.from_bytes(digest[:8], "big") / 2**64
        return Drawn(hit=hit, shown=uniform >= self.holdout, propensity=1.0 - self.holdout)

    async def _near_duplicate_of(self, card: MemoryCard, among: Sequence[RecallHit] | None) -> MemoryCard | None:
        if among is None or self.trust == "replayed":  # a recall of promoted cards alone has not seen the others
            where = CardFilter(tenant=card.scope.tenant, kinds=(card.kind,), statuses=RECALLABLE)
            among = await self.store.search(RecallQuery(situation=card.situation, filter=where, k=5))
        return next((hit.card for hit in among if hit.card.id != card.id and self._alike(hit.card, card)), None)

    def _alike(self, old: MemoryCard, new: MemoryCard) -> bool:
        if old.kind is not new.kind or old.scope != new.scope or new.provenance.verified > old.provenance.verified:
            return False  # a verified card is worth more than an opinion that reads like it
        if new.kind is MemoryKind.SKILL_CARD:
            # Alike tasks with the same answer show where it holds, and with another one where it ends: both are worth
            # having.
            return old.content == new.content and old.situation.key == new.situation.key
        limit = self.near_duplicate
        return (
            _ratio(old.text, new.text, limit) >= limit
            and _ratio(old.situation.text, new.situation.text, limit) >= limit
        )


def _id_of(screened: MemoryCard, card: MemoryCard) -> str:
    """The card's own id, or a new one where it was computed of a text that isn't kept: a short secret could be guessed."""
    computed = screened is not card and card.id == replace(card, id="").id
    return "" if computed else card.id


def _rules(findings: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(one.rule for one in findings))


def without_holdouts(drawn: Sequence[Drawn]) -> list[RecallHit]:
    """The hits that the run may see."""
    return [one.hit for one in drawn if one.shown]


def _ratio(old: str, new: str, enough: float) -> float:
    """How alike two texts are, in [0, 1]; 0 as soon as it can't be `enough`."""
    if old == new:
        return 1.0
    length = len(old) + len(new)
    if 2 * min(len(old), len(new)) < enough * length:
        return 0.0
    if 2 * sum((Counter(old) & Counter(new)).values()) < enough * length:
        return 0.0  # not even the letters are the same, so the costly comparison can be spared
    if length <= 2 * _COMPARED_BY_LETTER:
        return SequenceMatcher(None, old, new, autojunk=False).ratio()
    # The comparison's time grows with the square of what is compared: long texts go word by word, very long ones not
    # at all.
    words = old.split(), new.split()
    return SequenceMatcher(None, *words, autojunk=False).ratio() if max(map(len, words)) <= _COMPARED_WORDS else 0.0
