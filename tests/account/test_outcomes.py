"""Whatever becomes of a run: each of its draws has one outcome, and counts once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from resuming import ARCHITECTURES, TASK, Cut, MortalStore, World, at_write, filled_store, is_cut_off
from trying import (
    COIN,
    HARBOUR,
    NOON,
    ON_TRIAL,
    PROMPT,
    agent,
    drawing,
    drawn,
    good_and_all,
    is_yes,
    keeper,
    lesson,
    only,
    open_in,
    says_yes,
    seeded,
    trial_in,
)
from writers import finish, start

from wisen import (
    Budget,
    CardFilter,
    Clockwork,
    HashEmbedder,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    ReAct,
    ReflectionEvaluation,
    ScriptedModel,
    SQLiteVectorStore,
    Task,
    ToolCall,
    Trace,
    VectorStore,
    Wrapped,
)
from wisen.account.outcomes import report_outcome
from wisen.errors import ConfigError, ModelError, RunNotFoundError
from wisen.events import AdviceUndelivered, Event
from wisen.memory_ci.changes import change_card
from wisen.models.scripted import ScriptedCall
from wisen.records import AttemptRecord, RunRecord
from wisen.session import AgentSession, Dependencies
from wisen.stores.connect import connect
from wisen.trial_records import DrawCounts, Trial

pytestmark = pytest.mark.anyio

WORKER = Path(__file__).parent / "worker.py"


async def on_trial(store: VectorStore) -> MemoryCI:
    ci = MemoryCI(store, trial=ON_TRIAL)
    await ci.submit(lesson())
    return ci


async def trial(ci: MemoryCI) -> Trial:
    return trial_in(await only(ci.store), "scripted")


async def assert_counted(ci: MemoryCI, good: int, runs: int = 1) -> None:
    """Each run counts once, and none waits for its outcome."""
    assert good_and_all(await trial(ci)) == (good, runs)
    assert open_in(await only(ci.store)) == []


async def test_a_run_that_meets_the_threshold_is_good_and_one_that_does_not_is_not() -> None:
    ci = await on_trial(InMemoryVectorStore())
    for number, (score, good) in enumerate(((1.0, 1), (0.8, 2), (0.79, 2), (0.0, 2)), 1):

        def judge(output: str, score: float = score) -> float:
            return score if output else 0.0

        await agent(ci, says_yes, evaluator=judge).run(PROMPT)
        await assert_counted(ci, good, number)


async def test_whether_a_model_or_a_check_decided_is_counted() -> None:
    ci = await on_trial(InMemoryVectorStore())
    for number, (reply, check, judged) in enumerate(((["yes", "score: 1.0"], None, 1), (["yes"], is_yes, 1)), 1):
        await agent(ci, reply, evaluator=check).run(PROMPT)
        (counts,) = (await trial(ci)).counts
        assert (counts.runs, counts.judged) == (number, judged)


async def test_only_the_first_attempt_counts() -> None:
    ci = await on_trial(InMemoryVectorStore())
    await agent(ci, ["no", "yes"], learning={"max_attempts": 2}).run(PROMPT)
    (head,) = [card for card in await ci.store.list(CardFilter()) if card.content == HARBOUR]
    assert good_and_all(trial_in(head, "scripted")) == (0, 1)


async def test_a_run_that_raises_is_not_good() -> None:
    ci = await on_trial(InMemoryVectorStore())
    with pytest.raises(ModelError):
        await agent(ci, [ModelError("scripted", "down")]).run(PROMPT)
    await assert_counted(ci, 0)


async def test_an_error_of_the_base_is_not_good() -> None:
    ci = await on_trial(InMemoryVectorStore())

    async def work(prompt: str, advice: str) -> str:
        raise RuntimeError(prompt + advice)

    with pytest.raises(Exception, match="Route"):
        await agent(ci, [], learning={"base": Wrapped(work)}).run(PROMPT)
    await assert_counted(ci, 0)


async def test_a_run_whose_first_attempt_fails_is_not_good_though_the_second_is() -> None:
    ci = await on_trial(InMemoryVectorStore())
    tried: list[str] = []

    async def work(prompt: str, advice: str) -> str:
        tried.append(prompt + advice)
        if len(tried) == 1:
            raise RuntimeError("odd")
        return "yes"

    made = agent(ci, [], learning={"base": Wrapped(work), "max_attempts": 2})
    assert (await made.run(PROMPT)).status == "satisfied"
    await assert_counted(ci, 0)


async def test_a_first_attempt_that_runs_out_of_turns_is_not_good_whatever_a_model_says_of_it() -> None:
    ci = await on_trial(InMemoryVectorStore())
    model = ScriptedModel([["looking", ToolCall("look")], "score: 1.0"])
    made = agent(ci, model, evaluator=None, tools=[look], learning={"base": ReAct(max_turns=1)})
    result = await made.run(PROMPT)
    assert (result.score, result.status) == (1.0, "unsatisfied")
    await assert_counted(ci, 0)


def look() -> str:
    """Look."""
    return "nothing"


class Waiting:
    """A base that waits, and says when it does."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def work(self, prompt: str, advice: str) -> str:
        """Wait."""
        del advice
        self.begun.set()
        await asyncio.Event().wait()
        return prompt


async def test_a_run_that_is_cancelled_is_not_good(any_store: VectorStore) -> None:
    ci, base = await on_trial(any_store), Waiting()
    run = asyncio.create_task(agent(ci, [], learning={"base": Wrapped(base.work)}).run(PROMPT))
    await base.begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    await assert_counted(ci, 0)


async def test_a_run_that_is_cancelled_twice_counts_all_the_same() -> None:
    ci, base = await on_trial(Slow()), Waiting()
    run = asyncio.create_task(agent(ci, [], learning={"base": Wrapped(base.work)}).run(PROMPT))
    await base.begun.wait()
    for _ in range(3):
        run.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await run
    await asyncio.sleep(0.05)
    await assert_counted(ci, 0)


class Slow(InMemoryVectorStore):
    """A store whose writes take a while."""

    async def update(self, card: Any) -> None:
        """Write after a while."""
        await asyncio.sleep(0.01)
        await super().update(card)


async def test_a_run_that_is_timed_out_is_not_good() -> None:
    ci = await on_trial(InMemoryVectorStore())
    made = agent(ci, [], learning={"base": Wrapped(Waiting().work)})
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await made.run(PROMPT)
    await assert_counted(ci, 0)


async def test_a_run_whose_budget_ends_in_the_attempt_is_not_good() -> None:
    ci = await on_trial(InMemoryVectorStore())
    result = await agent(ci, says_yes, budget=Budget(requests=0)).run(PROMPT)
    assert result.status == "budget_exhausted"
    await assert_counted(ci, 0)


async def test_a_run_whose_budget_leaves_no_call_to_judge_is_not_good() -> None:
    ci = await on_trial(InMemoryVectorStore())
    made = agent(ci, ["yes", "score: 1.0"], budget=Budget(requests=1), evaluator=None)
    assert (await made.run(PROMPT)).status == "budget_exhausted"
    await assert_counted(ci, 0)


class Hanging:
    """A judge that doesn't answer."""

    name = "hanging"

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        """Wait for ever."""
        del task, output, trace
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_run_whose_time_ends_while_it_is_judged_may_have_its_outcome_from_outside() -> None:
    ci = await on_trial(InMemoryVectorStore())
    result = await agent(ci, says_yes, budget=Budget(seconds=0.5), evaluator=Hanging()).run(PROMPT)
    assert (result.status, result.output) == ("budget_exhausted", "yes")
    assert [one.unknown for one in (await only(ci.store)).open_draws] == [True]
    told = await report_outcome(ci, result.run_id, score=1.0)
    assert (told.counted, told.record.status, told.record.score) == (1, "budget_exhausted", None)
    assert told.record.attempts[0].evaluation is not None
    await assert_counted(ci, 1)


async def test_an_attempt_that_failed_is_not_good_though_the_time_ends_while_it_is_judged() -> None:
    ci = await on_trial(InMemoryVectorStore())
    model = ScriptedModel([["looking", ToolCall("look")]])
    options: dict[str, Any] = {"budget": Budget(seconds=0.5), "tools": [look], "learning": {"base": ReAct(max_turns=1)}}
    result = await agent(ci, model, evaluator=Hanging(), **options).run(PROMPT)
    assert (result.status, result.attempts[0].output) == ("budget_exhausted", "looking")
    await assert_counted(ci, 0)


@pytest.mark.parametrize("with_rule", [True, False])
async def test_a_run_that_ended_before_it_was_judged_stays_not_good_whatever_is_said_later(
    any_store: VectorStore, with_rule: bool
) -> None:
    ci = await on_trial(any_store)
    base = Wrapped(Waiting().work)
    result = await agent(ci, [], learning={"base": base}, budget=Budget(seconds=0.5)).run(PROMPT)
    assert (result.status, result.attempts[0].counted) == ("budget_exhausted", True)
    told = await report_outcome(ci if with_rule else ci.store, result.run_id, score=1.0)
    assert (told.counted, told.record.attempts) == (0, result.attempts)
    assert (await ci.store.run(result.run_id)).attempts == result.attempts  # type: ignore[attr-defined]
    await assert_counted(ci, 0)


async def test_a_budget_that_ends_after_the_outcome_is_known_changes_nothing() -> None:
    ci = await on_trial(InMemoryVectorStore())
    result = await agent(ci, ["no", "no"], budget=Budget(requests=1), learning={"max_attempts": 2}).run(PROMPT)
    assert result.status == "budget_exhausted"
    await assert_counted(ci, 0)


async def test_a_stream_that_nobody_reads_on_is_not_good() -> None:
    ci = await on_trial(InMemoryVectorStore())
    events = agent(ci, says_yes, learning={"base": Wrapped(Waiting().work)}).stream(PROMPT)
    async for event in events:
        if event.name == "reflexion.lessons_recalled":
            break
    await events.aclose()  # type: ignore[attr-defined]
    await assert_counted(ci, 0)


class Leaving:
    """An architecture that stops reading another one as soon as it has seen an event of this name."""

    name = "leaving"

    def __init__(self, inner: Any, last: str) -> None:
        self.inner = inner
        self.last = last

    def declared_workers(self) -> dict[str, object]:
        """Nobody."""
        return {}

    async def run(self, session: AgentSession, deps: Dependencies, prompt: str) -> AsyncIterator[Event]:
        """Some of the events."""
        async with aclosing(self.inner.run(session, deps, prompt)) as events:
            async for event in events:
                yield event
                if event.name == self.last:
                    return


@pytest.mark.parametrize(
    ("last", "good"),
    [("reflexion.lessons_recalled", 0), ("reflexion.evaluated", 1), ("reflexion.threshold_met", 1)],
)
async def test_a_generator_that_is_closed_early_counts_once(last: str, good: int) -> None:
    ci = await on_trial(InMemoryVectorStore())
    made = agent(ci, ["yes", "yes"])
    made.architecture = Leaving(made.architecture, last)
    await made.run(PROMPT)
    await assert_counted(ci, good)


async def test_advice_that_no_call_carried_is_told_and_stays_in_its_arm() -> None:
    sides = list[bool]()
    store, events = InMemoryVectorStore(), list[Event]()
    ci = MemoryCI(store, trial=COIN)
    await ci.submit(lesson())

    async def work(prompt: str) -> str:
        del prompt
        return "yes"

    for seed in range(12):
        with pytest.warns(UserWarning, match="takes no advice"):
            made = agent(ci, [], learning={"base": Wrapped(work)}, clockwork=seeded(seed), watch=events.append)
        (attempt,) = (await made.run(PROMPT)).attempts
        assert not attempt.advice_delivered
        sides.append(attempt.injections[0].shown)
    assert sum(isinstance(event, AdviceUndelivered) for event in events) == sum(sides)
    counts = (await trial(ci)).counts
    assert sum(one.shown for one in counts) == sum(one.shown_good for one in counts) == sum(sides) > 0
    assert sum(one.held_out for one in counts) == sides.count(False) > 0


class Down:
    """A judge that isn't there."""

    name = "down"

    def __init__(self, *, raises: bool) -> None:
        self.raises = raises

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        """Say nothing."""
        del task, output, trace
        if self.raises:
            raise ConnectionError("no judge")
        return ReflectionEvaluation(overall_score=None)


@pytest.mark.parametrize("raises", [True, False])
@pytest.mark.parametrize(("score", "good"), [(1.0, 1), (0.8, 1), (0.5, 0)])
async def test_where_the_judge_is_down_the_outcome_may_come_from_outside(raises: bool, score: float, good: int) -> None:
    ci = await on_trial(InMemoryVectorStore())
    result = await agent(ci, says_yes, evaluator=Down(raises=raises)).run(PROMPT)
    assert result.status == "unevaluated"
    (waiting,) = (await only(ci.store)).open_draws
    assert (waiting.unknown, waiting.run_id) == (True, result.run_id)
    assert (await trial(ci)).runs == 0
    told = await report_outcome(ci, result.run_id, score=score)
    assert (told.counted, told.record.score) == (1, score)
    assert told.record.status == ("satisfied" if good else "unsatisfied")
    await assert_counted(ci, good)
    assert (await report_outcome(ci, result.run_id, score=1.0 - score)).counted == 0
    await assert_counted(ci, good)
    assert (await ci.store.run(result.run_id)).score == score  # type: ignore[attr-defined]


@pytest.mark.parametrize(("verified", "judged"), [(True, 0), (False, 1)])
async def test_whether_a_check_or_an_opinion_comes_from_outside_is_counted(verified: bool, judged: int) -> None:
    ci = await on_trial(InMemoryVectorStore())
    result = await agent(ci, says_yes, evaluator=Down(raises=False)).run(PROMPT)
    told = await report_outcome(ci, result.run_id, score=1.0, verified=verified)
    (counts,) = (await trial(ci)).counts
    assert (counts.runs, counts.judged) == (1, judged)
    evaluation = told.record.attempts[0].evaluation
    assert evaluation is not None
    assert evaluation.verifiable is verified


async def test_an_outcome_from_outside_may_come_too_late() -> None:
    ci = await on_trial(InMemoryVectorStore())
    result = await agent(ci, says_yes, evaluator=Down(raises=False)).run(PROMPT)
    (left,) = (await only(ci.store)).open_draws
    later = keeper(ci.store, now=lambda: left.at + timedelta(hours=24))
    told = await report_outcome(later, result.run_id, score=1.0)
    assert (told.counted, told.record.score) == (0, 1.0), "the record tells it all the same"
    await assert_counted(ci, 0)


async def test_an_outcome_that_was_known_is_not_counted_again() -> None:
    ci = await on_trial(InMemoryVectorStore())
    result = await agent(ci, says_yes).run(PROMPT)
    told = await report_outcome(ci, result.run_id, score=0.0)
    assert (told.counted, list(told.events)) == (0, [])
    await assert_counted(ci, 1)
    assert (await ci.store.run(result.run_id)).score == 1.0  # type: ignore[attr-defined]


async def test_what_can_not_be_an_outcome_is_refused() -> None:
    ci = await on_trial(InMemoryVectorStore())
    result = await agent(ci, says_yes, evaluator=Down(raises=False)).run(PROMPT)
    for wrong in (1.5, -0.1, float("nan"), "0.5", None):
        with pytest.raises(ConfigError, match=r"\(score="):
            await report_outcome(ci, result.run_id, score=wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"\(threshold=2.0\)"):
        await report_outcome(ci, result.run_id, score=1.0, threshold=2.0)
    with pytest.raises(RunNotFoundError):
        await report_outcome(ci, "nobody", score=1.0)
    assert (await trial(ci)).runs == 0


@pytest.mark.parametrize(("score", "status"), [(0.8, "satisfied"), (0.79, "unsatisfied")])
async def test_the_record_says_that_the_judgement_came_from_outside(score: float, status: str) -> None:
    store = InMemoryVectorStore()
    first, second = AttemptRecord(attempt=1, output="a"), AttemptRecord(attempt=2, output="b")
    await store.save_run(RunRecord(run_id="r", task=Task(prompt=PROMPT), attempts=(first, second)))
    told = await report_outcome(store, "r", score=score)
    judged = ReflectionEvaluation(
        overall_score=score, satisfactory=status == "satisfied", verifiable=True, evaluator="outside"
    )
    assert (told.record.score, told.record.status) == (score, status)
    assert told.record.attempts == (replace(first, evaluation=judged), second)
    assert await store.run("r") == told.record


async def test_an_outcome_says_nothing_of_how_a_run_ended_that_was_judged_or_broken_off() -> None:
    store = InMemoryVectorStore()
    first = AttemptRecord(attempt=1, output="a")
    ended = RunRecord(run_id="broken off", task=Task(prompt=PROMPT), attempts=(first,), status="budget_exhausted")
    better = RunRecord(run_id="second judged", task=Task(prompt=PROMPT), attempts=(first,), score=0.9)
    for record in (ended, better):
        await store.save_run(record)
        told = await report_outcome(store, record.run_id, score=0.3)
        assert (told.record.status, told.record.score) == (record.status, record.score)
        assert (await store.run(record.run_id)).attempts[0].evaluation is not None


async def test_a_run_without_attempts_has_nothing_to_count() -> None:
    store = InMemoryVectorStore()
    record = RunRecord(run_id="r", task=Task(prompt=PROMPT))
    await store.save_run(record)
    told = await report_outcome(store, "r", score=1.0)
    assert (told.record, told.counted, list(told.events)) == (record, 0, [])


@pytest.mark.parametrize("door", ["its rule", "another rule", "the store alone"])
@pytest.mark.parametrize(("hours", "counted"), [(3, 0), (1, 1)])
async def test_the_grace_time_is_that_of_the_rule_by_which_the_run_drew(door: str, hours: int, counted: int) -> None:
    now = datetime.now(UTC)
    then, rule = now - timedelta(hours=hours), replace(ON_TRIAL, grace=timedelta(hours=2))
    ci = keeper(InMemoryVectorStore(), rule=rule, now=lambda: then)
    await ci.submit(lesson())
    clock = replace(Clockwork(), now=lambda: then)
    result = await agent(ci, says_yes, evaluator=Down(raises=False), clockwork=clock).run(PROMPT)
    later = keeper(ci.store, rule=rule if door == "its rule" else ON_TRIAL, now=lambda: now)
    told = await report_outcome(ci.store if door == "the store alone" else later, result.run_id, score=1.0)
    assert told.counted == len((await only(ci.store)).observed) == counted
    await drawn(drawing(later))  # the next run counts what came too late, as not good
    assert good_and_all(await trial(ci)) == (counted, 1)


async def test_what_became_of_the_ideas_is_told_with_the_outcome() -> None:
    ci = await on_trial(InMemoryVectorStore())
    result = await agent(ci, says_yes, evaluator=Down(raises=False)).run(PROMPT)
    (told,) = (await report_outcome(ci, result.run_id, score=1.0)).events
    assert (told.card_id, told.name) == (lesson().id, "memory.trial_advanced")


async def test_without_the_rule_only_the_runs_own_draws_are_counted_and_nothing_is_decided(
    any_store: VectorStore,
) -> None:
    """The agent waits for a week, and asks for more evidence than the default; a command knows neither."""
    then = datetime.now(UTC) - timedelta(hours=30)
    rule = replace(ON_TRIAL, grace=timedelta(days=7), promote_at=1e6)
    ci = keeper(any_store, rule=rule, now=lambda: then)
    await ci.submit(lesson())
    clock = replace(Clockwork(), now=lambda: then)
    judgeless = agent(ci, says_yes, evaluator=Down(raises=False), clockwork=clock)
    waiting, told = [(await judgeless.run(PROMPT)).run_id for _ in range(2)]
    seen = DrawCounts(propensity=0.6, shown=60, shown_good=60, held_out=40)
    number = await ci.numbers.of("this one")

    def tried_before(card: MemoryCard) -> MemoryCard:
        (one,) = card.trials
        return replace(card, trials=(replace(one, number=number, stage="on trial", counts=(seen,)),))

    await change_card(any_store, lesson().id, tried_before)
    reported = await report_outcome(any_store, told, score=1.0)
    assert (reported.counted, list(reported.events), reported.record.score) == (1, [], 1.0)
    card = await only(any_store)
    assert (open_in(card), card.status, trial_in(card, "scripted").stage) == ([waiting], "quarantined", "on trial")
    assert good_and_all(trial_in(card, "scripted")) == (61, 101)
    assert (await report_outcome(any_store, told, score=1.0)).counted == 0
    await keeper(any_store, now=lambda: then).reject(card.id, "it is wrong")
    assert (await report_outcome(any_store, waiting, score=1.0)).counted == 0


async def test_of_two_outcomes_at_once_the_first_counts_and_is_in_the_record(any_store: VectorStore) -> None:
    ci = await on_trial(any_store)
    for number in range(4):
        run_id = (await agent(ci, says_yes, evaluator=Down(raises=False)).run(PROMPT)).run_id
        before = good_and_all(await trial(ci))[0]
        stores = [ci, any_store, keeper(any_store), any_store]
        scores = [1.0, 0.0, 0.0, 1.0] if number % 2 else [0.0, 1.0, 1.0, 0.0]
        told = [report_outcome(one, run_id, score=score) for one, score in zip(stores, scores, strict=True)]
        reported = await asyncio.gather(*told)
        assert sum(one.counted for one in reported) == 1
        good = good_and_all(await trial(ci))[0] - before
        assert {one.record.score for one in reported} == {float(good)}
        assert (await any_store.run(run_id)).score == good  # type: ignore[attr-defined]
        await assert_counted(ci, before + good, number + 1)


async def test_an_id_that_comes_back_has_an_outcome_of_its_own() -> None:
    ci = await on_trial(InMemoryVectorStore())
    for score in (1.0, 0.0):
        clock = replace(Clockwork(), new_id=lambda: "same")
        await agent(ci, says_yes, evaluator=Down(raises=False), clockwork=clock).run(PROMPT)
        assert (await report_outcome(ci, "same", score=score)).record.score == score
    await assert_counted(ci, 1, 2)


async def test_what_the_judge_said_is_what_counts_though_the_count_had_failed() -> None:
    ci = await on_trial(InMemoryVectorStore())
    result = await agent(ci, says_yes, evaluator=Down(raises=False)).run(PROMPT)
    judged = ReflectionEvaluation(overall_score=0.9, satisfactory=True, evaluator="judge")
    record = result.record
    await ci.store.save_run(replace(record, attempts=(replace(record.attempts[0], evaluation=judged),)))  # type: ignore[attr-defined]
    assert (await report_outcome(ci, result.run_id, score=0.0)).counted == 1
    (counts,) = (await trial(ci)).counts
    assert (counts.shown_good + counts.held_out_good, counts.judged) == (1, 1)


async def test_a_run_that_has_not_ended_has_no_outcome_yet(any_store: VectorStore) -> None:
    ci = await on_trial(any_store)

    def cut(*_: object) -> str:
        raise Cut

    with pytest.raises(Cut):
        await agent(ci, cut).run(PROMPT, run_id="r")
    with pytest.raises(ConfigError, match="run 'r' hasn't ended"):
        await report_outcome(ci, "r", score=1.0)
    assert (await agent(ci, says_yes, evaluator=Down(raises=False)).run(PROMPT, run_id="r")).status == "unevaluated"
    assert (await report_outcome(ci, "r", score=1.0)).counted == 1


class WithoutRuns:
    """A store of cards alone."""

    def __init__(self) -> None:
        self.cards = InMemoryVectorStore()

    def __getattr__(self, name: str) -> Any:
        if name in ("run", "runs", "save_run"):
            raise AttributeError(name)
        return getattr(self.cards, name)


async def test_a_store_that_keeps_no_runs_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'r'.*keeps no runs"):
        await report_outcome(MemoryCI(WithoutRuns()), "r", score=1.0)  # type: ignore[arg-type]


async def test_a_run_that_is_killed_is_not_good_once_the_grace_is_over() -> None:
    ci = await on_trial(InMemoryVectorStore())

    def dies(*_: object) -> str:
        raise Cut

    with pytest.raises(Cut):
        await agent(ci, dies).run(PROMPT)
    assert (await trial(ci)).runs == 0
    (left,) = (await only(ci.store)).open_draws
    later = keeper(ci.store, now=lambda: left.at + timedelta(hours=25))
    await drawn(drawing(later, model="scripted", run_id="next"))
    assert good_and_all(await trial(ci)) == (0, 1)
    assert open_in(await only(ci.store)) == ["next"]


async def test_a_run_that_is_killed_and_resumed_counts_once() -> None:
    store = InMemoryVectorStore()
    ci, lives = await on_trial(store), iter((False, True))

    def dies(messages: object, call: ScriptedCall) -> str:
        if not next(lives):
            raise Cut
        return says_yes(messages, call)

    with pytest.raises(Cut):
        await agent(ci, dies, memory=store).run(PROMPT, run_id="r1")
    assert open_in(await only(store)) == ["r1"]
    for _ in range(2):
        await agent(ci, dies, memory=store).run(PROMPT, run_id="r1")
        await assert_counted(ci, 1)


async def test_a_run_that_is_cut_off_at_any_write_and_resumed_counts_once() -> None:
    cut, number = True, 0
    while cut:
        world, store = World(), await filled_store()
        at_write(number)(world, store)
        cut = await is_cut_off(ARCHITECTURES["reflexion"](world, store))
        store.left = None
        await ARCHITECTURES["reflexion"](world, store).run(TASK, run_id="r1")
        assert await drawn_and_counted(store) == {"Look under the stage.": (1, 0), "Begin at the door.": (1, 0)}
        number += 1
    assert number > 10


async def drawn_and_counted(store: MortalStore) -> dict[str, tuple[int, int]]:
    """Of the cards of earlier runs: how many runs were counted, and how many wait."""
    cards = [card for card in await store.list(CardFilter()) if card.provenance.run_id.startswith("earlier")]
    runs = {card.content: sum(one.first + one.runs for one in card.trials) for card in cards}
    return {card.content: (runs[card.content], len(card.open_draws)) for card in cards}


async def test_one_run_of_two_memories_at_once_counts_once(tmp_path: Path) -> None:
    async with SQLiteVectorStore(tmp_path / "s.db") as one, SQLiteVectorStore(tmp_path / "s.db") as other:
        await on_trial(one)
        made = [agent(MemoryCI(store, trial=ON_TRIAL), says_yes, memory=store) for store in (one, other)]
        for number in range(5):
            await asyncio.gather(*(each.run(PROMPT, run_id=f"r{number}") for each in made))
            await assert_counted(MemoryCI(other), number + 1, number + 1)


class Between(InMemoryVectorStore):
    """A store that lets others do something before the first advice is kept."""

    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def keep_call(self, scope: str, key: str, ordinal: int, response: bytes) -> bytes:
        """Keep it."""
        if b'"injections"' in response and self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return await super().keep_call(scope, key, ordinal, response)

    async def keep_call_while(self, scope: str, key: str, ordinal: int, response: bytes, *, head: str) -> bytes | None:
        """Keep it."""
        if b'"injections"' in response and self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return await super().keep_call_while(scope, key, ordinal, response, head=head)


@pytest.mark.parametrize("ends", [True, False])
async def test_whoever_is_second_at_a_run_takes_back_what_it_drew(ends: bool) -> None:
    store, asked, go_on = Between(), asyncio.Event(), asyncio.Event()
    ci, others = await on_trial(store), list[asyncio.Task[Any]]()

    async def reply(*_: object) -> str:
        asked.set()
        await go_on.wait()
        return "yes"

    async def meanwhile() -> None:
        await agent(ci, says_yes).run(PROMPT)  # so that the two at one run don't draw the same
        others.append(asyncio.create_task(agent(ci, reply, memory=store).run(PROMPT, run_id="r1")))
        await asked.wait()
        if ends:
            go_on.set()
            await others[0]

    store.meanwhile = meanwhile
    first = asyncio.create_task(agent(ci, reply, memory=store).run(PROMPT, run_id="r1"))
    await asked.wait()
    go_on.set()
    one, other = await first, await others[0]
    assert one.record == other.record
    await assert_counted(ci, 2, 2)


async def test_a_run_that_ends_while_another_process_begins_it_is_not_made_again() -> None:
    class Late(InMemoryVectorStore):
        looks = 0

        async def run(self, run_id: str) -> RunRecord:
            self.looks += 1
            if self.looks == 1:
                raise RunNotFoundError(run_id)
            return await super().run(run_id)

    store = Late()
    ci = await on_trial(store)
    store.looks = 1
    first = await agent(ci, says_yes, memory=store).run(PROMPT, run_id="r1")
    store.looks = 0
    model = ScriptedModel(["no"])
    assert (await agent(ci, model, memory=store).run(PROMPT, run_id="r1")).record == first.record
    assert (len(model.calls), (await store.facts()).calls) == (0, 1), "what is left is the trial's number"
    await assert_counted(ci, 1)


def test_the_runs_of_two_processes_are_all_counted_once(tmp_path: Path) -> None:
    url, runs = str(tmp_path / "s.db"), 30

    async def look(prepare: Callable[[VectorStore], Any]) -> Any:
        store = connect(url, embedder=HashEmbedder())
        found = await prepare(store)
        await store.close()
        return found

    asyncio.run(look(lambda store: keeper(store).submit(lesson())))
    ended = finish([start(url, name, runs, 5, script=WORKER) for name in ("one", "two")])
    card = asyncio.run(look(only))
    assert len(ended) == 2 * runs
    assert len(set(ended)) == 2 * runs - runs // 3
    assert open_in(card) == []
    seen = trial_in(card, "scripted")
    assert (seen.runs, seen.number) == (len(set(ended)), 1)


async def test_ids_that_come_back_are_runs_of_their_own() -> None:
    """An id says nothing of an execution: here three programs begin with the same seed, and so with the same ids."""
    ci = await on_trial(InMemoryVectorStore())
    ids = [(await agent(ci, says_yes, clockwork=seeded(1)).run(PROMPT)).run_id for _ in range(3)]
    assert len(set(ids)) == 1
    await assert_counted(ci, 3, 3)


async def test_the_clock_of_the_memory_says_when_a_draw_expires() -> None:
    assert keeper(InMemoryVectorStore()).now() == NOON
    ci = await on_trial(InMemoryVectorStore())
    model = ScriptedModel([ModelError("scripted", "down")])
    with pytest.raises(ModelError):
        await agent(ci, model, clockwork=seeded(2)).run(PROMPT)
    await assert_counted(ci, 0)
