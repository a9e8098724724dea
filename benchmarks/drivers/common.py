"""What all drivers share: the corpus, the fake model's replies, and how time and memory are taken.

Runs in every alternative's environment, so it needs nothing but the standard library.
"""

import asyncio
import itertools
import json
import random
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

EVALUATOR = "EVALUATE the answer."
REFLECTOR = "REFLECT on the attempt."
INSTRUCTIONS = "Do the task."
SMALL_TENANT = "small"
LARGE_TENANT = "large"
ROLE = "role-3"

_ROLES = 20
_SMALL_SHARE = 100
_TOPICS = 400
_MB = 1 / 1024


@dataclass(frozen=True)
class Entry:
    """One lesson of the corpus."""

    prompt: str
    lesson: str
    tenant: str
    role: str


class Corpus:
    """Lessons about a few hundred topics in an invented language, the same for each alternative.

    Words of a topic are mixed with words that come as often as in a real language (Zipf). One lesson in a hundred
    belongs to the small tenant, and the others to the large one. Roles go round.
    """

    def __init__(self, seed: int = 7) -> None:
        """Invent the words."""
        self._draw = random.Random(seed)
        syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ar", "en", "il")]
        self._words = ["".join(self._draw.choices(syllables, k=self._draw.randint(2, 4))) for _ in range(6_000)]
        self._topics = [self._draw.sample(self._words, 12) for _ in range(_TOPICS)]
        self._weights = list(itertools.accumulate(1 / rank for rank in range(1, len(self._words) + 1)))

    def _text(self, topic: Sequence[str], own: int, others: int) -> str:
        words = [*self._draw.sample(topic, own), *self._draw.choices(self._words, cum_weights=self._weights, k=others)]
        self._draw.shuffle(words)
        return " ".join(words)

    def entries(self, count: int) -> list[Entry]:
        """The next `count` lessons."""
        found: list[Entry] = []
        for number in range(count):
            topic = self._topics[self._draw.randrange(_TOPICS)]
            found.append(
                Entry(
                    prompt=self._text(topic, 6, 6),
                    lesson=self._text(topic, 5, 12),
                    tenant=LARGE_TENANT if number % _SMALL_SHARE else SMALL_TENANT,
                    role=f"role-{number % _ROLES}",
                )
            )
        return found

    def prompts(self, count: int) -> list[str]:
        """The next `count` prompts that no lesson has word for word."""
        return [self._text(self._topics[self._draw.randrange(_TOPICS)], 6, 4) for _ in range(count)]


class Replies:
    """The fake model: a bad score, another lesson each time, and otherwise the same answer."""

    def __init__(self, *, good_at: int = 0) -> None:
        """Make lessons in advance, so that they cost nothing when asked for.

        Every `good_at`-th score is a good one, so that runs one after the other end with that attempt; 0 means none.
        """
        self._good_at = good_at
        self._scored = 0
        self._lessons = itertools.cycle([entry.lesson for entry in Corpus(11).entries(500)])
        self.calls = 0

    def to(self, system: str) -> str:
        """The reply to a request with this system prompt."""
        self.calls += 1
        if system.startswith("EVALUATE"):
            self._scored += 1
            return "score: 1.0" if self._good_at and self._scored % self._good_at == 0 else "score: 0.2"
        if system.startswith("REFLECT"):
            return next(self._lessons)
        return "an answer"


def options() -> dict[str, Any]:
    """What the driver is asked to do: the JSON object that is its only argument."""
    asked: dict[str, Any] = json.loads(sys.argv[1])
    return asked


def answer(result: object) -> None:
    """Print the driver's result."""
    print(json.dumps(result))


def batches(count: int, runs: int) -> Iterator[list[str]]:
    """`count` lists of `runs` prompts each, all different."""
    prompts = Corpus(13).prompts(count * runs)
    for first in range(0, len(prompts), runs):
        yield prompts[first : first + runs]


async def in_turn(run: Callable[[str], Awaitable[object]], prompts: Sequence[str]) -> tuple[float, float]:
    """CPU and wall seconds that each run takes on average, one after the other."""
    began, spent = time.perf_counter(), time.process_time()
    for prompt in prompts:
        await run(prompt)
    return (time.process_time() - spent) / len(prompts), (time.perf_counter() - began) / len(prompts)


async def at_once(run: Callable[[str], Awaitable[object]], prompts: Sequence[str]) -> float:
    """Seconds until all runs, started together, are done."""
    began = time.perf_counter()
    await asyncio.gather(*(run(prompt) for prompt in prompts))
    return time.perf_counter() - began


async def each(ask: Callable[[Any], Awaitable[object]], questions: Sequence[Any]) -> list[float]:
    """Seconds of each question."""
    taken: list[float] = []
    for question in questions:
        began = time.perf_counter()
        await ask(question)
        taken.append(time.perf_counter() - began)
    return taken


async def longest_hold(work: Awaitable[object]) -> float:
    """The longest time, in seconds, for which the event loop ran nothing else while `work` was done."""
    pause = 0.001
    longest = 0.0
    done = asyncio.ensure_future(work)
    last = time.perf_counter()
    while not done.done():
        await asyncio.sleep(pause)
        now = time.perf_counter()
        longest = max(longest, now - last - pause)
        last = now
    await done
    return longest


def rss_mb() -> float:
    """Resident memory of this process now."""
    return _status("VmRSS")


def peak_rss_mb() -> float:
    """Highest resident memory of this process up to now."""
    return _status("VmHWM")


def _status(field: str) -> float:
    try:
        with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 - pathlib would add to the memory
            return next(int(line.split()[1]) for line in status if line.startswith(field)) * _MB
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MB
