"""How long the server of the page takes for each view, and what a view weighs, with 10,000 runs and 5,000 lessons.

Run as `python benchmarks/page.py [--requests 60] [--write-docs]`. The server is `wisen serve` in a process of its own,
over a store that `lived_store.py` makes. A view's time is from its request to the last byte of its answer, on one
connection that stays open; its processor time is what the server's process used for that. Its weight is what a browser
fetches that has nothing of it yet: the page, and all that it names of the same server, compressed as browsers ask for.
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
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from figures import Figures, Part, milliseconds, options, setting, table, tell
from lived_store import LivedStore, fill

from wisen.cards import MemoryCard, MemoryStatus
from wisen.stores.connect import connect

_DOCS = Path(__file__).resolve().parents[1] / "docs" / "measured"
_NAMED = re.compile(r'<(?:link|script|img)\b[^>]*?\b(?:href|src)="([^"#]+)')
_URL = re.compile(r"https?://\S+")
_WARM = 5


@dataclass(frozen=True, kw_only=True)
class View:
    """One view, as it was measured."""

    name: str
    path: str
    seconds: list[float]
    """From each request to the last byte of its answer."""
    used: list[float]
    """What the server's processor time was for each."""
    first: float
    """Of the first request after the server began."""
    page: int
    """Bytes of the page itself, compressed."""
    whole: int
    """Bytes of the page and of all that it names."""


class Client:
    """One connection to the page, which stays open."""

    def __init__(self, url: str) -> None:
        """Nothing is asked yet."""
        self._connection = HTTPConnection(urlsplit(url).netloc, timeout=60)

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
def serving(store: str) -> Generator[tuple[str, int]]:
    """A server of the page on this machine; gives its address, and the id of its process."""
    command = [sys.executable, "-m", "wisen", "serve", "--store", store, "--at", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            found = next((one for line in process.stdout if (one := _URL.search(line))), None)
            if found is None:
                raise RuntimeError(f"wisen serve ended with {process.wait()}")
            yield found[0].rstrip("/.,"), process.pid
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
        "a lesson without a trial": _lesson(waiting),
        "the lesson with the most runs": _lesson(most),
        "runs": "/runs",
        "the run with the most to show": f"/runs/{longest.run_id}",
    }


def _lesson(card: MemoryCard) -> str:
    return f"/lessons/{card.id}"


def measured(asked: argparse.Namespace) -> Figures:
    """All views, in turns, so that a machine that slows down slows all of them."""
    lived = LivedStore(asked.runs, asked.cards)
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "lessons.db")
        asyncio.run(_filled(store, lived))
        with serving(store) as (url, server):
            client, paths = Client(url), paths_of(lived)
            first = {name: client.get(path)[0] for name, path in paths.items()}
            taken: dict[str, list[tuple[float, float]]] = {name: [] for name in paths}
            for turn in range(asked.requests + _WARM):
                for name, path in paths.items():
                    before = _used(server)
                    seconds = client.get(path)[0]
                    if turn >= _WARM:
                        taken[name].append((seconds, _used(server) - before))
            views = [
                View(
                    name=name,
                    path=path,
                    seconds=[one for one, _ in taken[name]],
                    used=[one for _, one in taken[name]],
                    first=first[name],
                    page=page,
                    whole=whole,
                )
                for name, path in paths.items()
                for page, whole in (client.weight(path),)
            ]
    command = f"python benchmarks/page.py --runs {asked.runs} --cards {asked.cards} --requests {asked.requests}"
    return {
        "views": [asdict(view) for view in views],
        "setting": setting(command, f"SQLite, {asked.runs:,} runs and {asked.cards:,} lessons"),
    }


def _used(process: int) -> float:
    """Seconds of processor time that a process has used, all its threads together."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _filled(store: str, lived: LivedStore) -> None:
    async with connect(store) as opened:
        await fill(opened, lived)


def report(figures: Figures) -> str:
    """The table, and what it was taken on."""
    rows = [
        [
            view["name"],
            milliseconds(view["seconds"]),
            milliseconds(view["seconds"], 0.95),
            f"{sum(view['used']) / len(view['used']) * 1e3:.0f}",
            milliseconds([view["first"]]),
            f"{view['page'] / 1e3:.1f}",
            f"{view['whole'] / 1e3:.1f}",
        ]
        for view in figures["views"]
    ]
    head = [
        "view",
        "ms, p50",
        "ms, p95",
        "ms of processor",
        "ms, the first time",
        "kB, the page",
        "kB, with all it names",
    ]
    return f"{table('The page: server time and weight', head, rows)}\n\n{figures['setting']}"


def _parts(_figures: Figures, text: str) -> list[Part]:
    return [(_DOCS / "page.md", "views", text)]


if __name__ == "__main__":
    parser = options(__doc__ or "")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--cards", type=int, default=5_000)
    parser.add_argument("--requests", type=int, default=60, help="of each view")
    tell(parser.parse_args(), measured, report, _parts)
