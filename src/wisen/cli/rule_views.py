"""How `wisen rules` tells which rules stand, what their tests showed, and how the versions came to be."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from wisen.cards import MemoryCard
from wisen.cli.output import Column, print_table

if TYPE_CHECKING:
    from wisen.memory_ci.rules import RuleSet, StandingRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One agent's rules."""

    tenant: str
    agent: str
    versions: "tuple[RuleSet, ...]"
    waiting: Sequence[MemoryCard]
    """Promoted cards that become rules once a test allows it, or a person says so."""
    cards: Mapping[str, MemoryCard]

    @property
    def number(self) -> int:
        """The version in force; 0 before the first."""
        return len(self.versions)

    @property
    def rules(self) -> "tuple[StandingRule, ...]":
        """Those of that version."""
        return self.versions[-1].rules if self.versions else ()

    def why_not(self, card_id: str) -> str:
        """Why a rule isn't in force after all; "" if it is."""
        from wisen.memory_ci.rules import why_no_rule  # noqa: PLC0415 - imports the screen and its tables

        card = self.cards.get(card_id)
        return "its card is gone" if card is None else why_no_rule(card, self.agent)

    def text(self, card_id: str) -> str:
        """What the rule says; "" where its card is gone."""
        card = self.cards.get(card_id)
        return "" if card is None else card.text


def tested(rule: "StandingRule") -> str:
    """What the test of a rule showed, in words."""
    if rule.verdict == "untested":
        return "untested"
    clusters = rule.gained + rule.lost + rule.ties
    return (
        f"{rule.verdict}: {clusters} replayed, {rule.gained} gained, {rule.lost} lost (model {rule.model or 'unknown'})"
    )


def print_rules(found: Sequence[Listed]) -> None:
    """A line for each rule, in the order in which they stand, and for each card that waits."""
    rows = [
        (one.agent, one.tenant, str(one.number), rule.card_id, state, tested(rule), one.text(rule.card_id))
        for one in found
        for rule in one.rules
        for state in [one.why_not(rule.card_id) or "stands"]
    ]
    rows += [
        (one.agent, one.tenant, "", card.id, "waits", "untested", card.text) for one in found for card in one.waiting
    ]
    columns = (
        Column(heading="agent", spare=1),
        Column(heading="tenant", spare=3),
        Column(heading="version", number=True, spare=2),
        Column(heading="card", id=True),
        Column(heading="state"),
        Column(heading="test", spare=1),
        Column(heading="text", wide=True),
    )
    if rows:
        print_table(columns, rows)


def print_versions(found: Sequence[Listed]) -> None:
    """A line for each version, with what it brought and what it took out."""
    rows = list[tuple[str, ...]]()
    for one in found:
        before: tuple[str, ...] = ()
        for version in one.versions:
            came = [card for card in version.cards if card not in before]
            said = [f"added {card}" for card in came] + [f"dropped {card}" for card in version.dropped]
            at = version.at[:19].replace("T", " ")
            told = ", ".join(said) or "tests written down"
            rows.append((one.agent, one.tenant, str(version.number), at, version.by, str(len(version.rules)), told))
            before = version.cards
    columns = (
        Column(heading="agent"),
        Column(heading="tenant", spare=3),
        Column(heading="version", number=True),
        Column(heading="at", spare=2),
        Column(heading="by"),
        Column(heading="rules", number=True, spare=1),
        Column(heading="what", wide=True),
    )
    if rows:
        print_table(columns, rows)


def as_json_of(one: Listed) -> dict[str, object]:
    """One agent's rules as JSON values."""
    rules = [
        {**asdict(rule), "stands": not one.why_not(rule.card_id), "why_not": one.why_not(rule.card_id)}
        | {"text": one.text(rule.card_id)}
        for rule in one.rules
    ]
    return {
        "agent": one.agent,
        "tenant": one.tenant,
        "version": one.number,
        "rules": rules,
        "waiting": [{"card_id": card.id, "text": card.text} for card in one.waiting],
        "versions": [
            {
                "number": version.number,
                "at": version.at,
                "by": version.by,
                "rules": list(version.cards),
                "dropped": list(version.dropped),
            }
            for version in one.versions
        ],
    }
