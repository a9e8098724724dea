"""Standing rules are tested on recorded tasks: what hurts stands no more, and each rule has its test's counts."""

from dataclasses import replace
from typing import Any

import pytest
from replaying import HELPS, WORDS, attempt, card, obedient, outcome, prompt, status, tasks
from ruling import made, standing

from wisen import (
    Agent,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    MemoryScope,
    MemoryStatus,
    ReAct,
    ScriptedModel,
    Situation,
    Task,
)
from wisen.errors import ConfigError
from wisen.evaluation.checks import ReferenceEvaluator
from wisen.models.scripted import ScriptedCall
from wisen.replay.attempts import agent_attempt, as_rule
from wisen.replay.card_tests import ReplayOptions, ReplayTest
from wisen.replay.pairs import ReplayBudget
from wisen.replay.recorded_runs import RecordedOptions, replay_recorded
from wisen.replay.rule_tests import RuleReport, RuleTest

pytestmark = pytest.mark.anyio


def rule(content: str, **given: Any) -> MemoryCard:
    """A principle of the clerk that was learned from a task of quite another sort, and promoted there."""
    source = card(content)
    poem = given.pop("situation", Situation(prompt="Translate the poem about autumn."))
    kind, promoted = MemoryKind.PRINCIPLE, MemoryStatus.PROMOTED
    return replace(source, id="", kind=kind, status=promoted, situation=poem, **given)


async def ruled(*cards: MemoryCard, **given: Any) -> MemoryCI:
    return await made(InMemoryVectorStore(), *cards, **given)


def verdicts(report: RuleReport) -> dict[str, str]:
    return {one.card_id: one.verdict for one in report.rules}


GOOD, BAD, IDLE = rule("HELPS everywhere."), rule("HURTS everywhere."), rule("IDLE talk.")


async def test_a_harmful_rule_is_found_and_stands_no_more() -> None:
    ci = await ruled(GOOD, BAD, IDLE)
    assert len(await standing(ci.standing)) == 3
    report = await RuleTest(ci, attempt()).run(tasks(40))
    assert verdicts(report) == {GOOD.id: "helps", BAD.id: "hurts", IDLE.id: "helps"}
    assert sorted(await standing(ci.standing)) == ["HELPS everywhere.", "IDLE talk."]
    current = await ci.standing.current("", "clerk")
    assert (current.number, report.version) == (5, 5)
    assert [(one.verdict, one.gained, one.lost, one.model) for one in current.rules] == [
        ("helps", 7, 0, "scripted")
    ] * 2
    kept = (await ci.store.get([BAD.id]))[0]
    assert kept.status is MemoryStatus.PROMOTED  # where it fits, it has helped
    assert kept.history[-1].by == "replay"
    assert await standing(ci.standing) == await standing(MemoryCI(ci.store).standing)


async def test_a_new_rule_is_tested_beside_those_that_stand() -> None:
    """It helps alone; beside the other it spoils everything."""

    def quarrel(messages: object, call: ScriptedCall) -> str:
        return "berth ?" if "ONE" in call.system and "OTHER" in call.system else obedient(messages, call)

    one, other = rule("HELPS, ONE."), rule("HELPS, OTHER.")
    ci = await ruled(one)
    assert verdicts(await RuleTest(ci, attempt(ScriptedModel(quarrel))).run(tasks(40))) == {one.id: "helps"}
    await ci.store.add_unscreened([other])
    report = await RuleTest(ci, attempt(ScriptedModel(quarrel))).run(tasks(40))
    assert verdicts(report) == {other.id: "hurts"}
    assert await standing(ci.standing) == ["HELPS, ONE."]


async def test_with_replayed_a_rule_stands_once_its_test_allows_it() -> None:
    ci = await ruled(GOOD, BAD, trust="replayed")
    assert await standing(ci.standing) == []
    await RuleTest(ci, attempt()).run(tasks(40), cards=[GOOD.id], why="looked good")
    assert await standing(ci.standing) == ["HELPS everywhere."]
    assert (await ci.store.get([GOOD.id]))[0].history[-1].why.endswith("version 1: looked good")
    await RuleTest(ci, attempt()).run(tasks(40))
    assert await standing(ci.standing) == ["HELPS everywhere."]
    assert await ci.standing.waiting("", "clerk") == []


async def test_a_test_stands_a_finished_one_isn_t_repeated_and_another_model_asks_for_its_own() -> None:
    ci = await ruled(GOOD)
    first = await RuleTest(ci, attempt()).run(tasks(40))
    again = await RuleTest(ci, attempt()).run(tasks(40))
    assert (bool(first.rules), again.rules, again.attempts) == (True, (), 0)
    other = ReplayOptions(condition=replace(attempt().condition, model="other"))
    assert verdicts(await RuleTest(ci, attempt(), options=other).run(tasks(40))) == {GOOD.id: "helps"}
    assert (await ci.standing.current("", "clerk")).rules[0].model == "other"


async def test_what_is_undecided_is_kept_and_tried_again_on_more_tasks() -> None:
    ci = await ruled(GOOD)
    report = await RuleTest(ci, attempt()).run(tasks(6))
    assert verdicts(report) == {GOOD.id: "undecided"}
    again = await RuleTest(ci, attempt()).run(tasks(6))
    assert (again.attempts, again.version) == (0, report.version)
    more = await RuleTest(ci, attempt()).run(tasks(40))
    assert verdicts(more) == {GOOD.id: "helps"}
    assert more.attempts < 28


async def test_what_leans_towards_harm_doesn_t_become_a_rule() -> None:
    ci = await ruled(BAD, trust="replayed")
    report = await RuleTest(ci, attempt()).run(tasks(6))
    assert verdicts(report) == {BAD.id: "undecided"}
    assert await standing(ci.standing) == []
    assert verdicts(await RuleTest(ci, attempt()).run(tasks(40))) == {BAD.id: "hurts"}


@pytest.mark.parametrize("attempts", [0, 1, 7, 20])
async def test_where_the_budget_ends_nothing_has_changed_and_the_next_test_goes_on(attempts: int) -> None:
    ci = await ruled(GOOD, BAD)
    report = await RuleTest(ci, attempt(), budget=ReplayBudget(attempts=attempts)).run(tasks(40))
    assert report.exhausted
    assert (report.attempts, report.version) == (attempts, 2)
    assert set(verdicts(report).values()) == {"untested"}
    rest = await RuleTest(ci, attempt()).run(tasks(40))
    whole = await RuleTest(await ruled(GOOD, BAD), attempt()).run(tasks(40))
    assert (verdicts(rest), rest.attempts) == (verdicts(whole), whole.attempts - attempts)


async def test_tasks_of_other_tenants_and_the_very_task_it_was_learned_from_tell_nothing() -> None:
    own = rule("HURTS here.", situation=Situation(prompt=prompt(0)))
    ci = await ruled(own)
    assert verdicts(await RuleTest(ci, attempt()).run(tasks(1))) == {own.id: "untested"}
    elsewhere = [replace(task, tenant="acme") for task in tasks(40)]
    report = await RuleTest(ci, attempt()).run(elsewhere)
    assert (verdicts(report), report.attempts) == ({own.id: "untested"}, 0)


async def test_a_scoped_rule_is_tested_where_it_stands() -> None:
    scoped = rule("HURTS maths.", scope=MemoryScope(task_types=("maths",)))
    ci = await ruled(scoped)
    letters = [replace(task, type="letters") for task in tasks(40)]
    assert (await RuleTest(ci, attempt()).run(letters)).attempts == 0
    maths = [replace(task, type="maths") for task in tasks(40)]
    assert verdicts(await RuleTest(ci, attempt()).run(maths)) == {scoped.id: "hurts"}


async def test_a_rule_for_a_tool_is_tested_on_tasks_that_use_it_or_name_none() -> None:
    scoped = rule("HURTS maths.", scope=MemoryScope(tool_names=("sum",)))
    ci = await ruled(scoped)
    others = [replace(task, tools=("search",)) for task in tasks(40)]
    assert (await RuleTest(ci, attempt()).run(others)).attempts == 0
    assert verdicts(await RuleTest(ci, attempt()).run(tasks(40))) == {scoped.id: "hurts"}


async def test_only_what_can_be_a_rule_is_tested() -> None:
    lesson = replace(GOOD, id="", kind=MemoryKind.LESSON)
    ci = await ruled(lesson)
    with pytest.raises(ConfigError, match="it is a lesson"):
        await RuleTest(ci, attempt()).run(tasks(4), cards=[lesson.id])
    with pytest.raises(ConfigError, match="parallel=0"):
        RuleTest(ci, attempt(), parallel=0)


async def test_a_rule_that_somebody_archives_meanwhile_changes_nothing() -> None:
    ci = await ruled(GOOD, BAD)
    asked = list[str]()

    async def check(answer: str) -> bool:
        asked.append(answer)
        if len(asked) == 3:
            await ci.archive(BAD.id, "wrong")
        return True

    agent = Agent("Answer.", model=ScriptedModel(obedient), evaluator=check, name="clerk")
    report = await RuleTest(ci, agent_attempt(agent)).run(tasks(40))
    assert report.version == 2
    assert verdicts(await RuleTest(ci, attempt()).run(tasks(40))) == {GOOD.id: "helps"}


async def worked(store: InMemoryVectorStore, given: list[Task]) -> Agent:
    model, judge = ScriptedModel(obedient), ReferenceEvaluator()
    agent = Agent("Answer.", model=model, architecture=ReAct(), memory=store, evaluator=judge, name="clerk")
    for task in given:
        await agent.run(task)
    return agent


async def test_recorded_runs_test_rules_before_ideas_within_one_budget() -> None:
    ci = await ruled(BAD, HELPS)
    store: Any = ci.store
    agent = await worked(store, tasks(40))
    little = await replay_recorded(agent, ci, budget=ReplayBudget(attempts=10))
    assert (little.attempts, len(little.rules)) == (10, 1)
    said = "the replays' budget for attempts is used up; raise ReplayBudget(attempts=…) to try more at once"
    assert little.exhausted == said
    report = await replay_recorded(agent, ci, budget=ReplayBudget(attempts=500))
    assert [(one.card_id, one.verdict) for one in report.rules] == [(BAD.id, "hurts")]
    assert await standing(ci.standing) == []
    assert await status(store, HELPS) is MemoryStatus.PROMOTED


@pytest.mark.parametrize(("limit", "rules", "idea"), [("attempts", 4, 4), ("calls", 4, 4)])
async def test_rules_leave_half_of_a_session_to_the_ideas(limit: str, rules: int, idea: int) -> None:
    ci = await ruled(GOOD, HELPS)
    store: Any = ci.store
    agent = await worked(store, tasks(40))
    model = agent.model
    assert isinstance(model, ScriptedModel)
    report = await replay_recorded(agent, ci, budget=ReplayBudget(**{limit: rules + idea}))
    assert report.exhausted
    asked = model.calls[40:]
    assert (sum(HELPS.content in call.system for call in asked), len(asked)) == (idea // 2, rules + idea)


async def test_that_half_is_for_the_rules_of_all_tenants_together() -> None:
    theirs = replace(GOOD, scope=replace(GOOD.scope, tenant="acme"), id="")
    ci = await made(InMemoryVectorStore(), GOOD, theirs, HELPS)
    await ci.standing.became(theirs)
    store: Any = ci.store
    agent = await worked(store, [*tasks(20), *(replace(task, tenant="acme") for task in tasks(20))])
    assert isinstance(agent.model, ScriptedModel)
    options = RecordedOptions(tenants=["", "acme"])
    report = await replay_recorded(agent, ci, budget=ReplayBudget(attempts=16), options=options)
    assert len(report.rules) == 2
    assert sum(HELPS.content in call.system for call in agent.model.calls[40:]) == 4


async def test_rules_have_a_whole_session_where_no_idea_waits() -> None:
    ci = await ruled(GOOD)
    store: Any = ci.store
    report = await replay_recorded(await worked(store, tasks(40)), ci, budget=ReplayBudget(attempts=30))
    assert [one.verdict for one in report.rules] == ["helps"]


def test_half_of_what_has_no_limit_has_none_and_no_time_is_lost() -> None:
    assert ReplayBudget().half() == ReplayBudget()
    given = ReplayBudget(attempts=3, calls=4, tokens=5, seconds=0.5)
    assert given.half() == ReplayBudget(attempts=1, calls=2, tokens=2, seconds=0.25)


async def test_a_principle_that_replays_promote_becomes_a_rule() -> None:
    """With "replayed" it waits for its test as one."""
    principle = replace(HELPS, id="", kind=MemoryKind.PRINCIPLE)
    for trust, stands in (("trial", ["HELPS here."]), ("replayed", [])):
        ci = await ruled(principle, trust=trust)
        await ReplayTest(ci, attempt(), options=ReplayOptions(top_k=1)).run(tasks())
        assert (await ci.store.get([principle.id]))[0].status is MemoryStatus.PROMOTED
        assert await standing(ci.standing) == stands


async def test_cards_are_tested_beside_the_rules_that_stand() -> None:
    """The rule solves what the card would have: beside it, the card changes nothing."""
    ci = await ruled(GOOD, HELPS)
    alone = InMemoryVectorStore()
    await alone.add_unscreened([HELPS])
    gained = outcome(await ReplayTest(MemoryCI(alone), attempt(), options=ReplayOptions(top_k=1)).run(tasks()), HELPS)
    report = await ReplayTest(ci, attempt(), options=ReplayOptions(top_k=1)).run(tasks())
    assert (gained[0] > 0, outcome(report, HELPS)) == (True, (0, 0))


async def test_an_attempt_shows_a_rule_as_runs_do() -> None:
    sent = list[str]()

    def say(_: object, call: ScriptedCall) -> str:
        sent.append(call.system)
        return WORDS[0]

    agent = Agent("Answer.", model=ScriptedModel(say), evaluator=lambda _: True, name="clerk")
    made_by = agent_attempt(agent)
    await made_by(tasks(1)[0], [HELPS, as_rule(GOOD)], 0)
    assert (
        sent[0].index("Standing rules of this agent") < sent[0].index("HELPS everywhere.") < sent[0].index("HELPS here")
    )
    long = rule("word " * 2_000)
    assert made_by.fits([HELPS, as_rule(long)])
    assert not made_by.fits([long])
