"""Rankers: which cards answer, in which order, and why; through every store."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reporting import SCRAPING, filed

from wisen import CardFilter, InMemoryVectorStore, MemoryCI, MemoryKind, MemoryStatus, Situation, SQLiteVectorStore
from wisen.advice.rankers import AcrossAgents, BySimilarity, ByTaskType
from wisen.cards import MemoryCard, Provenance
from wisen.errors import ConfigError
from wisen.protocols import VectorStore
from wisen.recall import RecallHit, RecallQuery
from wisen.stores.markdown.store import MarkdownStore

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["memory", "sqlite", "markdown"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorStore]:
    stores: dict[str, Any] = {
        "memory": InMemoryVectorStore,
        "sqlite": lambda: SQLiteVectorStore(tmp_path / "store.db"),
        "markdown": lambda: MarkdownStore(tmp_path / "notes", keep_reports=None),
    }
    async with stores[request.param]() as opened:
        yield opened


def query(prompt: str = SCRAPING.prompt, **more: Any) -> RecallQuery:
    where = CardFilter(tenant=more.pop("tenant", ""), agent_role=more.pop("agent", "scraper"), **more.pop("where", {}))
    situation = Situation(prompt=prompt, task_type=more.pop("task_type", SCRAPING.type), tools=more.pop("tools", ()))
    return RecallQuery(situation=situation, filter=where, **more)


def names(hits: list[RecallHit]) -> list[str]:
    return [hit.card.pattern for hit in hits]


async def test_every_store_can_be_ranked(store: VectorStore) -> None:
    await store.add([filed(f"report {age}", days_old=age) for age in (2, 0, 1)])
    hits = await ByTaskType().hits(store, query())
    assert names(hits) == ["report 0", "report 1", "report 2"]
    assert hits[0].reasons == ("same task type: web scraping", "of 2026-03-01")
    nearest = await AcrossAgents(last=1).hits(store, query("Task of report 2", agent="another", floor=0.0))
    assert names(nearest) == ["report 2"]
    assert nearest[0].relevance == nearest[0].vector
    assert "report of scraper" in nearest[0].reasons
    assert names(await BySimilarity().hits(store, query("Task of report 2", k=1))) == ["report 2"]


async def test_the_newest_of_many_are_found_where_nothing_better_is(store: VectorStore) -> None:
    await store.add([filed(f"report {age}", days_old=age) for age in range(230)])
    await store.add([filed("the one on the tool", days_old=225, tools=("browser",))])
    assert names(await ByTaskType(last=2).hits(store, query())) == ["report 0", "report 1"]
    assert names(await ByTaskType(last=2).hits(store, query(tools=("browser",)))) == [
        "the one on the tool",
        "report 0",
    ]


async def test_a_task_without_a_type_has_those_on_similar_tasks_instead(store: VectorStore) -> None:
    prompts = {"tea": "Read the price of tea.", "green tea": "Read the price of green tea.", "plants": "Water plants."}
    for age, (name, prompt) in enumerate(prompts.items()):
        card = filed(name, days_old=age, task_type="")
        await store.add([replace(card, situation=Situation(prompt=prompt), id="")])
    await store.add(
        [replace(filed("another's tea", agent="writer"), situation=Situation(prompt=prompts["tea"]), id="")]
    )
    hits = await ByTaskType().hits(store, query(prompts["tea"], task_type=""))
    assert names(hits) == ["tea", "green tea"], "of the same agent alone, the newest first"
    assert hits[0].reasons[0] == "same prompt"
    assert names(await ByTaskType(last=1).hits(store, query(prompts["green tea"], task_type=""))) == ["tea"]
    assert await ByTaskType().hits(store, query(prompts["tea"], task_type="cooking")) == [], "a type decides"


async def test_the_agents_own_tools_are_the_same_tools(store: VectorStore) -> None:
    await store.add([filed("fetched", task_type="billing", tools=("fetch",))])
    asked = query("Sing.", task_type="singing", where={"tools": ("fetch", "sing")})
    assert [hit.reasons[0] for hit in await ByTaskType().hits(store, asked)] == ["same tool or API: fetch"]
    assert await ByTaskType().hits(store, query("Sing.", task_type="singing", where={"tools": ("sing",)})) == []


@pytest.mark.no_cover
async def test_no_more_are_looked_through_than_have_to_be() -> None:
    class Counting(InMemoryVectorStore):
        pages = 0

        async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> Any:
            Counting.pages += 1
            assert limit <= 100
            return await super().list(where, limit=limit, offset=offset)

    store = Counting()
    await store.add([filed(f"report {age}", days_old=age, tools=("browser",)) for age in range(2200)])
    assert len(await ByTaskType().hits(store, query(tools=("browser",)))) == 3
    assert Counting.pages == 1
    assert await ByTaskType().hits(store, query(task_type="another")) == []
    assert Counting.pages == 21, "the newest 2,000"


async def test_fewer_than_asked_for_where_the_query_asks_for_fewer() -> None:
    store = InMemoryVectorStore()
    await store.add([filed(f"report {age}", days_old=age) for age in range(5)])
    assert len(await ByTaskType(last=4).hits(store, query(k=2))) == 2
    assert len(await AcrossAgents(last=4).hits(store, query("Task of report 1", k=2, floor=0.0))) == 2


@pytest.mark.parametrize("ranker", [ByTaskType(), AcrossAgents()])
async def test_the_run_that_asks_is_not_told_what_it_knows(ranker: ByTaskType | AcrossAgents) -> None:
    store = InMemoryVectorStore()
    await store.add([filed(f"report {age}", run_id="this run") for age in range(3)] + [filed("of another run")])
    found = await ranker.hits(store, query("Task of report 1", without_run="this run", floor=0.0))
    assert names(found) == ["of another run"]


async def test_neither_dead_nor_superseded_cards_come_back_whatever_the_filter_says() -> None:
    class Careless(InMemoryVectorStore):
        async def search(self, query: RecallQuery) -> Any:
            del query
            return [RecallHit(card=card, relevance=1.0, reasons=("all",)) for card in await self.list(CardFilter())]

    store = Careless()
    dead = [filed(status.value, status=status) for status in (MemoryStatus.ARCHIVED, MemoryStatus.REJECTED)]
    await store.add([*dead, replace(filed("corrected"), superseded_by="x"), filed("in use")])
    asked = query(where={"statuses": tuple(MemoryStatus)})
    for ranker in (ByTaskType(), AcrossAgents(), BySimilarity()):
        assert names(await ranker.hits(store, asked)) == ["in use"]
    nobody = query(where={"statuses": (MemoryStatus.ARCHIVED,)})
    assert await ByTaskType().hits(store, nobody) == []
    assert await AcrossAgents().hits(store, nobody) == []


async def test_only_reports_are_ranked() -> None:
    store = InMemoryVectorStore()
    report = filed("a report")
    lesson = MemoryCard(
        kind=MemoryKind.LESSON,
        content="Look first.",
        situation=report.situation,
        provenance=report.provenance,
        status=MemoryStatus.QUARANTINED,
    )
    steps = replace(
        lesson, kind=MemoryKind.PROCEDURE, content="These steps worked:", steps=("Look.",), pattern="steps", id=""
    )
    await store.add([report, lesson, steps])
    for ranker in (ByTaskType(), AcrossAgents()):
        assert names(await ranker.hits(store, query("Task of a report", floor=0.0))) == ["a report"]
        only_lessons = query(where={"kinds": (MemoryKind.LESSON,)})
        assert await ranker.hits(store, only_lessons) == []
    assert names(await ByTaskType(kinds=(MemoryKind.LESSON,)).hits(store, query())) == [""]


async def test_whose_report_it_is_says_its_author_or_else_its_scope() -> None:
    store = InMemoryVectorStore()
    unsigned = replace(filed("unsigned"), provenance=Provenance(run_id="r"), id="")
    scoped = replace(unsigned, pattern="scoped", scope=replace(unsigned.scope, agent_roles=("scraper",)), id="")
    await store.add([unsigned, scoped, filed("signed"), filed("another's", agent="writer")])
    assert names(await ByTaskType(last=9).hits(store, query(k=9))) == ["signed", "scoped"]
    every = names(await ByTaskType(last=9).hits(store, query(k=9, agent="")))
    assert sorted(every) == ["another's", "scoped", "signed", "unsigned"]


async def test_a_scope_is_respected_by_all() -> None:
    store = InMemoryVectorStore()
    card = filed("for writers")
    await store.add([replace(card, scope=replace(card.scope, agent_roles=("writer",)), id="")])
    asked = query("Task of for writers", floor=0.0)
    assert await AcrossAgents().hits(store, asked) == []
    assert names(await AcrossAgents().hits(store, replace(asked, filter=CardFilter(tenant="", agent_role="writer"))))


@pytest.mark.parametrize(
    ("prompt", "says", "named"),
    [
        ("Use the fetcher.", "fetch broke", False),  # no word of its own
        ("Call POST /v1/items/{id} now", "POST /v1/items/{id} gave 500", True),
        ("Call /v1/items", "/v1/items2 gave 500", False),
        ("Read and/or write", "and/or", False),
        ("Ask the GitHub API.", "the github api answered 403", True),
        ("Ask the API.", "the API answered 403", False),
        ("Look at shop.example.com", "shop.example.com was down", True),
        ("Look at shop.example.com", "other.example.com was down", False),
    ],
)
async def test_what_counts_as_naming_an_api(prompt: str, says: str, named: bool) -> None:
    store = InMemoryVectorStore()
    await store.add([filed("it", says=says, task_type="other", tools=("fetch_page",))])
    assert bool(await ByTaskType().hits(store, query(prompt))) is named


async def test_an_endless_prompt_is_read_in_part() -> None:
    store = InMemoryVectorStore()
    await store.add([filed("it", task_type="other")])
    for prompt in ("/" * 100_000, "a." * 100_000, "x " * 50_000 + "api", "/a" * 50_000):
        assert await ByTaskType().hits(store, query(prompt)) == []


async def test_memory_ci_recalls_by_its_ranker() -> None:
    store = InMemoryVectorStore()
    await store.add([filed(f"report {age}", days_old=age) for age in range(3)])
    where = CardFilter(tenant="", agent_role="scraper")
    situation = Situation(prompt="Something else entirely", task_type="web scraping")
    by_similarity = MemoryCI(store, trust="screened")
    assert await by_similarity.recall(situation, where, run_id="r") == []
    by_type = MemoryCI(store, trust="screened", ranker=ByTaskType(last=2))
    drawn = await by_type.recall(situation, where, run_id="r")
    assert names([one.hit for one in drawn]) == ["report 0", "report 1"]
    assert await MemoryCI(store, trust="replayed", ranker=ByTaskType()).recall(situation, where, run_id="r") == []
    assert await by_type.recall(situation, replace(where, tenant="acme"), run_id="r") == []


class OfItsAgent(BySimilarity):
    """Gives what the agent that asks has written."""

    def gives(self, hit: RecallHit, query: RecallQuery) -> bool:
        """Only its own."""
        return super().gives(hit, query) and hit.card.provenance.agent == query.filter.agent_role


async def test_a_ranker_of_ones_own_may_look_at_the_query() -> None:
    store = InMemoryVectorStore()
    await store.add([filed("own"), filed("another's", agent="writer")])
    asked = query("Task of own", floor=0.0)
    assert names(await OfItsAgent().hits(store, asked)) == ["own"]
    assert [names(one) for one in await OfItsAgent().hits_of_each(store, [asked, asked])] == [["own"], ["own"]]


@pytest.mark.parametrize("last", [0, -1, "3"])
def test_bad_options_are_refused(last: Any) -> None:
    for kind in (ByTaskType, AcrossAgents):
        with pytest.raises(ConfigError, match="must be 1 or more"):
            kind(last=last)
