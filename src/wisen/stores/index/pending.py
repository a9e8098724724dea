"""One tenant's index with the changes that it has yet to take in, for stores that keep their cards elsewhere."""

from collections.abc import Sequence

from wisen.stores.index.search import CardIndex, IndexRow


class TenantRows:
    """One tenant's index, and the changes that the next search takes in."""

    def __init__(self, tenant: str, dimension: int) -> None:
        """Begin empty, for vectors of `dimension`."""
        self._tenant = tenant
        self._dimension = dimension
        self._index = CardIndex(tenant, dimension)
        self._written: dict[int, IndexRow] = {}
        self._gone: list[int] = []

    def put(self, row: IndexRow) -> None:
        """Remember a new or changed row; one without vectors keeps those that are there."""
        waiting = self._written.get(row.number)
        if waiting is not None and not row.vectors:
            row = row._replace(words=waiting.words, vectors=waiting.vectors)
        self._written[row.number] = row

    def drop(self, number: int) -> None:
        """Remember that a row is gone."""
        self._written.pop(number, None)
        self._gone.append(number)

    def take(self) -> tuple[list[IndexRow], list[int]]:
        """The remembered changes, which are forgotten."""
        taken = list(self._written.values()), self._gone
        self._written, self._gone = {}, []
        return taken

    def fresh(self, written: Sequence[IndexRow], gone: Sequence[int]) -> CardIndex:
        """The index with these changes in it."""
        if gone:
            self._index.drop(gone)
        if written:
            self._index.put(written)
        if self._index.wasteful:
            live = self._index.rows()
            self._index = CardIndex(self._tenant, self._dimension)
            self._index.put(live)
        return self._index
