"""The stores that outcomes are counted in."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from wisen import HashEmbedder, InMemoryVectorStore, MarkdownStore, SQLiteVectorStore, VectorStore


@pytest.fixture(params=["memory", "sqlite", "markdown"])
async def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorStore]:
    match request.param:
        case "memory":
            made = InMemoryVectorStore()
        case "sqlite":
            made = SQLiteVectorStore(tmp_path / "store.db", embedder=HashEmbedder())
        case _:
            made = MarkdownStore(tmp_path / "memory")
    yield made
    await made.close()
