"""Numbers that a store gives out once: to each trial when it begins, and to each idea that a trial promotes.

Which trial of a store it is decides how much evidence it needs (see `verdicts.bar`). So the numbers have to be the same
for all processes. A call log that keeps the first of two writes settles that.

Trials of one family that begin one after another are a cohort, `COHORT` of them, and the first trial is one by itself.
False discoveries are bounded in each, so that a store of any age still promotes.
"""

import asyncio
from collections.abc import Mapping
from typing import get_args

from wisen.protocols import SettlesFirst, VectorStore
from wisen.trial_records import Cohort, Family, Trial

COHORT = 30
"""So many trials, by their numbers, are one cohort; but for the first one."""
_SCOPE = "memory-ci"


class SequenceNumbers:
    """One series of numbers of a store.

    Args:
        store: Where it is kept. One that isn't a call log and a `KeepsFirst` counts for this process alone.
        series: Its name.
    """

    def __init__(self, store: VectorStore, series: str) -> None:
        self._log = store if isinstance(store, SettlesFirst) else None
        self._series = series
        self._known: dict[str, int] = {}
        self._last = 0

    @property
    def known(self) -> int:
        """The highest number that this process knows of; there may be higher ones."""
        return self._last

    async def of(self, name: str) -> int:
        """The number of `name`, from 1: the one that it has, or the next one. Raises what the store raises.

        One that it got elsewhere is found among the last `COHORT`: another process may have given it at the same time,
        or been cut off before it used it.
        """
        if not await self.has(name):
            number = self._last + 1
            # Two processes may come at once; whoever was second takes the next one.
            while self._log is not None and not await self._took(self._log, number, name):
                number += 1
            self._known[name] = number
            self._last = max(self._last, number)
        return self._known[name]

    async def has(self, name: str) -> bool:
        """Whether `name` has a number, as far as `of` would find it. Raises what the store raises."""
        if name not in self._known and self._log is not None:
            number = await self._given(self._log, await self.last() + 1, name)
            self._known |= {} if number is None else {name: number}
        return name in self._known

    async def names(self, among: range) -> list[str]:
        """The names that have these numbers, in their order."""
        wanted = range(among.start, min(among.stop, await self.last() + 1))
        known = {number: name for name, number in self._known.items()}
        if self._log is not None:
            unseen = [number for number in wanted if number not in known]
            kept = await asyncio.gather(*(self._log.call(_SCOPE, self._series, number) for number in unseen))
            seen = {number: name.decode() for number, name in zip(unseen, kept, strict=True) if name is not None}
            self._known |= {name: number for number, name in seen.items()}
            known |= seen
        return [known[number] for number in wanted if number in known]

    async def last(self) -> int:
        """The highest number that was given out."""
        if self._log is not None:
            self._last = await self._end(self._log, self._last)
        return self._last

    async def _given(self, log: SettlesFirst, end: int, name: str) -> int | None:
        """The number of `name` among the last ones before `end`."""
        lately = range(max(1, end - COHORT), end)
        names = await asyncio.gather(*(log.call(_SCOPE, self._series, number) for number in lately))
        return next((number for number, kept in zip(lately, names, strict=True) if kept == name.encode()), None)

    async def _took(self, log: SettlesFirst, number: int, name: str) -> bool:
        return await log.keep_call(_SCOPE, self._series, number, name.encode()) == name.encode()

    async def _end(self, log: SettlesFirst, known: int) -> int:
        """The highest number that is taken, from one that is known to be: by steps that double, then by halves."""
        step = 1
        while await log.call(_SCOPE, self._series, known + step) is not None:
            known, step = known + step, 2 * step
        while step > 1:
            step //= 2
            if await log.call(_SCOPE, self._series, known + step) is not None:
                known += step
        return known


class TrialNumbers:
    """The numbers of a store's trials, in each family by itself."""

    def __init__(self, store: VectorStore) -> None:
        self._families = {family: SequenceNumbers(store, _series(family)) for family in get_args(Family)}

    async def of(self, name: str, family: Family = "") -> int:
        """As `SequenceNumbers.of`."""
        return await self._families[family].of(name)

    async def in_cohort_of(self, trial: int, family: Family = "") -> list[str]:
        """The names of the trials in the cohort of the family's trial with this number, in their order."""
        first = max(1, 2 + (cohort_of(trial) - 2) * COHORT)
        return await self._families[family].names(range(first, first + size_of_cohort(trial)))


class Promotions:
    """How many ideas trials have promoted, by the cohorts of these trials."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self._cohorts: dict[Cohort, SequenceNumbers] = {}

    def __reduce__(self) -> "tuple[type[Promotions], tuple[VectorStore]]":
        """A copy asks the store again."""
        return Promotions, (self._store,)

    def in_cohort_of(self, trial: int, family: Family = "") -> SequenceNumbers:
        """The promotions in the cohort of the family's trial with this number."""
        cohort = family, cohort_of(trial)
        series = " ".join(filter(None, ("promotions of", family, f"cohort {cohort[1]}")))
        return self._cohorts.setdefault(cohort, SequenceNumbers(self._store, series))

    async def beside(self, trial: Trial) -> dict[Cohort, int]:
        """How many ideas were promoted in the trial's cohort, as `promoted_beside` reads it."""
        number = max(trial.number, 1)
        return {(trial.family, cohort_of(number)): await self.in_cohort_of(number, trial.family).last()}


def cohort_of(trial: int) -> int:
    """Which cohort a trial with this number is in: 1 for a store's first trial, 0 for one that hasn't begun."""
    return 1 - (1 - trial) // COHORT if trial else 0


def size_of_cohort(trial: int) -> int:
    """How many trials the cohort of the trial with this number has."""
    return 1 if cohort_of(trial) == 1 else COHORT


async def promoted_by_trials(store: VectorStore) -> dict[Cohort, int]:
    """How many ideas trials have promoted, by their cohorts, which tells how much evidence the next one needs."""
    promotions, found = Promotions(store), dict[Cohort, int]()
    for family in get_args(Family):
        last = await SequenceNumbers(store, _series(family)).last()
        for trial in range(1, last + 1):
            if cohort_of(trial) != cohort_of(trial - 1):
                found[family, cohort_of(trial)] = await promotions.in_cohort_of(trial, family).last()
    return found


def promoted_beside(trial: Trial, promoted: Mapping[Cohort, int]) -> int:
    """How many ideas were promoted in the trial's cohort."""
    return promoted.get((trial.family, cohort_of(max(trial.number, 1))), 0)


def _series(family: Family) -> str:
    return f"trials of {family}" if family else "trials"
