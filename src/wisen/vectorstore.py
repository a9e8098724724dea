"""The stores under one roof: `from wisen.vectorstore import InMemoryVectorStore`."""

from wisen.stores.memory import InMemoryVectorStore
from wisen.stores.sqlite import SQLiteVectorStore

__all__ = ["InMemoryVectorStore", "SQLiteVectorStore"]
