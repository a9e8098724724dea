"""`wisen learn`: looks back at recorded runs, and puts what they teach into a store, on trial."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from wisen.cli.learn_files import LearnedFiles, Source, TraceReading, line_of
from wisen.cli.learners import BATCH, Failed, LessonMaker, ModelLearner, TemplateLearner
from wisen.cli.model_choice import FORMS, find_model
from wisen.cli.option_sets import OptionSet
from wisen.cli.output import Column, glance, print_json, print_table
from wisen.cli.shared_options import EmbeddingStoreOptions, OutputOptions
from wisen.cli.store_choice import StoreChoice, drive, open_store
from wisen.errors import ConfigError
from wisen.explain.wording import counted, line, score
from wisen.stores.whole_store import Store

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from wisen.cards import MemoryCard
    from wisen.reflection.traced import TracedRun
    from wisen.retroformer.retroformer import Reflection
    from wisen.trace_import.traces import Form

Outcome = Literal["new", "known", "merged"]
_TRACE_FORMS = ("auto", "wisen", "messages", "steps", "attempts", "spans", "atif")
_SHOWN = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _Learned:
    """What came of it."""

    cards: "Sequence[MemoryCard]"
    reflections: "Sequence[Reflection]"
    failed: Sequence[Failed]

    def outcome(self, card: "MemoryCard") -> Outcome:
        """What the store made of a card: new to it, known to it from the same run, or counted on one that was there."""
        if any(card.id in one.new for one in self.reflections):
            return "new"
        return "known" if any(card.id in one.known for one in self.reflections) else "merged"

    def totals(self) -> dict[str, object]:
        """Sums over all looks back, under plain names."""
        sums = {
            name: sum(getattr(one, name) for one in self.reflections)
            for name in ("skills", "failures", "policies", "observations", "submitted", "duplicates", "rejected")
        }
        sums |= {name: sum(len(getattr(one, name)) for one in self.reflections) for name in ("new", "known")}
        contrasts = sum(bool(one.contrasted_with) for one in self.reflections)
        rules = Counter(rule for one in self.reflections for rule in one.rules)
        return {
            "reflections": len(self.reflections),
            "contrasts": contrasts,
            **sums,
            "rules": dict(sorted(rules.items())),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnOptions(OptionSet):
    """Which runs are looked back at, and how."""

    form: Annotated[
        str, typer.Option(metavar="FORM", help=f"How the traces are written: {', '.join(_TRACE_FORMS)}.")
    ] = "auto"
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Who looks back: {FORMS}. Without it, the lesson is what failed and what passed in its place.",
            show_default=False,
        ),
    ] = None
    tenant: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whose runs these are, whatever the files say.", show_default=False),
    ] = None
    agent: Annotated[str, typer.Option(metavar="ROLE", help="The role that the cards are for. Default: all.")] = ""
    contrast: Annotated[
        bool, typer.Option("--contrast/--no-contrast", help="See failed and solved runs of one task side by side.")
    ] = True
    trust_files: Annotated[
        bool,
        typer.Option("--trust-files", help="Cards belong to the tenants that files in other forms than wisen's name."),
    ] = False
    again: Annotated[
        bool, typer.Option("--again", help="Read what was learned from before, too; lessons are still counted once.")
    ] = False
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Only the first N runs.", show_default=False)
    ] = None
    concurrency: Annotated[int, typer.Option(metavar="N", min=1, help="Model calls at a time.")] = 4
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what was read and would be asked; ask and store nothing.")
    ] = False

    def __post_init__(self) -> None:
        """Refuse what can't be, by the option's name."""
        if self.form not in _TRACE_FORMS:
            raise ConfigError(f"--form {self.form!r}: must be one of {', '.join(_TRACE_FORMS)}")


def learn(
    traces: Annotated[
        list[str],
        typer.Argument(metavar="TRACES...", help="Files of traces, folders of them, or - for standard input."),
    ],
    *,
    options: LearnOptions,
    store: EmbeddingStoreOptions,
    output: OutputOptions,
) -> None:
    """Look back at recorded runs and coding agents' sessions: what they teach goes into the store, on trial.

    Each file's form is told by its content. A second time, only files that have changed are read.

    Exit code: 0 if every run was looked at, 1 if a model failed on one, 2 if nothing could be read.
    """
    reading = TraceReading(form=cast("Form", options.form), trusted=options.trust_files)  # checked with the options
    if options.dry_run:
        _plan(_every(reading, traces, options), contrast=options.contrast, as_json=output.as_json)
        _tell_skipped(reading)
        return
    found = None if options.model is None else find_model(options.model)
    choice = store.writable()
    learned = drive(_learn(traces, reading, found, choice, store.embedder, options))
    if not reading.empty:
        _report(learned, reading, choice, as_json=output.as_json)
    _tell_skipped(reading)
    if learned.failed:
        raise typer.Exit(1)


def _every(reading: TraceReading, traces: Sequence[str], options: LearnOptions) -> "Iterator[TracedRun]":
    """All runs, up to the limit."""
    for source in reading.sources(traces):
        for run in reading.of(source):
            if options.limit is not None and reading.runs >= options.limit:
                return
            reading.count(run)
            yield _given(run, options.tenant)


def _tell_skipped(reading: TraceReading) -> None:
    for one in reading.skipped:
        typer.echo(f"wisen: {one.place}: {line(one.reason, _SHOWN)}", err=True)
    if reading.skips > len(reading.skipped):
        typer.echo(f"wisen: and {reading.skips - len(reading.skipped)} more that were left out", err=True)
    if reading.empty:
        raise typer.Exit(2)


def _given(run: "TracedRun", tenant: str | None) -> "TracedRun":
    """The run with what the command line says of it."""
    return run if tenant is None else replace(run, task=replace(run.asked, tenant=tenant))


async def _learn(
    traces: Sequence[str],
    reading: TraceReading,
    model: "Model | None",
    choice: StoreChoice,
    embedder_name: str | None,
    options: LearnOptions,
) -> _Learned:
    how = "\0".join((options.model or "", options.agent, options.tenant or "", options.form))
    async with open_store(choice, embedder_name) as store:
        files = LearnedFiles(store, how)
        learner = _learner(model, store, files, options)
        for source in reading.sources(traces):
            since = 0 if options.again else await files.line(source)
            if since is None:
                reading.unchanged += 1
            elif (last := await _read(reading, source, learner, options, since)) is not None:
                await learner.ended(source, last)
        await learner.finish()
    learned = learner.learned
    return _Learned(cards=list(learned.cards.values()), reflections=learned.reflections, failed=learned.failed)


def _learner(model: "Model | None", store: Store, files: LearnedFiles, options: LearnOptions) -> LessonMaker:
    from wisen.memory_ci.pipeline import MemoryCI  # noqa: PLC0415 - imports pydantic-ai
    from wisen.retroformer.retroformer import Retroformer  # noqa: PLC0415 - as above

    ci = MemoryCI(store)
    if model is None:
        return TemplateLearner(ci, options.agent, files)
    retroformer = Retroformer(model, ci, options.agent, concurrency=options.concurrency)
    return ModelLearner(retroformer, files, contrast=options.contrast)


async def _read(
    reading: TraceReading, source: Source, learner: LessonMaker, options: LearnOptions, since: int
) -> int | None:
    """Learn from a file's runs; gives the line of the last one, or `None` where the limit left some out."""
    last = 0
    for run in reading.of(source):
        if options.limit is not None and reading.runs >= options.limit:
            return None
        last = line_of(run)
        # The last run of a session may have gone on since; of other files it had ended.
        if learner.alone and (last < since or (last == since != 0 and not source.session)):
            continue
        reading.count(run)
        await learner.learn(_given(run, options.tenant), source)
    return last


def _report(learned: _Learned, reading: TraceReading, choice: StoreChoice, *, as_json: bool) -> None:
    totals = {"runs": reading.runs, **learned.totals(), "failed": len(learned.failed)}
    if as_json:
        print_json(
            {
                "cards": [{**_card(card), "outcome": learned.outcome(card)} for card in learned.cards],
                "reflections": [asdict(one) for one in learned.reflections],
                "failed": [{"trace_id": one.run.trace.trace_id, "error": one.error} for one in learned.failed],
                "read": reading.as_json(),
                "skipped": [asdict(one) for one in reading.skipped],
                "totals": totals,
            }
        )
    else:
        _print(learned, totals)
        typer.echo(_told(reading))
        typer.echo(f"store: {choice.shown} ({choice.why})")
    for one in learned.failed:
        typer.echo(f"wisen: run {line(one.run.trace.trace_id, 40)}: {line(one.error, _SHOWN)}", err=True)


def _told(reading: TraceReading) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(reading.files.items()))
    said = [
        counted(reading.files.total(), "file") + (f" ({kinds})" if kinds else ""),
        f"{counted(reading.calls, 'call')}, {reading.failed} of them failed",
    ]
    if reading.unchanged:
        said.append(f"{counted(reading.unchanged, 'file')} not changed since")
    if reading.skips:
        said.append(f"{counted(reading.skips, 'place')} left out")
    return f"read: {'; '.join(said)}"


def _card(card: "MemoryCard") -> dict[str, object]:
    return {
        "id": card.id,
        "kind": card.kind.value,
        "status": card.status.value,
        "text": card.text,
        "tools": list(card.scope.tool_names),
        "task_types": list(card.scope.task_types),
        "agent_roles": list(card.scope.agent_roles),
        "tenant": card.scope.tenant,
        "trace_id": card.provenance.trace_id,
        "source": card.provenance.source,
        "duplicates": card.duplicates,
    }


def _print(learned: _Learned, totals: dict[str, object]) -> None:
    if learned.cards:
        columns = (
            Column(heading="id", id=True, spare=1),
            Column(heading="kind"),
            Column(heading="outcome"),
            Column(heading="status", spare=2),
            Column(heading="text", wide=True),
        )
        rows = [
            (
                card.id,
                _kind(card),
                learned.outcome(card),
                card.status.value,
                " / ".join(card.text.split("\n")),
            )
            for card in learned.cards
        ]
        print_table(columns, rows)
        typer.echo()
    kinds = Counter(_kind(card) for card in learned.cards if learned.outcome(card) == "new")
    said = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "nothing"
    typer.echo(f"{counted(totals['runs'], 'run')}, {totals['contrasts']} of them seen beside a solved one; new: {said}")
    rules = cast("dict[str, int]", totals["rules"])
    why = f" ({', '.join(rules)})" if rules else ""
    others = {
        "there already, from the same run": totals["known"],
        "merged into cards that say the same": totals["duplicates"],
        f"refused{why}": totals["rejected"],
    }
    if told := ", ".join(f"{count} {what}" for what, count in others.items() if count):
        typer.echo(told)


def _kind(card: "MemoryCard") -> str:
    return card.kind.value.replace("_", " ")


def _plan(given: "Iterable[TracedRun]", *, contrast: bool, as_json: bool) -> None:
    """Say what was read, and which runs would be seen together."""
    from wisen.retroformer.retroformer import Retroformer  # noqa: PLC0415 - imports pydantic-ai

    retro, runs, looks = Retroformer(), 0, list[dict[str, object]]()
    for batch in _batches(given):
        runs += len(batch)
        pairs = retro.pairs(batch) if contrast else [(run, None) for run in batch]
        looks += [_planned(run, beside) for run, beside in pairs]
    if as_json:
        print_json(looks)
        return
    columns = (
        Column(heading="trace", id=True),
        Column(heading="task", wide=True),
        Column(heading="score", number=True),
        Column(heading="steps", number=True),
        Column(heading="beside", id=True, spare=1),
    )
    rows = [
        (
            str(one["trace_id"]),
            glance(str(one["task"]), _SHOWN),
            score(cast("float | None", one["score"])),
            str(one["steps"]),
            str(one["beside"] or ""),
        )
        for one in looks
    ]
    print_table(columns, rows)
    typer.echo()
    typer.echo(f"{counted(runs, 'run')}, looks back: {len(looks)}; nothing was asked or stored")


def _batches(runs: "Iterable[TracedRun]") -> "Iterator[list[TracedRun]]":
    several = iter(runs)
    while batch := list(islice(several, BATCH)):
        yield batch


def _planned(run: "TracedRun", beside: "TracedRun | None") -> dict[str, object]:
    return {
        "trace_id": run.trace.trace_id,
        "task": run.asked.prompt,
        "score": run.ended.overall_score,
        "steps": run.trace.step_count,
        "beside": None if beside is None else beside.trace.trace_id,
    }
