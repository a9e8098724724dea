"""Fills a Postgres store with many tenants and measures recall and ingest, beside pgvector used bare.

`python benchmarks/postgres.py --help` lists the options; `docs/measured/postgres.md` explains what is measured. The
server is started for the purpose, in a temporary directory.
"""

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import pg_server
from figures import MEASURED, milliseconds, options, setting, table, tell
from pg_bare import Bare, connected
from pg_cards import Floats, Known, Material, Tenant, best, tenant_name

from wisen import PostgresVectorStore, RecallQuery
from wisen.stores.postgres.tune import LARGE

_BULK = 1_000
_GROUPS = {"largest": (0.15, 1.0), "medium": (0.005, 0.03), "small": (0.0, 0.0005)}
"""Tenants by their share of all cards."""
_PICKED = 8
_ADDERS = 8
_SCHEMA = "wisen"


def main() -> None:
    """Measure and report."""
    tell(
        _arguments(),
        lambda asked: asyncio.run(_measured(asked)),
        report,
        lambda _, text: [(MEASURED, "recall and ingest", text)],
    )


def _arguments() -> argparse.Namespace:
    parser = options(__doc__ or "")
    parser.add_argument("--size", type=int, nargs="+", default=[100_000, 1_000_000], metavar="CARDS")
    parser.add_argument("--queries", type=int, default=400, help="for each group of tenants (%(default)s)")
    parser.add_argument("--compared", type=int, default=60, help="of them with exact scans (%(default)s)")
    parser.add_argument("--no-bare", action="store_true", help="leave out pgvector used bare")
    parser.add_argument("--buffers", default="", help="shared buffers of the server, such as 512MB")
    return parser.parse_args()


async def _measured(asked: argparse.Namespace) -> dict[str, Any]:
    results: dict[str, Any] = {"sizes": {}}
    with pg_server.running(asked.buffers) as server:
        results["setting"] = setting("make bench-postgres", pg_server.told(server))
        for size in asked.size:
            results["sizes"][str(size)] = await _one_size(server, size, asked)
    return results


async def _one_size(server: Any, size: int, asked: argparse.Namespace) -> dict[str, Any]:
    material, known = Material(size), Known()
    store = PostgresVectorStore(server.new_database(), embedder=known, schema=_SCHEMA)
    bare = None if asked.no_bare else Bare(server.new_database())
    found: dict[str, Any] = {}
    async with store:
        if bare is not None:
            await bare.open()
        exact = await _fill(store, bare, material, known, found)
        _told(f"{size:,} cards in {found['seconds']:.0f} s")
        found["searches"] = {"untuned": await _searches(store, material, known, exact, asked, only="largest")}
        began = time.perf_counter()
        await store.tune(large=min(LARGE, size // 10))
        found["tune"] = time.perf_counter() - began
        _told(f"tuned in {found['tune']:.0f} s")
        found["searches"] |= await _all_searches(store, material, known, exact, asked)
        found["bytes"] = await _bytes(store.url)
        _told("searched")
        found["ingest"] = await _ingest(store, material, known)
        if bare is not None:
            found["bare"] = await _bare(bare, material, exact, asked)
            await bare.close()
    return found


def _told(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


async def _fill(
    store: PostgresVectorStore, bare: Bare | None, material: Material, known: Known, found: dict[str, Any]
) -> dict[str, Tenant]:
    """Add all cards; what exact scans of the tenants that are asked about need."""
    exact = {name: Tenant() for group in _GROUPS for name in _picked(material, group)}
    seconds = 0.0
    for batch in material.batches(material.size, _BULK):
        _know(known, batch.cards, batch.vectors)
        began = time.perf_counter()
        await store.add_unscreened(batch.cards)
        seconds += time.perf_counter() - began
        if bare is not None:
            await bare.fill(batch)
        for at, card in enumerate(batch.cards):
            if (tenant := exact.get(card.scope.tenant)) is not None:
                tenant.ids.append(card.id)
                tenant.vectors.append(batch.vectors[at][None])
                tenant.words.append(batch.words[at][None])
    found["seconds"] = seconds
    return exact


def _know(known: Known, cards: Sequence[Any], vectors: Floats) -> None:
    known.vectors = {}
    for card, (situation, text) in zip(cards, vectors, strict=True):
        known.vectors[card.situation.text] = situation
        known.vectors[card.text] = text


def _picked(material: Material, group: str) -> list[str]:
    """Some tenants of a group of sizes."""
    least, most = (round(share * material.size) for share in _GROUPS[group])
    fitting = [number for number, size in enumerate(material.expected.tolist()) if least < size <= max(most, 20)]
    return [tenant_name(number) for number in random.Random(len(group)).sample(fitting, min(_PICKED, len(fitting)))]


async def _all_searches(
    store: PostgresVectorStore, material: Material, known: Known, exact: dict[str, Tenant], asked: argparse.Namespace
) -> dict[str, Any]:
    return {group: await _searches(store, material, known, exact, asked, only=group) for group in _GROUPS}


async def _searches(
    store: PostgresVectorStore,
    material: Material,
    known: Known,
    exact: dict[str, Tenant],
    asked: argparse.Namespace,
    *,
    only: str,
) -> dict[str, Any]:
    tenants = _picked(material, only)
    queries = material.queries(tenants, asked.queries)
    known.vectors = {query.situation.text: vector for query, vector in queries}
    for query, _ in queries[:10]:
        await store.search(query)
    taken: list[float] = []
    found: list[list[str]] = []
    for query, _ in queries:
        began = time.perf_counter()
        hits = await store.search(query)
        taken.append(time.perf_counter() - began)
        found.append([hit.card.id for hit in hits])
    agreed = _agreed(material, exact, queries[: asked.compared], found, 0)
    cards = sum(len(exact[name].ids) for name in tenants) / len(tenants)
    return {"seconds": taken, "recall": agreed, "cards": cards}


def _agreed(
    material: Material,
    exact: dict[str, Tenant],
    queries: Sequence[tuple[RecallQuery, Floats]],
    found: Sequence[Sequence[str]],
    by: int,
) -> float:
    """Share of the exact best five that was found: by wisen's relevance (0) or by cosine (1)."""
    right = whole = 0
    for (query, vector), ids in zip(queries, found, strict=False):
        tenant = exact[query.filter.tenant or ""]
        if not tenant.ids:
            continue
        top = best(tenant, material.words_of(query.situation.prompt), vector, Known.floor)[by]
        right += len(top & set(ids))
        whole += min(5, len(tenant.ids))
    return right / max(1, whole)


async def _ingest(store: PostgresVectorStore, material: Material, known: Known) -> dict[str, Any]:
    """Single cards into the filled store: by one adder and by eight at once; then in bulk."""
    found: dict[str, Any] = {}
    next_card = material.size
    for adders, count in ((1, 300), (_ADDERS, 1_200)):
        batch = next(material.batches(count, count, next_card))
        next_card += count
        _know(known, batch.cards, batch.vectors)
        cards = iter(batch.cards)
        taken: list[float] = []

        async def add(cards: Any = cards, taken: list[float] = taken) -> None:
            for card in cards:
                began = time.perf_counter()
                await store.add_unscreened([card])
                taken.append(time.perf_counter() - began)

        began = time.perf_counter()
        await asyncio.gather(*(add() for _ in range(adders)))
        found[str(adders)] = {"seconds": taken, "rate": count / (time.perf_counter() - began)}
    batch = next(material.batches(10_000, 10_000, next_card))
    _know(known, batch.cards, batch.vectors)
    began = time.perf_counter()
    await store.add_unscreened(batch.cards)
    found["bulk"] = len(batch.cards) / (time.perf_counter() - began)
    return found


async def _bytes(url: str) -> dict[str, dict[str, int]]:
    """Bytes of each table and of its indexes."""
    connection = await connected(url)
    rows = await connection.fetch(
        "SELECT c.relname, pg_table_size(c.oid), i.name, i.size FROM pg_class c LEFT JOIN LATERAL"
        " (SELECT x.relname AS name, pg_relation_size(x.oid) AS size FROM pg_index"
        "  JOIN pg_class x ON x.oid = indexrelid WHERE indrelid = c.oid) i ON true"
        " WHERE c.relnamespace = $1::text::regnamespace AND c.relkind = 'r'",
        _SCHEMA,
    )
    await connection.close()
    found: dict[str, dict[str, int]] = {}
    for name, size, index, index_size in rows:
        found.setdefault(name, {"table": size})
        if index:
            short = "near" if "_near_" in index else index
            found[name][short] = found[name].get(short, 0) + index_size
    return found


async def _bare(bare: Bare, material: Material, exact: dict[str, Tenant], asked: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {"copying": bare.copying, "index": await bare.index(), "searches": {}}
    _told(f"bare indexes: {found['index']}")
    for group in ("largest", "medium"):  # a small tenant's few rows are read without the index
        queries = material.queries(_picked(material, group), asked.queries)
        plain = [(query.filter.tenant or "", vector) for query, vector in queries]
        for ef, iterative in ((40, False), (200, True)):
            await bare.search(plain[:10], ef, iterative=iterative)
            taken, ids = await bare.search(plain, ef, iterative=iterative)
            agreed = _agreed(material, exact, queries[: asked.compared], ids, 1)
            name = f"{group}|{ef}{', iterative' if iterative else ''}"
            found["searches"][name] = {"seconds": taken, "recall": agreed}
    found["bytes"] = await bare.sizes()
    return found


def report(results: dict[str, Any]) -> str:
    """All tables."""
    writers: tuple[Callable[[dict[str, Any]], str], ...] = (_searched, _ingested, _sizes)
    return "\n\n".join([results["setting"], *(write(results) for write in writers)])


def _searched(results: dict[str, Any]) -> str:
    rows: list[list[str]] = []
    for size, found in results["sizes"].items():
        bare = found.get("bare", {}).get("searches", {})
        for group, one in found["searches"].items():
            label = "largest, before `tune()`" if group == "untuned" else group
            rows.append(
                [
                    f"{int(size):,}",
                    "wisen",
                    f"{label} ({one['cards']:,.0f})",
                    milliseconds(one["seconds"]),
                    milliseconds(one["seconds"], 0.99),
                    f"{one['recall']:.3f}",
                ]
            )
        for name, one in bare.items():
            group, _, how = name.partition("|")
            cells = [milliseconds(one["seconds"]), milliseconds(one["seconds"], 0.99), f"{one['recall']:.3f}"]
            rows.append([f"{int(size):,}", f"pgvector bare, ef {how}", group, *cells])
    head = ["cards", "", "tenant (its cards)", "p50, ms", "p99, ms", "recall@5"]
    return table("Recall of 5 for one tenant", head, rows)


def _ingested(results: dict[str, Any]) -> str:
    rows: list[list[str]] = []
    for size, found in results["sizes"].items():
        one, many = found["ingest"]["1"], found["ingest"][str(_ADDERS)]
        rows.append(
            [
                f"{int(size):,}",
                f"{int(size) / found['seconds']:,.0f}",
                f"{one['rate']:,.0f} ({milliseconds(one['seconds'])} ms)",
                f"{many['rate']:,.0f} ({milliseconds(many['seconds'])} ms)",
                f"{found['tune']:.0f} s",
            ]
        )
    head = ["cards", "bulk, cards/s", "one adder, cards/s (p50)", f"{_ADDERS} adders", "`tune()`"]
    return table("Ingest, embeddings at hand", head, rows)


def _sizes(results: dict[str, Any]) -> str:
    """Bytes per card."""
    cells: dict[str, list[str]] = {}
    for size, found in results["sizes"].items():
        totals = {name: sum(of.values()) for name, of in found["bytes"].items()}
        totals = {name: total for name, total in totals.items() if total >= int(size)}
        totals["all"] = sum(totals.values())
        if bare := found.get("bare"):
            totals["pgvector bare"] = sum(bare["bytes"].values())
        for name, total in totals.items():
            cells.setdefault(name, []).append(f"{total / int(size):,.0f}")
    columns = [f"{int(size):,} cards" for size in results["sizes"]]
    rows = [[name, *of] for name, of in cells.items() if len(of) == len(columns)]
    return table("Bytes per card, with indexes", ["table", *columns], rows)


if __name__ == "__main__":
    main()
