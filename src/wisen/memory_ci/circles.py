"""What the runs of a circle have used, and what a card names beyond that.

A lesson of a run that had read others' text may carry what that text wanted: an address to send to, a package to
install. Its wording doesn't tell. That nobody in its circle ever used such a thing does.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from wisen.cards import MemoryCard
from wisen.protocols import RunLog
from wisen.records import ENDED, RunRecord
from wisen.screening.sinks import find_sinks, words_of
from wisen.threads import in_thread

_PAGE = 50
_MOST_RUNS = 1_000


@dataclass(slots=True)
class _Tenant:
    """What the runs of one tenant have used, by agent and owner, and the runs that were read."""

    words: defaultdict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    read: set[str] = field(default_factory=set[str])


class Circles:
    """Knows the circles of one store, as far as it keeps runs: of a tenant's last 1,000, and of all since."""

    def __init__(self, store: object) -> None:
        self._store = store
        self._tenants: defaultdict[str, _Tenant] = defaultdict(_Tenant)

    def __reduce__(self) -> "tuple[type[Circles], tuple[object]]":
        """A copy reads the runs again."""
        return Circles, (self._store,)

    async def held_for(self, card: MemoryCard, known: str) -> tuple[str, ...]:
        """The phrases of a tainted card that name a sink which its circle never used, each once.

        The circle's own tasks count, the tools and outputs of its runs that passed, and `known`: what the run's own
        task and tools say. Raises what the store raises.
        """
        text = card.text
        sinks = find_sinks(text) if card.provenance.tainted else []
        if not sinks:
            return ()
        used = _words(known, card.situation.prompt, *card.situation.tools)
        sinks = [sink for sink in sinks if sink.value not in used]
        if sinks and isinstance(self._store, RunLog):
            source = card.provenance
            used = await self._used(self._store, card.scope.tenant, (source.agent, source.owner))
            sinks = [sink for sink in sinks if sink.value not in used]
        return tuple(dict.fromkeys(text[sink.start : sink.end] for sink in sinks))

    async def _used(self, log: RunLog, tenant: str, circle: tuple[str, str]) -> Iterable[str]:
        known, offset = self._tenants[tenant], 0
        while offset < _MOST_RUNS:
            runs = await log.runs(tenant=tenant, limit=_PAGE, offset=offset)
            unread = [run for run in runs if run.run_id not in known.read and run.status in ENDED]
            for run, words in await in_thread(_all_used_by, unread):
                known.read.add(run.run_id)
                known.words[run.agent, run.task.owner] |= words
            if not unread or len(runs) < _PAGE:
                break
            offset += _PAGE
        return known.words[circle]


def _all_used_by(runs: Iterable[RunRecord]) -> list[tuple[RunRecord, frozenset[str]]]:
    return [(run, _used_by(run)) for run in runs]


def _used_by(run: RunRecord) -> frozenset[str]:
    """What the run's task names, and where it passed, what its answer and its tools' calls did."""
    passed = run.status == "satisfied"
    did = (run.output, *(name for attempt in run.attempts[-1:] for name in attempt.used)) if passed else ()
    return _words(run.task.prompt, *run.task.tools, *did)


def _words(*texts: str) -> frozenset[str]:
    return frozenset[str]().union(*map(words_of, texts))
