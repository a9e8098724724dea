"""Rankers: which cards answer, in which order, and why; through every store."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from reporting import NOON, SCRAPING, filed

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


class Watched(InMemoryVectorStore):
    """A store that notes which pages it was asked for, and how many hits."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []
        self.pages: list[tuple[int, int]] = []

    async def search(self, query: RecallQuery) -> Any:
        """Note and search."""
        self.asked.append(query.k)
        return await super().search(query)

    async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> Any:
        """Note and list."""
        self.pages.append((offset, limit))
        return await super().list(where, limit=limit, offset=offset)


PAGES = [(130, 100), (30, 100), (0, 30)]


async def test_pages_are_read_until_nothing_older_could_be_better() -> None:
    store = Watched()
    await store.add([filed(f"report {age}", days_old=age, tools=("browser",) if age < 3 else ()) for age in range(230)])
    similar = "Task of report 0"
    for asked, last, pages in (
        (query(tools=("browser",)), 3, 1),  # of this type, and on this tool
        (query(tools=("browser",)), 4, 3),
        (query(tools=("browser",), task_type="another"), 3, 3),
        (query(tools=("another",)), 3, 3),
        (query(), 3, 3),  # an older one may be on what the prompt names
        (query(prompt=""), 3, 1),
        (query(similar, tools=("browser",), task_type="", floor=0.0), 3, 1),
        (query(similar, task_type="", floor=0.0), 3, 3),
    ):
        store.pages.clear()
        hits = await ByTaskType(last=last).hits(store, asked)
        assert len(hits) == last or asked.situation.task_type == "another"
        assert store.pages == [(130, 100), (30, 100), (0, 30)][:pages]


async def test_an_old_one_on_what_the_prompt_names_comes_once_and_first(store: VectorStore) -> None:
    await store.add([filed(f"report {age}", days_old=age) for age in range(70)])
    await store.add([filed("the one", days_old=70, says="shop.example.com was down")])
    await store.add([filed(f"report {age}", days_old=age) for age in range(71, 130)])
    hits = await ByTaskType().hits(store, query("Look at shop.example.com"))
    assert names(hits) == ["the one", "report 0", "report 1"]


async def test_more_are_asked_for_than_given_so_that_enough_are_left() -> None:
    store = Watched()
    lessons = [
        MemoryCard(
            kind=MemoryKind.LESSON, content=f"Look {number}.", situation=Situation(prompt="Read the price of tea.")
        )
        for number in range(30)
    ]
    reports = [
        replace(filed(name, task_type="", days_old=age), situation=Situation(prompt=prompt), id="")
        for age, (name, prompt) in enumerate(
            (("newer", "Read the price of green tea."), ("nearer", "Read the price of tea."))
        )
    ]
    await store.add([*lessons, *reports])
    asked = query("Read the price of tea.", task_type="", k=1, floor=0.0)
    assert names(await ByTaskType().hits(store, asked)) == ["newer"]
    assert names(await AcrossAgents().hits(store, asked)) == ["nearer"]
    without = replace(asked, without_run="nearer")
    assert names(await AcrossAgents().hits(store, without)) == ["newer"]
    assert store.asked == [16, 16, 16]


async def test_a_report_on_the_opposite_comes_last() -> None:
    store = InMemoryVectorStore()
    prompts = (("contrary", "List the orders that are paid."), ("far", "Which orders haven't been paid yet?"))
    await store.add([replace(filed(name), situation=Situation(prompt=prompt), id="") for name, prompt in prompts])
    asked = query("List the orders that are not paid.", task_type="", floor=0.0)
    assert names(await AcrossAgents().hits(store, asked)) == ["far", "contrary"]


@pytest.mark.parametrize(
    ("filed_as", "asked", "relevance", "reasons"),
    [
        ({}, query(), 0.9, ("same task type: web scraping",)),
        (
            {"tools": ("carve",)},
            query(tools=("carve",)),
            0.95,
            ("same task type: web scraping", "same tool or API: carve"),
        ),
        (
            {"task_type": "other", "says": "carve and bake broke"},
            query(tools=("carve", "bake")),
            0.65,
            ("same tool or API: bake, carve",),
        ),
        ({"task_type": ""}, query("Task of it", task_type=""), 0.9, ("same prompt", "shares rare words: task")),
    ],
)
async def test_what_is_said_of_a_report_and_how_much_it_weighs(
    filed_as: dict[str, Any], asked: RecallQuery, relevance: float, reasons: tuple[str, ...]
) -> None:
    store = InMemoryVectorStore()
    await store.add([filed("it", **filed_as)])
    (hit,) = await ByTaskType().hits(store, asked)
    assert (hit.relevance, hit.reasons) == (pytest.approx(relevance), (*reasons, "of 2026-03-01"))


@pytest.mark.parametrize(("year", "said"), [(1, ()), (2, ("of 2-03-01",)), (2026, ("of 2026-03-01",))])
async def test_when_it_was_written_is_said_where_it_is_known(year: int, said: tuple[str, ...]) -> None:
    store = InMemoryVectorStore()
    card = filed("it")
    at = card.provenance.created_at.replace(year=year)
    await store.add([replace(card, provenance=replace(card.provenance, created_at=at), id="")])
    (hit,) = await ByTaskType().hits(store, query())
    assert hit.reasons == ("same task type: web scraping", *said)


class Endless(Watched):
    """A store of very many reports that are all alike."""

    async def count(self, where: CardFilter) -> int:
        """Too many."""
        del where
        return 2_200

    async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> Any:
        """As many as asked for."""
        del where
        self.pages.append((offset, limit))
        return [filed("a report")] * limit


async def test_no_more_are_looked_through_than_the_newest_2000() -> None:
    store = Endless()
    assert await ByTaskType().hits(store, query(task_type="another")) == []
    assert store.pages == [(2_100 - 100 * page, 100) for page in range(20)]


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


async def test_dead_cards_take_no_place_among_those_asked_for() -> None:
    store = InMemoryVectorStore()
    prompt = Situation(prompt="Read the price of tea.")
    dead = [filed(f"dead {number}", status=MemoryStatus.ARCHIVED) for number in range(40)]
    living = replace(filed("living"), situation=Situation(prompt="Read the price of green tea."))
    await store.add([replace(card, situation=prompt, id="") for card in dead] + [replace(living, id="")])
    for statuses in (tuple(MemoryStatus), None):
        asked = query(prompt.prompt, where={"statuses": statuses}, floor=0.0, k=1)
        assert names(await AcrossAgents().hits(store, asked)) == ["living"]


async def test_the_newest_come_first_by_whatever_clock() -> None:
    store = InMemoryVectorStore()
    times = {
        "third": NOON.replace(tzinfo=None),
        "first": (NOON + timedelta(hours=2)).astimezone(timezone(timedelta(hours=-8))),
        "fourth": (NOON - timedelta(hours=2)).astimezone(timezone(timedelta(hours=8))),
        "second": NOON + timedelta(hours=1),
    }
    cards = [(replace(filed(name), id=""), at) for name, at in times.items()]
    await store.add([replace(card, provenance=replace(card.provenance, created_at=at)) for card, at in cards])
    assert names(await ByTaskType(last=4).hits(store, query())) == ["first", "second", "third", "fourth"]


@pytest.mark.parametrize(("vector", "relevance"), [(1.5, 1.0), (-0.5, 0.0), (0.25, 0.25)])
async def test_a_vectors_word_is_a_share(vector: float, relevance: float) -> None:
    class Exact(InMemoryVectorStore):
        async def search(self, query: RecallQuery) -> Any:
            del query
            return [RecallHit(card=card, relevance=0.5, reasons=("so",), vector=vector) for card in cards]

    unsigned = filed("unsigned")
    cards = [filed("it"), replace(unsigned, provenance=replace(unsigned.provenance, agent=""), id="")]
    hits = await AcrossAgents().hits(Exact(), query())
    assert [(hit.relevance, hit.reasons) for hit in hits] == [
        (relevance, ("so", "report of scraper")),
        (relevance, ("so",)),
    ]


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
    success = replace(steps, strategy="Fetch twice.", pattern="success", id="")
    await store.add([report, lesson, steps])
    for ranker in (ByTaskType(), AcrossAgents()):
        assert names(await ranker.hits(store, query("Task of a report", floor=0.0))) == ["a report"]
        only_lessons = query(where={"kinds": (MemoryKind.LESSON,)})
        assert await ranker.hits(store, only_lessons) == []
    assert names(await ByTaskType(kinds=(MemoryKind.LESSON,)).hits(store, query())) == [""]
    await store.add([success])
    assert "success" in names(await ByTaskType().hits(store, query()))


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
        ("Ask the GitHub API.", "github is a site", False),
        ("Call /v1/items.", "/v1/items gave 500", True),
        ("Call /v1/items", "https://localhost/v1/items gave 500", True),
        ("fetch_page, then prefetch_page", "it broke", True),  # a tool of the card's
        ("prefetch_page, fetch_page, prefetch_page", "it broke", True),
        ("xfetch_page", "it broke", False),
        ("Call my_fetch_page", "it broke", False),
        ("Call fetch_page_2", "it broke", False),
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


class Last(BySimilarity):
    """Gives the worst hit first."""

    async def hits(self, store: VectorStore, query: RecallQuery) -> list[RecallHit]:
        """From the end."""
        return (await super().hits(store, query))[::-1]


async def test_a_ranker_with_hits_of_its_own_is_asked_for_each_query() -> None:
    store = InMemoryVectorStore()
    await store.add([filed("tea"), filed("green tea")])
    every = [query(f"Task of {name}", floor=0.0) for name in ("tea", "green tea")]
    best = [await BySimilarity().hits(store, one) for one in every]
    assert [names(one) for one in best] == [["tea", "green tea"], ["green tea", "tea"]]
    assert await BySimilarity().hits_of_each(store, every) == best
    assert await Last().hits_of_each(store, every) == [one[::-1] for one in best]


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
        with pytest.raises(ConfigError, match=rf"^{kind.__name__}\(last={last!r}\): must be 1 or more$"):
            kind(last=last)
