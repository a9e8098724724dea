"""`wisen runs`: lists the records of runs, and explains one: attempts, scores, what was recalled and why."""

import json
from typing import TYPE_CHECKING, Annotated, cast

import typer

from wisen.cards import MemoryCard
from wisen.cli.lessons import card_json, print_cards
from wisen.cli.output import Column, glance, print_fields, print_json, print_table
from wisen.cli.shared_options import (
    EmbeddingStoreOptions,
    Limit,
    Offset,
    OutputOptions,
    StoreOptions,
    TenantOptions,
    told_by_option,
)
from wisen.cli.store_choice import drive, open_store, reading
from wisen.explain.by_id import find_run
from wisen.explain.card_facts import drawn
from wisen.explain.wording import counted, line, score, when
from wisen.recall import CardFilter
from wisen.records import AttemptRecord, Injection, RunRecord, TokenUsage
from wisen.stores.paging import every_run

if TYPE_CHECKING:
    from wisen.account.outcomes import Reported

_MOST_LESSONS = 1_000
_LONGEST_FAILURE = 200
"""Characters of why an attempt failed, which has one line; `--json` has all that is kept of it."""


def list_runs(
    *,
    limit: Limit = 50,
    offset: Offset = 0,
    unfinished: Annotated[
        bool,
        typer.Option("--unfinished", help="Only runs that have begun and not ended: under way, or cut off."),
    ] = False,
    whose: TenantOptions,
    store: StoreOptions,
    output: OutputOptions,
) -> None:
    """List runs, newest first."""

    async def get() -> list[RunRecord]:
        async with reading(store.choose()) as opened:
            if not unfinished:
                return await opened.runs(tenant=whose.tenant, limit=limit, offset=offset)
            every = every_run(opened, tenant=whose.tenant)
            found = [record async for record in every if record.status == "unfinished"]
            return found[offset : offset + limit]

    records = drive(get())
    if output.as_json:
        print_json([_as_json(record) for record in records])
        return
    columns = (
        Column(heading="id", id=True),
        Column(heading="started (UTC)", spare=3),
        Column(heading="status", spare=1),
        Column(heading="score", number=True, spare=2),
        Column(heading="attempts", number=True, spare=4),
        Column(heading="tokens", number=True, spare=5),
        Column(heading="model", spare=6),
        Column(heading="task", wide=True),
    )
    print_table(columns, [_row(record) for record in records])
    if not records:
        narrowed = whose.tenant is not None or offset or unfinished
        typer.echo("no run fits these options" if narrowed else "no runs yet", err=True)


def show(
    run_id: Annotated[str, typer.Argument(metavar="ID", help="The run's id, or a beginning that no other has.")],
    *,
    whose: TenantOptions,
    store: StoreOptions,
    output: OutputOptions,
) -> None:
    """Explain one run: attempts, scores, cards that were shown or left out and why, lessons, usage."""

    async def get() -> tuple[RunRecord, list[MemoryCard]]:
        async with reading(store.choose()) as opened:
            record = await find_run(opened, run_id, whose.tenant)
            return record, await opened.list(CardFilter(run_id=record.run_id, tenant=whose.tenant), limit=_MOST_LESSONS)

    record, lessons = drive(get())
    if output.as_json:
        print_json({**_as_json(record), "lessons": [card_json(card) for card in lessons]})
        return
    print_fields(_fields(record))
    for attempt in record.attempts:
        typer.echo(f"\nattempt {attempt.attempt}")
        print_fields(_attempt_fields(attempt), indent="  ")
    if lessons:
        typer.echo("\nlessons")
        print_cards(lessons)


def outcome(
    run_id: Annotated[str, typer.Argument(metavar="ID", help="The run's id, or a beginning that no other has.")],
    *,
    score: Annotated[float, typer.Option(metavar="X", help="How good the answer turned out to be, in [0, 1].")],
    threshold: Annotated[float, typer.Option(metavar="X", help="The score from which it was good.")] = 0.8,
    whose: TenantOptions,
    store: EmbeddingStoreOptions,
) -> None:
    """Report how a run came out, once you know; it counts for the lessons that the run tried.

    It counts once, and as long as the run waits for its outcome: 24 hours, unless the agent's rule says otherwise. Then
    the agent's next run counts it as not good. Verdicts fall in the agent's runs, too, since they know its rule.
    """

    async def tell() -> "Reported":
        from wisen.account.outcomes import report_outcome  # noqa: PLC0415 - imports the screen and its tables

        async with open_store(store.choose().existing(), store.embedder) as opened:
            record = await find_run(opened, run_id, whose.tenant)
            return await report_outcome(opened, record.run_id, score=score, threshold=threshold)

    with told_by_option(score="--score", threshold="--threshold"):
        told = drive(tell())
    typer.echo(f"run {told.record.run_id}: {counted(told.counted, 'lesson')} counted")
    if not told.counted:
        typer.echo("its lessons were counted before, it tried none, or the outcome comes too late", err=True)


def _as_json(record: RunRecord) -> dict[str, object]:
    from wisen.stores.serialization import run_to_json  # noqa: PLC0415 - imports pydantic

    return cast("dict[str, object]", json.loads(run_to_json(record)))


def _row(record: RunRecord) -> tuple[str, ...]:
    return (
        record.run_id,
        when(record.started_at),
        record.status.replace("_", " "),
        score(record.score) if record.attempts else "",
        str(len(record.attempts)),
        str(record.usage.total_tokens),
        record.model,
        record.task.id or glance(record.task.prompt, 60),
    )


def _fields(record: RunRecord) -> list[tuple[str, str]]:
    task = record.task
    return [
        ("id", record.run_id),
        ("task", task.id),
        ("prompt", task.prompt),
        ("type", task.type),
        ("tenant", task.tenant),
        ("agent", f"{record.agent}, {record.architecture}, {record.model}"),
        ("started", f"{when(record.started_at)} UTC" if when(record.started_at) else ""),
        ("took", f"{record.seconds:.1f} s"),
        ("status", record.status.replace("_", " ")),
        ("score", score(record.score)),
        ("answer", record.output),
        ("usage", _usage(record.usage)),
        ("went without", "\n".join(record.degradations)),
    ]


def _attempt_fields(attempt: AttemptRecord) -> list[tuple[str, str]]:
    evaluation = attempt.evaluation
    fields = [("did", attempt.did), ("answer", attempt.output), ("failed", line(attempt.failure, _LONGEST_FAILURE))]
    if evaluation is not None:
        judged = f"{evaluation.evaluator}, {'check' if evaluation.verifiable else 'opinion'}"
        fields += [
            ("score", f"{score(evaluation.overall_score)} ({judged})"),
            ("issues", "\n".join(evaluation.issues)),
            ("suggestions", "\n".join(evaluation.suggestions)),
        ]
    recalled = "\n".join(_injection(one, delivered=attempt.advice_delivered) for one in attempt.injections)
    return [
        *fields,
        ("recalled", recalled),
        ("lessons", ", ".join(attempt.lesson_ids)),
        ("usage", f"{_usage(attempt.usage)}, {attempt.seconds:.1f} s"),
    ]


def _injection(injection: Injection, *, delivered: bool) -> str:
    fate, why = drawn(injection, delivered=delivered), "; ".join(injection.reasons)
    fits = "" if injection.rule else f"relevance {injection.score:.2f}, "
    return f"{injection.card_id} {injection.kind}, {fits}{fate}: {why}"


def _usage(usage: TokenUsage) -> str:
    cost = f", {usage.cost_usd:.4f} USD" if usage.cost_usd else ""
    return f"{counted(usage.requests, 'model call')}, {usage.input_tokens} + {usage.output_tokens} tokens{cost}"
