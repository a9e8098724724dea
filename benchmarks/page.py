"""How long the server of the page takes for each view, and what a view weighs, with 10,000 runs and 5,000 lessons.

Run as `python benchmarks/page.py [--stores sqlite postgres markdown] [--starts 7] [--requests 60] [--write-docs]`. The
server is `wisen serve` in a process of its own, over a store that `lived_store.py` makes; Postgres is a real server on
this machine. A view's time is from its request to the last byte of its answer. First requests are those of a process
that has just said that it listens: each view has processes of its own, one a repetition. The stores and views take
turns, so that a machine that slows down slows all of them. A view's weight is what a browser fetches that has nothing
of it yet: the page, and all that it names of the same server, compressed as browsers ask for.
"""

import argparse
import asyncio
import gzip
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from http.client import HTTPConnection
from itertools import product
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from figures import Figures, Part, milliseconds, options, setting, table, tell
from lived_store import LivedStore, fill
from pg_server import running

from wisen.cards import MemoryCard, MemoryStatus
from wisen.stores.connect import connect

_DOCS = Path(__file__).resolve().parents[1] / "docs" / "measured"
_NAMED = re.compile(r'<(?:link|script|img)\b[^>]*?\b(?:href|src)="([^"#]+)')
_URL = re.compile(r"https?://\S+")
_WARM = 5


@dataclass(kw_only=True)
class View:
    """One view of one store, as it was measured, in seconds from each request to the last byte of its answer."""

    first: list[float] = field(default_factory=list[float])
    """Of the first request to a process, one a process."""
    later: list[float] = field(default_factory=list[float])
    """Of requests to a process that has answered many."""
    used: list[float] = field(default_factory=list[float])
    """What the server's processor time was for each of these."""
    page: int = 0
    """Bytes of the page itself, compressed."""
    whole: int = 0
    """Bytes of the page and of all that it names."""


@dataclass(kw_only=True)
class Measured:
    """One store, as it was measured."""

    starting: list[float] = field(default_factory=list[float])
    """Seconds until a process says that it listens."""
    starting_used: list[float] = field(default_factory=list[float])
    """What its processor time was for that."""
    views: dict[str, View] = field(default_factory=dict[str, View])


class Client:
    """One connection to the page, which stays open."""

    def __init__(self, url: str) -> None:
        """Nothing is asked yet."""
        self._connection = HTTPConnection(urlsplit(url).netloc, timeout=300)

    def get(self, path: str) -> tuple[float, bytes, int]:
        """How long a request took, what came, and how many bytes that were on the wire."""
        began = time.perf_counter()
        self._connection.request("GET", path, headers={"Accept-Encoding": "gzip", "Accept": "text/html,*/*"})
        answer = self._connection.getresponse()
        body = answer.read()
        seconds = time.perf_counter() - began
        if answer.status != 200:  # noqa: PLR2004 - OK
            raise RuntimeError(f"GET {path}: {answer.status}")
        zipped = answer.headers.get("content-encoding") == "gzip"
        return seconds, gzip.decompress(body) if zipped else body, len(body)

    def weight(self, path: str) -> tuple[int, int]:
        """Bytes of a page, and of it with all that it names."""
        _, body, page = self.get(path)
        named = {urljoin(path, one) for one in _NAMED.findall(body.decode())}
        return page, page + sum(self.get(one)[2] for one in sorted(named) if one.startswith("/"))


@contextmanager
def serving(store: str) -> Generator[tuple[str, int, float]]:
    """A server of the page on this machine; gives its address, its process's id, and how long it took to begin."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "wisen", "serve", "--store", store, "--at", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            found = next((one for line in process.stdout if (one := _URL.search(line))), None)
            if found is None:
                raise RuntimeError(f"wisen serve ended with {process.wait()}")
            yield found[0].rstrip("/.,"), process.pid, time.perf_counter() - began
        finally:
            process.terminate()


def paths_of(lived: LivedStore) -> dict[str, str]:
    """The views, and of one lesson and one run those that have the most to show."""
    cards = list(lived.cards.values())
    heads = [card for card in cards if card.trials]
    most = max(heads, key=lambda card: sum(one.runs for trial in card.trials for one in (*trial.counts, *trial.before)))
    waiting = next(card for card in cards if card.status is MemoryStatus.QUARANTINED and not card.trials)
    longest = max(lived.runs, key=lambda run: sum(len(one.injections) + 1 for one in run.attempts))
    return {
        "what needs a decision": "/",
        "lessons": "/lessons",
        "a search": "/lessons?q=write+the+date+of+a+refund",
        "a lesson without a trial": _lesson(waiting),
        "the lesson with the most runs": _lesson(most),
        "runs": "/runs",
        "the run with the most to show": f"/runs/{longest.run_id}",
    }


def _lesson(card: MemoryCard) -> str:
    return f"/lessons/{card.id}"


def measured(asked: argparse.Namespace) -> Figures:
    """All views of all stores, in turns."""
    lived = LivedStore(asked.runs, asked.cards)
    paths, found = paths_of(lived), {name: Measured() for name in asked.stores}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stores = {name: _store(name, folder, stack) for name in asked.stores}
        for store in stores.values():
            asyncio.run(_filled(store, lived))
        before = os.getloadavg()
        for _ in range(asked.starts):
            for (view, path), (name, store) in product(paths.items(), stores.items()):
                _first(store, path, found[name], found[name].views.setdefault(view, View()))
        servers = {name: stack.enter_context(serving(store)) for name, store in stores.items()}
        clients = {name: Client(url) for name, (url, _, _) in servers.items()}
        for _ in range(asked.requests + _WARM):
            for (view, path), (name, client) in product(paths.items(), clients.items()):
                _later(client, path, servers[name][1], found[name].views[view])
        for (view, path), (name, client) in product(paths.items(), clients.items()):
            one = found[name].views[view]
            one.page, one.whole = client.weight(path)
    loads = f"load {before[0]:.1f} before and {os.getloadavg()[0]:.1f} after"
    command = f"python benchmarks/page.py --starts {asked.starts} --requests {asked.requests}"
    what = f"{asked.runs:,} runs and {asked.cards:,} lessons; {loads}"
    return {"stores": {name: asdict(one) for name, one in found.items()}, "setting": setting(command, what)}


def _store(name: str, folder: Path, stack: ExitStack) -> str:
    """The URL of a new store of this kind."""
    if name == "postgres":
        return str(stack.enter_context(running("512MB")).new_database())
    return str(folder / "lessons.db") if name == "sqlite" else f"{folder / 'lessons'}/"


def _first(store: str, path: str, measured: Measured, view: View) -> None:
    with serving(store) as (url, server, took):
        measured.starting.append(took)
        measured.starting_used.append(_used(server))
        view.first.append(Client(url).get(path)[0])


def _later(client: Client, path: str, server: int, view: View) -> None:
    before = _used(server)
    view.later.append(client.get(path)[0])
    view.used.append(_used(server) - before)


def _used(process: int) -> float:
    """Seconds of processor time that a process has used, all its threads together."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _filled(store: str, lived: LivedStore) -> None:
    async with connect(store) as opened:
        await fill(opened, lived)


def report(figures: Figures) -> str:
    """The table, and what it was taken on."""
    stores = figures["stores"]
    of = {"sqlite": "SQLite", "postgres": "Postgres", "markdown": "Markdown"}
    head = ["view", *(f"{of[name]}, {what}" for name in stores for what in ("first", "later", "processor"))]
    rows: list[list[str]] = []
    for view in next(iter(stores.values()))["views"]:
        found = [one["views"][view] for one in stores.values()]
        cells = [
            (_two(one["first"], 0.5), _two(one["later"][_WARM:], 0.95), _mean(one["used"][_WARM:])) for one in found
        ]
        weights = [f"{max(one[what] for one in found) / 1e3:.0f}" for what in ("page", "whole")]
        rows.append([view, *(cell for three in cells for cell in three), *weights])
    starts = [(_two(one["starting"], 0.5), "", _mean(one["starting_used"])) for one in stores.values()]
    rows.append(["until it listens", *(cell for three in starts for cell in three), "", ""])
    title = "The page: milliseconds of each view, and its weight"
    return f"{table(title, [*head, 'kB', 'kB with all it names'], rows)}\n\n{figures['setting']}"


def _two(seconds: list[float], share: float) -> str:
    """The shortest time, and the one that this share of them doesn't exceed."""
    return f"{min(seconds) * 1e3:.0f}, {float(milliseconds(seconds, share)):.0f}"


def _mean(seconds: list[float]) -> str:
    return f"{sum(seconds) / len(seconds) * 1e3:.0f}"


def _parts(_figures: Figures, text: str) -> list[Part]:
    return [(_DOCS / "page.md", "views", text)]


if __name__ == "__main__":
    parser = options(__doc__ or "")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--cards", type=int, default=5_000)
    parser.add_argument("--requests", type=int, default=60, help="of each view, to a server that runs")
    parser.add_argument("--starts", type=int, default=7, help="of a server, for the first request of each view")
    parser.add_argument("--stores", nargs="+", default=["sqlite", "postgres", "markdown"], help="by default all three")
    tell(parser.parse_args(), measured, report, _parts)
