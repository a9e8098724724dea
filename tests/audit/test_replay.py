"""Replay tests on a scripted model that does what its notes say: verdicts, budgets, resuming, releases."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from wisen import (
    Agent,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    MemoryStatus,
    ReAct,
    Reflexion,
    ScriptedModel,
    Task,
)
from wisen.architectures.turn import hurts
from wisen.audit.attempts import AgentAttempt, Condition, agent_attempt
from wisen.audit.replay import ReplayOptions, ReplayReport, ReplayTest
from wisen.audit.replay_log import releases
from wisen.audit.replay_session import Replayed
from wisen.audit.replays import ReplayBudget
from wisen.cards import CardEvidence, MemoryScope, Provenance, Situation
from wisen.errors import ConfigError, ModelError, StoreError
from wisen.evaluation.build import as_evaluator
from wisen.evaluation.checks import ReferenceEvaluator
from wisen.memory_ci.verdicts import Rule
from wisen.models.scripted import ScriptedCall
from wisen.records import Clockwork, TokenUsage

pytestmark = pytest.mark.anyio
FEW = ReplayOptions(top_k=2)


def tasks(count: int = 24, *, of: str = "harbour") -> list[Task]:
    return [Task(prompt=f"Give the berth of ship {n} in the {of} list.", reference=f"berth {n}") for n in range(count)]


def card(content: str, *, of: str = "harbour", number: int = 0, run: str = "") -> MemoryCard:
    return MemoryCard(
        kind=MemoryKind.LESSON,
        content=content,
        situation=Situation(prompt=f"Give the berth of ship {number} in the {of} list."),
        status=MemoryStatus.QUARANTINED,
        provenance=Provenance(run_id=run or content, created_by="reflexion"),
    )


HELPS, HURTS, IDLE = card("HELPS here."), card("HURTS here.", number=1), card("IDLE talk.", number=2)


def obedient(_: object, call: ScriptedCall) -> str:
    """Solves every second task by itself, each with a helpful note, and none with a harmful one."""
    number = int("".join(filter(str.isdigit, call.prompt)))
    right = number % 2 == 0
    if "HELPS" in call.system:
        right = True
    if "HURTS" in call.system or ("ONE" in call.system and "OTHER" in call.system):
        right = False
    return f"berth {number if right else -1}"


def attempt(model: ScriptedModel | None = None) -> AgentAttempt:
    return agent_attempt(
        Agent("Answer.", model=model or ScriptedModel(obedient), evaluator=ReferenceEvaluator(), name="clerk")
    )


async def stored(*cards: MemoryCard) -> InMemoryVectorStore:
    store = InMemoryVectorStore()
    await store.add(cards)
    return store


async def status(store: InMemoryVectorStore, one: MemoryCard) -> MemoryStatus:
    return (await store.get([one.id]))[0].status


def outcome(report: ReplayReport, one: MemoryCard) -> tuple[int, int]:
    found = next(out for out in report.cards if out.card_id == one.id)
    return found.counts.gained, found.counts.lost


async def test_a_card_that_helps_is_promoted_one_that_hurts_archived_and_others_stay() -> None:
    for one, expected in (
        (HELPS, MemoryStatus.PROMOTED),
        (HURTS, MemoryStatus.ARCHIVED),
        (IDLE, MemoryStatus.QUARANTINED),
    ):
        store = await stored(one)
        report = await ReplayTest(MemoryCI(store), attempt(), options=FEW).run(tasks())
        assert await status(store, one) is expected
        assert not report.exhausted
    assert outcome(report, IDLE) == (0, 0)


async def test_evidence_and_history_stand_on_the_card() -> None:
    store = await stored(HELPS)
    report = await ReplayTest(MemoryCI(store), attempt(), options=FEW).run(tasks())
    kept = (await store.get([HELPS.id]))[0]
    (evidence,) = kept.evidence
    assert evidence == CardEvidence(
        model="scripted",
        layout=evidence.layout,
        terms="score 0.8 against nothing",
        gained=7,
        lost=0,
        ties=evidence.ties,
    )
    (moved,) = kept.history
    assert (moved.by, moved.evidence) == ("replay", evidence)
    assert moved.why.startswith("release 1: helps: ")
    assert report.cards[0].helps >= 20
    assert report.cards[0].why in moved.why
    assert [one.cards for one in await releases(store)] == [(HELPS.id,)]


async def test_the_own_task_and_solved_neighbours_come_first_and_only_related_tasks_count() -> None:
    store, seen = (
        await stored(replace(HELPS, situation=replace(HELPS.situation, prompt=tasks()[1].prompt), id="")),
        list[Replayed](),
    )
    learner = Agent(
        "Answer.", model=ScriptedModel(obedient), architecture=ReAct(), memory=store, evaluator=ReferenceEvaluator()
    )
    for task in tasks(6):
        await learner.run(task)
    report = await ReplayTest(MemoryCI(store), attempt(), options=FEW, watch=seen.append).run(tasks())
    stages = [one.stage for one in seen]
    assert stages[:4] == ["own task", *["solved neighbour"] * 3]
    assert set(stages[4:]) == {"related task"}
    (found,) = report.cards
    assert (found.own, found.kept, found.broken) == ("fixed", 3, 0)
    assert found.tasks == 23
    assert found.counts.gained == 7


async def test_pairs_share_the_attempts_without_cards() -> None:
    store, model = await stored(HURTS, IDLE), ScriptedModel(obedient)
    await ReplayTest(MemoryCI(store), attempt(model), options=ReplayOptions(top_k=1)).run(tasks())
    bare = [call.prompt for call in model.calls if "talk" not in call.system and "here" not in call.system]
    assert len(bare) == len(set(bare)) == 24


async def test_a_budget_ends_the_test_undecided_and_the_next_one_goes_on() -> None:
    store, model = await stored(HELPS), ScriptedModel(obedient)
    test = ReplayTest(MemoryCI(store), attempt(model), options=FEW, budget=ReplayBudget(attempts=9))
    report = await test.run(tasks())
    assert "attempts" in report.exhausted
    assert report.attempts == len(model.calls) == 9
    assert await status(store, HELPS) is MemoryStatus.QUARANTINED
    (evidence,) = (await store.get([HELPS.id]))[0].evidence
    assert evidence.gained + evidence.ties == report.cards[0].counts.pairs > 0
    again = await ReplayTest(MemoryCI(store), attempt(model), options=FEW).run(tasks())
    assert await status(store, HELPS) is MemoryStatus.PROMOTED
    whole = ScriptedModel(obedient)
    alone = await ReplayTest(MemoryCI(await stored(HELPS)), attempt(whole), options=FEW).run(tasks())
    assert again.cards[0].counts == alone.cards[0].counts
    assert len(model.calls) == len(whole.calls)


@pytest.mark.parametrize("limit", [ReplayBudget(tokens=100), ReplayBudget(seconds=0)])
async def test_tokens_and_seconds_are_limits_too(limit: ReplayBudget) -> None:
    store = await stored(HELPS)
    clock = Clockwork.seeded(1)
    report = await ReplayTest(MemoryCI(store), attempt(), options=FEW, budget=limit, clockwork=clock).run(tasks())
    assert report.exhausted
    assert await status(store, HELPS) is MemoryStatus.QUARANTINED


@pytest.mark.parametrize("killed_at", [1, 2, 7, 16, 17])
async def test_a_killed_test_goes_on_and_counts_nothing_twice(killed_at: int) -> None:
    store, calls, running = await stored(HELPS), list[str](), list[asyncio.Task[ReplayReport]]()

    async def dies(messages: object, call: ScriptedCall) -> str:
        calls.append(call.prompt)
        if len(calls) == killed_at:
            running[0].cancel()
            await asyncio.Event().wait()
        return obedient(messages, call)

    test = ReplayTest(MemoryCI(store), attempt(ScriptedModel(dies)), options=FEW)
    running.append(asyncio.create_task(test.run(tasks())))
    with pytest.raises(asyncio.CancelledError):
        await running[0]
    report = await ReplayTest(MemoryCI(store), attempt(ScriptedModel(dies)), options=FEW).run(tasks())
    alone = await ReplayTest(MemoryCI(await stored(HELPS)), attempt(), options=FEW).run(tasks())
    assert report.cards[0].counts == alone.cards[0].counts
    assert len(calls) <= alone.attempts + 2
    (evidence,) = (await store.get([HELPS.id]))[0].evidence
    assert (evidence.gained, evidence.ties) == (report.cards[0].counts.gained, report.cards[0].counts.ties)


async def test_evidence_that_a_crash_kept_from_the_card_is_written_by_the_next_test() -> None:
    store = await stored(HURTS)
    await ReplayTest(MemoryCI(store), attempt(), options=FEW, budget=ReplayBudget(attempts=19)).run(tasks())
    half = (await store.get([HURTS.id]))[0]
    assert half.evidence[0].lost
    await store.update(replace(half, evidence=(), version=half.version + 1))
    await ReplayTest(MemoryCI(store), attempt(), options=FEW, budget=ReplayBudget(attempts=0)).run(tasks())
    assert (await store.get([HURTS.id]))[0].evidence == half.evidence


async def test_a_card_that_comes_back_into_quarantine_is_tested_anew() -> None:
    store = await stored(HELPS)
    ci = MemoryCI(store)
    await ReplayTest(ci, attempt(), options=FEW).run(tasks())
    await ci.quarantine(HELPS.id, "another look")
    await ci.pin(HELPS.id, "nobody touches it")
    await ci.unpin(HELPS.id, "go on")
    report = await ReplayTest(ci, attempt(), options=FEW).run([])
    assert report.cards[0].counts.pairs == 0
    report = await ReplayTest(ci, attempt(), options=FEW).run(tasks())
    assert 7 <= report.attempts <= 16, "without the card it is known, with it the world may have changed"
    assert await status(store, HELPS) is MemoryStatus.PROMOTED
    assert [one.number for one in await releases(store)] == [1, 2]


async def test_attempts_run_side_by_side_within_the_bound() -> None:
    now, most = [0], [0]

    async def counted(messages: object, call: ScriptedCall) -> str:
        now[0] += 1
        most[0] = max(most[0], now[0])
        for _ in range(5):
            await asyncio.sleep(0)
        now[0] -= 1
        return obedient(messages, call)

    for parallel in (1, 3, 8):
        most[0], store = 0, await stored(HELPS)
        test = ReplayTest(MemoryCI(store), attempt(ScriptedModel(counted)), options=FEW, parallel=parallel)
        report = await test.run(tasks())
        assert most[0] in (parallel, parallel - 1)  # a pair is two attempts
        assert most[0] <= parallel
        assert report.cards[0].counts.gained >= 7
        assert await status(store, HELPS) is MemoryStatus.PROMOTED


async def test_an_unknown_score_counts_as_neither() -> None:
    def fails(messages: object, call: ScriptedCall) -> str | ModelError:
        return ModelError("scripted", "down") if "ship 3 " in call.prompt else obedient(messages, call)

    store = await stored(IDLE)
    report = await ReplayTest(MemoryCI(store), attempt(ScriptedModel(fails)), options=FEW).run(tasks())
    assert report.problems == {"ModelError": 2}
    assert report.cards[0].unknown == 1
    assert report.cards[0].counts.ties == 22


async def test_harm_shows_beside_what_is_in_use() -> None:
    """By itself the card has nothing to break; in the second round it stands beside the one that was promoted."""

    def helpless(_: object, call: ScriptedCall) -> str:
        good = "HELPS" in call.system and "HURTS" not in call.system
        return call.prompt.replace("Give the berth of ship", "berth").split(" in ")[0] if good else "berth ?"

    store = await stored(HELPS, HURTS)
    report = await ReplayTest(MemoryCI(store), attempt(ScriptedModel(helpless)), options=FEW).run(tasks())
    assert await status(store, HELPS) is MemoryStatus.PROMOTED
    assert await status(store, HURTS) is MemoryStatus.ARCHIVED
    assert outcome(report, HURTS) == (0, 7)


async def test_many_cards_are_promoted_by_e_bh() -> None:
    """Seven gains (e = 32) are enough for a card alone; among six, five of them idle, it takes 120, which is ten."""
    idle = [card(f"IDLE talk {word}.", of="harbour") for word in ("a", "b", "c", "d", "e")]
    store = await stored(HELPS, *idle)
    report = await ReplayTest(MemoryCI(store), attempt(), options=ReplayOptions(top_k=1)).run(tasks())
    assert outcome(report, HELPS) == (10, 0)
    assert await status(store, HELPS) is MemoryStatus.PROMOTED
    store = await stored(HELPS, *idle)
    await ReplayTest(MemoryCI(store), attempt(), options=ReplayOptions(top_k=1)).run(tasks(16))
    assert await status(store, HELPS) is MemoryStatus.QUARANTINED


async def test_a_release_that_regresses_is_halved_until_the_culprit_is_found() -> None:
    """Each helps alone; two of them contradict each other. Without one of these, the others go into use."""
    words = ("ONE", "two", "three", "four", "OTHER", "six", "seven", "eight")
    members = [card(f"HELPS, {word}.", run=word) for word in words]

    def quarrel(messages: object, call: ScriptedCall) -> str:
        if "ONE" in call.system and "OTHER" in call.system:
            return "berth ?"
        return obedient(messages, call)

    store, options = await stored(*members), ReplayOptions(top_k=8)
    report = await ReplayTest(MemoryCI(store), attempt(ScriptedModel(quarrel)), options=options).run(tasks(48))
    (release,) = report.releases
    assert (release.verdict, release.searches, len(release.cards)) == ("helps", 3, 7)
    (culprit,) = await store.get(release.withdrawn)
    assert culprit.content in ("HELPS, ONE.", "HELPS, OTHER.")
    assert culprit.status is MemoryStatus.ARCHIVED
    assert culprit.history[-1].why.startswith("release 1 regressed with it, found in 3 tests; by itself: ")
    others = await store.get(release.cards)
    assert {one.status for one in others} == {MemoryStatus.PROMOTED}
    assert all(one.history[-1].why.startswith("release 1: ") for one in others)


async def test_a_regressed_release_stays_out_where_the_budget_ends_before_the_culprit_is_found() -> None:
    members = [card(f"HELPS, {word}.", run=word) for word in ("ONE", "OTHER")]
    whole = await ReplayTest(MemoryCI(await stored(*members)), attempt(), options=FEW).run(tasks())
    assert whole.releases[0].searches == 1
    held_back = 0
    for attempts in range(whole.attempts):
        store = await stored(*members)
        test = ReplayTest(MemoryCI(store), attempt(), options=FEW, budget=ReplayBudget(attempts=attempts))
        report = await test.run(tasks())
        assert report.exhausted
        for release in report.releases:
            held_back += release.verdict == "untested" and len(release.withdrawn) == 2
            out = await store.get(release.withdrawn)
            assert MemoryStatus.PROMOTED not in {one.status for one in out}
    assert held_back


async def test_advice_that_no_call_carried_gives_no_score() -> None:
    async def deaf(prompt: str) -> str:
        del prompt
        return "berth 1"

    agent = Agent(architecture=deaf, model=ScriptedModel([]), evaluator=ReferenceEvaluator())
    assert await agent_attempt(agent)(tasks()[1], [], 0) == 1.0
    assert await agent_attempt(agent)(tasks()[1], [HELPS], 0) is None


async def test_only_cards_in_quarantine_that_nobody_pinned_are_tested() -> None:
    pinned = replace(HURTS, pinned=True)
    store = await stored(pinned, replace(HELPS, status=MemoryStatus.ARCHIVED))
    report = await ReplayTest(MemoryCI(store), attempt()).run(tasks(), [pinned.id, HELPS.id])
    assert report.cards == ()
    assert report.attempts == 0


async def test_a_card_is_never_tested_on_another_tenants_tasks() -> None:
    foreign = replace(HELPS, scope=MemoryScope(tenant="acme"), id="")
    store = await stored(foreign)
    report = await ReplayTest(MemoryCI(store), attempt()).run(tasks())
    assert (report.cards[0].tasks, report.attempts) == (0, 0)


async def test_a_placebo_stands_in_the_cards_place() -> None:
    long = card("HELPS here, and says so in as many words as it takes.")
    store, model = await stored(long), ScriptedModel(obedient)
    options = ReplayOptions(top_k=2, control="placebo")
    await ReplayTest(MemoryCI(store), attempt(model), options=options).run(tasks())
    assert await status(store, long) is MemoryStatus.PROMOTED
    without = [call for call in model.calls if "HELPS" not in call.system]
    assert len([call for call in without if "no information" in call.system]) >= 7
    assert "no information" in without[0].system


async def test_repetitions_have_their_own_seeds_on_both_sides() -> None:
    store, model = await stored(IDLE), ScriptedModel(obedient)
    options = ReplayOptions(top_k=1, repetitions=2)
    report = await ReplayTest(MemoryCI(store), attempt(model), options=options).run(tasks(4))
    seeds = [call.settings["seed"] if call.settings and "seed" in call.settings else None for call in model.calls]
    assert sorted(seeds, key=str) == [1] * 8 + [None] * 8
    assert report.cards[0].counts.ties == 3


async def test_evidence_is_kept_per_model() -> None:
    store = await stored(IDLE)
    for name in ("small", "large"):
        await ReplayTest(MemoryCI(store), attempt(ScriptedModel(obedient, name=name)), options=FEW).run(tasks(8))
    evidence = (await store.get([IDLE.id]))[0].evidence
    assert [(one.model, one.ties) for one in evidence] == [("small", 7), ("large", 7)]


async def test_the_architectures_memory_is_taken_off() -> None:
    store = await stored(HELPS)
    reflexion = Reflexion(lesson_store=store, evaluator=ReferenceEvaluator(), max_attempts=3)
    agent = Agent("Answer.", model=ScriptedModel(obedient), architecture=reflexion)
    one = agent_attempt(agent)
    assert await one(tasks()[1], [], 0) == 0.0
    assert await one(tasks()[1], [HELPS], 0) == 1.0
    assert one.spent.requests == 2
    assert await store.runs() == []
    with pytest.raises(ConfigError, match="can't be run without memory"):
        agent_attempt(Agent(architecture=_Around(reflexion), model="local"))


class _Around:
    name = "around"

    def __init__(self, base: Reflexion) -> None:
        self.base = base
        self.run = base.run
        self.declared_workers = base.declared_workers


async def test_any_function_can_make_attempts() -> None:
    async def plain(task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
        del task, repetition
        return 1.0 if cards else 0.0

    store = await stored(IDLE)
    options = ReplayOptions(condition=Condition(model="mine"))
    await ReplayTest(MemoryCI(store), plain, options=options).run(tasks())
    kept = (await store.get([IDLE.id]))[0]
    assert (kept.status, kept.evidence[0].model) == (MemoryStatus.PROMOTED, "mine")


async def test_what_cannot_be_meant_is_refused() -> None:
    ci = MemoryCI(InMemoryVectorStore())
    for make in (
        lambda: ReplayTest(ci, attempt(), parallel=0),
        lambda: ReplayBudget(attempts=-1),
        lambda: ReplayOptions(top_k=0),
        lambda: ReplayOptions(threshold=0.0),
        lambda: Rule(max_pairs=0),
    ):
        with pytest.raises(ConfigError):
            make()


async def test_a_store_that_keeps_no_calls_is_refused() -> None:
    class Bare:
        def __getattr__(self, name: str) -> object:
            if name in ("call", "save_call"):
                raise AttributeError(name)
            return getattr(InMemoryVectorStore(), name)

    with pytest.raises(StoreError, match="keeps no calls"):
        await ReplayTest(MemoryCI(Bare()), attempt()).run(tasks())  # pyright: ignore[reportArgumentType]


class Scripted:
    """Attempts of a function of the task's number and whether any card is shown."""

    def __init__(
        self, score: Callable[[int, bool], float | None], *, model: str = "m", setup: str = "", judged: bool = False
    ) -> None:
        self.score = score
        self.condition = Condition(model=model, layout="l", setup=setup, judged=judged)
        self.spent = TokenUsage()

    async def __call__(self, task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
        del repetition
        return self.score(int("".join(filter(str.isdigit, task.prompt))), bool(cards))


def strict(text: str) -> bool:
    return not text


def lax(text: str) -> bool:
    return "berth" in text


def thrice(number: int, shown: bool) -> float:
    return float(shown and number in (2, 5, 9))


async def test_a_card_that_makes_failures_unknown_gains_nothing_by_it() -> None:
    def crashes(number: int, shown: bool) -> float:
        if shown and number % 3:
            raise RuntimeError("limit")
        return float(shown or bool(number % 3))

    store = await stored(IDLE)
    report = await ReplayTest(MemoryCI(store), Scripted(crashes)).run(tasks(31))
    assert await status(store, IDLE) is MemoryStatus.QUARANTINED
    assert outcome(report, IDLE) == (11, 19)
    unknown = await ReplayTest(MemoryCI(await stored(IDLE)), Scripted(lambda _, shown: 1.0 if shown else None)).run(
        tasks(9)
    )
    assert (unknown.cards[0].counts.gained, unknown.cards[0].counts.ties) == (0, 8)


@pytest.mark.parametrize("again", ["setup", "repetitions"])
async def test_a_task_counts_once(again: str) -> None:
    store = await stored(IDLE)
    for number in range(1, 5):
        setup, options = (str(number), 1) if again == "setup" else ("", number)
        test = ReplayTest(MemoryCI(store), Scripted(thrice, setup=setup), options=ReplayOptions(repetitions=options))
        report = await test.run(tasks(30))
        assert outcome(report, IDLE) == (2, 0)


async def test_evidence_of_other_terms_stands_apart() -> None:
    store = await stored(IDLE)
    for judged, threshold, control in ((True, 0.8, "nothing"), (False, 0.6, "nothing"), (False, 0.8, "placebo")):
        options = ReplayOptions(threshold=threshold, control=control)  # pyright: ignore[reportArgumentType] - one of two
        await ReplayTest(MemoryCI(store), Scripted(thrice, judged=judged), options=options).run(tasks(12))
    await ReplayTest(MemoryCI(store), Scripted(lambda _n, _s: 0.7)).run(tasks(4))
    evidence = (await store.get([IDLE.id]))[0].evidence
    assert [(one.judged, one.terms, one.gained) for one in evidence] == [
        (True, "score 0.8 against nothing", 2),
        (False, "score 0.6 against nothing", 2),
        (False, "score 0.8 against placebo", 0),
        (False, "score 0.8 against nothing", 0),
    ]


async def test_scores_of_another_evaluator_are_not_reused() -> None:
    store, made = await stored(HELPS), list[int]()
    for check in (strict, lax):
        judge = as_evaluator(check)
        for _ in range(2):
            one = agent_attempt(Agent(model=ScriptedModel(obedient)), evaluator_of=lambda _, judge=judge: judge)
            made.append((await ReplayTest(MemoryCI(store), one, options=FEW).run(tasks(4))).attempts)
    assert made[1] == made[3] == 0
    assert made[0] == made[2] > 0


async def test_a_card_returned_to_quarantine_is_shown_anew() -> None:
    ci = MemoryCI(await stored(IDLE))
    await ReplayTest(ci, Scripted(lambda _, shown: float(not shown))).run(tasks())
    await ci.quarantine(IDLE.id, "the world has changed")
    report = await ReplayTest(ci, Scripted(lambda _, shown: float(shown))).run(tasks())
    assert report.cards[0].counts.lost == 0


async def test_a_rerun_decides_among_as_many_as_the_first() -> None:
    bad = [card(f"HURTS, {word}.", of="harbour") for word in ("a", "b", "c", "d", "e")]
    store = await stored(HELPS, *bad)
    for _ in range(3):
        await ReplayTest(MemoryCI(store), attempt(), options=ReplayOptions(top_k=1)).run(tasks(16))
        assert await status(store, HELPS) is MemoryStatus.QUARANTINED
    assert {await status(store, one) for one in bad} == {MemoryStatus.ARCHIVED}


@pytest.mark.parametrize("decision", ["reject", "archive", "pin"])
async def test_what_a_person_decides_meanwhile_holds(decision: str) -> None:
    store = await stored(IDLE)
    ci, shown = MemoryCI(store), list[bool]()

    async def meanwhile(_: Task, cards: Sequence[MemoryCard], __: int) -> float:
        shown.append(bool(cards))
        if len(shown) == 6:
            await getattr(ci, decision)(IDLE.id, "we know better")
        return float(bool(cards))

    await ReplayTest(ci, meanwhile).run(tasks())
    assert len(shown) <= 7
    assert not any(shown[6:])
    assert (await store.get([IDLE.id]))[0].history[-1].by == "human"


async def test_a_card_promoted_on_another_model_is_tested_and_stays() -> None:
    store = await stored(IDLE)
    await ReplayTest(MemoryCI(store), Scripted(lambda _, shown: float(shown))).run(tasks())
    report = await ReplayTest(MemoryCI(store), Scripted(lambda _, shown: float(not shown), model="other")).run(tasks())
    assert outcome(report, IDLE) == (0, 7)
    kept = (await store.get([IDLE.id]))[0]
    assert kept.status is MemoryStatus.PROMOTED
    assert [(hurts(kept, model=name, layout="l")) for name in ("m", "other")] == [False, True]


async def test_a_release_that_a_crash_cut_short_is_finished() -> None:
    class Dies(InMemoryVectorStore):
        dead = False

        async def update(self, card: MemoryCard) -> None:
            if card.status is MemoryStatus.PROMOTED and not self.dead:
                self.dead = True
                raise RuntimeError("killed")
            await super().update(card)

    store = Dies()
    await store.add([HELPS])
    with pytest.raises(RuntimeError, match="killed"):
        await ReplayTest(MemoryCI(store), attempt(), options=FEW).run(tasks())
    await ReplayTest(MemoryCI(store), attempt(), options=FEW).run(tasks())
    assert await status(store, HELPS) is MemoryStatus.PROMOTED
    assert [one.cards for one in await releases(store)] == [(HELPS.id,)]


async def test_a_card_in_use_that_a_person_rejects_is_shown_no_more() -> None:
    store = await stored(IDLE, replace(HELPS, status=MemoryStatus.PROMOTED))
    ci, shown = MemoryCI(store), list[set[str]]()

    async def meanwhile(_: Task, cards: Sequence[MemoryCard], __: int) -> float:
        shown.append({one.id for one in cards})
        if len(shown) == 6:
            await ci.reject(HELPS.id, "names a customer")
        return 0.0

    options = ReplayOptions(condition=Condition(model="mine"))
    report = await ReplayTest(ci, meanwhile, options=options).run(tasks())
    assert HELPS.id in set().union(*shown[:6])
    assert HELPS.id not in set().union(*shown[6:])
    assert report.cards[0].counts.ties > 20
