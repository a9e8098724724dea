"""Runs 1,000 agents at once in one process, beside a bare loop with the same model calls, and 1,000 recalls at once.

`python benchmarks/concurrency.py --help` lists the options; `docs/measured/postgres.md` explains what is measured.
"""

import argparse
import asyncio
import gc
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pg_server
from figures import MEASURED, options, setting, table, tell
from provider import EVALUATOR, INSTRUCTIONS, REFLECTOR, Replies, serving
from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters

from wisen import (
    Agent,
    CardFilter,
    MemoryCard,
    MemoryKind,
    MemoryScope,
    PostgresVectorStore,
    RecallQuery,
    Reflexion,
    Situation,
    SQLiteVectorStore,
)
from wisen.models.names import endpoint

sys.path.insert(0, str(Path(__file__).parent / "drivers"))
from common import Corpus
from fake_model import FakeModel

Store = SQLiteVectorStore | PostgresVectorStore

_SECONDS = 1.0
_HEARTBEAT = 0.001
_TENANT = "t"
_MIDDLES = ("seconds", "bare", "cpu", "bare_cpu")
_CALLS = {"react": (INSTRUCTIONS,), "reflexion": (INSTRUCTIONS, EVALUATOR, REFLECTOR) * 2}
_LABELS = {
    "react": "ReAct, runs recorded",
    "react+journal": "the same with `run_id`: each step kept",
    "reflexion": "Reflexion: 2 attempts, recall and lessons",
    "reflexion+journal": "the same with `run_id`: each step kept",
}


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One time that all runs were made."""

    model: str
    case: str
    store: str
    seconds: float
    cpu: float
    """Processor seconds of this process."""
    hold: float
    """The longest time for which the event loop ran nothing else."""
    bare: float
    """Seconds of the bare loop just before."""
    bare_cpu: float
    bare_hold: float


def main() -> None:
    """Measure and report."""
    tell(_arguments(), _measured, report, lambda _, text: [(MEASURED, "runs at once", text)])


def _arguments() -> argparse.Namespace:
    parser = options(__doc__ or "")
    parser.add_argument("--runs", type=int, default=1_000, help="at once (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="of each case; the median counts (%(default)s)")
    parser.add_argument("--models", nargs="+", default=["in process", "over HTTP"], help="one of them, or both")
    parser.add_argument("--stores", nargs="+", default=["sqlite", "postgres"], help="one of them, or both")
    parser.add_argument("--cases", nargs="+", default=list(_LABELS), help="some of: %(default)s")
    parser.add_argument("--no-recalls", action="store_true", help="runs only")
    return parser.parse_args()


def _measured(asked: argparse.Namespace) -> dict[str, Any]:
    results: dict[str, Any] = {"runs": asked.runs, "samples": [], "holds": []}
    serves: AbstractContextManager[Any] = pg_server.running() if "postgres" in asked.stores else nullcontext()
    with serves as server:
        more = (pg_server.told(server),) if server else ()
        results["setting"] = setting("python benchmarks/concurrency.py", *more)
        for _ in range(asked.rounds):
            for kind in asked.stores:
                if not asked.no_recalls:
                    results["holds"].append(asyncio.run(_recalls(kind, server, asked.runs)))
                for model in asked.models:
                    for case in asked.cases:
                        results["samples"].append(asdict(_sample(model, case, kind, server, asked.runs)))
                        last = results["samples"][-1]
                        _told(f"{kind}, {model}, {case}: {last['seconds']:.2f} s, bare {last['bare']:.2f} s")
    return results


def _told(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _sample(model: str, case: str, kind: str, server: Any, runs: int) -> Sample:
    calls = _CALLS[case.partition("+")[0]]
    with _models(model) as make:
        bare, bare_cpu, bare_hold = asyncio.run(_bare(make(), calls, runs))
        seconds, cpu, hold = asyncio.run(_runs(make(), case, kind, server, runs))
    return Sample(
        model=model,
        case=case,
        store=kind,
        seconds=seconds,
        cpu=cpu,
        hold=hold,
        bare=bare,
        bare_cpu=bare_cpu,
        bare_hold=bare_hold,
    )


@contextmanager
def _models(kind: str) -> Generator[Callable[[], Model[Any]]]:
    if kind == "in process":
        yield lambda: FakeModel(Replies(), _SECONDS)
        return
    with serving(_SECONDS) as url:
        yield lambda: endpoint(url, "fake")


@asynccontextmanager
async def _opened(kind: str, server: Any) -> AsyncGenerator[Store]:
    if kind == "postgres":
        async with PostgresVectorStore(server.new_database()) as store:
            yield store
        return
    with tempfile.TemporaryDirectory() as folder:
        async with SQLiteVectorStore(Path(folder) / "store.db") as store:
            yield store


async def _bare(model: Model[Any], calls: Sequence[str], runs: int) -> tuple[float, float, float]:
    parameters = ModelRequestParameters()

    async def one(prompt: str) -> None:
        for system in calls:
            parts = [SystemPromptPart(system), UserPromptPart(prompt)]
            await model.request([ModelRequest(parts=parts)], None, parameters)

    return await _timed(lambda: asyncio.gather(*(one(prompt) for prompt in Corpus(13).prompts(runs))))


async def _runs(model: Model[Any], case: str, kind: str, server: Any, runs: int) -> tuple[float, float, float]:
    shape, _, journal = case.partition("+")
    async with _opened(kind, server) as store:
        loop = Reflexion(max_attempts=2, evaluator_prompt=EVALUATOR, reflector_prompt=REFLECTOR, lesson_store=store)
        agent = Agent(
            INSTRUCTIONS, model=model, memory=store, tenant=_TENANT, architecture=loop if shape == "reflexion" else None
        )
        await agent.run("warm up", run_id="warm-up" if journal else None)
        prompts = Corpus(13).prompts(runs)

        async def one(number: int, prompt: str) -> Any:
            return await agent.run(prompt, run_id=f"run-{number}" if journal else None)

        ended: list[Any] = []

        async def all_of_them() -> None:
            ended.extend(await asyncio.gather(*(one(number, prompt) for number, prompt in enumerate(prompts))))

        taken = await _timed(all_of_them)
        made = sum(result.usage.requests for result in ended)
        if made != runs * len(_CALLS[shape]) or any(result.record.degradations for result in ended):
            reasons = {reason for result in ended for reason in result.record.degradations}
            sys.exit(f"{case}: {made} calls in {runs} runs; {', '.join(sorted(reasons)) or 'no reason given'}")
        return taken


async def _timed(work: Callable[[], Awaitable[object]]) -> tuple[float, float, float]:
    """Wall and processor seconds of some work, and the longest hold of the event loop meanwhile."""
    began, spent = time.perf_counter(), time.process_time()
    done = asyncio.ensure_future(work())
    longest = await _longest_hold(done)
    await done
    return time.perf_counter() - began, time.process_time() - spent, longest


async def _longest_hold(done: "asyncio.Future[object]") -> float:
    longest, last = 0.0, time.perf_counter()
    while not done.done():
        await asyncio.sleep(_HEARTBEAT)
        now = time.perf_counter()
        longest, last = max(longest, now - last - _HEARTBEAT), now
    return longest


async def _recalls(kind: str, server: Any, count: int) -> dict[str, Any]:
    """So many recalls at once among 1,000 cards: seconds, the longest hold, and the longest callback of the loop."""
    corpus = Corpus()
    cards = [
        MemoryCard(
            kind=MemoryKind.LESSON,
            content=entry.lesson,
            situation=Situation(prompt=entry.prompt),
            scope=MemoryScope(tenant=_TENANT),
        )
        for entry in corpus.entries(1_000)
    ]

    def query(prompt: str) -> RecallQuery:
        return RecallQuery(situation=Situation(prompt=prompt), filter=CardFilter(tenant=_TENANT), k=5)

    async with _opened(kind, server) as store:
        await store.add_unscreened(cards)
        await asyncio.gather(*(store.search(query(prompt)) for prompt in corpus.prompts(50)))
        prompts = corpus.prompts(count)
        # As `wisen worker` does: else a collection of all that was ever loaded is what holds the loop for longest.
        gc.collect()
        gc.freeze()
        seconds, _, hold = await _timed(lambda: asyncio.gather(*(store.search(query(prompt)) for prompt in prompts)))
        gc.unfreeze()
    _, _, idle = await _timed(lambda: asyncio.sleep(seconds))
    return {"store": kind, "seconds": seconds, "hold": hold, "idle": idle}


def report(results: dict[str, Any]) -> str:
    """All tables."""
    parts = [results["setting"], _runs_table(results)]
    if results["holds"]:
        parts.append(_holds_table(results))
    return "\n\n".join(parts)


def _runs_table(results: dict[str, Any]) -> str:
    rows: list[list[str]] = []
    keys = dict.fromkeys((one["store"], one["model"], one["case"]) for one in results["samples"])
    for store, model, case in sorted(keys, key=lambda key: (key[0] != "sqlite", key[1] != "in process")):
        found = [one for one in results["samples"] if (one["store"], one["model"], one["case"]) == (store, model, case)]
        middle = {
            name: statistics.median(one[name] for one in found) for name in ("seconds", "bare", "cpu", "bare_cpu")
        }
        ratios = sorted(one["seconds"] / one["bare"] for one in found)
        ratio = statistics.median(ratios)
        added = (middle["cpu"] - middle["bare_cpu"]) / results["runs"] * 1e3
        rows.append(
            [
                store if model == "in process" else f"{store}, model {model}",
                _LABELS[case],
                f"{middle['seconds']:.2f} s",
                f"x{ratio:.2f} (x{ratios[0]:.2f} to x{ratios[-1]:.2f})",
                f"{added:.2f} ms",
            ]
        )
    title = f"{results['runs']:,} runs at once, each model call taking {_SECONDS:g} s; medians"
    head = ["store", "agent", "wisen", "times the bare loop", "processor time a run adds"]
    return table(title, head, rows)


def _holds_table(results: dict[str, Any]) -> str:
    rows: list[list[str]] = []
    for store in dict.fromkeys(one["store"] for one in results["holds"]):
        found = [one for one in results["holds"] if one["store"] == store]
        holds = sorted(one["hold"] for one in found)
        middle = statistics.median(holds)
        rows.append(
            [
                store,
                f"{statistics.median(one['seconds'] for one in found):.2f} s",
                f"{middle * 1e3:.1f} ms ({holds[0] * 1e3:.1f} to {holds[-1] * 1e3:.1f})",
                f"{statistics.median(one['idle'] for one in found) * 1e3:.1f} ms",
            ]
        )
    head = ["store", "all done after", "longest hold of the event loop", "of an idle loop"]
    return table(f"{results['runs']:,} recalls at once among 1,000 cards, after `gc.freeze()`; medians", head, rows)


if __name__ == "__main__":
    main()
