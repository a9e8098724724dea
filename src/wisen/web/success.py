"""Success with memory and without it over time: what stands above every view, and the chart of an idea's evidence."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from math import log, log10

from wisen.experiments.charts import Axes, Series, chart, figure, legend
from wisen.explain.wording import counted
from wisen.memory_ci.statistics import wilson_interval
from wisen.protocols import SurveysRuns
from wisen.records import RunMark

_PARTS = 24
_FRESH = 10.0
"""Seconds for which figures serve; then they are looked up again while the page shows those from before."""
_STALE = 120.0
"""Seconds after which nobody is shown the figures from before."""
_TEN = log(10.0)
_FEW = 40
_WIDTH, _HEIGHT = 660, 96
_LEFT, _TOP, _RIGHT, _BOTTOM = 48, 26, 12, 26


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstTries:
    """How many runs of a time were good at their first attempt."""

    good: int
    runs: int

    @property
    def share(self) -> float:
        """In [0, 1]; 0 without runs."""
        return self.good / self.runs if self.runs else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """What runs came to, with memory and without."""

    advised: FirstTries
    bare: FirstTries
    picture: str
    """SVG; "" where no run has been judged."""
    since: str
    until: str

    @property
    def told(self) -> str:
        """It as a sentence."""
        return (
            f"With lessons {self.advised.good} of {counted(self.advised.runs, 'run')} "
            f"{'was' if self.advised.runs == 1 else 'were'} good at the first attempt, "
            f"without {self.bare.good} of {self.bare.runs}."
        )


def success_of(marks: Sequence[RunMark]) -> Success:
    """The figures and the picture of these runs, given oldest first."""
    advised, bare = (_first_tries([one for one in marks if one.advised is whether]) for whether in (True, False))
    since, until = (f"{marks[at].started_at:%d %b %Y}" if marks else "" for at in (0, -1))
    return Success(advised=advised, bare=bare, picture=_picture(marks, since, until), since=since, until=until)


def _first_tries(marks: Sequence[RunMark]) -> FirstTries:
    return FirstTries(good=sum(one.good for one in marks), runs=len(marks))


def _picture(marks: Sequence[RunMark], since: str, until: str) -> str:
    if not marks:
        return ""
    begin, end = marks[0].started_at, marks[-1].started_at
    span = max((end - begin).total_seconds(), 1.0)

    def part(mark: RunMark) -> int:
        return min(int((mark.started_at - begin).total_seconds() / span * _PARTS), _PARTS - 1)

    lines: list[Series] = []
    for name, whether in (("with lessons", True), ("without", False)):
        rates = {
            at: _first_tries([*some])
            for at, some in groupby((one for one in marks if one.advised is whether), key=part)
        }
        ends = {at: wilson_interval(rate.good, rate.runs) for at, rate in rates.items()}
        points = [(at + 0.5, rate.share) for at, rate in rates.items()]
        band = [(at + 0.5, *ends[at]) for at in rates] if len(rates) > 1 else []
        lines.append(Series(name=name, points=points, band=band, dots=len(rates) <= _PARTS))
    axes = Axes(
        width=_WIDTH,
        height=_HEIGHT,
        x=(0, _PARTS),
        y=(0, 1),
        x_labels=((0, since), (_PARTS, until)) if since != until else ((0, since),),
        y_labels=((0, "0 %"), (0.5, "50 %"), (1, "100 %")),
    )
    return picture(
        axes, lines, "Share of runs that were good at the first attempt, with lessons and without, over time"
    )


def picture(axes: Axes, lines: Sequence[Series], title: str) -> str:
    """A chart with its names above it, as a page has it."""
    drawn = f"{legend(lines, apart=110)}\n{chart(axes, lines)}"
    size = (axes.width + _LEFT + _RIGHT, axes.height + _TOP + _BOTTOM)
    return figure(f'<g transform="translate({_LEFT} {_TOP})">{drawn}</g>', size=size, title=title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A run that a coin let see an idea or not, and the evidence after it."""

    at: datetime
    log_e: float
    """The natural logarithm of the e-value for "helps"."""


def evidence_picture(draws: Sequence[Drawn], *, bar: float) -> str:
    """The e-value over the runs that were drawn, on a logarithmic scale; "" without any."""
    if not draws:
        return ""
    heights = [one.log_e / _TEN for one in draws]
    low, high = min(-1.0, *heights), max(log10(bar) + 0.5, *heights)
    axes = Axes(
        width=_WIDTH,
        height=150,
        x=(0, len(draws)),
        y=(low, high),
        x_labels=((0, f"{draws[0].at:%d %b %Y}"), (len(draws), f"{draws[-1].at:%d %b %Y}, run {len(draws)}")),
        y_labels=[(power, f"{10.0**power:g}") for power in range(-3, 7) if low <= power <= high],
        marks=((log10(bar), f"promotes at {bar:.3g}"), (0.0, "no evidence")),
    )
    line = Series(name='e-value for "helps"', points=[*enumerate(heights, start=1)], dots=len(draws) <= _FEW)
    return picture(axes, [line], "The e-value of the trial after each run that was drawn")


class SuccessBoard:
    """The figures for every tenant, looked up at most once in a while, however many pages are asked for."""

    def __init__(self, store: SurveysRuns, monotonic: Callable[[], float]) -> None:
        self._store = store
        self._monotonic = monotonic
        self._known: dict[str, tuple[float, Success]] = {}
        self._asking: dict[str, asyncio.Task[Success]] = {}

    async def of(self, tenant: str) -> Success:
        """A tenant's figures, some seconds old at most when pages are asked for often. Raises what the store raises."""
        known = self._known.get(tenant)
        if known is not None and self._monotonic() - known[0] < _FRESH:
            return known[1]
        asking = self._asking.get(tenant)
        if asking is None:
            asking = self._asking[tenant] = asyncio.create_task(self._look(tenant))
            asking.add_done_callback(lambda _: self._asking.pop(tenant, None))
        if known is not None and self._monotonic() - known[0] < _STALE:
            asking.add_done_callback(_noticed)
            return known[1]
        return await asyncio.shield(asking)

    async def _look(self, tenant: str) -> Success:
        marks = await self._store.run_marks(tenant=tenant)
        found = await asyncio.to_thread(success_of, marks)
        self._known[tenant] = (self._monotonic(), found)
        return found


def _noticed(task: "asyncio.Task[Success]") -> None:
    if not task.cancelled():
        task.exception()  # the next page asks again, and tells
