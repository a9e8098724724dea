"""Which cards become an agent's standing rules, in which order and versions, and what people decide on them."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from ruling import CLERK, LAYOUT, NOON, later, made, promoted, standing

from wisen import (
    CardFilter,
    HashEmbedder,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    MemoryScope,
    MemoryStatus,
    VectorStore,
)
from wisen.advice.compiler import Recalled
from wisen.cards import Provenance
from wisen.errors import ConfigError
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.forgetting import Whom, forget
from wisen.memory_ci.rules import StandingRule, StandingRules, rules_scope, why_no_rule
from wisen.records import Injection
from wisen.stores.postgres.store import PostgresVectorStore
from wisen.trial_records import Trial

pytestmark = pytest.mark.anyio
UNITS, TABLES = promoted("Name the unit."), later(promoted("Read the table.", run_id="s"), 1)
STEPS = later(promoted("These steps worked:", kind=MemoryKind.PROCEDURE, steps=("Look.", "Ask.")), 2)


async def test_each_promotion_makes_a_version_and_the_order_stays(any_store: VectorStore) -> None:
    ci = await made(any_store, TABLES, UNITS)
    assert await standing(ci.standing) == ["Read the table.", "Name the unit."]
    older = promoted("Older.", run_id="t", created_at=NOON.replace(hour=1))
    await made(any_store, STEPS, older, UNITS)
    assert await standing(ci.standing) == ["Read the table.", "Name the unit.", "These steps worked:", "Older."]
    first, second, _, last = await ci.standing.versions("", "clerk")
    assert (first.number, first.by, first.cards, first.at) == (1, "promotion", (TABLES.id,), NOON.isoformat())
    assert (second.number, second.cards) == (2, (TABLES.id, UNITS.id))
    assert [rule.verdict for rule in last.rules] == ["untested"] * 4
    kept = (await any_store.get([UNITS.id]))[0]
    assert kept.history[-1].why == "a standing rule of agent 'clerk', version 2: it was promoted"
    assert kept.status is UNITS.status


async def test_a_person_a_trial_and_a_replay_promote_rules(any_store: VectorStore) -> None:
    """A person here; trials and replays in the tests of runs and replays."""
    ci = MemoryCI(any_store)
    source = Provenance(run_id="r", agent="clerk", created_by="reflexion")
    taught = MemoryCard(kind=MemoryKind.PRINCIPLE, content="Name the unit.", provenance=source)
    card_id = (await ci.submit(taught)).card_id
    assert await standing(ci.standing) == []
    card = await ci.promote(card_id, "it helps")
    assert await standing(ci.standing) == ["Name the unit."]
    assert card.history[-1].by == "promotion"


async def test_another_process_sees_the_same_versions(any_store: VectorStore) -> None:
    ci = await made(any_store, UNITS, TABLES)
    await standing(ci.standing)
    other = MemoryCI(any_store, now=lambda: NOON)
    await other.standing.drop(UNITS.id, "no use", tenant="", agent="clerk")
    assert await standing(ci.standing) == ["Read the table."]
    assert await ci.standing.versions("", "clerk") == await other.standing.versions("", "clerk")


async def test_two_that_change_rules_at_once_lose_nothing(any_store: VectorStore) -> None:
    cards = [promoted(f"Rule {number}.", run_id=f"r{number}") for number in range(6)]
    await any_store.add_unscreened(cards)
    several = [MemoryCI(any_store, trust="replayed").standing for _ in range(3)]
    await asyncio.gather(*(several[place % 3].add(card.id, "wanted") for place, card in enumerate(cards)))
    for rules in several:
        versions = await rules.versions("", "clerk")
        assert [one.number for one in versions] == [1, 2, 3, 4, 5, 6]
        assert set(versions[-1].cards) == {card.id for card in cards}


WITHOUT = {
    "a lesson": promoted("x", kind=MemoryKind.LESSON),
    "a pattern": promoted("x", kind=MemoryKind.FAILURE_PATTERN),
    "the report of a success": promoted("x", kind=MemoryKind.PROCEDURE, strategy="Look twice."),
    "in quarantine": replace(promoted("x"), status=MemoryStatus.QUARANTINED),
    "archived": replace(promoted("x"), status=MemoryStatus.ARCHIVED),
    "held": replace(promoted("x"), held=("evil.example",)),
    "tainted": promoted("x", tainted=True),
    "imported": promoted("x", created_by="import"),
    "another wording": replace(promoted("x"), idea="head"),
    "corrected": replace(promoted("x"), superseded_by="newer"),
    "another agent's": promoted("x", agent="porter"),
    "for another role": promoted("x", scope=MemoryScope(agent_roles=("porter",))),
    "for other roles": promoted("x", scope=MemoryScope(agent_roles=("porter", "guard"))),
    "of no agent": promoted("x", agent=""),
    "of another tenant": promoted("x", scope=MemoryScope(tenant="acme")),
}


@pytest.mark.parametrize("card", WITHOUT.values(), ids=WITHOUT)
async def test_nothing_else_becomes_a_rule_by_itself(card: MemoryCard) -> None:
    ci = await made(InMemoryVectorStore(), card)
    assert await ci.standing.waiting("", "clerk") == []
    assert await standing(ci.standing) == []
    assert await ci.standing.versions("", "clerk") == ()


@pytest.mark.parametrize("which", ["tainted", "imported", "of no agent"])
async def test_a_person_may_make_a_rule_of_what_a_run_had_read_or_others_wrote(which: str) -> None:
    ci = await made(InMemoryVectorStore(), card := WITHOUT[which])
    await ci.standing.add(card.id, "I have read it; mail me at joe@example.com", agent="clerk")
    assert await standing(ci.standing) == ["x"]
    assert "joe@example.com" not in (await ci.store.get([card.id]))[0].history[-1].why


@pytest.mark.parametrize(
    ("which", "why"),
    [
        ("a lesson", "it is a lesson, and only principles and procedures become rules"),
        ("a pattern", "it is a failure pattern, and only principles and procedures become rules"),
        ("the report of a success", "it is a report, and only principles and procedures become rules"),
        ("in quarantine", "it is quarantined; promote it first"),
        ("held", "it is held; promote it first"),
        ("another wording", "it puts card head in other words"),
        ("corrected", "card newer corrects it"),
        ("another agent's", "it is for agent 'porter'"),
        ("for another role", "it is for agent 'porter'"),
        ("for other roles", "it is for agent 'porter, guard'"),
    ],
)
async def test_a_person_may_not_make_a_rule_of_anything(which: str, why: str) -> None:
    card = WITHOUT[which]
    ci = await made(InMemoryVectorStore(), card)
    with pytest.raises(ConfigError) as refused:
        await ci.standing.add(card.id, "please", agent="clerk")
    assert str(refused.value) == f"card {card.id!r} can't be a rule of agent 'clerk': {why}"
    assert why_no_rule(card, "clerk") == why


async def test_changes_need_a_reason_and_something_to_change() -> None:
    ci = await made(InMemoryVectorStore(), UNITS, nobodys := WITHOUT["of no agent"])
    rules = ci.standing
    unreasoned = [rules.add(UNITS.id, " ")]
    for why in ("", "  "):
        unreasoned += [
            rules.drop(UNITS.id, why, tenant="", agent="clerk"),
            rules.rollback(why, tenant="", agent="clerk"),
        ]
    for change, said in (
        *((one, "rules change only with a reason; say why") for one in unreasoned),
        (
            rules.add(nobodys.id, "please"),
            f"card {nobodys.id!r} is of no agent's run; name the agent whose rule it is to be",
        ),
        (
            rules.drop(UNITS.id, "no use", tenant="", agent="porter"),
            f"card {UNITS.id!r} is no rule of agent 'porter'; `wisen rules list` shows which are",
        ),
        (
            rules.rollback("no use", tenant="", agent="porter"),
            "agent 'porter' can't go back to version 0 of its rules: it has no rules yet",
        ),
        (
            rules.rollback("no use", tenant="", agent="clerk", to=1),
            "agent 'clerk' can't go back to version 1 of its rules: there are versions 0 to 0 to go back to",
        ),
    ):
        with pytest.raises(ConfigError) as refused:
            await change
        assert str(refused.value) == said
    assert (await rules.add(UNITS.id, "again")).number == 1


async def test_each_change_is_told_in_the_cards_history() -> None:
    ci = await made(InMemoryVectorStore(), UNITS)
    rules = ci.standing
    await rules.drop(UNITS.id, "no use", tenant="", agent="clerk")
    await rules.add(UNITS.id, "after all")
    await rules.rollback("it was right", tenant="", agent="clerk", to=0)
    await rules.tested("", "clerk", {UNITS.id: StandingRule(card_id=UNITS.id, verdict="helps")}, "it helps replays")
    await rules.refuse("", "clerk", [UNITS.id])
    await rules.rollback("a person knows better", tenant="", agent="clerk")
    card = (await ci.store.get([UNITS.id]))[0]
    told = [(one.by, one.why) for one in card.history[1:]]
    assert told == [
        ("promotion", "a standing rule of agent 'clerk', version 1: it was promoted"),
        ("human", "no standing rule of agent 'clerk', version 2: no use"),
        ("human", "a standing rule of agent 'clerk', version 3: after all"),
        ("rollback", "no standing rule of agent 'clerk', version 4: back to version 0: it was right"),
        ("replay", "a standing rule of agent 'clerk', version 5: it helps replays"),
        ("replay", "no standing rule of agent 'clerk', version 6: replays came out worse with it"),
        ("rollback", "a standing rule of agent 'clerk', version 7: back to version 5: a person knows better"),
    ]
    assert {(one.at, one.before, one.after) for one in card.history[1:]} == {(NOON, UNITS.status, UNITS.status)}
    made_by = [one.by for one in await rules.versions("", "clerk")]
    assert made_by == ["promotion", "human", "human", "rollback", "replay", "replay", "rollback"]


async def test_a_rule_comes_into_advice_with_its_version_and_its_rivals() -> None:
    rule = replace(promoted("Ask first.", tainted=True, kind=MemoryKind.PROCEDURE), rivals=("other",))
    ci = await made(InMemoryVectorStore(), UNITS)
    await ci.store.add_unscreened([rule])
    await ci.standing.add(rule.id, "I have read it")
    _, recalled = await ci.standing.rules(CLERK, model="scripted", layout=LAYOUT)
    assert recalled == Recalled(
        card=(await ci.store.get([rule.id]))[0],
        injection=Injection(
            card_id=rule.id,
            kind="procedure",
            reasons=("standing rule, version 2",),
            score=0.0,
            idea=rule.id,
            tainted=True,
            rule=2,
        ),
        rivals=("other",),
    )


async def test_versions_are_kept_in_the_call_log_and_name_nobody() -> None:
    """Where they stand is what forgetting a tenant goes by, in stores of earlier versions too."""
    await made(store := InMemoryVectorStore(), UNITS)
    scope, clerk = "standing rules e3b0c44298fc1c149afbf4c8996fb924", "c40dc72b0228e5850d8b173ff861a48a"
    assert rules_scope("") == scope
    line = await store.call(scope, clerk, 0)
    rule = {"card_id": UNITS.id, "verdict": "untested", "gained": 0, "lost": 0, "ties": 0, "model": "", "layout": ""}
    assert line is not None
    assert json.loads(line) == {
        "number": 1,
        "at": NOON.isoformat(),
        "by": "promotion",
        "rules": [rule],
        "dropped": [],
    }
    assert rules_scope("\ud800") != scope, "also a name that is no text has a scope"


async def test_a_dropped_rule_is_gone_and_doesn_t_come_back_by_itself(any_store: VectorStore) -> None:
    ci = await made(any_store, UNITS, TABLES)
    dropped = await ci.standing.drop(UNITS.id, "no use", tenant="", agent="clerk")
    assert (dropped.number, dropped.by, dropped.cards, dropped.dropped) == (3, "human", (TABLES.id,), (UNITS.id,))
    await ci.standing.became(UNITS)
    assert await standing(ci.standing) == ["Read the table."]
    assert (await any_store.get([UNITS.id]))[0].history[-1].why.endswith("version 3: no use")
    back = await ci.standing.add(UNITS.id, "after all")
    assert back.cards == (TABLES.id, UNITS.id)


async def test_rollback_goes_to_the_last_version_with_other_rules_or_to_the_one_that_is_named() -> None:
    ci = await made(InMemoryVectorStore(), UNITS, TABLES)
    await standing(ci.standing)
    await ci.standing.drop(UNITS.id, "no use", tenant="", agent="clerk")
    tested = StandingRule(card_id=TABLES.id, verdict="helps", gained=8, model="m", layout="l")
    assert (await ci.standing.tested("", "clerk", {TABLES.id: tested}, "replays")).number == 4
    back = await ci.standing.rollback("it was good", tenant="", agent="clerk")
    assert (back.number, back.by, back.cards) == (5, "rollback", (UNITS.id, TABLES.id))
    assert back.rules[1] == tested
    assert await standing(ci.standing) == ["Name the unit.", "Read the table."]
    empty = await ci.standing.rollback("start anew", tenant="", agent="clerk", to=0)
    assert (empty.number, empty.cards, set(empty.dropped)) == (6, (), {UNITS.id, TABLES.id})
    assert await standing(ci.standing) == []
    assert (await ci.standing.rollback("no", tenant="", agent="clerk", to=3)).cards == (TABLES.id,)
    with pytest.raises(ConfigError) as refused:
        await ci.standing.rollback("no", tenant="", agent="clerk", to=7)
    said = "agent 'clerk' can't go back to version 7 of its rules: there are versions 0 to 6 to go back to"
    assert str(refused.value) == said


async def test_rollback_takes_the_newest_rule_back_and_the_first_one_too() -> None:
    ci = await made(InMemoryVectorStore(), UNITS, TABLES)
    assert (await ci.standing.rollback("too much", tenant="", agent="clerk")).cards == (UNITS.id,)
    one = await made(InMemoryVectorStore(), UNITS)
    assert (await one.standing.rollback("too much", tenant="", agent="clerk")).cards == ()


async def test_a_test_of_some_rules_leaves_the_others_as_they_are() -> None:
    ci = await made(InMemoryVectorStore(), UNITS, TABLES)
    tested = StandingRule(card_id=TABLES.id, verdict="undecided", ties=3)
    steps = StandingRule(card_id=STEPS.id, verdict="helps", gained=7)
    now = await ci.standing.tested("", "clerk", {TABLES.id: tested, STEPS.id: steps}, "replays")
    assert now.rules == (StandingRule(card_id=UNITS.id), tested, steps)
    assert await ci.standing.tested("", "clerk", {TABLES.id: tested}, "again") == now, "nothing has changed"


@pytest.mark.parametrize("act", ["archive", "quarantine", "reject"])
async def test_a_rule_stands_only_while_its_card_is_promoted(any_store: VectorStore, act: str) -> None:
    ci = await made(any_store, UNITS, TABLES)
    await standing(ci.standing)
    await getattr(ci, act)(UNITS.id, "outdated")
    assert await standing(ci.standing) == ["Read the table."]
    if act == "quarantine":
        await ci.promote(UNITS.id, "it was right")
        assert await standing(ci.standing) == ["Name the unit.", "Read the table."]


async def test_a_corrected_rule_stands_no_more(any_store: VectorStore) -> None:
    ci = await made(any_store, UNITS, TABLES)
    newer = replace(UNITS, id="", content="Name the unit, and the zone.", status=MemoryStatus.CANDIDATE, history=())
    await ci.correct(UNITS.id, newer, "the zone was missing")
    assert await standing(ci.standing) == ["Read the table."]


async def test_rules_are_of_one_agent_of_one_tenant(any_store: VectorStore) -> None:
    acme = promoted("Ask first.", scope=MemoryScope(tenant="acme"))
    ci = await made(any_store, UNITS, promoted("Knock.", agent="porter"), acme)
    assert await standing(ci.standing) == ["Name the unit."]
    assert await standing(ci.standing, CardFilter(tenant="", agent_role="porter")) == ["Knock."]
    assert await standing(ci.standing, CardFilter(tenant="acme", agent_role="clerk")) == ["Ask first."]
    assert await standing(ci.standing, CardFilter(tenant="acme", agent_role="porter")) == []


async def test_evidence_belongs_to_a_model_also_for_rules() -> None:
    mine, doubted = promoted("Mine.", evidence="m"), promoted("Doubted.", evidence="m", run_id="s")
    ci = await made(InMemoryVectorStore(), mine, doubted, promoted("A person's.", run_id="t"))
    assert set(await standing(ci.standing, model="m")) == {"Mine.", "Doubted.", "A person's."}
    assert await standing(ci.standing, model="other") == ["A person's."]
    trial = Trial(model="m", layout="episodes-as-turns", stage="recheck")
    await change_card(ci.store, doubted.id, lambda card: replace(card, trials=(trial,)))
    elsewhere = (replace(trial, model="other"), replace(trial, layout="other"), replace(trial, stage="promoted"))
    await change_card(ci.store, mine.id, lambda card: replace(card, trials=elsewhere))
    assert set(await standing(ci.standing, model="m")) == {"Mine.", "A person's."}


async def test_a_scope_holds_for_rules_too() -> None:
    ci = await made(InMemoryVectorStore(), promoted("Only maths.", scope=MemoryScope(task_types=("maths",))))
    assert await standing(ci.standing, replace(CLERK, task_type="maths")) == ["Only maths."]
    assert await standing(ci.standing, replace(CLERK, task_type="letters")) == []


async def test_with_replayed_nothing_untested_becomes_a_rule_by_itself() -> None:
    ci = await made(InMemoryVectorStore(), UNITS, trust="replayed")
    assert await standing(ci.standing) == []
    assert [card.id for card in await ci.standing.waiting("", "clerk")] == [UNITS.id]
    await ci.standing.tested("", "clerk", {UNITS.id: StandingRule(card_id=UNITS.id, verdict="helps")}, "replays")
    assert await standing(ci.standing) == ["Name the unit."]
    assert await ci.standing.waiting("", "clerk") == []


async def test_what_replays_refuse_doesn_t_stand_before_or_after() -> None:
    ci = await made(InMemoryVectorStore(), UNITS)
    await ci.standing.refuse("", "clerk", [UNITS.id])
    assert await standing(ci.standing) == []
    waiting = await made(InMemoryVectorStore(), UNITS, trust="replayed")
    assert (await waiting.standing.refuse("", "clerk", [UNITS.id])).dropped == (UNITS.id,)
    assert await waiting.standing.waiting("", "clerk") == []


async def test_what_nobody_made_a_rule_of_waits(any_store: VectorStore) -> None:
    await any_store.add_unscreened([UNITS, TABLES])
    ci = MemoryCI(any_store)
    assert await standing(ci.standing) == []
    assert [card.id for card in await ci.standing.waiting("", "clerk")] == [UNITS.id, TABLES.id]
    await ci.standing.add(TABLES.id, "please")
    assert [card.id for card in await ci.standing.waiting("", "clerk")] == [UNITS.id]


class Listing(InMemoryVectorStore):
    """Notes which cards its listings give."""

    def __init__(self) -> None:
        super().__init__()
        self.listed: list[str] = []

    async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> list[MemoryCard]:
        found = await super().list(where, limit=limit, offset=offset)
        self.listed += [card.id for card in found]
        return found


async def test_only_what_is_promoted_and_of_these_kinds_is_read_to_see_what_waits() -> None:
    store = Listing()
    await store.add_unscreened([UNITS, *(WITHOUT[one] for one in ("a lesson", "in quarantine", "of another tenant"))])
    rules = StandingRules(store, lambda: NOON)
    assert [card.id for card in await rules.waiting("", "clerk")] == store.listed == [UNITS.id]
    await rules.became(UNITS)
    assert (await rules.current("", "clerk")).cards == (UNITS.id,), "by itself, unless it is to be tested first"


class NoCalls:
    """A store of somebody's that keeps cards alone."""

    def __init__(self) -> None:
        self._cards = InMemoryVectorStore()
        for name in ("add", "add_unscreened", "get", "search", "update", "delete", "list", "count", "close"):
            setattr(self, name, getattr(self._cards, name))


async def test_a_store_that_keeps_no_calls_has_no_rules() -> None:
    store: Any = NoCalls()
    ci = await made(store, UNITS)
    assert await standing(ci.standing) == []
    with pytest.raises(ConfigError) as refused:
        await ci.standing.add(UNITS.id, "please")
    assert str(refused.value) == "NoCalls keeps no calls, which versions of rules are kept among"


async def test_a_deleted_card_stands_no_more_and_a_forgotten_tenant_has_no_versions(any_store: VectorStore) -> None:
    ci = await made(any_store, UNITS, TABLES, promoted("Ask.", scope=MemoryScope(tenant="acme")))
    await standing(ci.standing)
    await standing(ci.standing, CardFilter(tenant="acme", agent_role="clerk"))
    await any_store.delete([UNITS.id])
    assert await standing(ci.standing) == ["Read the table."]
    assert (await ci.standing.drop(UNITS.id, "it is gone", tenant="", agent="clerk")).dropped == (UNITS.id,)
    await forget(any_store, Whom(tenant="acme"))
    fresh = MemoryCI(any_store).standing
    assert await fresh.versions("acme", "clerk") == ()
    assert len(await fresh.versions("", "clerk")) == 3


async def test_postgres_keeps_rules_as_the_others_do(postgres_url: str) -> None:
    acme = promoted("Ask first.", scope=MemoryScope(tenant="acme"))
    async with PostgresVectorStore(postgres_url, embedder=HashEmbedder()) as store:
        ci = await made(store, UNITS, TABLES, acme)
        assert await standing(ci.standing) == ["Name the unit.", "Read the table."]
        assert await standing(ci.standing, CardFilter(tenant="acme", agent_role="clerk")) == ["Ask first."]
        others = [MemoryCI(store).standing for _ in range(2)]
        dropped = zip(others, (UNITS, TABLES), strict=True)
        await asyncio.gather(*(rules.drop(card.id, "no use", tenant="", agent="clerk") for rules, card in dropped))
        assert await standing(ci.standing) == []
        assert (await ci.standing.rollback("it was", tenant="", agent="clerk", to=2)).number == 5
        await forget(store, Whom(tenant="acme"))
        assert await MemoryCI(store).standing.versions("acme", "clerk") == ()
        assert await standing(MemoryCI(store).standing) == ["Name the unit.", "Read the table."]
