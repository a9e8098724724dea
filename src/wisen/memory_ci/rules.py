"""Standing rules: promoted principles and procedures of an agent that stand in each of its prompts, in versions.

A rule is a card, and its words are the card's. The set of an agent's rules is kept in versions, beside the releases in
the store's call log: each names the cards in the order in which they stand, and what their test showed. A rule stands
as long as its card is promoted, whatever the last version says.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal

from wisen.advice.compiler import Recalled
from wisen.cards import MemoryCard, MemoryKind, MemoryStatus, Move
from wisen.errors import ConfigError
from wisen.memory_ci.changes import change_if_there
from wisen.memory_ci.ideas import still_there
from wisen.memory_ci.reasons import kept_reason
from wisen.memory_ci.status import HUMAN
from wisen.memory_ci.verdicts import promoted_for
from wisen.protocols import SettlesFirst, VectorStore
from wisen.recall import CardFilter
from wisen.records import Injection
from wisen.stores.paging import every_card

RULE_KINDS = (MemoryKind.PRINCIPLE, MemoryKind.PROCEDURE)
"""The kinds of cards that become rules; a report is none, though one of a success is kept as a procedure."""
_OVER = ("recheck", "archived", "benched")
"""Stages of a trial in which a promoted card is in doubt, or out of use, for a model."""

Made = Literal["promotion", "human", "replay", "rollback"]
RuleVerdict = Literal["untested", "helps", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRule:
    """One rule of a set, and what the replays with it and without it showed."""

    card_id: str
    verdict: RuleVerdict = "untested"
    """Of the rules that were tested together. One with which the others regress isn't kept."""
    gained: int = 0
    lost: int = 0
    ties: int = 0
    """Clusters of recorded tasks that came out so."""
    model: str = ""
    layout: str = ""
    """Under which it was tested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """A version of an agent's rules."""

    number: int = 0
    """Counts from 1 for each agent of a tenant; 0 is the empty set before the first."""
    at: str = ""
    """When, in ISO 8601."""
    by: Made = "promotion"
    """What made it: a card's promotion, a person, a test, or going back to an earlier version."""
    rules: tuple[StandingRule, ...] = ()
    """In the order in which they stand: the oldest first."""
    dropped: tuple[str, ...] = ()
    """Cards that this version took out, or whose test kept them from standing."""

    @property
    def cards(self) -> tuple[str, ...]:
        """The rules' cards."""
        return tuple(rule.card_id for rule in self.rules)


class StandingRules:
    """The standing rules of the agents of one store.

    Args:
        store: Where cards and versions are. One that isn't a call log and a `KeepsFirst` has no standing rules.
        now: The clock.
        untested: Whether what is promoted becomes a rule at once, before its test as one.
    """

    def __init__(self, store: VectorStore, now: Callable[[], datetime], *, untested: bool = True) -> None:
        self._store = store
        self._log = store if isinstance(store, SettlesFirst) else None
        self._now = now
        self._untested = untested
        self._known: dict[tuple[str, str], list[RuleSet]] = {}

    async def rules(self, where: CardFilter, *, model: str, layout: str, known: Collection[str] = ()) -> list[Recalled]:
        """The rules for a run of agent `where.agent_role` in `where.tenant`, in their order, on their way into advice.

        A rule stands for the model and layout that its card is promoted for, and where the card's scope lets it. The
        run is told those `known` anyway. Everything is looked up by id. Raises what the store raises.
        """
        current = await self.current(where.tenant or "", where.agent_role)
        found = await still_there(self._store, [one for one in current.cards if one not in known])
        return [
            _as_rule(card, current.number)
            for card in found
            if where.accepts(card) and not why_no_rule(card, where.agent_role) and in_use(card, model, layout)
        ]

    async def became(self, card: MemoryCard) -> None:
        """Make a rule of a card that has just been promoted, where it becomes one by itself; raises as the store does.

        What a version had or refused before doesn't.
        """
        tenant, agent = card.scope.tenant, card.provenance.agent
        if self._log is None or not (self._untested and agent and becomes(card, agent)):
            return

        def added(current: RuleSet) -> tuple[StandingRule, ...]:
            new = _undecided([card], self._known[tenant, agent])
            return (*current.rules, *(StandingRule(card_id=one.id) for one in new))

        await self._change(tenant, agent, added, by="promotion", why="it was promoted")

    async def versions(self, tenant: str, agent: str) -> Sequence[RuleSet]:
        """All versions of an agent's rules, oldest first. Raises what the store raises."""
        known = self._known.setdefault((tenant, agent), [])
        if self._log is not None:
            while (line := await self._log.call(rules_scope(tenant), _digest(agent), place := len(known))) is not None:
                known[place:] = known[place:] or [_read(line)]  # another task may have read it meanwhile
        return tuple(known)

    async def current(self, tenant: str, agent: str) -> RuleSet:
        """The version in force. Raises what the store raises."""
        versions = await self.versions(tenant, agent)
        return versions[-1] if versions else RuleSet()

    async def waiting(self, tenant: str, agent: str) -> list[MemoryCard]:
        """Promoted cards that may become rules by themselves, oldest first, and that no version has had or refused.

        These are cards that are to be tested first, and cards promoted without becoming a rule: by an edit, or by an
        earlier version of wisen. It reads all that the tenant has promoted of these kinds.
        """
        where = CardFilter(tenant=tenant, statuses=(MemoryStatus.PROMOTED,), kinds=RULE_KINDS)
        cards = [card async for card in every_card(self._store, where) if becomes(card, agent)]
        return _undecided(cards, await self.versions(tenant, agent))

    async def add(self, card_id: str, why: str, *, agent: str = "") -> RuleSet:
        """Make a promoted card a rule of its agent, untested, by a person's word; gives the version in force.

        Args:
            card_id: Which one: a principle, or a procedure that isn't a report.
            why: The reason, kept in the card's history without secrets and personal data.
            agent: Whose rule it becomes; by default the agent's whose run taught it, and no other's.

        Raises `ConfigError` for a card that can't be one, and without a reason; `StoreError` where the store fails.
        """
        why, card = _reason(why), (await self._store.get([card_id]))[0]
        agent = agent or card.provenance.agent
        if not agent:
            raise ConfigError(f"card {card_id!r} is of no agent's run; name the agent whose rule it is to be")
        if problem := why_no_rule(card, agent):
            raise ConfigError(f"card {card_id!r} can't be a rule of agent {agent!r}: {problem}")

        def added(current: RuleSet) -> tuple[StandingRule, ...]:
            new = () if card_id in current.cards else (StandingRule(card_id=card_id),)
            return (*current.rules, *new)

        return await self._change(card.scope.tenant, agent, added, by=HUMAN, why=why)

    async def drop(self, card_id: str, why: str, *, tenant: str, agent: str) -> RuleSet:
        """Withdraw a rule from the next run on; its card is still recalled where it fits, as others are.

        Raises `ConfigError` if it isn't a rule, and as `add` does.
        """
        why = _reason(why)
        if card_id not in (await self.current(tenant, agent)).cards:
            raise ConfigError(f"card {card_id!r} is no rule of agent {agent!r}; `wisen rules list` shows which are")
        return await self._change(tenant, agent, lambda current: _without(current, [card_id]), by=HUMAN, why=why)

    async def rollback(self, why: str, *, tenant: str, agent: str, to: int | None = None) -> RuleSet:
        """Go back to the rules of an earlier version, by default the last one with others; that is a new version.

        What tests have shown of them since stays known. Raises `ConfigError` for a version that there isn't, and as
        `add` does.
        """
        why, versions = _reason(why), await self.versions(tenant, agent)
        last = versions[-1].cards if versions else ()
        others = (one.number for one in reversed(versions) if one.cards != last)
        wanted = next(others, 0) if to is None else to
        if not 0 <= wanted < len(versions):
            there = f"there are versions 0 to {len(versions) - 1} to go back to" if versions else "it has no rules yet"
            raise ConfigError(f"agent {agent!r} can't go back to version {wanted} of its rules: {there}")
        known = {rule.card_id: rule for version in versions for rule in version.rules}
        rules = tuple(known[one] for one in versions[wanted - 1].cards) if wanted else ()
        said = f"back to version {wanted}: {why}"
        return await self._change(tenant, agent, lambda _: rules, by="rollback", why=said)

    async def tested(self, tenant: str, agent: str, kept: Mapping[str, StandingRule], why: str) -> RuleSet:
        """Write down what a test of rules showed; those that weren't rules before become some."""

        def found(current: RuleSet) -> tuple[StandingRule, ...]:
            rules = (kept.get(one.card_id, one) for one in current.rules)
            return (*rules, *(rule for one, rule in kept.items() if one not in current.cards))

        return await self._change(tenant, agent, found, by="replay", why=why)

    async def refuse(self, tenant: str, agent: str, hurt: Sequence[str]) -> RuleSet:
        """Keep cards from standing, now or by themselves later, since replays came out worse with them."""
        why = "replays came out worse with it"
        return await self._change(
            tenant, agent, lambda current: _without(current, hurt), by="replay", why=why, refused=hurt
        )

    async def _change(
        self,
        tenant: str,
        agent: str,
        change: Callable[[RuleSet], tuple[StandingRule, ...]],
        *,
        by: Made,
        why: str,
        refused: Collection[str] = (),
    ) -> RuleSet:
        """Keep a further version, unless nothing changes; it is made again where somebody else was first."""
        if self._log is None:
            raise ConfigError(f"{type(self._store).__name__} keeps no calls, which versions of rules are kept among")
        while True:
            current = await self.current(tenant, agent)
            rules = change(current)
            gone = tuple(one for one in current.cards if one not in {rule.card_id for rule in rules})
            dropped = tuple(dict.fromkeys((*gone, *refused)))
            if rules == current.rules and not dropped:
                return current
            at = self._now()
            made = RuleSet(number=current.number + 1, at=at.isoformat(), by=by, rules=rules, dropped=dropped)
            line = json.dumps(asdict(made)).encode()
            if await self._log.keep_call(rules_scope(tenant), _digest(agent), current.number, line) == line:
                break
        came = [one for one in made.cards if one not in current.cards]
        for ids, word in ((came, "a standing rule"), (dropped, "no standing rule")):
            for one in ids:
                await self._note(one, f"{word} of agent {agent!r}, version {made.number}: {why}", by=by, at=at)
        return made

    async def _note(self, card_id: str, why: str, *, by: str, at: datetime) -> None:
        """Tell it in the card's history."""

        def noted(card: MemoryCard) -> MemoryCard | None:
            if card.status is MemoryStatus.REJECTED:
                return None
            done = Move(at=at, before=card.status, after=card.status, why=why, by=by)
            return replace(card, history=(*card.history, done))

        await change_if_there(self._store, card_id, noted)


def why_no_rule(card: MemoryCard, agent: str) -> str:
    """Why a card can't stand as a rule of this agent; "" where it can."""
    source, roles = card.provenance, card.scope.agent_roles
    if card.kind not in RULE_KINDS or is_report(card):
        said = "report" if is_report(card) else card.kind.value.replace("_", " ")
        return f"it is a {said}, and only principles and procedures become rules"
    if card.status is not MemoryStatus.PROMOTED or card.held:
        return f"it is {'held' if card.held else card.status.value}; promote it first"
    if card.idea or card.superseded_by:
        return f"it puts card {card.idea} in other words" if card.idea else f"card {card.superseded_by} corrects it"
    whose = ", ".join(roles) if roles and agent not in roles else source.agent
    return "" if whose in ("", agent) else f"it is for agent {whose!r}"


def is_report(card: MemoryCard) -> bool:
    """Whether a procedure is the report of a success; the steps of a report have a card of their own."""
    return card.kind is MemoryKind.PROCEDURE and bool(card.strategy)


def rules_scope(tenant: str) -> str:
    """The scope of the call log that the versions of a tenant's rules are kept under."""
    return f"standing rules {_digest(tenant)}"


def _undecided(cards: Sequence[MemoryCard], versions: Sequence[RuleSet]) -> list[MemoryCard]:
    decided = {one for version in versions for one in (*version.cards, *version.dropped)}
    return [card for card in cards if card.id not in decided]


def becomes(card: MemoryCard, agent: str) -> bool:
    """Whether it becomes a rule by itself: what a run had read, or others wrote, takes a person's word."""
    source = card.provenance
    own = source.agent == agent and source.origin != "imported" and not source.tainted
    return own and not why_no_rule(card, agent)


def in_use(card: MemoryCard, model: str, layout: str) -> bool:
    """Whether the card is promoted for this model and layout, and nothing has put that in doubt."""
    doubted = any((one.model, one.layout) == (model, layout) and one.stage in _OVER for one in card.trials)
    return not doubted and promoted_for(card, model=model, layout=layout)


def _as_rule(card: MemoryCard, version: int) -> Recalled:
    injection = Injection(
        card_id=card.id,
        kind=card.kind.value,
        reasons=(f"standing rule, version {version}",),
        score=0.0,
        idea=card.id,
        tainted=card.provenance.tainted,
        rule=version,
    )
    return Recalled(card=card, injection=injection, rivals=card.rivals)


def _without(current: RuleSet, gone: Collection[str]) -> tuple[StandingRule, ...]:
    return tuple(one for one in current.rules if one.card_id not in gone)


def _reason(why: str) -> str:
    if not (kept := kept_reason(why)).strip():
        raise ConfigError("rules change only with a reason; say why")
    return kept


def _read(line: bytes) -> RuleSet:
    told: Any = json.loads(line)
    told["rules"] = tuple(StandingRule(**rule) for rule in told["rules"])
    told["dropped"] = tuple(told["dropped"])
    return RuleSet(**told)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
