"""The Postgres store keeps the contract."""

from collections.abc import AsyncIterator

import pytest

from wisen.stores.postgres import PostgresVectorStore
from wisen.testing.contract import VectorStoreContract


class TestPostgresVectorStore(VectorStoreContract):
    @pytest.fixture
    async def store(self, postgres_url: str) -> AsyncIterator[PostgresVectorStore]:
        async with PostgresVectorStore(postgres_url) as store:
            yield store
