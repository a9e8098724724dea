"""A URL names a store, and an error about one says what to write instead, and never a password."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wisen
from wisen.embedders.hashing import HashEmbedder
from wisen.errors import ConfigError, StoreError, StoreReadOnlyError
from wisen.recall import CardFilter
from wisen.stores.connect import connect
from wisen.stores.in_process.store import InMemoryVectorStore
from wisen.stores.markdown.store import MarkdownStore
from wisen.stores.postgres.store import PostgresVectorStore
from wisen.stores.sqlite.store import SQLiteVectorStore
from wisen.stores.store_urls import is_url, path_in, scheme_of, shown_url
from wisen.testing.material import card

pytestmark = pytest.mark.anyio
SECRET = "h:u/n?t#e@r2"


@pytest.mark.parametrize("url", ["{}/a/store.db", "sqlite:{}/a/store.db", "sqlite://{}/a/store.db"])
async def test_files(url: str, tmp_path: Path) -> None:
    async with connect(url.format(tmp_path), embedder=HashEmbedder(64), floor=0.5) as store:
        assert isinstance(store, SQLiteVectorStore)
        assert store.path == tmp_path / "a/store.db"
        assert store.embedder.dimension == 64
        await store.add([card("Look twice.")])
    async with connect(tmp_path / "a/store.db", embedder=HashEmbedder(64), read_only=True) as store:
        assert await store.count(CardFilter()) == 1
        with pytest.raises(StoreReadOnlyError):
            await store.add([card("More.")])


@pytest.mark.parametrize("url", ["markdown:{}/memory", "markdown://{}/memory"])
async def test_folders(url: str, tmp_path: Path) -> None:
    async with connect(url.format(tmp_path)) as store:
        assert isinstance(store, MarkdownStore)
        assert store.root == tmp_path / "memory"
        await store.add([card("Look twice.")])
    before = everything_in(tmp_path)
    async with connect(url.format(tmp_path), read_only=True) as store:
        assert await store.count(CardFilter()) == 1
        for refused in (
            store.add([card("More.")]),
            store.append_block("notes", "line"),
            store.save_call("scope", "key", 0, b""),
            store.delete([card("Look twice.").id]),
        ):
            with pytest.raises(StoreReadOnlyError):
                await refused
        assert await store.runs() == []
    assert everything_in(tmp_path) == before


def everything_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


@pytest.mark.parametrize("name", ["new/", ".wisen", "in/.wisen/"])
async def test_names_of_folders_are_folders_before_there_is_one(name: str, tmp_path: Path) -> None:
    async with connect(f"{tmp_path}/{name}") as store:
        assert isinstance(store, MarkdownStore)
        await store.add([card("Look twice.")])
    assert (tmp_path / name / "cards").is_dir()


async def test_a_file_stays_one_whatever_its_name(tmp_path: Path) -> None:
    async with SQLiteVectorStore(tmp_path / ".wisen") as store:
        await store.add([card("Look twice.")])
    async with connect(tmp_path / ".wisen") as store:
        assert await store.count(CardFilter()) == 1


async def test_memory() -> None:
    for url in ("memory:", "memory://", "MEMORY:"):
        store = connect(url)
        assert isinstance(store, InMemoryVectorStore)
        await store.close()
    with pytest.raises(ConfigError, match="has no name"):
        connect("memory:shared")
    with pytest.raises(ConfigError, match="read_only"):
        connect("memory:", read_only=True)


async def test_postgres(postgres_url: str) -> None:
    async with connect(postgres_url) as store:
        assert isinstance(store, PostgresVectorStore)
        await store.add([card("Look twice.")])
    async with connect(postgres_url.replace("postgresql:", "postgres:"), read_only=True) as store:
        assert await store.count(CardFilter()) == 1
        with pytest.raises(StoreReadOnlyError):
            await store.add([card("More.")])


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgre://db/x", "did you mean postgres"),
        ("sqllite:x.db", "did you mean sqlite:"),
        ("mark-down:x", "did you mean markdown:"),
        ("qqq:x", "known are memory:, sqlite:, markdown:, postgresql:, postgres:"),
        ("sqlite:", "write sqlite:PATH"),
        ("sqlite://host/x.db", "another machine"),
        ("markdown:a\x00b", "write markdown:PATH"),
        ("", "names no file"),
    ],
)
def test_what_is_no_store_is_said_in_one_line(url: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        connect(url)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_which_texts_are_urls() -> None:
    for url in ("memory:", "sqlite:x", "postgres://h/d", "weird+x:y"):
        assert is_url(url)
    for path in ("store.db", "./a:b", "/a/x", "a/b:c", "c:", ""):
        assert not is_url(path)
    assert scheme_of("SQLITE:x") == "sqlite"
    assert path_in("sqlite:a/b c%20") == "a/b c%20"
    with pytest.raises(ConfigError):
        scheme_of("store.db")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:{}@db:5432/cards?sslmode=require", "postgresql://ann:***@db:5432/cards?sslmode=require"),
        ("postgresql://:{}@/cards?host=/run/x", "postgresql://:***@/cards?host=/run/x"),
        ("postgresql://db/cards?user=ann&password={}", "postgresql://db/cards?user=ann&password=***"),
        ("postgresql://db/cards?Password={}&user=ann", "postgresql://db/cards?Password=***&user=ann"),
        ("postgresql://db/cards?sslpassword={}", "postgresql://db/cards?sslpassword=***"),
    ],
)
def test_passwords_are_not_shown(url: str, shown: str) -> None:
    assert shown_url(url.format("hunter2")) == shown


def test_urls_without_passwords_are_shown_as_they_are() -> None:
    for url in ("postgresql://ann@db:5432/cards", "postgresql:///cards", "sqlite:/a/b.db", "store.db"):
        assert shown_url(url) == url


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=5))
def test_no_password_is_shown_however_it_is_written(more: str) -> None:
    assert SECRET not in shown_url(f"postgresql://ann:{SECRET}{more}@db/cards")
    assert SECRET not in shown_url(f"postgresql://ann:{more}{SECRET}@db/cards?x=a@b")


async def test_no_error_shows_a_password() -> None:
    for url in (
        f"postgresql://ann:{SECRET}@127.0.0.1:1/cards",
        "postgresql://ann:hunter2@127.0.0.1:1/cards",
        "postgresql://127.0.0.1:1/cards?password=hunter2",
        "postgresql://ann:hunter2@127.0.0.1:none/cards",
        "postgre://ann:hunter2@db/cards",
    ):
        with pytest.raises((ConfigError, StoreError)) as caught:
            await opened_at_once(url)
        assert "unter2" not in str(caught.value)
        assert SECRET not in str(caught.value)
        assert "\n" not in str(caught.value)


async def opened_at_once(url: str) -> None:
    if not url.startswith("postgresql:"):
        connect(url)
        return
    store = PostgresVectorStore(url, patience=0)
    try:
        await store.open()
    finally:
        await store.close()


def test_a_missing_extra_is_named() -> None:
    code = """
import sys
sys.modules["asyncpg"] = None
import wisen
for ask in (lambda: wisen.connect("postgresql://ann:hunter2@db/cards"), lambda: wisen.PostgresVectorStore):
    try:
        ask()
    except wisen.errors.MissingExtraError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", f"import wisen.errors{code}"], capture_output=True, text=True, check=True
    )
    needs = "needs a package that isn't installed; run: pip install 'wisen[postgres]'"
    assert done.stdout.splitlines() == [
        f"store 'postgresql://ann:***@db/cards' {needs}",
        f"PostgresVectorStore {needs}",
    ]


def test_stores_have_one_roof() -> None:
    from wisen import vectorstore

    assert wisen.connect is vectorstore.connect is connect
    assert vectorstore.PostgresVectorStore is wisen.PostgresVectorStore
    for name in vectorstore.__all__:
        assert getattr(vectorstore, name)
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = vectorstore.Nonsense
