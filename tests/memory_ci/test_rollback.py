"""A rollback takes back all that came from one place, and says what it can't take back."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from wisen import (
    HashEmbedder,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    MemoryStatus,
    Situation,
    SQLiteVectorStore,
)
from wisen.cards import MemoryScope, Move, Provenance
from wisen.errors import ConfigError, StoreError
from wisen.memory_ci.forgetting import Whom, forget
from wisen.memory_ci.joining import join
from wisen.memory_ci.rollback import Origin, Remainder, Rollback, rollback
from wisen.recall import CardFilter, RecallQuery
from wisen.records import NEVER, AttemptRecord, Injection, RunRecord, Task
from wisen.stores.pruning import call_scope

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVENING = datetime(2026, 3, 1, 20, tzinfo=UTC)


def card(
    content: str, *, run: str = "", tenant: str = "", at: datetime = NOON, by: str = "", source: str = ""
) -> MemoryCard:
    return MemoryCard(
        kind=MemoryKind.LESSON,
        content=content,
        situation=Situation(prompt=f"about {content}"),
        scope=MemoryScope(tenant=tenant),
        status=MemoryStatus.QUARANTINED,
        provenance=Provenance(run_id=run, created_at=at, created_by=by, source=source),
    )


def contents(folder: Path) -> bytes:
    return b"".join(one.read_bytes() for one in folder.iterdir())


def record(run: str, *, shown: tuple[MemoryCard, ...] = (), taught: tuple[str, ...] = ()) -> RunRecord:
    injections = tuple(Injection(card_id=one.id, kind="lesson", reasons=(), score=1.0) for one in shown)
    attempt = AttemptRecord(attempt=1, output="", injections=injections, lesson_ids=taught)
    return RunRecord(run_id=run, task=Task(prompt="a task"), attempts=(attempt,))


@pytest.fixture(params=["memory", "sqlite"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[InMemoryVectorStore | SQLiteVectorStore]:
    made = (
        InMemoryVectorStore()
        if request.param == "memory"
        else SQLiteVectorStore(tmp_path / "store.db", embedder=HashEmbedder())
    )
    async with made:
        yield made


Store = InMemoryVectorStore | SQLiteVectorStore


async def kept(store: Store) -> set[str]:
    cards = await store.list(CardFilter(), limit=1_000)
    return {one.content for one in cards if one.status is not MemoryStatus.REJECTED}


async def test_what_a_run_taught_is_withdrawn_and_nothing_else(store: Store) -> None:
    bad, good = card("maples turn blue", run="r1"), card("oaks are oaks", run="r2")
    await store.add([bad, good])
    done = await rollback(store, Origin(run_id="r1"), note="poisoned")
    assert done.withdrawn == (bad.id,)
    assert await kept(store) == {"oaks are oaks"}
    rejected = (await store.get([bad.id]))[0]
    assert (rejected.status, rejected.note, rejected.text) == (MemoryStatus.REJECTED, "withdrawn: poisoned", "")
    assert rejected.situation.text == ""
    assert rejected.provenance == bad.provenance
    hits = await store.search(RecallQuery(situation=bad.situation, filter=CardFilter(tenant="")))
    assert bad.id not in {hit.card.id for hit in hits}
    assert (await rollback(store, Origin(run_id="r1"))).withdrawn == ()


@pytest.mark.parametrize("run", ["failed", "good+1"])
async def test_what_two_runs_taught_together_is_found_by_either(store: Store, run: str) -> None:
    both = card("seen together", run="failed")
    both = replace(both, provenance=replace(both.provenance, trace_id="failed+good+1"))
    alone = card("of another", run="failed+good")
    await store.add([both, alone])
    assert (await rollback(store, Origin(run_id="good"))).withdrawn == ()
    assert (await rollback(store, Origin(run_id=run))).withdrawn == (both.id,)


@pytest.mark.parametrize(
    ("origin", "gone"),
    [
        (Origin(source="wiki.md"), {"from a page"}),
        (Origin(source="import"), {"from a page"}),
        (Origin(tenant="acme"), {"of acme"}),
        (Origin(tenant=""), {"from a page", "early", "late"}),
        (Origin(since=EVENING), {"late"}),
        (Origin(until=EVENING, tenant=""), {"from a page", "early"}),
    ],
)
async def test_sources_tenants_and_times_can_be_named(store: Store, origin: Origin, gone: set[str]) -> None:
    cards = [
        card("from a page", by="import", source="wiki.md"),
        card("of acme", tenant="acme"),
        card("early", run="a"),
        card("late", run="b", at=EVENING),
    ]
    await store.add(cards)
    before = await kept(store)
    await rollback(store, origin)
    assert before - await kept(store) == gone


async def test_a_card_whose_time_is_not_known_came_at_no_time(store: Store) -> None:
    await store.add([card("of no time", at=NEVER), card("early")])
    await rollback(store, Origin(until=EVENING))
    assert await kept(store) == {"of no time"}
    await rollback(store, Origin(tenant=""))
    assert await kept(store) == set()


@pytest.mark.parametrize("status", [MemoryStatus.QUARANTINED, MemoryStatus.PROMOTED, MemoryStatus.ARCHIVED])
async def test_a_withdrawal_is_told_without_a_reason_too(store: Store, status: MemoryStatus) -> None:
    bad = replace(card("wrong", run="r1"), status=status)
    await store.add([bad])
    await rollback(store, Origin(run_id="r1"), at=EVENING)
    gone = (await store.get([bad.id]))[0]
    told = Move(at=EVENING, before=status, after=MemoryStatus.REJECTED, why="withdrawn", by="rollback")
    assert (gone.history, gone.note, gone.refused) == ((told,), "withdrawn", "")


async def test_a_withdrawal_happens_now(store: Store) -> None:
    bad = card("wrong", run="r1")
    await store.add([bad])
    before = datetime.now(UTC)
    await rollback(store, Origin(run_id="r1"))
    assert before <= (await store.get([bad.id]))[0].history[0].at <= datetime.now(UTC)


async def test_of_a_withdrawn_idea_the_oldest_other_wording_takes_its_place_on_trial(store: Store) -> None:
    """And each idea's wordings stay with their own."""
    ideas = [card(f"idea {number}", run="bad") for number in range(2)]

    def wording(content: str, idea: MemoryCard, status: MemoryStatus, **more: Any) -> MemoryCard:
        return replace(card(content, **more), idea=idea.id, status=status)

    promoted, archived, rejected = MemoryStatus.PROMOTED, MemoryStatus.ARCHIVED, MemoryStatus.REJECTED
    older = wording("older", ideas[0], promoted, run="good", at=NOON)
    newer = wording("newer", ideas[0], archived, run="good", at=EVENING)
    gone = wording("gone", ideas[0], promoted, run="bad", at=NOON)
    refused = wording("refused", ideas[0], rejected, run="good", at=NOON)
    other = wording("other", ideas[1], promoted, run="good", at=EVENING)
    apart = replace(card("apart", run="good"), status=promoted)
    await store.add([*ideas, newer, older, gone, refused, other, apart])
    await rollback(store, Origin(run_id="bad"), at=EVENING)
    why = "what its evidence stood on was withdrawn"
    told = Move(at=EVENING, before=promoted, after=MemoryStatus.QUARANTINED, why=why, by="rollback")
    on_trial: dict[str, Any] = {"status": MemoryStatus.QUARANTINED, "note": why, "history": (told,), "version": 2}
    assert await store.get([one.id for one in (older, newer, other, refused, apart)]) == [
        replace(older, idea="", **{**on_trial, "version": 3, "retold": 1}),
        replace(newer, idea=older.id, version=2),
        replace(other, idea="", **on_trial),
        refused,
        apart,
    ]
    assert (await store.get([gone.id]))[0].status is rejected


@pytest.mark.parametrize("forgotten", [True, False])
@pytest.mark.parametrize("named", ["wording", "head"])
async def test_what_a_person_split_is_not_joined_again_under_another_head(
    store: Store, *, forgotten: bool, named: str
) -> None:
    quarantined, texts = MemoryStatus.QUARANTINED, ("idea", "apart", "older", "newer")
    head, *wordings = (replace(card(one, run="bad" if one == "idea" else "good"), status=quarantined) for one in texts)
    apart, older, newer = (replace(one, idea=head.id, duplicates=1) for one in wordings)
    await store.add([head, apart] if named == "head" else [head, apart, older, newer])
    await MemoryCI(store).split(head.id if named == "head" else apart.id, "it says the opposite")
    await store.add([older, newer])
    if forgotten:
        await forget(store, Whom(run_id="bad"))
    else:
        await rollback(store, Origin(run_id="bad"))
    leads = min((older, newer), key=lambda one: one.id)
    led = (await store.get([leads.id]))[0]
    assert (led.idea, led.retold) == ("", 2)
    assert (led.history[-1].by, led.history[-1].why) == (
        "rollback",
        f"stands for the idea of {head.id}, which was withdrawn",
    )
    for pair in ((led.id, apart.id), (apart.id, led.id)):
        assert await join(store, pair, shown_by="another", at=EVENING) == pair[0]
    assert [one.idea for one in await store.get([led.id, apart.id])] == ["", ""]


async def test_the_rivals_of_a_withdrawn_idea_face_the_wording_that_takes_its_place(store: Store) -> None:
    idea, rival, gone = card("idea", run="bad"), card("rival", run="good"), card("gone", run="bad")
    idea, rival = replace(idea, rivals=(gone.id, rival.id)), replace(rival, rivals=(gone.id, idea.id))
    older, newer = (replace(card(text, run="good", at=NOON), idea=idea.id) for text in ("older", "newer"))
    newer = replace(newer, provenance=replace(newer.provenance, verified=True, created_at=EVENING))
    await store.add([idea, rival, gone, older, newer])
    await rollback(store, Origin(run_id="bad"), at=EVENING)
    led, faced = await store.get([older.id, rival.id])
    assert (led.idea, led.rivals, led.taught_at) == ("", (rival.id,), EVENING)
    assert faced.rivals == (gone.id, older.id)


@pytest.mark.parametrize(("others", "then"), [((), None), ((NOON,), NOON)])
async def test_a_withdrawn_wording_no_longer_says_when_a_check_taught_its_idea(
    store: Store, others: tuple[datetime, ...], then: datetime | None
) -> None:
    idea, whole = (replace(card(text, run="good"), taught_at=EVENING) for text in ("idea", "whole"))

    def wording(content: str, head: MemoryCard, when: datetime, run: str) -> MemoryCard:
        made = card(content, run=run, at=when)
        return replace(made, idea=head.id, provenance=replace(made.provenance, verified=True))

    kept = [wording(f"kept {when}", idea, when, "good") for when in others]
    gone, before = wording("gone", idea, EVENING, "bad"), wording("before", whole, NOON, "bad")
    await store.add([idea, whole, gone, before, *kept])
    await rollback(store, Origin(run_id="bad"), at=EVENING)
    assert [one.taught_at for one in await store.get([idea.id, whole.id])] == [then, EVENING]


async def calls_left(store: Store, *runs: str) -> set[str]:
    return {run for run in runs if await store.call(call_scope(run), "key", 0) is not None}


RUNS = ("taught", "traced", "named", "idle", "of acme")


@pytest.mark.parametrize(
    ("origin", "left"),
    [
        (Origin(source="page"), {"named", "idle", "of acme"}),
        (Origin(run_id="named"), {"taught", "traced", "idle", "of acme"}),
        (Origin(run_id="named", tenant=""), {"taught", "traced", "idle", "of acme"}),
        (Origin(tenant=""), {"of acme"}),
        (Origin(tenant="acme"), {"taught", "traced", "named", "idle"}),
    ],
)
async def test_runs_that_are_withdrawn_let_go_of_what_they_kept_to_be_resumed(
    store: Store, origin: Origin, left: set[str]
) -> None:
    learned = card("learned", run="taught", source="page")
    await store.add([replace(learned, provenance=replace(learned.provenance, trace_id="traced"))])
    for run in RUNS:
        await store.save_call(call_scope(run), "key", 0, b"{}")
        await store.save_run(replace(record(run), task=Task(prompt="x", tenant="acme" if run == "of acme" else "")))
    await rollback(store, origin, dry_run=True)
    assert await calls_left(store, *RUNS) == set(RUNS)
    await rollback(store, origin)
    assert await calls_left(store, *RUNS) == left


async def test_a_store_that_keeps_cards_alone_withdraws_them() -> None:
    cards = InMemoryVectorStore()

    class Cards:
        """Somebody's store."""

        def __init__(self) -> None:
            for name in ("add", "add_unscreened", "get", "search", "update", "delete", "list", "count", "close"):
                setattr(self, name, getattr(cards, name))

    store: Any = Cards()
    bad = card("wrong", run="r1")
    await cards.add([bad])
    assert await rollback(store, Origin(run_id="r1")) == Rollback(withdrawn=(bad.id,))


async def test_what_a_withdrawn_card_had_superseded_comes_back(store: Store) -> None:
    new = card("wrong correction", run="r1")
    old = replace(card("right", run="r0"), superseded_by=new.id)
    await store.add([old, new])
    done = await rollback(store, Origin(run_id="r1"))
    assert done.restored == (old.id,)
    hits = await store.search(RecallQuery(situation=old.situation, filter=CardFilter(tenant="")))
    assert [hit.card.id for hit in hits] == [old.id]


class CorrectedMeanwhile(InMemoryVectorStore):
    """Somebody corrects a card again just when its correction is withdrawn."""

    async def update(self, card: MemoryCard) -> None:
        await super().update(card)
        if card.status is MemoryStatus.REJECTED:
            for old in await self.list(CardFilter(run_id="r0")):
                await super().update(replace(old, superseded_by="a better one", version=old.version + 1))


async def test_a_card_that_has_another_correction_by_now_keeps_it() -> None:
    store = CorrectedMeanwhile()
    new = card("wrong correction", run="r1")
    old = replace(card("right", run="r0"), superseded_by=new.id)
    await store.add([old, new])
    done = await rollback(store, Origin(run_id="r1"))
    assert (done.withdrawn, done.restored) == ((new.id,), ())
    assert (await store.get([old.id]))[0].superseded_by == "a better one"


async def test_a_card_that_was_deleted_meanwhile_is_not_restored() -> None:
    class Deleting(InMemoryVectorStore):
        async def update(self, card: MemoryCard) -> None:
            await super().update(card)
            await self.delete([one.id for one in await self.list(CardFilter(run_id="r0"))])

    store = Deleting()
    new = card("wrong correction", run="r1")
    await store.add([replace(card("right", run="r0"), superseded_by=new.id), new])
    assert await rollback(store, Origin(run_id="r1")) == Rollback(withdrawn=(new.id,))


async def test_what_stays_is_listed(store: Store) -> None:
    bad, shared = card("maples turn blue", run="r1"), card("known before", run="r0")
    child = card("paint them blue", run="r2")
    await store.add([bad, shared, child])
    await store.save_run(record("r1", taught=(bad.id, shared.id, "in-a-block")))
    await store.save_run(record("r2", shown=(bad,), taught=(child.id,)))
    done = await rollback(store, Origin(run_id="r1"), dry_run=True)
    stays, counts = "its record, with task and answers, stays", "counts what run r1 taught as a lesson seen before"
    assert done == Rollback(
        withdrawn=(bad.id,),
        left=(
            Remainder(what="card", id=child.id, why="learned by a run that was shown a withdrawn card"),
            Remainder(what="run", id="r1", why=stays),
            Remainder(what="count", id=shared.id, why=counts),
            Remainder(what="block", id="r1", why="this run wrote to a memory block; its lines keep no origin"),
            Remainder(what="run", id="r2", why="was shown a withdrawn card"),
        ),
    )
    assert await kept(store) == {"maples turn blue", "known before", "paint them blue"}


async def test_runs_that_nothing_withdrawn_reached_are_not_listed(store: Store) -> None:
    bad, other, grandchild = card("one", run="r1"), card("two", run="r2"), card("three", run="r1")
    await store.add([bad, other, grandchild])
    await store.save_run(record("r1", shown=(bad,), taught=(bad.id, grandchild.id)))
    await store.save_run(record("r2", shown=(other,), taught=(other.id,)))
    done = await rollback(store, Origin(source="reflexion", run_id="r1"), dry_run=True)
    stays = "its record, with task and answers, stays"
    assert [one.why for one in done.left] == [stays, *["counts what run r1 taught as a lesson seen before"] * 2]
    done = await rollback(store, Origin(run_id="r1"))
    assert done.left == (Remainder(what="run", id="r1", why=stays),)


async def test_a_correction_of_a_withdrawn_card_stays_and_is_listed(store: Store) -> None:
    new, gone = card("right", run="r0"), card("gone", run="r1")
    old = replace(card("wrong", run="r1"), superseded_by=new.id)
    await store.add([new, old, replace(gone, superseded_by="nobody knows")])
    done = await rollback(store, Origin(run_id="r1"))
    assert done.left == (Remainder(what="correction", id=new.id, why=f"corrects the withdrawn card {old.id}"),)


async def test_what_was_learned_from_it_can_go_too(store: Store) -> None:
    bad, child, grandchild = card("one", run="r1"), card("two", run="r2"), card("three", run="r3")
    await store.add([bad, child, grandchild, card("four", run="r4")])
    await store.save_run(record("r2", shown=(bad,), taught=(child.id,)))
    await store.save_run(record("r3", shown=(child,), taught=(grandchild.id,)))
    done = await rollback(store, Origin(run_id="r1"), downstream=True)
    assert set(done.withdrawn) == {bad.id, child.id, grandchild.id}
    assert await kept(store) == {"four"}


async def test_nothing_of_a_withdrawn_text_stays_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with SQLiteVectorStore(path, embedder=HashEmbedder()) as store:
        await store.add([card("the unmistakable zanzibar lesson", run="r1"), card("other", run="r2")])
        await rollback(store, Origin(run_id="r1"))
        assert b"zanzibar" not in contents(tmp_path)  # a server may never close its store, and one that is killed can't
    assert b"zanzibar" not in contents(tmp_path)


async def test_nothing_of_a_rejected_or_deleted_card_stays_in_the_open_file(tmp_path: Path) -> None:
    async with SQLiteVectorStore(tmp_path / "store.db", embedder=HashEmbedder()) as store:
        rejected, deleted = card("the unmistakable zanzibar lesson"), card("the unmistakable tasmania lesson")
        await store.add([rejected, deleted])
        await MemoryCI(store).reject(rejected.id, "it is wrong")
        assert b"zanzibar" not in contents(tmp_path)
        await store.delete([deleted.id])
        assert b"tasmania" not in contents(tmp_path)


async def test_a_rollback_beside_a_reader_is_done_and_says_what_stays(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with SQLiteVectorStore(path, embedder=HashEmbedder()) as store:
        await store.add([card("the unmistakable zanzibar lesson", run="r1")])
        with closing(sqlite3.connect(path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM cards").fetchone()
            with pytest.raises(StoreError, match="is being read by another process"):
                await rollback(store, Origin(run_id="r1"))
            assert await kept(store) == set()
        assert (await rollback(store, Origin(run_id="r1"))).withdrawn == ()
        assert b"zanzibar" not in contents(tmp_path)


def test_everything_at_once_and_times_without_a_zone_are_refused() -> None:
    bare = datetime(2026, 3, 1)  # noqa: DTZ001 - what is tested
    needs = "needs a time zone, such as +00:00"
    wrong: dict[str, dict[str, Any]] = {
        "rollback: name a run, a source, a tenant or a time; it doesn't withdraw everything": {},
        f"rollback(since='2026-03-01T00:00:00'): {needs}": {"since": bare},
        f"rollback(until='2026-03-01T00:00:00'): {needs}": {"since": NOON, "until": bare},
    }
    for said, given in wrong.items():
        with pytest.raises(ConfigError) as refused:
            Origin(**given)
        assert str(refused.value) == said
