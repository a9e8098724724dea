"""Which cards answer a query: by similarity, by task type and tool, or by vector across all agents."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NamedTuple

from wisen.cards import REPORT_KINDS, MemoryCard, MemoryKind, MemoryStatus
from wisen.errors import ConfigError
from wisen.identity import same_form
from wisen.protocols import VectorStore
from wisen.recall import RECALLABLE, CardFilter, RecallHit, RecallQuery
from wisen.stores.card_store import search_each

REPORTS = REPORT_KINDS
"""The kinds of cards that reports are kept as."""

_NEVER = (MemoryStatus.ARCHIVED, MemoryStatus.REJECTED)
_PAGE = 100
_MOST = 2_000
_MOST_READ = 20_000
_ASKED_PER_HIT = 8
_ENDPOINT = re.compile(r"(?<![\w/.])/[\w.{}-]{1,80}(?:/[\w.{}-]{1,80}){0,8}")
_HOST = re.compile(r"(?<![\w.@-])[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,6}\.[a-z]{2,24}(?![\w-])")
_API = re.compile(r"\b(\w{1,60}) api\b")
_WEAK_WORDS = frozenset(("a", "an", "any", "each", "every", "its", "no", "one", "our", "some", "that", "the", "this"))


@dataclass(frozen=True, slots=True, kw_only=True)
class BySimilarity:
    """The store's own search: similar situations first, from any agent."""

    name: str = "similarity"

    async def hits(self, store: VectorStore, query: RecallQuery) -> list[RecallHit]:
        """See `Ranker.hits`."""
        return [hit for hit in await store.search(query) if self.gives(hit, query)]

    async def hits_of_each(self, store: VectorStore, queries: Sequence[RecallQuery]) -> list[list[RecallHit]]:
        """What `hits` gives for each of these queries of one tenant, by one search unless a subclass has changed it."""
        if type(self).hits is not BySimilarity.hits:
            return [await self.hits(store, query) for query in queries]
        found = await search_each(store, queries)
        return [[hit for hit in hits if self.gives(hit, query)] for hits, query in zip(found, queries, strict=True)]

    def gives(self, hit: RecallHit, query: RecallQuery) -> bool:  # noqa: ARG002 - a subclass may look at the query
        """Whether a hit of the store's is one of the ranker's."""
        return _may_be_shown(hit.card)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FewReports:
    """How many reports are given, and what counts as one."""

    last: int = 3
    """Most hits, however many the query asks for."""
    kinds: tuple[MemoryKind, ...] = REPORTS

    def __post_init__(self) -> None:
        """Refuse what can't be meant with `ConfigError`."""
        if not isinstance(self.last, int) or self.last < 1:  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            raise ConfigError(f"{type(self).__name__}(last={self.last!r}): must be 1 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class ByTaskType(_FewReports):
    """The agent's own last reports on the same type of task, then on the same tool or API, then the newest.

    A report about neither the same type nor the same tool isn't relevant. Where the task has no type, a similar task
    counts as one of the same type, as the store's search finds it. The agent is the one that `query.filter.agent_role`
    names; with none named, every agent's reports count. It looks through the agent's 2,000 newest.
    """

    name: str = "task-type"

    async def hits(self, store: VectorStore, query: RecallQuery) -> list[RecallHit]:
        """See `Ranker.hits`."""
        where = _only(query.filter, self.kinds)
        if where is None:
            return []
        wanted, room = _Wanted.of(query), min(self.last, query.k)
        if not wanted.task_type:
            asked = replace(query, filter=where, k=_ASKED_PER_HIT * (room + 1))
            wanted = replace(wanted, similar={hit.card.id: hit for hit in await store.search(asked)})
        found: list[tuple[_Match, MemoryCard]] = []
        seen, end = 0, await store.count(where)
        # From the newest to the oldest, and no further than where nothing older could be better.
        while end > 0 and seen < _MOST:
            begin = max(0, end - _PAGE)
            page = await store.list(where, limit=end - begin, offset=begin)
            own = [card for card in page if _is_own(card, query)]
            found += [(match, card) for card in own if (match := wanted.match(card)) is not None]
            seen, end = seen + len(page), begin
            if sum(match.best for match, _ in found) >= room:
                break
        found.sort(key=lambda one: (one[0].same_kind, bool(one[0].names), *_newest(one[1])), reverse=True)
        return [match.hit(card) for match, card in found[:room]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcrossAgents(_FewReports):
    """The reports whose vectors are nearest to the task's, whichever agent wrote them.

    What a card's scope forbids stays forbidden: one that is meant for certain roles comes to these alone.
    """

    name: str = "across-agents"

    async def hits(self, store: VectorStore, query: RecallQuery) -> list[RecallHit]:
        """See `Ranker.hits`."""
        where = _only(query.filter, self.kinds)
        if where is None:
            return []
        room = min(self.last, query.k)
        wide = replace(query, filter=where, k=_ASKED_PER_HIT * (room + 1))
        hits = [hit for hit in await store.search(wide) if _may_be_shown(hit.card) and _is_report(hit.card)]
        found = [hit for hit in hits if not _asks(hit.card, query)]
        found.sort(key=lambda hit: (hit.fit, hit.vector), reverse=True)  # equals stay in the store's order
        return [_by_vector(hit) for hit in found[:room]]


class _Match(NamedTuple):
    """Why a card answers a query."""

    same_type: str
    """The type that both name, "" where they don't."""
    similar: RecallHit | None
    """How the store found it for a task without a type; `None` where it didn't."""
    names: tuple[str, ...]
    """Tools and APIs that both name."""
    best: bool
    """Whether no other card could match better."""

    @property
    def same_kind(self) -> bool:
        """Whether it is about the same kind of task."""
        return bool(self.same_type or self.similar)

    def hit(self, card: MemoryCard) -> RecallHit:
        reasons = [f"same task type: {self.same_type}"] if self.same_type else []
        reasons += self.similar.reasons if self.similar else ()
        reasons += [f"same tool or API: {', '.join(self.names)}"] if self.names else []
        if card.provenance.created_at.year > 1:
            reasons.append(f"of {card.provenance.created_at:%Y-%m-%d}")
        relevance = 0.9 if self.same_kind else 0.6
        return RecallHit(card=card, relevance=relevance + (0.05 if self.names else 0.0), reasons=tuple(reasons))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a task is about, and what a report has to be about to answer it."""

    task_type: str
    tools: frozenset[str]
    apis: frozenset[str]
    text: str
    similar: Mapping[str, RecallHit] = field(default_factory=dict[str, RecallHit])
    """What the store finds for a task without a type, by card."""

    @classmethod
    def of(cls, query: RecallQuery) -> "_Wanted":
        situation, text = query.situation, _readable(query.situation.prompt)
        tools = frozenset(_folded((*situation.tools, *(query.filter.tools or ()))))
        return cls(same_form(situation.task_type or query.filter.task_type), tools, frozenset(_apis(text)), text)

    def match(self, card: MemoryCard) -> _Match | None:
        types = {same_form(one) for one in (card.situation.task_type, *card.scope.task_types) if one}
        same_type = self.task_type if self.task_type in types else ""
        text = _readable(f"{card.text}\n{card.situation.prompt}")
        theirs = set(_folded((*card.situation.tools, *card.scope.tool_names)))
        shared = theirs & self.tools
        shared |= {one for one in self.tools | self.apis if _names(text, one)}
        shared |= {one for one in theirs if _names(self.text, one)}
        similar = self.similar.get(card.id)
        if not (same_type or similar or shared):
            return None
        best = bool(same_type or similar) and bool(shared or not (self.tools or self.text))
        return _Match(same_type, similar, tuple(sorted(shared)), best)


def _only(where: CardFilter, kinds: tuple[MemoryKind, ...]) -> CardFilter | None:
    """The filter, narrowed to reports in use; `None` where nothing can be left."""
    statuses = tuple(one for one in where.statuses or RECALLABLE if one not in _NEVER)
    kinds = tuple(one for one in where.kinds or kinds if one in kinds)
    return replace(where, statuses=statuses, kinds=kinds) if statuses and kinds else None


def _may_be_shown(card: MemoryCard) -> bool:
    return card.status not in _NEVER and not card.superseded_by


def _is_report(card: MemoryCard) -> bool:
    """Whether it is a report, and not the steps of one that have a card of their own."""
    return card.kind is not MemoryKind.PROCEDURE or bool(card.strategy)


def _asks(card: MemoryCard, query: RecallQuery) -> bool:
    return bool(query.without_run) and card.provenance.run_id == query.without_run


def _is_own(card: MemoryCard, query: RecallQuery) -> bool:
    """Whether it is a report of the agent that asks, of another run than the one that asks."""
    agent = query.filter.agent_role
    author = card.provenance.agent
    wrote_it = not agent or agent == author or (not author and agent in card.scope.agent_roles)
    return wrote_it and _may_be_shown(card) and _is_report(card) and not _asks(card, query)


def _newest(card: MemoryCard) -> tuple[datetime, str]:
    at = card.provenance.created_at
    return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)), card.id


def _by_vector(hit: RecallHit) -> RecallHit:
    """The hit with the vector's word on how relevant it is, so that what is shown is ordered by nothing else."""
    near = min(max(hit.vector, 0.0), 1.0)
    author = hit.card.provenance.agent
    said = (*hit.reasons, f"report of {author}") if author else hit.reasons
    return replace(hit, relevance=near, reasons=said)


def _folded(names: Iterable[str]) -> Sequence[str]:
    return [folded for one in names if (folded := one.strip().casefold())]


def _readable(text: str) -> str:
    return text[:_MOST_READ].casefold()


def _apis(text: str) -> Iterable[str]:
    """What a text, in lower case, names as an API: endpoints, hosts, and "… API"."""
    yield from (match[0].rstrip(".") for match in _ENDPOINT.finditer(text))
    yield from (match[0] for match in _HOST.finditer(text))
    yield from (match[0] for match in _API.finditer(text) if match[1] not in _WEAK_WORDS)


def _names(text: str, name: str) -> bool:
    """Whether the name stands in the text as a word of its own."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        before, after = text[at - 1 : at], text[end : end + 1]
        if not ((before.isalnum() or before == "_") and name[0].isalnum()) and not (after.isalnum() or after == "_"):
            return True
        at = text.find(name, end)
    return False
