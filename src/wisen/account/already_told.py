"""What a prompt holds besides what is recalled for it, so that nothing of it is said twice or contradicted unmarked."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from wisen.account.draws import Draws
from wisen.advice.compiler import Recalled
from wisen.cards import MemoryCard
from wisen.memory_ci.ideas import heads_of, is_example, still_there
from wisen.memory_ci.pipeline import Found
from wisen.protocols import VectorStore
from wisen.recall import CardFilter
from wisen.records import Advice, Injection


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Cards that a prompt holds anyway, and the ideas that they are wordings of."""

    cards: frozenset[str]
    ideas: frozenset[str]

    def and_shown(self, injections: Iterable[Injection]) -> "Told":
        """The same, and what these show."""
        shown = [one for one in injections if one.shown]
        cards, ideas = {one.card_id for one in shown}, {one.idea for one in shown if one.idea}
        return Told(cards=self.cards | cards, ideas=self.ideas | ideas)

    async def rules(self, draws: Draws, where: CardFilter) -> list[Recalled]:
        """The standing rules that aren't told. Raises what the store raises."""
        return self._left(await draws.rules(where, known=self.cards))

    async def drawn(
        self, draws: Draws, found: Sequence[Found], *, first: bool, before: Advice | None = None
    ) -> list[Recalled]:
        """As `Draws.with_draws` gives what was found, without what is told: neither found nor as another's rival."""
        others = [one for one in found if not self._holds(one.hit.card, one.head.id)]
        return self._left(await draws.with_draws(others, first=first, before=before))

    def marked(self, recalled: Sequence[Recalled]) -> list[Recalled]:
        """The cards, marked where what is told says otherwise."""
        return [one if self.ideas.isdisjoint(one.rivals) else replace(one, contradicted=True) for one in recalled]

    def _left(self, recalled: Sequence[Recalled]) -> list[Recalled]:
        return [one for one in recalled if not self._holds(one.card, one.injection.idea)]

    def _holds(self, card: MemoryCard, idea: str) -> bool:
        """Whether it is told. Each example of an idea is one of its own."""
        return card.id in self.cards or (idea in self.ideas and not is_example(card))


async def told_by(store: VectorStore, card_ids: Collection[str]) -> Told:
    """What a prompt holds that tells these cards, as far as they are stored. Raises what the store raises."""
    heads = await heads_of(store, await still_there(store, list(card_ids)))
    return Told(cards=frozenset(card_ids), ideas=frozenset(head.id for head in heads.values()))
