"""Whom a Postgres store lets see what, and one clear line for each database that can't be used."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from runpy import run_path
from typing import Any

import asyncpg
import numpy as np
import pytest
from numpy.typing import NDArray
from postgres import PostgresServer, database_of

from wisen.cards import MemoryCard, MemoryKind, MemoryScope, Provenance, Situation
from wisen.embedders.hashing import HashEmbedder
from wisen.errors import ConfigError, EmbedderMismatchError, ForeignDatabaseError, StoreError, StoreReadOnlyError
from wisen.recall import CardFilter, RecallQuery
from wisen.stores.postgres.client import Connection, Wire
from wisen.stores.postgres.store import PostgresVectorStore
from wisen.testing.material import run_record

pytestmark = pytest.mark.anyio
EVERYTHING = CardFilter()
CHECK = Path(__file__).with_name("as_somebody.py")
GUARDED = ("cards", "bodies", "recall", "postings", "scopes", "blocks", "runs")


def lesson(content: str = "Crease twice.", tenant: str = "") -> MemoryCard:
    scope = MemoryScope(tenant=tenant, task_types=("paper",))
    return MemoryCard(
        kind=MemoryKind.LESSON, content=content, situation=Situation(prompt="Fold the paper crane"), scope=scope
    )


async def fill(store: PostgresVectorStore) -> None:
    for tenant in ("a", "b", ""):
        await store.add([lesson(tenant=tenant)])
        await store.append_block("notes", "line", tenant=tenant)
        await store.save_run(run_record(f"run {tenant}", tenant=tenant))
        await store.save_call(f"run:run {tenant}", "key", 0, tenant.encode())
    await store.save_call("replays", "key", 0, b"nobody's")


async def tenants_seen(connection: Connection) -> set[str]:
    found: set[str] = set()
    for table in GUARDED:
        rows = await connection.fetch(f"SELECT DISTINCT tenant FROM {table}")  # noqa: S608 - constants
        found |= {f"{table} {row[0]}" for row in rows}
    calls = await connection.fetch("SELECT response FROM calls WHERE scope <> 'replays'")
    return found | {f"calls {row[0].decode()}" for row in calls}


def of(*tenants: str) -> set[str]:
    return {f"{table} {tenant}" for table in (*GUARDED, "calls") for tenant in tenants}


async def check_guard(store: PostgresVectorStore) -> None:
    """Queries without any condition see the transaction's tenant; without one, nothing."""
    await fill(store)
    pool = store._pool
    for tenant in ("a", "b", ""):
        assert await pool.read(tenants_seen, tenant=tenant) == of(tenant)
    assert await pool.read(tenants_seen, tenant="c") == set()
    assert await pool.read(tenants_seen, tenant=None) == of("a", "b", "")

    async def forgetful(connection: Connection) -> set[str]:
        await connection.execute("RESET wisen.tenant")
        return await tenants_seen(connection)

    assert await pool.read(forgetful, tenant="a") == set()

    async def unset(connection: Connection) -> set[str]:
        await connection.execute("SET LOCAL wisen.tenant = ''")
        return await tenants_seen(connection)

    assert await pool.read(unset, tenant=None) == set()

    async def overreach(connection: Connection) -> list[str]:
        return [
            await connection.execute("UPDATE cards SET status = 'rejected'"),
            await connection.execute("DELETE FROM blocks"),
            await connection.execute("UPDATE calls SET response = ''"),
            await connection.execute("DELETE FROM calls"),
        ]

    assert await pool.write(overreach, tenant="a") == ["UPDATE 1", "DELETE 1", "UPDATE 1", "DELETE 1"]

    async def smuggle(connection: Connection) -> None:
        await connection.execute("INSERT INTO blocks VALUES ('b', 'smuggled', '')")

    async def answer_for_another(connection: Connection) -> None:
        await connection.execute("INSERT INTO calls VALUES ('run:run b', 'other', 0, '')")

    async def answer_for_all(connection: Connection) -> None:
        await connection.execute("INSERT INTO calls VALUES ('replays', 'other', 0, '')")

    for reach in (smuggle, answer_for_another, answer_for_all):
        with pytest.raises(StoreError, match="row-level security policy"):
            await pool.write(reach, tenant="a")

    async def all_scopes(connection: Connection) -> set[str]:
        return {row[0] for row in await connection.fetch("SELECT scope FROM calls")}

    assert await pool.read(all_scopes, tenant="b") == {"run:run b"}
    assert await pool.read(all_scopes, tenant=None) == {"run:run b", "run:run ", "replays"}
    assert await store.call("run:run b", "key", 0) == b"b"
    assert await store.block("smuggled", tenant="b") == ""


async def test_a_query_without_conditions_sees_one_tenant(postgres_url: str) -> None:
    async with PostgresVectorStore(postgres_url) as store:
        await check_guard(store)


def make_user(server: PostgresServer, url: str, name: str, options: str = "") -> str:
    """The URL by which a new user who owns the database reaches it."""
    database = database_of(url)
    user = f"{name}_{database}"
    server.sql(f"CREATE ROLE {user} LOGIN {options}")
    server.sql(f"ALTER DATABASE {database} OWNER TO {user}")
    return server.url(database, user)


async def test_a_plain_user_is_held_too(postgres_server: PostgresServer, postgres_url: str) -> None:
    """Even as the owner of the tables, and without the store's code."""
    url = make_user(postgres_server, postgres_url, "plain")
    async with PostgresVectorStore(url) as store:
        await check_guard(store)
        assert (await store.tune(large=1)).made == ("", "a", "b")
    client: Any = asyncpg
    connection: Wire = await client.connect(url)
    assert await connection.fetchval("SELECT count(*) FROM wisen.cards") == 0
    await connection.close()


async def test_a_user_who_passes_row_level_security_takes_a_role(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    url = make_user(postgres_server, postgres_url, "passes", "BYPASSRLS CREATEROLE")
    async with PostgresVectorStore(url, schema="own") as store:
        await check_guard(store)
        assert postgres_server.sql("SELECT count(*) FROM pg_roles WHERE rolname = 'own_rows'") == "1"


async def test_without_a_role_to_take_the_error_says_what_to_do(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    url = make_user(postgres_server, postgres_url, "bare", "BYPASSRLS")
    with pytest.raises(StoreError, match='let a superuser run: CREATE ROLE "bare_rows" NOLOGIN; GRANT "bare_rows"'):
        await PostgresVectorStore(url, schema="bare").open()


async def test_a_database_without_pgvector(postgres_server: PostgresServer) -> None:
    """A user who may adds it; one who may not is told."""
    url = postgres_server.new_database("template0")
    user = make_user(postgres_server, url, "guest", "")
    postgres_server.sql(f"ALTER DATABASE {database_of(url)} OWNER TO postgres")
    with pytest.raises(StoreError, match="permission denied for database"):
        await PostgresVectorStore(user).open()
    postgres_server.sql(f"CREATE SCHEMA wisen AUTHORIZATION guest_{database_of(url)}", database=database_of(url))
    with pytest.raises(StoreError, match="let a superuser run: CREATE EXTENSION vector"):
        await PostgresVectorStore(user).open()
    async with PostgresVectorStore(url, schema="other") as store:
        await store.add([lesson()])
    async with PostgresVectorStore(user) as store:
        await store.add([lesson()])
    postgres_server.drop(url)


async def test_schemas_are_stores_of_their_own(postgres_url: str) -> None:
    async with PostgresVectorStore(postgres_url, schema='od"d Näme') as one, PostgresVectorStore(postgres_url) as other:
        await one.add([lesson()])
        assert await one.count(EVERYTHING) == 1
        assert await other.count(EVERYTHING) == 0


@pytest.mark.parametrize(
    "options",
    [{"floor": 1.5}, {"pool_size": 0}, {"patience": -1}, {"schema": ""}, {"schema": "x" * 51}, {"block_limit": 0}],
)
def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        PostgresVectorStore("postgresql:///x", **options)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("DROP TABLE wisen.migrations", "holds another program's tables"),
        ("INSERT INTO wisen.migrations VALUES (99)", "schema 7 of a newer wisen; this one knows 6"),
    ],
)
async def test_a_foreign_or_newer_schema(
    postgres_server: PostgresServer, postgres_url: str, change: str, problem: str
) -> None:
    async with PostgresVectorStore(postgres_url):
        pass
    postgres_server.sql(change, database=database_of(postgres_url))
    for read_only in (False, True):
        with pytest.raises(ForeignDatabaseError, match=problem):
            await PostgresVectorStore(postgres_url, read_only=read_only).open()


async def test_read_only(postgres_server: PostgresServer, postgres_url: str) -> None:
    with pytest.raises(StoreError, match="has no tables yet; the first run, copy or worker makes them"):
        await PostgresVectorStore(postgres_url, read_only=True).open()
    async with PostgresVectorStore(postgres_url) as store:
        await fill(store)
    async with PostgresVectorStore(postgres_url, read_only=True) as store:
        assert await store.count(EVERYTHING) == 3
        assert await store.block("notes", tenant="a") == "line"
        assert len(await store.search(asked("a"))) == 1
        card = (await store.list(EVERYTHING))[0]
        calls: Sequence[Callable[[], Any]] = (
            lambda: store.add([lesson("Other.")]),
            lambda: store.update(replace(card, version=2)),
            lambda: store.delete([card.id]),
            lambda: store.append_block("notes", "line"),
            lambda: store.save_call("run", "key", 0, b""),
            store.tune,
            store.reindex,
        )
        for call in calls:
            with pytest.raises(StoreReadOnlyError):
                await call()
        writes = store._pool.read(lambda connection: connection.execute("DELETE FROM wisen.cards"), tenant=None)
        with pytest.raises(StoreReadOnlyError):
            await writes
    postgres_server.sql("DELETE FROM wisen.migrations", database=database_of(postgres_url))
    with pytest.raises(ForeignDatabaseError, match="of an older wisen"):
        await PostgresVectorStore(postgres_url, read_only=True).open()


def asked(tenant: str) -> RecallQuery:
    return RecallQuery(situation=Situation(prompt="Fold the paper crane"), filter=CardFilter(tenant=tenant))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://user:s3cret@127.0.0.1:1/x", "couldn't be reached"),
        ("postgresql://user:s3cret@127.0.0.1:x99/x", "check the URL"),
        ("postgresql://user@127.0.0.1:1/x?password=s3cret&sslmode=odd", "check the URL"),
        ("postgresql://user:s3cret@nowhere.invalid/x", "couldn't be reached"),
    ],
)
async def test_a_database_out_of_reach_is_told_without_the_password(url: str, said: str) -> None:
    store = PostgresVectorStore(url, patience=0.1)
    with pytest.raises(StoreError, match=said) as caught:
        await store.open()
    assert "s3cret" not in f"{caught.value}{caught.value.__cause__}"
    assert "s3cret" not in store.url
    await store.close()


async def test_no_such_database_and_no_such_user(postgres_server: PostgresServer, postgres_url: str) -> None:
    with pytest.raises(StoreError, match="no such database"):
        await PostgresVectorStore(postgres_server.url("nowhere")).open()
    with pytest.raises(StoreError, match="doesn't let this user in"):
        await PostgresVectorStore(postgres_server.url(database_of(postgres_url), "nobody", "s3cret")).open()


class SmallEmbedder:
    """Few dimensions, and another name."""

    name = "small"
    dimension = 8
    floor = 0.0

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), 8), dtype=np.float32)
        rows[np.arange(len(texts)), [len(text) % 8 for text in texts]] = 1.0
        return rows


async def test_another_embedder_is_refused_until_the_store_is_embedded_anew(postgres_url: str) -> None:
    async with PostgresVectorStore(postgres_url) as old:
        await fill(old)
        assert await old.vectors_label() == f"{HashEmbedder().name}/{HashEmbedder().dimension}"
        with pytest.raises(EmbedderMismatchError, match="'small/8'"):
            await PostgresVectorStore(postgres_url, embedder=SmallEmbedder()).open()
        new = PostgresVectorStore(postgres_url, embedder=SmallEmbedder())
        heard: list[tuple[int, int]] = []

        def progress(done: int, count: int) -> None:
            heard.append((done, count))
            if len(heard) == 1:
                adding.append(asyncio.ensure_future(old.add([lesson("Written meanwhile.")])))

        adding: list[asyncio.Future[Any]] = []
        for refused in (new.search(asked("a")), new.add([lesson("Other.")])):
            with pytest.raises(StoreError):
                await refused
        assert await new.reindex(progress=progress) in (3, 4)
        await asyncio.gather(*adding, return_exceptions=True)
        assert heard[0] == (3, 3)
        assert [hit.card.scope.tenant for hit in await new.search(asked("a"))] == ["a"]
        assert await new.vectors_label() == "small/8"
        with pytest.raises(EmbedderMismatchError):
            await old.search(asked("a"))
        assert await new.problems_found() == []
        await new.close()


async def test_text_that_postgres_refuses_is_kept(postgres_url: str) -> None:
    tenant, odd = "a\x00b\x01", "x\x00y\x01\x01z"
    card = MemoryCard(
        kind=MemoryKind.LESSON,
        content=f"Say {odd}",
        scope=MemoryScope(tenant=tenant, agent_roles=(odd,)),
        situation=Situation(prompt=f"Do {odd}"),
        provenance=Provenance(run_id=odd),
        refused=odd,
        id=f"id{odd}",
    )
    where = CardFilter(tenant=tenant, run_id=odd, agent_role=odd)
    async with PostgresVectorStore(postgres_url) as store:
        await store.add_unscreened([card])
        assert await store.get([card.id]) == [card]
        assert await store.list(where) == [card]
        assert await store.count(replace(where, tenant="a")) == 0
        found = await store.search(RecallQuery(situation=Situation(prompt=f"Do {odd}"), filter=where))
        assert [hit.card for hit in found] == [card]
        assert await store.ids_beginning("card", "idx\x00y\x01") == [card.id]
        assert (await store.facts()).cards == {(tenant, "candidate", "lesson"): 1}
        await store.update_block(odd, odd, tenant=tenant)
        assert await store.block(odd, tenant=tenant) == odd
        assert (await store.update(replace(card, version=2)), await store.delete([card.id])) == (None, 1)


async def test_text_that_is_not_unicode_is_refused_whole(postgres_url: str) -> None:
    async with PostgresVectorStore(postgres_url) as store:
        for card in (lesson("lone \ud800"), replace(lesson(), id="\ud800")):
            with pytest.raises(StoreError) as caught:
                await store.add_unscreened([lesson("Fine."), card])
            assert "\n" not in str(caught.value)
        for call in (store.get(["\ud800"]), store.count(CardFilter(tenant="\ud800"))):
            with pytest.raises(StoreError, match="isn't valid Unicode"):
                await call
        assert await store.count(EVERYTHING) == 0


def test_a_user_without_rights_can_run_the_server_too(postgres_url: str) -> None:
    """When the tests run as root, all of it works as another user as well."""
    if os.geteuid():
        run_path(str(CHECK), {"URL": postgres_url}, "__main__")
        return
    context = get_context("forkserver")
    somebody = context.Process(target=run_path, args=(str(CHECK), {"URL": postgres_url}, "__main__"))
    somebody.start()
    somebody.join()
    assert somebody.exitcode == 0
