"""Which idea a card is a wording of, and which ideas are its rivals.

An idea is all wordings of one claim. Its first card is its head: status, trials and evidence stand there, and the other
wordings name it (`MemoryCard.idea`). Verified episodes are examples and claim nothing: those of like situations and of
one origin are one idea, so that they are tried as a group.
"""

from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from wisen.cards import MemoryCard, MemoryKind, MemoryStatus, Situation
from wisen.errors import CardNotFoundError
from wisen.identity import content_key, other_case, same_form
from wisen.memory_ci.comparing import Comparer
from wisen.protocols import Embedder, VectorStore
from wisen.recall import RECALLABLE, CardFilter, RecallHit, RecallQuery
from wisen.stores.index.agreeing import stands
from wisen.stores.paging import every_card
from wisen.trial_records import Family

_COMPARED = 32
"""Cards that a new one is compared with: the nearest by their words and meaning."""
_ALIKE = 0.35
"""Relevance from which an episode's task is like another's."""
_ENOUGH = 0.25
_MOST_WORDINGS = 12
"""Of each of two ideas, so many wordings are compared: by their ids, which are as good as chance."""
MOST_RIVALS = 32
"""Rivals that a head is linked with: the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """What a new card has to do with those that are stored."""

    head: MemoryCard | None = None
    """Of the idea that it is a wording of; `None` where it is the first."""
    also: tuple[MemoryCard, ...] = ()
    """Heads of other ideas that it is a wording of: it shows that they are one."""
    rivals: tuple[MemoryCard, ...] = ()
    """Heads of ideas that can't be right beside it."""
    same: MemoryCard | None = None
    """The stored card that says the same of the same situation."""


class Ideas:
    """Looks for a card's idea in one store."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self._comparer = Comparer()

    def __reduce__(self) -> "tuple[type[Ideas], tuple[VectorStore]]":
        """A copy remembers nothing."""
        return Ideas, (self._store,)

    async def relations(self, card: MemoryCard) -> Relations:
        """The idea and the rivals of a card that isn't stored yet. Raises what store and embedder raise.

        A correction has nothing to do with the idea that it corrects, nor with what was corrected before.
        """
        if is_example(card):
            return await self._group(card)
        near = await self._near(card, Situation(prompt=card.text))
        if not near:
            return Relations()
        alike, rivals = await self._related(card, near)
        heads = await heads_of(self._store, [*alike, *rivals])
        ideas = {(one := heads[wording.id]).id: one for wording in alike}
        head = next(iter(ideas.values()), None)
        # What was corrected, a person has decided on already.
        contrary = [] if head is not None and head.superseded_by else [heads[rival.id] for rival in rivals]
        others = {one.id: one for one in contrary if one != head and not one.superseded_by}
        return Relations(
            head=head,
            also=tuple(ideas.values())[1:],
            rivals=tuple(others.values())[:MOST_RIVALS],
            same=_same_as(card, near),
        )

    async def are_one(self, one: MemoryCard, other: MemoryCard) -> bool:
        """Whether two ideas, given by their heads, say the same: a quarter of the pairs of their wordings do.

        That one wording is like both may be by chance. Raises what store and embedder raise.
        """
        sides: list[list[str]] = []
        for head in (one, other):
            cards = sorted([head, *await wordings_of(self._store, head)], key=lambda card: card.id)
            sides.append([card.text for card in cards if card.text][:_MOST_WORDINGS])
        pairs = [(mine, theirs) for mine in sides[0] for theirs in sides[1]]
        relations = (await self._comparer.compare(embedder_of(self._store), pairs)).relations
        return sum(relations[pair] in ("same", "idea") for pair in pairs) >= max(1.0, _ENOUGH * len(pairs))

    async def _group(self, card: MemoryCard) -> Relations:
        hits = await self._search(card, card.situation)
        # What one origin's examples have earned says nothing of another's.
        origin = card.provenance.origin
        alike = (
            hit
            for hit in hits
            if is_example(hit.card) and comparable(hit.card, card) and hit.card.provenance.origin == origin
        )
        nearest = next((hit for hit in alike if hit.relevance >= _ALIKE), None)
        same = _same_as(card, (hit.card for hit in hits))
        if nearest is None:
            return Relations(same=same)
        return Relations(head=await head_of(self._store, nearest.card), same=same)

    async def _near(self, card: MemoryCard, asked: Situation) -> list[MemoryCard]:
        hits = await self._search(card, asked)
        return [hit.card for hit in hits if not is_example(hit.card) and comparable(hit.card, card)]

    async def _search(self, card: MemoryCard, asked: Situation) -> list[RecallHit]:
        # A claim that was corrected is known again. An example claims nothing beyond its task, and that a correction
        # holds a person has just said.
        superseded = not (is_example(card) or card.supersedes)
        wrong = await still_there(self._store, [card.supersedes] if card.supersedes else [])
        # Reports are archived by age, which says nothing of them.
        statuses = RECALLABLE if card.reporter else (*RECALLABLE, MemoryStatus.ARCHIVED)
        where = CardFilter(tenant=card.scope.tenant, kinds=(card.kind,), statuses=statuses)
        hits = await self._store.search(RecallQuery(situation=asked, filter=where, k=_COMPARED, superseded=superseded))
        apart = {card.id, *(head.id for head in (await heads_of(self._store, wrong)).values())}
        return [hit for hit in hits if apart.isdisjoint((hit.card.id, hit.card.idea))]

    async def _related(self, card: MemoryCard, near: Sequence[MemoryCard]) -> tuple[list[MemoryCard], list[MemoryCard]]:
        """The wordings of the card's idea, the nearest first, and its rivals."""
        embedder = embedder_of(self._store)
        pairs = {one.id: (card.text, one.text) for one in near}
        beside: dict[tuple[str, str], list[str]] = {pair: [card.situation.text] for pair in pairs.values()}
        for one in near:
            beside[pairs[one.id]].append(one.situation.text)
        compared = await self._comparer.compare(embedder, pairs.values(), beside=beside)

        alike, rivals = list[tuple[float, bool, MemoryCard]](), list[MemoryCard]()
        for one in near:
            if same_form(one.text) == same_form(card.text):
                holds = one.status is not MemoryStatus.ARCHIVED and not one.superseded_by
                alike.append((3.0 if holds else 2.0, holds, one))
                continue
            like = one.situation == card.situation or not (one.situation.text and card.situation.text)
            if not (like or compared.alike(one.situation.text, card.situation.text, embedder.floor)):
                continue
            stands = compared.relations[pairs[one.id]]
            if stands == "idea":
                alike.append((compared.cosine(*pairs[one.id]), not one.superseded_by, one))
            elif stands == "rivals" and not other_case(one.text, one.situation.text, card.text, card.situation.text):
                rivals.append(one)
        alike.sort(key=lambda found: found[:2], reverse=True)
        return [one for *_, one in alike], rivals


def _same_as(card: MemoryCard, others: Iterable[MemoryCard]) -> MemoryCard | None:
    """The first that says the same of the same situation."""
    key = card.duplicate_key
    return next((one for one in others if one.duplicate_key == key), None)


def is_example(card: MemoryCard) -> bool:
    """Whether it is a task with an accepted answer, which claims nothing beyond that task."""
    return card.kind is MemoryKind.SKILL_CARD and not card.strategy and bool(card.situation.prompt)


def family_of(card: MemoryCard) -> Family:
    """In which family of trials the card's idea is tried."""
    return "examples" if is_example(card) else ""


def comparable(one: MemoryCard, other: MemoryCard) -> bool:
    """Whether two cards can be wordings of one idea: of one kind, for the same runs, and of one agent where reports."""
    return one.kind is other.kind and one.scope == other.scope and one.reporter == other.reporter


def agree(one: Situation, other: Situation) -> bool:
    """Whether two situations agree in all their content, as far as they have any."""
    how = stands(one, other)
    return how == "agrees" or not (how or one.content or other.content)


def submission_key(card: MemoryCard) -> str:
    """Equal for cards that submissions take one after the other: those that say the same, or name the same content."""
    at = (card.kind.value, card.scope.text, card.reporter)
    if is_example(card):
        return "\x1f".join((*at, same_form(card.situation.prompt)))
    said = same_form(card.text)
    return "\x1f".join((*at, content_key(said) or said))


def embedder_of(store: VectorStore) -> Embedder:
    """What a store's vectors are made by; `HashEmbedder` for a store that doesn't say."""
    from wisen.embedders.hashing import HashEmbedder  # noqa: PLC0415 - needed for stores of others only

    embedder: Embedder | None = getattr(store, "embedder", None)
    return embedder if embedder is not None else HashEmbedder()


async def heads_of(store: VectorStore, cards: Iterable[MemoryCard]) -> dict[str, MemoryCard]:
    """The head of each card's idea, by the card's id: itself where it is one, or where its head is gone.

    A head that has just become a wording of another idea leads to that one's.
    """
    cards = list(cards)
    known = {card.id: card for card in cards}
    unseen = list(cards)
    while missing := [*{card.idea for card in unseen} - known.keys() - {""}]:
        unseen = await still_there(store, missing)
        known |= {card.id: card for card in unseen}

    def head(card: MemoryCard) -> MemoryCard:
        found, passed = card, {card.id}
        while (above := known.get(found.idea)) and above.id not in passed:
            if above.status is MemoryStatus.REJECTED:
                break
            found = above
            passed.add(found.id)
        return found

    return {card.id: head(card) for card in cards}


async def still_there(store: VectorStore, ids: Sequence[str]) -> list[MemoryCard]:
    """The cards with these ids that are still there."""
    wanted = list(ids)
    while wanted:
        try:
            return await store.get(wanted)
        except CardNotFoundError as missing:
            wanted.remove(missing.card_id)
    return []


async def wordings_of(store: VectorStore, head: MemoryCard) -> list[MemoryCard]:
    """All other wordings of an idea, oldest first."""
    where = CardFilter(tenant=head.scope.tenant, kinds=(head.kind,), idea=head.id)
    async with aclosing(every_card(store, where)) as cards:
        return [card async for card in cards if card.idea == head.id]


async def head_of(store: VectorStore, card: MemoryCard) -> MemoryCard:
    """The head of one card's idea."""
    return (await heads_of(store, [card]))[card.id]
