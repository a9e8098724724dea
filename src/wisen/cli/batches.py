"""`wisen batch`: what became of the tasks that were submitted, and what is to become of them."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, cast

import typer

from wisen.cli.output import Column, glance, print_fields, print_json, print_table
from wisen.cli.shared_options import Limit, OutputOptions, StoreOptions
from wisen.cli.store import age
from wisen.cli.store_choice import drive
from wisen.explain.wording import clean, counted, score, when

if TYPE_CHECKING:
    from wisen.queue.batches import BatchStatus
    from wisen.queue.jobs import TaskResult
    from wisen.queue.queue import Queue

BatchId = Annotated[str, typer.Argument(metavar="ID", help="The batch's id.")]
_TASK = 40
_ANSWER = 60
_REASON = 200
_MISSING = 1


def list_batches(
    *,
    queue: Annotated[
        str | None, typer.Option("--queue", metavar="NAME", help="Only of this queue.", show_default=False)
    ] = None,
    limit: Limit = 50,
    store: StoreOptions,
    output: OutputOptions,
) -> None:
    """List batches, newest first."""

    async def get() -> "list[BatchStatus]":
        async with _queue(store, queue or "default") as opened:
            return await opened.batches(everywhere=queue is None, limit=limit)

    found = drive(get())
    if output.as_json:
        print_json([_status_json(one) for one in found])
        return
    columns = (
        Column(heading="batch", wide=True),
        Column(heading="queue", spare=1),
        Column(heading="submitted (UTC)", spare=2),
        *(Column(heading=name, number=True) for name in ("waiting", "running", "done", "dead", "cancelled")),
    )
    print_table(columns, [(one.id, one.queue, when(one.submitted), *_counts(one)) for one in found])
    if not found:
        typer.echo("no batches yet", err=True)


def status(
    batch: BatchId,
    *,
    follow: Annotated[bool, typer.Option("--follow", help="Tell of each change, until the batch is finished.")] = False,
    store: StoreOptions,
    output: OutputOptions,
) -> None:
    """Count a batch's tasks: waiting, running, done, given up, cancelled."""

    def tell(found: "BatchStatus") -> None:
        if output.as_json:
            typer.echo(json.dumps(_status_json(found)))
        else:
            typer.echo(_said(found))

    async def get() -> None:
        async with _queue(store) as opened:
            if not follow:
                tell(await opened.batch(batch).status())
                return
            async for found in opened.batch(batch).follow():
                tell(found)

    drive(get())


def results(
    batch: BatchId,
    *,
    full: Annotated[bool, typer.Option("--full", help="Print answers and reasons whole, task by task.")] = False,
    store: StoreOptions,
    output: OutputOptions,
) -> None:
    """Show each task's result, or why it has none yet, in the order they were submitted.

    Exit code: 0 if every task has an answer, 1 if not.
    """

    async def get() -> "tuple[BatchStatus, list[TaskResult]]":
        async with _queue(store) as opened:
            one = opened.batch(batch)
            return await one.status(), [result async for result in one.results()]

    now, found = drive(get())
    if output.as_json:
        print_json([_result_json(one, now) for one in found])
    elif full:
        _print_whole(found, now)
    else:
        _print_results(found, now)
    if not all(one.answered for one in found):
        raise typer.Exit(_MISSING)


def cancel(batch: BatchId, *, store: StoreOptions, output: OutputOptions) -> None:
    """Drop waiting tasks, and ask running ones to end; finished tasks stay."""

    async def get() -> "BatchStatus":
        async with _queue(store) as opened:
            return await opened.batch(batch).cancel()

    found = drive(get())
    if output.as_json:
        print_json(_status_json(found))
    else:
        typer.echo(_said(found))


def retry(
    batch: BatchId,
    *,
    anew: Annotated[
        bool, typer.Option("--anew", help="Begin their runs again, and pay again, instead of going on with them.")
    ] = False,
    store: StoreOptions,
    output: OutputOptions,
) -> None:
    """Retry tasks that were given up or cancelled; their runs go on, and no answer is paid for twice."""

    async def get() -> int:
        async with _queue(store) as opened:
            return await opened.batch(batch).retry(anew=anew)

    sent = drive(get())
    if output.as_json:
        print_json({"batch": batch, "sent": sent})
    else:
        typer.echo(f"{batch}: {counted(sent, 'task')} sent again")


def delete(batch: BatchId, *, store: StoreOptions, output: OutputOptions) -> None:
    """Remove a finished batch with its tasks and outcomes; the records of its runs, and lessons, stay."""

    async def get() -> int:
        async with _queue(store) as opened:
            return await opened.batch(batch).delete()

    tasks = drive(get())
    if output.as_json:
        print_json({"batch": batch, "tasks": tasks})
    else:
        typer.echo(f"{batch}: removed with {counted(tasks, 'task')}")


def prune(
    *,
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="AGE", help="How long ago its last task must have ended: 12h, 30d.")
    ],
    queue: Annotated[
        str | None, typer.Option("--queue", metavar="NAME", help="Only of this queue.", show_default=False)
    ] = None,
    store: StoreOptions,
    output: OutputOptions,
) -> None:
    """Remove old finished batches, also those with dead letters; records of runs, and lessons, stay."""
    before = datetime.now(UTC) - age(older_than)

    async def get() -> int:
        async with _queue(store, queue or "default") as opened:
            return await opened.prune(before, everywhere=queue is None)

    pruned = drive(get())
    if output.as_json:
        print_json({"pruned": pruned})
    else:
        typer.echo(f"{pruned} {'batch' if pruned == 1 else 'batches'} removed")


def _queue(store: StoreOptions, name: str = "default") -> "Queue":
    from wisen.queue.queue import Queue  # noqa: PLC0415 - optional extra

    return Queue(store.server().url, name)


def _counts(one: "BatchStatus") -> tuple[str, ...]:
    return tuple(map(str, (one.waiting, one.running, one.done, one.dead, one.cancelled)))


def _said(one: "BatchStatus") -> str:
    waiting, running, done, dead, cancelled = _counts(one)
    parts = [f"{done} of {counted(one.tasks, 'task')} done", f"{running} running", f"{waiting} waiting"]
    if one.dead:
        parts.append(f"{dead} given up (`wisen batch retry {one.id}` sends them again)")
    if one.cancelled:
        parts.append(f"{cancelled} cancelled")
    return f"{one.id}: {', '.join(parts)}" + (f"; {clean(one.why)}" if one.why else "")


def _status_json(one: "BatchStatus") -> dict[str, object]:
    return {**asdict(one), "submitted": one.submitted.isoformat(), "why": one.why or None, "finished": one.finished}


def _why(one: "TaskResult", now: "BatchStatus") -> str:
    """Why there is no answer."""
    if one.outcome is not None:
        return one.outcome.error
    return (now.why if one.state == "waiting" else "") or one.reason


def _result_json(one: "TaskResult", now: "BatchStatus") -> dict[str, object]:
    came_to = cast("dict[str, object]", asdict(one.outcome)) if one.outcome is not None else {}
    came_to.pop("error", None)  # it is the `why`
    return {
        "place": one.place,
        "task": one.task.id or None,
        "prompt": one.task.prompt,
        "state": one.state,
        "why": _why(one, now) or None,
        "tries": one.tries,
        "worker": one.worker or None,
        **came_to,
    }


def _print_whole(found: "Sequence[TaskResult]", now: "BatchStatus") -> None:
    for one in found:
        outcome = one.outcome
        fields = (
            ("status", "" if outcome is None else outcome.status.replace("_", " ")),
            ("score", "" if outcome is None else score(outcome.score)),
            ("run", "" if outcome is None else outcome.run_id),
            ("worker", one.worker),
            ("why", _why(one, now)),
            ("answer", "" if outcome is None else outcome.output),
        )
        typer.echo(f"{one.place}  {glance(one.task.id or one.task.prompt)}  {one.state}")
        print_fields(fields, indent="   ")


def _print_results(found: "Sequence[TaskResult]", now: "BatchStatus") -> None:
    columns = (
        Column(heading="place", number=True),
        Column(heading="task", wide=True),
        Column(heading="state"),
        Column(heading="status", spare=1),
        Column(heading="score", number=True),
        Column(heading="run", spare=3),
        Column(heading="worker", spare=4),
        Column(heading="answer", wide=True, cut=True, spare=2),
        Column(heading="why", wide=True, spare=2),
    )
    reasons = [_why(one, now) for one in found]
    rows: list[tuple[str, ...]] = []
    for one, why in zip(found, reasons, strict=True):
        outcome = one.outcome
        rows.append(
            (
                str(one.place),
                one.task.id or glance(one.task.prompt, _TASK),
                one.state,
                "" if outcome is None else outcome.status.replace("_", " "),
                "" if outcome is None else score(outcome.score),
                "" if outcome is None else outcome.run_id,
                one.worker,
                "" if outcome is None else glance(outcome.output, _ANSWER),
                glance(why, _REASON),
            )
        )
    print_table(columns, rows)
    if any(len(why) > _REASON for why in reasons):
        typer.echo("`--full` prints reasons and answers whole", err=True)
