"""`wisen submit`: puts a file's tasks into a queue, for workers on any machine."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisen import models
from wisen.cli.option_sets import OptionSet
from wisen.cli.output import print_json
from wisen.cli.run import read_entries
from wisen.cli.shared_options import (
    AgentOptions,
    EmbeddingStoreOptions,
    OutputOptions,
    QueueOptions,
    TaskOptions,
    TasksFile,
)
from wisen.cli.store_choice import drive
from wisen.errors import MissingExtraError, ModelError, UnknownModelError
from wisen.explain.wording import counted, line

if TYPE_CHECKING:
    from wisen.queue.batches import BatchStatus
    from wisen.queue.jobs import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitOptions(OptionSet):
    """How a batch enters a queue."""

    batch: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="The batch's id: the same batch again adds nothing. Default: one that is made up.",
            show_default=False,
        ),
    ] = None
    tries: Annotated[
        int, typer.Option(metavar="N", min=1, help="How often a task may fail, or take its worker along.")
    ] = 3
    most_waiting: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Refuse where more tasks than this would wait.", show_default=False),
    ] = None
    wait: Annotated[bool, typer.Option("--wait", help="Wait for room instead of refusing.")] = False
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Makes what the trial holds out repeat.", show_default=False)
    ] = None


def submit(
    tasks: TasksFile,
    *,
    entry: SubmitOptions,
    agent: AgentOptions,
    each: TaskOptions,
    into: QueueOptions,
    store: EmbeddingStoreOptions,
    output: OutputOptions,
) -> None:
    """Put a file's tasks into a queue in Postgres; `wisen worker` does them, on as many machines as you like.

    Models are looked up by the workers, with their keys. An evaluator "function" must be importable there.
    """
    from wisen.queue.jobs import BatchOptions  # noqa: PLC0415 - imports pydantic

    options = BatchOptions(
        model=agent.model,
        instructions=agent.instructions,
        max_attempts=each.max_attempts,
        threshold=each.threshold,
        trust=each.trust,
        budget=each.budget,
        judge_model=agent.judge_model,
        seed=entry.seed,
        embedder=store.embedder,
    )
    choice, jobs = store.server(), _jobs(tasks)
    for name in {agent.model, agent.judge_model or agent.model}:
        _check_model(name)

    async def put() -> "tuple[BatchStatus, bool]":
        from wisen.queue.queue import Queue  # noqa: PLC0415 - optional extra

        async with Queue(choice.url, into.queue) as opened:
            given = await opened.submit(
                jobs, options, batch=entry.batch, tries=entry.tries, most_waiting=entry.most_waiting, wait=entry.wait
            )
            return await given.status(), given.new

    found, new = drive(put())
    if output.as_json:
        print_json({"batch": found.id, "queue": found.queue, "tasks": found.tasks, "new": new, "why": found.why})
    else:
        again = "" if new else "; it was there already, and nothing was added"
        typer.echo(f"{found.id}: {counted(found.tasks, 'task')} in queue {found.queue}{again}")
        if found.why:
            typer.echo(f"wisen: {line(found.why, 500)}", err=True)
        named = shlex.quote(choice.shown) if choice.shown == choice.url else "URL"  # a password isn't shown
        where = f" --store {named}" if store.store else ""
        typer.echo(f"`wisen batch status {found.id} --follow{where}` tells how it goes", err=True)


def _check_model(name: str | None) -> None:
    """Refuse a name that means no model; say what workers need besides, where this process lacks it."""
    try:
        models.resolve_model(name)
    except UnknownModelError:
        raise
    except (ModelError, MissingExtraError) as error:
        typer.echo(f"wisen: workers need what isn't here: {error}", err=True)


def _jobs(path: Path) -> "list[Job]":
    from wisen.evaluation.build import build_evaluator  # noqa: PLC0415 - imports all evaluators
    from wisen.queue.jobs import Job  # noqa: PLC0415 - imports pydantic

    entries = read_entries(path, lambda spec: build_evaluator(spec.kind, spec.options))
    return [Job(task=entry.task, evaluator=entry.evaluator) for entry in entries]
