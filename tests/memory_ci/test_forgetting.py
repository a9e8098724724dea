"""A person, a tenant or a run is forgotten everywhere in a store, with a receipt; and nothing else is."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import pytest

from wisen import (
    CardFilter,
    MarkdownStore,
    MemoryCard,
    MemoryKind,
    MemoryScope,
    MemoryStatus,
    RunRecord,
    Situation,
    Task,
    Whom,
    connect,
    forget,
)
from wisen.cards import Provenance
from wisen.errors import ConfigError
from wisen.memory_ci.rules import rules_scope
from wisen.records import AttemptRecord, Injection
from wisen.stores.in_process.store import InMemoryVectorStore
from wisen.stores.paging import every_card, every_run
from wisen.stores.transfer_items import PARTS

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def lesson(content: str, *, run: str = "", tenant: str = "", prompt: str = "Greet the customer") -> MemoryCard:
    return MemoryCard(
        kind=MemoryKind.LESSON,
        content=content,
        situation=Situation(prompt=prompt),
        scope=MemoryScope(tenant=tenant),
        provenance=Provenance(run_id=run, created_at=NOON),
    )


ELSEWHERE = (
    "backups, copies and exports of this store, the server's archive, and a Markdown folder's git history keep what "
    "was in them; files of traces, logs and the tasks of a queue's batches (`wisen batch delete`) do, too"
)
OF_RUN = lesson("Learned by the run.", run="r1")
NAMING = lesson("Call her Zoë Müller, never Zoe.", run="r4")
OTHER = lesson("Zoë Müllerin is somebody else.")
NORTH = lesson("Of the north.", tenant="north", run="r3")
NEWER = replace(lesson("Corrects what the run learned."), supersedes=OF_RUN.id, rivals=(OF_RUN.id, OTHER.id))
OLDER = replace(lesson("Was corrected by the run."), superseded_by=OF_RUN.id)
WORDING = replace(lesson("Another wording of it."), idea=OF_RUN.id)


def record(run_id: str, prompt: str, tenant: str = "", *shown: MemoryCard) -> RunRecord:
    injections = tuple(Injection(card_id=card.id, kind="lesson", reasons=(), score=1.0) for card in shown)
    attempt = AttemptRecord(attempt=1, output="Hello", injections=injections)
    return RunRecord(run_id=run_id, task=Task(prompt=prompt, tenant=tenant), attempts=(attempt,), started_at=NOON)


async def fill(store: Any) -> None:
    await store.add([OF_RUN, NAMING, OTHER, NORTH, OLDER, WORDING])
    await store.add([NEWER])
    for one in (
        record("r1", "Greet the customer"),
        record("r2", "Write to ZOË   MÜLLER, please"),
        record("r3", "Of the north", "north"),
        record("r4", "Shown what r1 learned", "", OF_RUN),
    ):
        await store.save_run(one)
        await store.save_call(f"run:{one.run_id}", "key", 0, b'{"said": "text"}')
    await store.save_call("replays", "key", 0, b'{"said": "Dear Zo\\u00eb M\\u00fcller"}')
    await store.save_call("replays", "key", 1, b'{"said": "nobody"}')
    await store.append_block("notes", "Zoë Müller likes tea.")
    await store.append_block("notes", "Others like coffee.")
    await store.append_block("A block/of the north", "line", tenant="north")


async def held(store: Any) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for part in PARTS:
        keys, after = set[str](), ""
        while True:
            page, after = await store.export_page(part, after=after)
            if not page:
                break
            keys |= {" ".join(item.key) for item in page}
        found[part] = keys
    return found


@pytest.fixture(params=["memory", "sqlite", "markdown", "postgresql"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Any]:
    urls = {"memory": "memory:", "sqlite": f"sqlite:{tmp_path / 'store'}", "markdown": f"markdown:{tmp_path / 'store'}"}
    url = urls.get(request.param) or request.getfixturevalue("postgres_url")
    async with connect(url) as made:
        await fill(made)
        yield made


@pytest.mark.anyio
async def test_a_run_goes_with_what_came_of_it(store: Any) -> None:
    before = await held(store)
    would = await forget(store, Whom(run_id="r1"), dry_run=True)
    assert await held(store) == before
    done = await forget(store, Whom(run_id="r1"), at=NOON)
    assert replace(would, done=True, at=NOON) == done
    assert (done.about, done.cards, done.runs, done.blocks, done.calls) == ("run 'r1'", (OF_RUN.id,), ("r1",), (), 2)
    assert set(done.changed) == {NEWER.id, OLDER.id, WORDING.id}
    assert done.remaining == 0
    after = await held(store)
    assert before["cards"] - after["cards"] == {OF_RUN.id}
    assert before["runs"] - after["runs"] == {"r1"}
    assert before["calls"] - after["calls"] == {"run:r1 key 0", "run:r4 key 0"}
    assert before["blocks"] == after["blocks"]
    kept = {card.id: card async for card in every_card(store, CardFilter())}
    assert (kept[NEWER.id].supersedes, kept[NEWER.id].rivals) == ("", (OTHER.id,))
    assert kept[OLDER.id].superseded_by == ""
    assert kept[WORDING.id].idea == ""
    assert done.left == (
        "lines that this run wrote to a memory block keep no origin; read the blocks",
        "the records and answers of 1 runs that were shown one of the cards stay",
        ELSEWHERE,
    )


@pytest.mark.anyio
async def test_a_tenant_goes_whole(store: Any) -> None:
    before = await held(store)
    done = await forget(store, Whom(tenant="north"))
    assert (done.cards, done.runs, done.calls) == ((NORTH.id,), ("r3",), 1)
    assert done.blocks == (("north", "A block/of the north"),)
    assert (done.about, done.remaining) == ("tenant 'north'", 0)
    after = await held(store)
    assert before["cards"] - after["cards"] == {NORTH.id}
    assert before["runs"] - after["runs"] == {"r3"}
    assert before["calls"] - after["calls"] == {"run:r3 key 0"}
    assert before["blocks"] - after["blocks"] == {"north A block/of the north"}
    if isinstance(store, MarkdownStore):
        assert not (store.root / "tenants" / "north").exists()
    await forget(store, Whom(tenant=""))
    nobodys = {"replays key 0", "replays key 1"}
    assert await held(store) == {"cards": set(), "blocks": set(), "runs": set(), "calls": nobodys}


@pytest.mark.anyio
async def test_a_file_of_a_persons_keeps_its_tenants_folder(tmp_path: Path) -> None:
    async with MarkdownStore(tmp_path / "notes", fsync=False) as store:
        await fill(store)
        (store.root / "tenants" / "north" / "contract.pdf").touch()
        await forget(store, Whom(tenant="north"))
        assert (store.root / "tenants" / "north" / "contract.pdf").exists()


@pytest.mark.anyio
async def test_a_person_goes_wherever_they_are_named(store: Any) -> None:
    done = await forget(store, Whom(person=("zoë müller",)))
    assert done.cards == (NAMING.id,)
    assert done.runs == ("r2",)
    assert done.blocks == (("", "notes"),)
    assert done.calls == 2
    assert done.remaining == 0
    assert "zoë" not in done.about.casefold()
    assert (await store.block("notes")) == "Others like coffee."
    left = [card.content async for card in every_card(store, CardFilter())]
    assert OTHER.content in left
    assert not any("Zoë Müller," in text for text in left)
    assert {run.run_id async for run in every_run(store, tenant=None)} == {"r1", "r3", "r4"}
    assert await store.call("replays", "key", 0) is None
    assert await store.call("replays", "key", 1) == b'{"said": "nobody"}'


@pytest.mark.anyio
async def test_a_person_is_forgotten_within_one_tenant_alone(store: Any) -> None:
    before = await held(store)
    done = await forget(store, Whom(person=("Zoë Müller",), tenant="north"))
    assert (done.cards, done.runs, done.blocks, done.calls) == ((), (), (), 0)
    assert await held(store) == before


@pytest.mark.anyio
async def test_a_run_of_another_tenant_stays(store: Any) -> None:
    before = await held(store)
    done = await forget(store, Whom(run_id="r1", tenant="north"))
    assert (done.cards, done.runs, done.calls) == ((), (), 0)
    assert await held(store) == before


@pytest.mark.anyio
async def test_a_card_of_another_tenant_stays_though_its_run_goes_by_the_same_id(store: Any) -> None:
    theirs = lesson("Of the south.", tenant="south", run="r3")
    await store.add([theirs])
    done = await forget(store, Whom(run_id="r3", tenant="north"))
    assert done.cards == (NORTH.id,)
    assert theirs.id in (await held(store))["cards"]


@pytest.mark.anyio
async def test_cards_of_a_run_that_isnt_recorded_here_go(store: Any) -> None:
    await store.add([lesson("Learned elsewhere.", run="r9")])
    await store.save_call("run:r9", "key", 0, b"{}")
    done = await forget(store, Whom(run_id="r9"))
    assert (len(done.cards), done.runs, done.calls) == (1, (), 1)


@pytest.mark.anyio
async def test_twice_is_fine(store: Any) -> None:
    await forget(store, Whom(run_id="r1"))
    again = await forget(store, Whom(run_id="r1"))
    assert (again.cards, again.runs, again.calls, again.changed) == ((), (), 0, ())


def names_left(folder: Path) -> list[Path]:
    gone = ("zoë müller,", "zoë   müller", "likes tea")
    files = [one for one in folder.rglob("*") if one.is_file()]
    texts = {file: file.read_bytes().decode("utf-8", "replace").casefold() for file in files}
    return [file for file, text in texts.items() if any(name in text for name in gone)]


@pytest.mark.parametrize("kind", ["sqlite", "markdown"])
@pytest.mark.anyio
async def test_nothing_of_it_is_left_in_the_files(kind: str, tmp_path: Path) -> None:
    async with connect(f"{kind}:{tmp_path / 'store'}") as store:
        await fill(store)
        assert names_left(tmp_path)
        await forget(store, Whom(person=("Zoë Müller",)))
        assert names_left(tmp_path) == []


@pytest.mark.anyio
async def test_what_cant_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "store"
    async with connect(path) as store:
        await fill(store)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE runs SET record = 'x' WHERE run_id = 'r3'")
        connection.commit()
    async with connect(path) as store:
        done = await forget(store, Whom(tenant="north"))
        said = "1 rows or files can't be read, and may belong here: `wisen store check` names them"
        assert done.left == (said, ELSEWHERE)


@pytest.mark.parametrize(
    ("whom", "said"),
    [
        (dict[str, Any](), "forget: name a person, a tenant or a run; it doesn't forget everything"),
        ({"person": ("Ada", " a ")}, "forget(person=' a '): must have at least 3 characters"),
    ],
)
def test_everything_is_never_meant(whom: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Whom(**whom)
    assert str(refused.value) == said


@pytest.mark.anyio
async def test_a_store_that_cant_says_so() -> None:
    with pytest.raises(ConfigError) as refused:
        await forget(cast("Any", object()), Whom(run_id="r1"))
    assert str(refused.value) == "object can't forget: it has to be a Transferable and an Erases (wisen.stores)"


def test_a_receipt_names_a_person_by_a_hash_alone() -> None:
    names = ("Zoë Müller", " ZOË  müller", "a.b@example.org")
    one, other = (sha256(name.encode()).hexdigest()[:16] for name in ("zoë müller", "a.b@example.org"))
    whom = Whom(person=names, tenant="north", run_id="r1")
    persons = f"person sha256:{one}, person sha256:{one}, person sha256:{other}"
    assert str(whom) == f"{persons}, tenant 'north', run 'r1'"
    assert str(Whom(tenant="")) == "tenant ''"


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b'{"said": ["nobody", {"to": "Ada Lovelace"}]}', True),
        (b'{"ada  LOVELACE": 1.5}', True),
        (b'["nobody", null, true, 7, ["Ada Lovelaces"]]', False),
        (b"Dear Ada Lovelace, \xff", True),
        (b"Dear Ada, dear Lovelace", False),
        (b"[" * 100_000 + b"Ada Lovelace", True),
    ],
)
def test_a_person_is_found_in_what_a_store_keeps(data: bytes, named: bool) -> None:
    assert Whom(person=("Ada Lovelace",)).mentioned_in(data) is named


@pytest.mark.anyio
async def test_a_receipt_has_the_time_and_so_have_the_histories_of_cards_that_stay() -> None:
    async with InMemoryVectorStore() as store:
        await fill(store)
        await store.add([replace(lesson("Promoted."), idea=OF_RUN.id, status=MemoryStatus.PROMOTED, id="p")])
        before = datetime.now(UTC)
        assert before <= (await forget(store, Whom(run_id="r3"))).at <= datetime.now(UTC)
        await forget(store, Whom(run_id="r1"), at=NOON)
        assert [one.at for one in (await store.get(["p"]))[0].history] == [NOON]


@pytest.mark.anyio
async def test_several_conditions_all_hold(store: Any) -> None:
    """A run that doesn't name the person stays, recorded or not, and so do its cards and calls."""
    await store.add([lesson("Learned elsewhere.", run="r9")])
    await store.save_call("run:r9", "key", 0, b"{}")
    before = await held(store)
    for run_id in ("r1", "r9"):
        done = await forget(store, Whom(person=("Zoë Müller",), run_id=run_id))
        assert (done.cards, done.runs, done.blocks, done.calls) == ((), (), (), 0)
    assert await held(store) == before
    done = await forget(store, Whom(person=("Zoë Müller",), run_id="r2"))
    assert (done.cards, done.runs, done.blocks, done.calls) == ((), ("r2",), (), 1)


@pytest.mark.anyio
async def test_calls_that_name_a_person_go_where_their_tenant_is_known(store: Any) -> None:
    naming = b'{"said": "Dear Zo\\u00eb M\\u00fcller"}'
    for run in ("r4", "r3"):
        await store.save_call(f"run:{run}", "named", 0, naming)
    before = await held(store)
    done = await forget(store, Whom(person=("Zoë Müller",), tenant=""))
    assert (done.runs, done.cards, done.remaining) == (("r2",), (NAMING.id,), 0)
    after = await held(store)
    assert before["calls"] - after["calls"] == {"run:r2 key 0", "run:r4 named 0"}


@pytest.mark.anyio
async def test_calls_of_a_run_that_isnt_recorded_stay_where_a_tenant_is_asked_for(store: Any) -> None:
    await store.add([lesson("Learned elsewhere.", run="r9", tenant="north")])
    await store.save_call("run:r9", "key", 0, b"{}")
    done = await forget(store, Whom(run_id="r9", tenant="north"))
    assert (len(done.cards), done.calls) == (1, 0)


@pytest.mark.anyio
async def test_versions_of_rules_go_with_their_tenant_alone(store: Any) -> None:
    for tenant in ("", "north"):
        await store.save_call(rules_scope(tenant), "key", 0, b"{}")
    scope = f"{rules_scope('north')} key 0"
    for whom in (Whom(run_id="r3", tenant="north"), Whom(person=("Zoë Müller",), tenant="north"), Whom(run_id="r1")):
        await forget(store, whom)
        assert scope in (await held(store))["calls"]
    await forget(store, Whom(tenant="north"))
    assert {one for one in (await held(store))["calls"] if "rules" in one} == {f"{rules_scope('')} key 0"}


@pytest.mark.anyio
async def test_links_to_what_stays_stay(store: Any) -> None:
    links: dict[str, Any] = {"supersedes": OTHER.id, "superseded_by": NAMING.id, "rivals": (OF_RUN.id, NORTH.id)}
    linked = replace(lesson("Linked with many."), **links)
    traced = replace(lesson("Of two runs."), provenance=Provenance(run_id="r0", trace_id="r0+r1"))
    await store.add([linked, traced])
    done = await forget(store, Whom(run_id="r1"))
    assert set(done.cards) == {OF_RUN.id, traced.id}
    now = (await store.get([linked.id]))[0]
    assert (now.supersedes, now.superseded_by, now.rivals) == (OTHER.id, NAMING.id, (NORTH.id,))


@pytest.mark.anyio
async def test_what_stays_of_a_block_stays_line_by_line(store: Any) -> None:
    for line in ("Ann Other likes cocoa.", "zoë müller is away.", "All like cake."):
        await store.append_block("notes", line)
    await forget(store, Whom(person=("Zoë Müller",)))
    assert await store.block("notes") == "Others like coffee.\nAnn Other likes cocoa.\nAll like cake."


@pytest.mark.anyio
async def test_much_is_deleted_in_parts_each_once() -> None:
    erased = list[int]()

    class Noting(InMemoryVectorStore):
        async def erase(self, part: Any, keys: Any) -> int:
            erased.append(len(keys))
            return await super().erase(part, keys)

    async with Noting() as store:
        await store.save_run(record("r1", "Greet"))
        for number in range(401):
            await store.save_call("run:r1", "key", number, b"{}")
        done = await forget(store, Whom(run_id="r1"))
    assert (done.calls, erased) == (401, [200, 200, 1, 1])


@pytest.mark.anyio
async def test_a_run_that_teaches_meanwhile_is_told_of() -> None:
    class Busy(InMemoryVectorStore):
        async def erase(self, part: Any, keys: Any) -> int:
            done = await super().erase(part, keys)
            if part == "runs":
                await self.add([lesson("Learned meanwhile.", run="r1")])
            return done

    async with Busy() as store:
        await fill(store)
        assert (await forget(store, Whom(run_id="r1"))).remaining == 1
        assert (await forget(store, Whom(run_id="r1"))).remaining == 0
