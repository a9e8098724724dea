"""What `Metrics` counts of real runs, and that its labels name neither tenants nor texts."""

import asyncio
import subprocess
import sys
from typing import Literal

import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families
from resuming import Cut

from wisen import (
    Agent,
    Budget,
    Clockwork,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    ReflectionEvaluation,
    Reflexion,
    ScriptedModel,
    Supervisor,
    Task,
    ToolCall,
    Trace,
)
from wisen.events import (
    AdviceUndelivered,
    AttemptStarted,
    CardMoved,
    LessonPersisted,
    LessonsBlocked,
    LessonsRecalled,
    ModelCalled,
)
from wisen.operations.metrics import OTHER, Metrics, PoolUse, QueueDepth
from wisen.queue.worker_runs import watched
from wisen.records import Blocked, Injection, TokenUsage

pytestmark = pytest.mark.anyio

CANARY = "zanzibar-7731"


def samples(metrics: Metrics) -> dict[str, float]:
    """Every figure by its name with its labels' values, in the order of the labels' names."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(metrics.text().decode()):
        for sample in family.samples:
            if not sample.name.endswith("_created"):
                found["/".join([sample.name, *(value for _, value in sorted(sample.labels.items()))])] = sample.value
    return found


class Half:
    """Content with the second attempt."""

    name = "half"

    def __init__(self) -> None:
        self.asked = 0

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        del task, output, trace
        self.asked += 1
        return ReflectionEvaluation(overall_score=1.0 if self.asked % 2 == 0 else 0.1, verifiable=True)


class OneLesson:
    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        del task, output, evaluation, trace
        return [MemoryCard(kind=MemoryKind.LESSON, content=f"Look at the second column of {CANARY} first.")]


def learner(metrics: Metrics) -> Agent:
    store = InMemoryVectorStore()
    return Agent(
        "Answer.",
        model=ScriptedModel(lambda _messages, _call: f"an answer about {CANARY}"),
        architecture=Reflexion(evaluator=Half(), reflector=OneLesson(), lesson_store=MemoryCI(store, trust="screened")),
        watch=metrics.watch,
        tenant=f"tenant-{CANARY}",
    )


async def test_counts_what_runs_did() -> None:
    metrics = Metrics()
    agent = learner(metrics)
    for _ in range(3):
        await agent.run(Task(prompt=f"What is in {CANARY}?", id=CANARY))
    found = samples(metrics)
    assert found["wisen_runs_started_total"] == 3
    assert found["wisen_run_seconds_count/satisfied"] == 3
    assert found["wisen_run_attempts_sum"] == 6
    assert found["wisen_run_attempts_bucket/2.0"] == 3
    calls = found["wisen_model_calls_total/scripted"]
    assert calls == 6
    assert found["wisen_model_call_seconds_count/scripted"] == calls
    assert found["wisen_model_tokens_total/output/scripted"] > 0
    kept = {name: value for name, value in found.items() if name.startswith("wisen_lessons_total")}
    assert kept == {"wisen_lessons_total/added": 2, "wisen_lessons_total/duplicate": 4}
    assert found["wisen_recall_seconds_count"] >= 2
    assert found["wisen_recalled_cards_total"] >= found["wisen_recall_seconds_count"]


async def test_no_label_holds_a_tenant_a_task_or_a_text() -> None:
    metrics = Metrics()
    await learner(metrics).run(Task(prompt=f"What is in {CANARY}?", id=CANARY))
    assert CANARY not in metrics.text().decode()


async def test_events_of_workers_are_counted_as_the_runs_own() -> None:
    metrics = Metrics()
    worker = Agent("Work.", model=ScriptedModel(["done"]), architecture=Reflexion(evaluator=Half(), max_attempts=1))
    model = ScriptedModel([ToolCall("delegate", worker="helper", instructions="do it"), "all done"])
    boss = Agent("Delegate.", model=model, architecture=Supervisor(workers={"helper": worker}), watch=metrics.watch)
    await boss.run("A task.")
    found = samples(metrics)
    assert found["wisen_runs_started_total"] == 1
    assert found["wisen_model_calls_total/scripted"] >= 2


async def test_degradations_and_budgets() -> None:
    class Fails:
        name = "fails"

        async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
            del output, trace
            raise LookupError(task.prompt)

    metrics = Metrics()
    await Agent(model=ScriptedModel(["a"]), evaluator=Fails(), watch=metrics.watch).run("x")
    await Agent(model=ScriptedModel(["a"]), budget=Budget(requests=0), watch=metrics.watch).run("x")
    found = samples(metrics)
    assert found["wisen_degradations_total/evaluate"] == 1
    assert found["wisen_budgets_exhausted_total/requests"] == 1


async def test_recalls_of_runs_side_by_side_are_told_apart() -> None:
    """The clock is the test's: the first attempt waits 3, the second, which begins later and ends earlier, 1."""
    now = 0.0
    metrics = Metrics(monotonic=lambda: now)
    recalled = LessonsRecalled(attempt=1, injections=(Injection(card_id="c", kind="lesson", reasons=(), score=1.0),))
    begun, ended = asyncio.Event(), asyncio.Event()

    async def long() -> None:
        metrics.watch(AttemptStarted(attempt=1, max_attempts=1))
        begun.set()
        await ended.wait()
        metrics.watch(recalled)

    async def short() -> None:
        nonlocal now
        await begun.wait()
        now = 2.0
        metrics.watch(AttemptStarted(attempt=1, max_attempts=1))
        now = 3.0
        metrics.watch(recalled)
        ended.set()

    await asyncio.gather(long(), short())
    found = samples(metrics)
    assert found["wisen_recall_seconds_sum"] == 4.0
    assert found["wisen_recall_seconds_count"] == 2


def test_events_are_counted_outside_of_a_loop_too() -> None:
    metrics = Metrics()
    metrics.watch(AttemptStarted(attempt=1, max_attempts=1))
    metrics.watch(LessonsRecalled(attempt=1, injections=()))
    assert samples(metrics)["wisen_recall_seconds_count"] == 1


def test_what_memory_did() -> None:
    metrics = Metrics()
    told: list[tuple[Literal["added", "duplicate", "rejected"], tuple[str, ...]]]
    told = [("added", ("email",)), ("rejected", ("aws-access-key",)), ("duplicate", ())]
    for outcome, rules in told:
        metrics.watch(
            LessonPersisted(attempt=1, target="lesson_store", card_id="c", kind="lesson", outcome=outcome, rules=rules)
        )
    metrics.watch(LessonsBlocked(attempt=1, blocked=(Blocked(card_id="c", rules=("x",)),) * 2))
    metrics.watch(CardMoved(card_id="c", before="quarantined", after="archived", why=CANARY, by="trial"))
    metrics.watch(AdviceUndelivered(attempt=1, card_ids=("c",)))
    found = samples(metrics)
    for name in ("added", "rejected", "duplicate"):
        assert found[f"wisen_lessons_total/{name}"] == 1
    assert found["wisen_lessons_redacted_total"] == 1
    assert found["wisen_cards_blocked_total"] == 2
    assert found["wisen_cards_moved_total/archived"] == 1
    assert found["wisen_advice_undelivered_total"] == 1


def test_names_of_models_cannot_grow_without_end() -> None:
    metrics = Metrics()
    for number in range(200):
        usage = TokenUsage(requests=1, cost_usd=0.5)
        metrics.watch(ModelCalled(model=f"m{number}", purpose="attempt", usage=usage, seconds=1.0, advised=False))
    found = samples(metrics)
    assert sum(name.startswith("wisen_model_calls_total/") for name in found) == 51
    assert found[f"wisen_model_calls_total/{OTHER}"] == 150
    assert found[f"wisen_model_cost_usd_total/{OTHER}"] == 75.0


def test_what_a_worker_says() -> None:
    metrics = Metrics()
    metrics.task_ended("nightly", "satisfied")
    metrics.task_ended("nightly", "dead")
    metrics.took_over(3)
    metrics.lagged(-0.1)
    metrics.set_depth(QueueDepth(queue="nightly", waiting=5, running=2, dead=1))
    metrics.set_heartbeat_age(1.5)
    metrics.set_pool(PoolUse(in_use=3, size=10))
    metrics.set_check("database", ok=False)
    found = samples(metrics)
    assert found["wisen_tasks_total/satisfied/nightly"] == found["wisen_tasks_total/dead/nightly"] == 1
    assert (found["wisen_takeovers_total"], found["wisen_tasks_taken_over_total"]) == (1, 3)
    assert found["wisen_event_loop_lag_seconds_sum"] == 0
    depths = [found[f"wisen_queue_tasks/nightly/{state}"] for state in ("waiting", "running", "dead")]
    assert depths == [5, 2, 1]
    assert found["wisen_heartbeat_age_seconds"] == 1.5
    assert (found["wisen_pool_in_use"], found["wisen_pool_size"]) == (3, 10)
    assert found["wisen_check_ok/database"] == 0


async def test_what_a_resumed_run_did_before_is_not_counted_as_spent() -> None:
    """The first process dies in the second call; the second one asks only that."""
    store = InMemoryVectorStore()

    def agent(metrics: Metrics, *, dies: bool) -> Agent:
        def search(query: str) -> str:
            """Search."""
            if dies:
                raise Cut
            return query

        model = ScriptedModel([ToolCall("search", query="x"), "done"] if dies else ["done"])
        return Agent("Go.", model=model, tools=[search], memory=store, watch=metrics.watch)

    first, second = Metrics(), Metrics()
    with pytest.raises(Cut):
        await agent(first, dies=True).run("task", run_id="r-1")
    result = await agent(second, dies=False).run("task", run_id="r-1")
    assert result.usage.requests == 2
    assert samples(first)["wisen_model_calls_total/scripted"] == 1
    found = samples(second)
    assert found["wisen_model_calls_total/scripted"] == 1
    assert found["wisen_model_replays_total/scripted"] == 1
    third = Metrics()
    await agent(third, dies=False).run("task", run_id="r-1")  # has ended, and isn't made again
    assert "wisen_run_seconds_count/unevaluated" in found
    assert not any(name.startswith("wisen_run_seconds_count") for name in samples(third))


async def test_an_agent_with_a_watcher_of_its_own_is_watched_too() -> None:
    one, other = Metrics(), Metrics()
    own = Agent(model=ScriptedModel(["a", "b", "c"]), watch=one.watch)
    await watched(own, other.watch).run("x")
    await own.run("x")
    assert watched(own, None) is own
    assert samples(one)["wisen_runs_started_total"] == 2
    assert samples(other)["wisen_runs_started_total"] == 1


async def test_two_of_them_share_nothing() -> None:
    one, other = Metrics(), Metrics()
    await Agent(model=ScriptedModel(["a"]), watch=one.watch, clockwork=Clockwork.seeded(1)).run("x")
    assert samples(one)["wisen_runs_started_total"] == 1
    assert samples(other)["wisen_runs_started_total"] == 0
    assert not any(family.name.startswith("wisen") for family in REGISTRY.collect())


def test_without_the_extra_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['prometheus_client'] = None\n"
        "from wisen.operations.metrics import Metrics\n"
        "from wisen.errors import MissingExtraError\n"
        "try: Metrics()\n"
        "except MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "wisen's metrics needs a package that isn't installed; run: pip install 'wisen[durable]'"
    )
