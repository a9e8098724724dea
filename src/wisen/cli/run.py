"""`wisen run`: an agent works through a file of tasks, learns on the way, and says what came out."""

import hashlib
import itertools
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, cast

import typer

from wisen.cli.card_views import count_new, lessons_line
from wisen.cli.checkpoint import batch_scope, begin_batch, end_batch
from wisen.cli.option_sets import OptionSet
from wisen.cli.output import Column, print_json, print_table
from wisen.cli.progress import batch_bar
from wisen.cli.replay_budget import ReplayAttempts, ReplaysReport, replay_after
from wisen.cli.shared_options import (
    AgentModels,
    AgentOptions,
    EmbeddingStoreOptions,
    OutputOptions,
    TaskOptions,
    TasksFile,
)
from wisen.cli.store_choice import StoreChoice, drive, open_store
from wisen.errors import ConfigError, TasksFileError
from wisen.explain.wording import counted, line, score
from wisen.records import Clockwork
from wisen.stores.whole_store import Store

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from wisen.agent import Agent
    from wisen.cli.batch_runner import BatchReport, BatchTask, TaskReport
    from wisen.events import Event
    from wisen.memory_ci.pipeline import MemoryCI
    from wisen.protocols import Evaluator
    from wisen.reflexion.loop import Reflexion
    from wisen.tasks.files import EvaluatorSpec, TaskEntry

_REASON = 400
_LEFT = {"unfinished": "broken off", "cancelled": "not begun"}
"""How much is shown of what a run went without, and why."""
_COMPARING = ("exact", "normalised", "reference")
"""Evaluators that need a reference, their own or the task's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(OptionSet):
    """How the tasks of a file are run together."""

    concurrency: Annotated[
        int, typer.Option(metavar="N", help="Tasks at a time; with 1, each task learns from all before it.")
    ] = 1
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Makes the runs' ids, and so what the trial holds out, repeat; for a fresh store.",
            show_default=False,
        ),
    ] = None
    traces: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Add the runs' traces to this file, for `wisen learn`.", show_default=False),
    ] = None
    traces_form: Annotated[
        str, typer.Option(metavar="FORM", help="How --traces writes them: wisen, or atif for Harbor's format.")
    ] = "wisen"
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with the batch of these tasks and options that was cut off: what has ended stays, "
            "failed tasks are tried again.",
        ),
    ] = False
    replay_budget: ReplayAttempts = None

    def __post_init__(self) -> None:
        """Refuse what can't be, by the option's name."""
        if self.concurrency < 1:
            raise ConfigError(f"--concurrency {self.concurrency}: must be 1 or more")
        if self.traces_form not in ("wisen", "atif"):
            raise ConfigError(f"--traces-form {self.traces_form!r}: must be wisen or atif")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """What is run, and how."""

    jobs: "list[BatchTask]"
    models: AgentModels
    instructions: str
    each: TaskOptions
    options: RunOptions
    scope: str
    """Which batch this is."""


def run(
    tasks: TasksFile,
    *,
    options: RunOptions,
    agent: AgentOptions,
    each: TaskOptions,
    store: EmbeddingStoreOptions,
    output: OutputOptions,
) -> None:
    """Run an agent on the tasks of a file; it learns from its failures and verified successes.

    Exit code: 0 if every task has an answer, 1 if not, 2 if nothing could be run.
    """
    models = agent.find()
    jobs = read_jobs(tasks, models.judge)
    choice, traces = store.writable(), options.traces
    if traces is not None:
        traces.open("a").close()  # what can't be written is known before anything is paid for
    scope = batch_scope(tasks, _named(agent, each, options.seed))
    given = _Batch(jobs=jobs, models=models, instructions=agent.instructions, each=each, options=options, scope=scope)
    batch, replays = drive(_run(given, choice, store.embedder))
    if traces is not None:
        _write(traces, batch, options.traces_form)
    _report(batch, choice, replays, as_json=output.as_json)
    if batch.interrupted:
        raise typer.Exit(130)
    if batch.failed:
        raise typer.Exit(1)


def _named(agent: AgentOptions, each: TaskOptions, seed: int | None) -> dict[str, object]:
    """What makes it another batch; how many tasks run at a time doesn't. Batches that are stored rely on the names."""
    return {
        "model": agent.model,
        "judge": agent.judge_model,
        "instructions": agent.instructions,
        "max_attempts": each.max_attempts,
        "threshold": each.threshold,
        "trust": each.trust,
        "budget": asdict(each.budget),
        "seed": seed,
    }


def read_jobs(path: Path, judge: "Model | None") -> "list[BatchTask]":
    """The tasks of a file with what judges each; `judge` replaces the agent's model where a model does."""
    from wisen.cli.batch_runner import BatchTask  # noqa: PLC0415 - imports the agent
    from wisen.evaluation.build import build_evaluator  # noqa: PLC0415 - imports all evaluators
    from wisen.evaluation.judged_by import judged_by  # noqa: PLC0415 - as above

    def build(spec: "EvaluatorSpec") -> "Evaluator":
        return judged_by(build_evaluator(spec.kind, spec.options), judge)

    every = read_entries(path, build)
    return [BatchTask(task=one.task, evaluator=build(one.evaluator) if one.evaluator else None) for one in every]


def read_entries(path: Path, check: "Callable[[EvaluatorSpec], object]") -> "list[TaskEntry]":
    """The tasks of a file; `check` refuses evaluators that can't be made."""
    from wisen.tasks.files import load_tasks  # noqa: PLC0415 - imports yaml

    if path.is_dir():
        raise TasksFileError(str(path), "is a directory; give a .toml, .yaml or .jsonl file")
    # As with any script, modules beside the file may be named in it: `function = "checks:is_date"`.
    sys.path.insert(0, str(path.resolve().parent))
    entries = load_tasks(path, check=check)
    for entry in entries:
        spec = entry.evaluator
        if spec and spec.kind in _COMPARING and entry.task.reference is None and "reference" not in spec.options:
            problem = f"the evaluator {spec.kind!r} compares with a reference; give the task one"
            raise TasksFileError(str(path), problem, line=entry.line, field="reference")
    return entries


async def _run(
    given: _Batch, choice: StoreChoice, embedder_name: str | None
) -> "tuple[BatchReport, ReplaysReport | None]":
    from wisen.cli.batch_runner import BatchRunner  # noqa: PLC0415 - imports the agent
    from wisen.memory_ci.pipeline import MemoryCI  # noqa: PLC0415 - as above

    jobs, options = given.jobs, given.options
    async with open_store(choice, embedder_name) as store:
        ci = MemoryCI(store, trust=given.each.trust)
        architecture = _reflexion(ci, given)

        def agent(index: int, watch: "Callable[[Event], None]") -> "Agent":
            return _agent(architecture, store, given, index, watch)

        begun = await begin_batch(store, given.scope, tasks=len(jobs), seed=options.seed, resume=options.resume)
        with batch_bar(len(jobs)) as done:
            runner = BatchRunner(
                agent=agent, log=store, concurrency=options.concurrency, done=done, run_id=begun.run_id
            )
            batch = await runner.run(jobs)
        if not batch.resumable:
            await end_batch(store, begun)
        batch = replace(batch, new_lessons=await count_new(store, [one.record for one in batch.outcomes]))
        replays = None
        if options.replay_budget is not None and not batch.interrupted:
            replays = await replay_after(agent(len(jobs), _unwatched), ci, jobs, options.replay_budget)
        return batch, replays


def _unwatched(_: "Event") -> None:
    """Hear nothing."""


def _reflexion(ci: "MemoryCI", given: _Batch) -> "Reflexion":
    from wisen.reflexion.loop import Reflexion  # noqa: PLC0415 - imports pydantic-ai

    return Reflexion(
        max_attempts=given.each.max_attempts,
        threshold=given.each.threshold,
        lesson_store=ci,
        evaluator_model=given.models.judge,
    )


def _agent(
    architecture: "Reflexion", store: Store, given: _Batch, index: int, watch: "Callable[[Event], None]"
) -> "Agent":
    from wisen.agent import Agent  # noqa: PLC0415 - imports pydantic-ai

    return Agent(
        given.instructions,
        model=given.models.agent,
        architecture=architecture,
        memory=store,
        budget=given.each.budget,
        watch=watch,
        clockwork=_clockwork(given.options.seed, index),
    )


def _clockwork(seed: int | None, index: int) -> Clockwork:
    """The real clock, and ids that follow from seed and task, whatever order the tasks run in."""
    if seed is None:
        return Clockwork()
    numbers = itertools.count()
    return Clockwork(
        new_id=lambda: hashlib.sha256(f"{seed}:{index}:{next(numbers)}".encode()).hexdigest()[:32],
        random=Random(f"{seed}:{index}"),
    )


def _report(batch: "BatchReport", choice: StoreChoice, replays: ReplaysReport | None, *, as_json: bool) -> None:
    if as_json:
        found = {"tasks": [_as_json(one) for one in batch.outcomes], "totals": batch.totals()}
        print_json(found if replays is None else {**found, "replays": asdict(replays)})
    else:
        _print(batch, choice)
        if replays is not None:
            typer.echo(replays.line)
    for number, outcome in enumerate(batch.outcomes, 1):
        if outcome.error:
            typer.echo(f"wisen: task {_title(outcome, number)}: {line(outcome.error, 500)}", err=True)
    if batch.interrupted:
        typer.echo("wisen: interrupted; finished tasks are kept, and --resume goes on with the others", err=True)
    elif batch.resumable:
        typer.echo("wisen: --resume tries what failed again; what was answered stays", err=True)


def _write(path: Path, batch: "BatchReport", form: str) -> None:
    from wisen.reflection.traced import TracedRun  # noqa: PLC0415 - as above
    from wisen.trace_import.traces import write_traces  # noqa: PLC0415 - imports pydantic

    write_traces(
        path,
        [
            TracedRun(
                trace=one.trace,
                task=one.record.task,
                outcome=one.judged,
                agent=one.record.agent,
                model=one.record.model,
            )
            for one in batch.outcomes
            if one.trace is not None
        ],
        form="atif" if form == "atif" else "wisen",
    )


def _as_json(outcome: "TaskReport") -> dict[str, object]:
    from wisen.stores.serialization import run_to_json  # noqa: PLC0415 - imports pydantic

    record = cast("dict[str, object]", json.loads(run_to_json(outcome.record)))
    return {**record, "error": outcome.error or None}


def _title(outcome: "TaskReport", number: int) -> str:
    task = outcome.record.task
    return line(task.id, 40) if task.id else f"{number} ({line(task.prompt, 40)})"


def _judged(outcome: "TaskReport") -> str:
    return {True: "check", False: "model's opinion", None: ""}[outcome.verified]


def _print(batch: "BatchReport", choice: StoreChoice) -> None:
    columns = (
        Column(heading="task", wide=True),
        Column(heading="status"),
        Column(heading="score", number=True),
        Column(heading="judged by"),
        Column(heading="attempts", number=True, spare=1),
        Column(heading="tokens", number=True, spare=2),
    )
    rows = [
        (
            _title(one, number),
            _LEFT.get(one.record.status, one.record.status.replace("_", " ")),
            score(one.record.score) if one.record.attempts else "",
            _judged(one),
            str(len(one.record.attempts)),
            str(one.record.usage.total_tokens),
        )
        for number, one in enumerate(batch.outcomes, 1)
    ]
    print_table(columns, rows)
    typer.echo()
    for said in _summary(batch):
        typer.echo(said)
    typer.echo(f"store: {choice.shown} ({choice.why})")


def _summary(batch: "BatchReport") -> Sequence[str]:
    totals = batch.totals()
    mean = totals["mean_score"]
    cost = totals["cost_usd"]
    lines = [
        f"{totals['satisfied']} of {totals['tasks']} tasks satisfied, {totals['failed']} failed"
        + (f", {totals['unfinished']} broken off" if totals["unfinished"] else "")
        + (f", {totals['cancelled']} not begun" if totals["cancelled"] else "")
        + (f"; mean score {mean:.2f} of {totals['scored']}" if isinstance(mean, float) else ""),
        f"{counted(totals['attempts'], 'attempt')}, {lessons_line(totals)}, "
        f"{counted(totals['requests'], 'model call')}, "
        f"{totals['input_tokens']} + {totals['output_tokens']} tokens"
        + (f", {cost:.4f} USD" if isinstance(cost, float) and cost else ""),
    ]
    without: dict[str, int] = {}
    for outcome in batch.outcomes:
        for one in outcome.record.degradations:
            without[one] = without.get(one, 0) + 1
    return [*lines, *(f"went without: {line(one, _REASON)} (count: {count})" for one, count in sorted(without.items()))]
