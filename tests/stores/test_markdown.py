"""The Markdown store keeps the contract."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from wisen.stores.markdown import MarkdownStore
from wisen.testing.contract import VectorStoreContract


class TestMarkdownStore(VectorStoreContract):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[MarkdownStore]:
        async with MarkdownStore(tmp_path / "memory") as store:
            yield store
