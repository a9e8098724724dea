"""A lesson that was refused is known again without a look at all that was ever refused."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from wisen import (
    CardFilter,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    MemoryScope,
    MemoryStatus,
    Situation,
    SQLiteVectorStore,
    VectorStore,
)
from wisen.cards import Provenance
from wisen.memory_ci.refusals import refused_before
from wisen.memory_ci.status import move
from wisen.recall import RecallHit, RecallQuery, Written

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MANY = 1_200
"""More than two pages of a listing."""


def lesson(content: str, run: str = "") -> MemoryCard:
    card = MemoryCard(kind=MemoryKind.LESSON, content=content, situation=Situation(prompt="Extract the dates."))
    return replace(card, provenance=replace(card.provenance, run_id=run), id="")


def refused(number: int) -> MemoryCard:
    card = replace(lesson(f"Lesson {number}."), status=MemoryStatus.QUARANTINED)
    return move(card, MemoryStatus.REJECTED, note="no", at=NOON, by="human")


class Counting(InMemoryVectorStore):
    """Counts what listings and searches give."""

    def __init__(self) -> None:
        super().__init__()
        self.listed = 0
        self.searches = 0

    async def search(self, query: RecallQuery) -> list[RecallHit]:
        self.searches += 1
        return await super().search(query)

    async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> list[MemoryCard]:
        found = await super().list(where, limit=limit, offset=offset)
        self.listed += len(found)
        return found


class Foreign(InMemoryVectorStore):
    """Knows nothing of the filter's newest condition."""

    async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> list[MemoryCard]:
        return await super().list(replace(where, refused=""), limit=limit, offset=offset)


async def test_what_was_refused_is_known_again_among_many(any_store: VectorStore) -> None:
    cards = [refused(number) for number in range(12)]
    await any_store.add(cards)
    again = await MemoryCI(any_store).submit(lesson("LESSON 7!", "another run"))
    assert (again.outcome, again.card_id) == ("rejected", cards[7].id)
    assert (await MemoryCI(any_store).submit(lesson("Lesson 70."))).outcome == "added"


async def test_no_refused_card_is_read_for_a_new_lesson() -> None:
    store = Counting()
    await store.add([refused(number) for number in range(MANY)])
    assert (await MemoryCI(store).submit(lesson("Something new."))).outcome == "added"
    assert (store.listed, store.searches) == (0, 1)
    assert (await MemoryCI(store).submit(lesson("Lesson 700.", "another run"))).outcome == "rejected"
    assert store.listed == 1


async def test_a_store_that_does_not_know_the_filter_is_looked_through() -> None:
    store = Foreign()
    await store.add([refused(number) for number in range(MANY)])
    assert (await MemoryCI(store).submit(lesson("Lesson 1100.", "another run"))).outcome == "rejected"
    assert (await MemoryCI(store).submit(lesson("Something new."))).outcome == "added"


async def test_only_this_refusal_is_read_or_where_the_filter_is_unknown_those_of_tenant_and_kind() -> None:
    class Knowing(Counting):
        """Knows the filter."""

    class Unknowing(Counting):
        async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> list[MemoryCard]:
            return await super().list(replace(where, refused=""), limit=limit, offset=offset)

    other = refused(3)
    cards = [
        refused(1),
        refused(2),
        replace(other, scope=MemoryScope(tenant="acme"), id="theirs"),
        replace(other, kind=MemoryKind.PRINCIPLE, id="of another kind"),
        replace(lesson("Lesson 4."), status=MemoryStatus.QUARANTINED, id="in use"),
    ]
    for made, read in ((Knowing, 1), (Unknowing, 2)):
        store = made()
        await store.add_unscreened(cards)
        assert await refused_before(store, lesson("LESSON  2.")) == refused(2)
        assert store.listed == read


def earlier(card: MemoryCard, text: str, *, tools: str = "", asked: str = "") -> str:
    """The key that earlier versions kept; `text` and `asked` are without case and punctuation."""

    def digest(*parts: str) -> str:
        return sha256("\x1f".join(parts).encode()).hexdigest()[:32]

    kind, agent = card.kind.value, card.reporter
    return digest("refused", card.scope.tenant, kind, agent, tools, text, digest(asked) if asked else "")


def skill(prompt: str, *, strategy: str = "") -> MemoryCard:
    return MemoryCard(
        kind=MemoryKind.SKILL_CARD, content="Maple: no!", strategy=strategy, situation=Situation(prompt=prompt)
    )


SCOPED = replace(lesson("Ask: (first) + go!"), scope=MemoryScope(tenant="acme", tool_names=("pay", "refund")), id="")
REPORT = replace(
    lesson("Ask: (first) + go!"), kind=MemoryKind.REFLECTION, provenance=Provenance(agent="alice", run_id="r"), id=""
)


async def test_what_an_earlier_version_refused_is_known_again() -> None:
    for card, key in (
        (lesson("Ask: (first) + go!"), earlier(lesson(""), "ask first go")),
        (SCOPED, earlier(SCOPED, "ask first go", tools="pay\x1drefund")),
        (REPORT, earlier(REPORT, "ask first go")),
        (skill("Which: team?"), earlier(skill(""), "maple no", asked="which team")),
        (skill(""), earlier(skill(""), "maple no")),
        (skill("Which: team?", strategy="Look!"), earlier(skill(""), "maple no look")),
    ):
        assert key != card.refusal_key
        store = InMemoryVectorStore()
        gone = replace(card, status=MemoryStatus.REJECTED, id="gone").without_text(refused=key)
        await store.add_unscreened([gone])
        assert await refused_before(store, replace(card, id="new")) == gone
        assert await refused_before(store, replace(card, content="Something else.", id="new")) is None
        person = replace(card, provenance=Provenance(created_by="human", agent=card.provenance.agent), id="new")
        assert await refused_before(store, person) is None, "a person may say it again"


async def test_half_a_character_refuses_nothing() -> None:
    half = replace(lesson("half of \ud83d"), scope=MemoryScope(tenant="\ud83d"), id="half")
    assert await refused_before(InMemoryVectorStore(), half) is None


async def test_a_deleted_refusal_holds_no_more(any_store: VectorStore) -> None:
    await any_store.add([refused(1), refused(2)])
    await any_store.delete([refused(1).id])
    assert (await MemoryCI(any_store).submit(lesson("Lesson 1.", "another run"))).outcome == "added"
    assert (await MemoryCI(any_store).submit(lesson("Lesson 2.", "another run"))).outcome == "rejected"


async def test_an_older_file_finds_what_it_has_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    async with SQLiteVectorStore(path) as store:
        await store.add([refused(1)])
    with closing(sqlite3.connect(path)) as old:
        for name in ("refused", "idea", "alike"):
            old.execute(f"DROP INDEX cards_{name}")
        for name in ("content_key", "alike", "idea", "circle"):
            old.execute(f"ALTER TABLE cards DROP COLUMN {name}")
        old.execute("PRAGMA user_version = 1")
        old.commit()
    async with SQLiteVectorStore(path) as store:
        assert (await MemoryCI(store).submit(lesson("Lesson 1.", "another run"))).outcome == "rejected"
    with closing(sqlite3.connect(path)) as new:
        found = new.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'cards_refused'").fetchone()
    assert found == (1,)


@pytest.mark.parametrize("first", ["live", "archived"])
async def test_of_two_ideas_that_say_the_same_the_living_one_is_taught(first: str) -> None:
    """There are two where a person's correction says what an archived idea says, and in stores of earlier versions."""
    store = InMemoryVectorStore()
    old = replace(lesson("Write the dates as YYYY-MM-DD, please.", "old"), status=MemoryStatus.ARCHIVED)
    live = replace(lesson("Write the dates as YYYY-MM-DD, please!", "live"), status=MemoryStatus.PROMOTED)
    live = replace(live, situation=Situation(prompt="Read the dates of the letter."))
    await store.add([live, old] if first == "live" else [old, live])
    new = replace(lesson("Write the dates as YYYY-MM-DD, please?", "new"), situation=Situation(prompt="Which dates?"))
    taught = await MemoryCI(store).submit(new)
    assert (taught.outcome, taught.idea) == ("added", live.id)
    assert (await store.get([taught.card_id]))[0].status is MemoryStatus.PROMOTED


class Meanwhile(InMemoryVectorStore):
    """Somebody rejects, archives or deletes a card between the search for it and what is written then."""

    def __init__(self, decide: str) -> None:
        super().__init__()
        self.decide = decide

    async def add_unscreened(self, cards: Sequence[MemoryCard]) -> list[Written]:
        decide, self.decide = self.decide, ""
        for card in await self.list(CardFilter()) if decide else []:
            if decide == "reject":
                await MemoryCI(self).reject(card.id, "names a customer")
            elif decide == "archive":
                await MemoryCI(self).archive(card.id, "it hurts")
            else:
                await self.delete([card.id])
        return await super().add_unscreened(cards)


@pytest.mark.parametrize("prompt", ["Extract the dates.", "Which dates are there in the letter?"])
@pytest.mark.parametrize(("decide", "outcome"), [("reject", "rejected"), ("delete", "added"), ("archive", "added")])
async def test_an_idea_that_goes_at_this_moment_hands_nothing_on(decide: str, outcome: str, prompt: str) -> None:
    store = Meanwhile("")
    first = (await MemoryCI(store).submit(lesson("Write the dates as YYYY-MM-DD, please.", "old"))).card_id
    await MemoryCI(store).promote(first, "it helps")
    store.decide = decide
    new = replace(lesson("Write the dates as YYYY-MM-DD, please", "new"), situation=Situation(prompt=prompt), id="")
    again = await MemoryCI(store).submit(new)
    kept = {card.status for card in await store.list(CardFilter())}
    left = {"reject": "rejected", "delete": "quarantined", "archive": "archived"}
    assert kept == {MemoryStatus(left[decide])}
    if decide == "archive" and prompt == lesson("").situation.prompt:
        outcome = "duplicate"
    assert again.outcome == outcome
