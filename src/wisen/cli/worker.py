"""`wisen worker`: does the tasks of a queue until it is stopped."""

from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from wisen.cli.model_choice import find_model
from wisen.cli.option_sets import OptionSet
from wisen.cli.shared_options import QueueOptions, StoreOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOptions(OptionSet):
    """How a worker works."""

    id_: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="ID",
            help="The worker's name for good; a process that has it now is superseded. "
            "Default: the host's name and a number that is free.",
            show_default=False,
        ),
    ] = None
    concurrency: Annotated[int, typer.Option(metavar="N", min=1, help="Most tasks at a time here.")] = 4
    most_running: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Most tasks at a time in all workers of the queue; the same for each.",
            show_default=False,
        ),
    ] = None
    rate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROVIDER=N/min",
            help="Most model calls of all workers of the queue, by provider or model; may be given again.",
            show_default=False,
        ),
    ] = None
    takeover: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=1.0, help="Without a sign of life for this long, others have its tasks."),
    ] = 20.0
    grace: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.0, help="How long tasks may take to end when it is stopped.")
    ] = 30.0
    replay_budget: Annotated[
        int | None,
        typer.Option(
            "--replay-budget",
            metavar="N",
            min=1,
            help="While there are no tasks, try lessons without a verdict on recorded runs, in N attempts an hour at "
            "most, of all workers together.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions(OptionSet):
    """How a worker is watched."""

    http: Annotated[
        str | None,
        typer.Option(
            "--http",
            metavar="HOST:PORT",
            help="Serve /healthz, /readyz and /metrics there, without a login; a port alone is on 127.0.0.1.",
            show_default=False,
        ),
    ] = None
    log: Annotated[Literal["text", "json"], typer.Option("--log", help="How its log is written.")] = "text"
    log_level: Annotated[str, typer.Option("--log-level", metavar="LEVEL", help="debug, info, warning or error.")] = (
        "info"
    )


def worker(*, work: WorkOptions, watch: WatchOptions, source: QueueOptions, store: StoreOptions) -> None:
    """Work through a queue in Postgres until stopped.

    SIGTERM and Ctrl-C let tasks end that end within the grace, and hand back the others at once; the second time, all
    of them. Where it is killed, other workers take over after --takeover.
    """
    from wisen.operations.logs import event_log, set_up_logs  # noqa: PLC0415 - imports the events
    from wisen.operations.serving import Address  # noqa: PLC0415 - as above
    from wisen.queue.database import checked_url  # noqa: PLC0415 - as above
    from wisen.queue.rates import parse_rates  # noqa: PLC0415 - as above

    # What is wrong with the options is told before what takes seconds to import.
    set_up_logs(watch.log, watch.log_level)
    address = None if watch.http is None else Address.parse(watch.http)
    rates = parse_rates(work.rate or ())
    url = checked_url(store.server().url)
    from wisen.operations.metrics import Metrics  # noqa: PLC0415 - optional extra
    from wisen.queue.worker import Worker, WorkerOptions  # noqa: PLC0415 - as above
    from wisen.queue.worker_health import OpenedStores, attending  # noqa: PLC0415 - as above
    from wisen.queue.worker_runs import (  # noqa: PLC0415 - as above
        store_at,
        store_connections,
        together,
    )

    metrics = None if address is None else Metrics()
    stores = OpenedStores(store_at(url, connections=store_connections(work.concurrency)))
    options = WorkerOptions(
        takeover=work.takeover,
        grace=work.grace,
        most_running=work.most_running,
        rates=rates,
        replay_budget=work.replay_budget,
        open_store=stores,
        find_model=find_model,
        metrics=metrics,
        watch=together(None if metrics is None else metrics.watch, event_log()),
    )
    one = Worker(url, queue=source.queue, id=work.id_, concurrency=work.concurrency, options=options)
    if address is None or metrics is None:
        one.run_sync()
    else:
        one.run_sync(beside=lambda: attending(one, address, metrics, pool=stores.use))
