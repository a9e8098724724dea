"""`wisen batch`: what became of the tasks that were submitted, and what is to become of them."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, cast

import typer

from wisen.cli.options import Limit
from wisen.cli.output import AsJson, Column, counted, line, print_json, print_table, score, when
from wisen.cli.store import age
from wisen.cli.stores import StorePath, choose_store, drive

if TYPE_CHECKING:
    from wisen.durable.batches import BatchStatus
    from wisen.durable.jobs import TaskResult
    from wisen.durable.queue import Queue

BatchId = Annotated[str, typer.Argument(metavar="ID", help="The batch's id.")]
_REASON = 200
_MISSING = 1


def list_batches(
    *,
    queue: Annotated[
        str | None, typer.Option("--queue", metavar="NAME", help="Only of this queue.", show_default=False)
    ] = None,
    limit: Limit = 50,
    store: StorePath = None,
    as_json: AsJson = False,
) -> None:
    """List batches, newest first."""

    async def get() -> "list[BatchStatus]":
        async with _queue(store, queue or "default") as opened:
            return await opened.batches(everywhere=queue is None, limit=limit)

    found = drive(get())
    if as_json:
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
    store: StorePath = None,
    as_json: AsJson = False,
) -> None:
    """Say how many tasks of a batch wait, run, are done, were given up or cancelled."""

    def tell(found: "BatchStatus") -> None:
        if as_json:
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


def results(batch: BatchId, *, store: StorePath = None, as_json: AsJson = False) -> None:
    """Show what each task came to, in the order in which they were submitted.

    Exit code: 0 if every task has an answer, 1 if not.
    """

    async def get() -> "list[TaskResult]":
        async with _queue(store) as opened:
            return [one async for one in opened.batch(batch).results()]

    found = drive(get())
    if as_json:
        print_json([_result_json(one) for one in found])
    else:
        _print_results(found)
    if not all(one.answered for one in found):
        raise typer.Exit(_MISSING)


def cancel(batch: BatchId, *, store: StorePath = None, as_json: AsJson = False) -> None:
    """Drop the tasks that wait, and ask those that run to end; what is done stays."""

    async def get() -> "BatchStatus":
        async with _queue(store) as opened:
            return await opened.batch(batch).cancel()

    found = drive(get())
    if as_json:
        print_json(_status_json(found))
    else:
        typer.echo(_said(found))


def retry(batch: BatchId, *, store: StorePath = None, as_json: AsJson = False) -> None:
    """Send the tasks again that were given up or cancelled."""

    async def get() -> int:
        async with _queue(store) as opened:
            return await opened.batch(batch).retry()

    sent = drive(get())
    if as_json:
        print_json({"batch": batch, "sent": sent})
    else:
        typer.echo(f"{batch}: {counted(sent, 'task')} sent again")


def delete(batch: BatchId, *, store: StorePath = None, as_json: AsJson = False) -> None:
    """Remove a finished batch with its tasks and outcomes; the records of its runs, and lessons, stay."""

    async def get() -> int:
        async with _queue(store) as opened:
            return await opened.batch(batch).delete()

    tasks = drive(get())
    if as_json:
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
    store: StorePath = None,
    as_json: AsJson = False,
) -> None:
    """Remove finished batches that are old, those with dead letters too; records of runs, and lessons, stay."""
    before = datetime.now(UTC) - age(older_than)

    async def get() -> int:
        async with _queue(store, queue or "default") as opened:
            return await opened.prune(before, everywhere=queue is None)

    pruned = drive(get())
    if as_json:
        print_json({"pruned": pruned})
    else:
        typer.echo(f"{pruned} {'batch' if pruned == 1 else 'batches'} removed")


def _queue(store: str | None, name: str = "default") -> "Queue":
    from wisen.durable.queue import Queue  # noqa: PLC0415 - optional extra

    return Queue(choose_store(store).url, name)


def _counts(one: "BatchStatus") -> tuple[str, ...]:
    return tuple(map(str, (one.waiting, one.running, one.done, one.dead, one.dropped)))


def _said(one: "BatchStatus") -> str:
    waiting, running, done, dead, dropped = _counts(one)
    parts = [f"{done} of {counted(one.tasks, 'task')} done", f"{running} running", f"{waiting} waiting"]
    if one.dead:
        parts.append(f"{dead} given up (`wisen batch retry {one.id}` sends them again)")
    if one.dropped:
        parts.append(f"{dropped} cancelled")
    return f"{one.id}: {', '.join(parts)}"


def _status_json(one: "BatchStatus") -> dict[str, object]:
    return {**asdict(one), "submitted": one.submitted.isoformat(), "finished": one.finished}


def _result_json(one: "TaskResult") -> dict[str, object]:
    return {
        "place": one.place,
        "task": one.task.id or None,
        "prompt": one.task.prompt,
        "state": one.state,
        "reason": one.reason or None,
        "tries": one.tries,
        "worker": one.worker or None,
        **(cast("dict[str, object]", asdict(one.outcome)) if one.outcome is not None else {}),
    }


def _print_results(found: "Sequence[TaskResult]") -> None:
    columns = (
        Column(heading="task", wide=True),
        Column(heading="state"),
        Column(heading="status", spare=1),
        Column(heading="score", number=True),
        Column(heading="run", spare=3),
        Column(heading="worker", spare=4),
        Column(heading="why", wide=True, spare=2),
    )
    rows: list[tuple[str, ...]] = []
    for one in found:
        outcome = one.outcome
        rows.append(
            (
                one.task.id or f"{one.place + 1} ({line(one.task.prompt, 40)})",
                one.state,
                "" if outcome is None else outcome.status.replace("_", " "),
                "" if outcome is None else score(outcome.score),
                "" if outcome is None else outcome.run_id,
                one.worker,
                line((outcome.error if outcome is not None else "") or ("" if outcome else one.reason), _REASON),
            )
        )
    print_table(columns, rows)
