"""`wisen reflect new`: stores a report that stands in a file, or has a model write one from a recorded run."""

import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from wisen.cards import MemoryScope, Provenance, Situation
from wisen.cli.model_choice import FORMS, find_model
from wisen.cli.option_sets import OptionSet
from wisen.cli.output import print_json
from wisen.cli.reflect import ReportStoreOptions
from wisen.cli.shared_options import EmbedderOptions, OutputOptions
from wisen.cli.store_choice import StoreChoice, choose_store, drive, open_store, reading
from wisen.errors import ConfigError, InputFileError, ReflectionError, ReportError, WisenError
from wisen.records import ReflectionEvaluation, RunRecord, Trace, TraceEvent
from wisen.reports import (
    DecisionReport,
    FailedReport,
    PartialReport,
    Report,
    SuccessReport,
    from_markdown,
    mars_cards,
    report_to_card,
    to_markdown,
)

ReportKind = Literal["failed", "partial", "success", "decision"]

_INPUT = "-"
_GOOD_ENOUGH = 0.8
KINDS: Mapping[str, type[Report]] = {
    "failed": FailedReport,
    "partial": PartialReport,
    "success": SuccessReport,
    "decision": DecisionReport,
}
_AGENT, _SUMMARY = "AGENT", "SUMMARY"
_HINTS = {
    "what_happened": "<!-- Facts: the task and how it ended. -->",
    "what_went_wrong": "<!-- The point of failure: which step, tool or input. -->",
    "why_it_went_wrong": "<!-- The root cause. -->",
    "what_to_do_differently": "<!-- A correction, specific enough to follow. -->",
    "tactical_rule": "<!-- One sentence that prevents it. -->",
    "strategy": "<!-- How it was done. -->",
    "why_it_worked": "<!-- What made the difference. -->",
    "decision": "<!-- What was decided. -->",
    "alternatives": "<!-- Which other ways there were. -->",
    "why_chosen": "<!-- Why this one. -->",
    "principle": "<!-- Optional: one rule to follow from now on. -->",
    "procedure": "<!-- Optional: the steps that worked, a line each. -->",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _NewReport:
    """A report on its way into the folder."""

    report: Report
    situation: Situation
    scope: MemoryScope
    provenance: Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filed:
    """What became of it."""

    path: str
    id: str
    outcome: str
    rules: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewReportOptions(OptionSet):
    """Where a report comes from, and what is said beside its own texts."""

    kind: Annotated[
        ReportKind | None,
        typer.Option(
            help="Of a task that failed, was done in part or done, or of a decision. "
            "Default: what the file is, or how the run ended.",
            show_default=False,
        ),
    ] = None
    template: Annotated[
        bool, typer.Option("--template", help="Print a report of this --kind to fill in, and store nothing.")
    ] = False
    run: Annotated[
        str, typer.Option(metavar="ID", help="Have a model write it from this recorded run.", show_default=False)
    ] = ""
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"Who writes it: {FORMS}. Default: the bundled one.", show_default=False),
    ] = None
    agent: Annotated[
        str, typer.Option(metavar="NAME", help="Who reports. Default: whom the file names.", show_default=False)
    ] = ""
    day: Annotated[
        str,
        typer.Option(
            "--date", metavar="YYYY-MM-DD", help="Default: the day that the file names, else today.", show_default=False
        ),
    ] = ""
    task: Annotated[str, typer.Option(metavar="TEXT", help="The task's prompt. Default: the summary.")] = ""
    task_type: Annotated[str, typer.Option("--type", help="The task's type.", show_default=False)] = ""
    tool: Annotated[list[str] | None, typer.Option(help="A tool of the task; may be given several times.")] = None
    tenant: Annotated[str, typer.Option(help="Whose report; '' is the tenant without a name.")] = ""

    @property
    def on(self) -> date | None:
        """The day; raises `ConfigError` for what is none."""
        if not self.day:
            return None
        try:
            return date.fromisoformat(self.day)
        except ValueError:
            raise ConfigError(f"--date {self.day!r}: must be a day such as 2026-03-01") from None

    def check(self, report: str | None) -> None:
        """Refuse what doesn't go together; raises `ConfigError`."""
        _ = self.on
        sources = [
            name for name, given in (("REPORT", report), ("--run", self.run), ("--template", self.template)) if given
        ]
        if len(sources) > 1:
            raise ConfigError(f"{' and '.join(sources)}: give one of them")
        if self.template and self.kind is None:
            raise ConfigError(f"--template needs --kind, one of {', '.join(KINDS)}")
        if not sources:
            how = "`wisen reflect new --kind failed --template > report.md` makes one to fill in"
            raise ConfigError(f"give a report's file, - for standard input, or --run ID; {how}")
        if self.model is not None and not self.run:
            raise ConfigError("--model writes a report from a recorded run; give --run ID too")


def new(
    report: Annotated[
        str | None,
        typer.Argument(metavar="REPORT", help="A report in Markdown; - is standard input.", show_default=False),
    ] = None,
    *,
    options: NewReportOptions,
    store: ReportStoreOptions,
    vectors: EmbedderOptions,
    output: OutputOptions,
) -> None:
    """Put a report, through the screen, into the store or a folder of Markdown; prints its file or id.

    --template prints one to fill in: `wisen reflect new --kind failed --template > report.md`, then
    `wisen reflect new report.md`. What was read from standard input and can't be stored is kept in a file, unless the
    screen rejects it.
    """
    options.check(report)
    if options.template:
        typer.echo(template(str(options.kind), agent=options.agent, day=options.on or _today()), nl=False)
        return
    if report is None:
        draft = drive(_from_run(store.store, options))
        filed = drive(_file(draft, store.target(), vectors.embedder))
    else:
        data = sys.stdin.buffer.read() if report == _INPUT else Path(report).read_bytes()
        with _kept(data if report == _INPUT else b""):
            draft = _by_hand(_from_markdown(report, data, options), options)
            filed = drive(_file(draft, store.target(), vectors.embedder))
    _tell_filed(filed, as_json=output.as_json)


def _tell_filed(filed: _Filed, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(filed))
        return
    typer.echo(filed.path or filed.id)
    if filed.outcome == "duplicate":
        typer.echo("a report like it is there already; counted on it", err=True)
    if filed.outcome == "unchanged":
        typer.echo("this very report is there already", err=True)
    if filed.rules:
        typer.echo(f"the screen took something out: {', '.join(filed.rules)}", err=True)


@contextmanager
def _kept(data: bytes) -> Generator[None]:
    """Keep what can't be read twice in a file of its own where storing it fails, unless the screen rejected it."""
    try:
        yield
    except ReflectionError:
        raise
    except (WisenError, OSError) as error:
        if not data.strip():
            raise
        with tempfile.NamedTemporaryFile(prefix="wisen-report-", suffix=".md", delete=False) as file:
            file.write(data)
        raise ConfigError(f"{error}; what was read is kept in {file.name}") from None


def _from_markdown(name: str, data: bytes, options: NewReportOptions) -> Report:
    shown = "standard input" if name == _INPUT else name
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{shown}: isn't UTF-8 text") from None
    try:
        report = from_markdown(text, agent=options.agent, on=options.on or _today())
        report = filled(replace(report, agent=options.agent or report.agent, date=options.on or report.date))
    except ReportError as error:
        raise InputFileError(shown, error.problem, line=error.line) from None
    if options.kind is not None and not isinstance(report, KINDS[options.kind]):
        found = next(name for name, kind in KINDS.items() if isinstance(report, kind))
        raise ConfigError(f"{shown}: is a report of kind {found!r}, and --kind says {options.kind!r}")
    return report


def _by_hand(report: Report, options: NewReportOptions) -> _NewReport:
    return _NewReport(
        report=report,
        situation=Situation(
            prompt=options.task or report.summary, task_type=options.task_type, tools=tuple(options.tool or ())
        ),
        scope=MemoryScope(tenant=options.tenant),
        provenance=Provenance(created_by="human", created_at=datetime.now(UTC)),
    )


async def _from_run(store: str | None, options: NewReportOptions) -> _NewReport:
    from wisen.explain.by_id import find_run  # noqa: PLC0415 - beside the commands on runs
    from wisen.reflection.report import ReportReflector  # noqa: PLC0415 - only where a model writes

    async with reading(choose_store(store)) as opened:
        record = await find_run(opened, options.run, options.tenant or None)
    if record.status == "unfinished":
        raise ConfigError(f"run {record.run_id!r} hasn't ended; there is nothing to report on yet")
    agent = options.agent or record.agent or "agent"
    moment = datetime.now(UTC) if (on := options.on) is None else datetime(on.year, on.month, on.day, tzinfo=UTC)
    reflector = ReportReflector(model=find_model(options.model)).signing(agent, lambda: moment).telling(_tell)
    evaluation = _judged(record)
    outcome = options.kind or _ended(record, reflector.outcome(evaluation))
    report = await reflector.report(outcome, record.task, record.output, evaluation, _trace(record))
    situation = Situation(prompt=record.task.prompt, task_type=record.task.type, tools=record.task.tools)
    provenance = Provenance(
        run_id=record.run_id,
        attempt=len(record.attempts),
        trace_id=record.run_id,
        created_by="reflexion",
        evaluator=evaluation.evaluator,
        verified=evaluation.verifiable,
        created_at=moment,
    )
    scope = MemoryScope(tenant=options.tenant or record.task.tenant)
    return _NewReport(report=report, situation=situation, scope=scope, provenance=provenance)


def _ended(record: RunRecord, otherwise: ReportKind) -> ReportKind:
    good = record.status == "satisfied" or (record.status == "budget_exhausted" and (record.score or 0) >= _GOOD_ENOUGH)
    return "success" if good else otherwise


def _judged(record: RunRecord) -> ReflectionEvaluation:
    """The evaluation of the answer that the run returned."""
    judged = [one.evaluation for one in record.attempts if one.evaluation and one.output == record.output]
    return judged[-1] if judged else ReflectionEvaluation(overall_score=record.score)


def _trace(record: RunRecord) -> Trace:
    """What a record tells of its attempts, in the form of a trace."""
    events: list[TraceEvent] = []
    for one in record.attempts:
        answered = {"attempt": one.attempt, "answer": one.output}
        events.append(TraceEvent(kind="observation", step=one.attempt, at=0.0, data=answered))
        if one.evaluation is not None:
            said = {"score": one.evaluation.overall_score, "issues": "; ".join(one.evaluation.issues)}
            events.append(TraceEvent(kind="score", step=one.attempt, at=0.0, data=said))
    for without in record.degradations:
        stage, _, error = without.partition(": ")
        data = {"stage": stage, "error": error}
        events.append(TraceEvent(kind="error", step=max(1, len(record.attempts)), at=0.0, data=data))
    return Trace(trace_id=record.run_id, purpose=record.task.prompt, events=tuple(events))


async def _file(draft: _NewReport, choice: StoreChoice, embedder: str | None) -> _Filed:
    """Screen and write the report, its principle and its procedure."""
    from wisen.memory_ci.pipeline import MemoryCI  # noqa: PLC0415 - imports numpy by way of the store
    from wisen.stores.markdown.store import MarkdownStore  # noqa: PLC0415 - as above

    of: dict[str, Any] = {"situation": draft.situation, "scope": draft.scope, "provenance": draft.provenance}
    cards = [report_to_card(draft.report, **of), *mars_cards(draft.report, **of)]
    async with open_store(choice, embedder) as store:
        ci = MemoryCI(store)
        # Nothing of a report that is rejected is kept, not even that there was one: it stands before its writer.
        verdict = ci.screen.check(cards[0])
        if verdict.card is None:
            rules = ", ".join(sorted({finding.rule for finding in verdict.findings}))
            raise ReflectionError(f"the screen rejected the report ({rules}); nothing was kept")
        try:
            filed = [await ci.submit(card) for card in cards]
        except ConfigError as error:  # the agent's name may not be kept
            raise ReflectionError(str(error)) from None
        outcome = "unchanged" if filed[0].known else filed[0].outcome
        rules = {finding.rule for one in filed for finding in one.findings}
        path = await store.path_of(filed[0].card_id) if isinstance(store, MarkdownStore) else ""
        return _Filed(path=str(path), id=filed[0].card_id, outcome=outcome, rules=sorted(rules))


def _tell(error: Exception, skipped: str) -> None:
    typer.echo(f"went without {skipped} ({type(error).__name__})", err=True)


def _today() -> date:
    return datetime.now(UTC).date()


def template(kind: str, *, agent: str, day: date) -> str:
    """A report of this kind in Markdown, with a hint in the place of each text."""
    made: type[Any] = KINDS[kind]
    texts = {name: _HINTS[name] for name in (*KINDS[kind].HEADINGS, "principle")}
    report: Report = made(agent=agent or _AGENT, date=day, summary=_SUMMARY, procedure=(_HINTS["procedure"],), **texts)
    return to_markdown(report)


def filled(report: Report) -> Report:
    """The report without the template's hints; raises `ReportError` where they are all that there is."""
    texts: dict[str, Any] = {name: _own(getattr(report, name)) for name in (*report.HEADINGS, "principle")}
    left = [word for word, said in ((_AGENT, report.agent), (_SUMMARY, report.summary)) if said == word]
    left += [heading for name, heading in report.HEADINGS.items() if not texts[name]]
    if left:
        named = ", ".join(map(repr, left))
        raise ReportError(f"still as in the template: {named}; write your own text in the place of each")
    steps = tuple(step for one in report.procedure if (step := _own(one)).strip("0123456789.)"))
    return replace(report, **texts, procedure=steps)


def _own(text: str) -> str:
    for hint in _HINTS.values():
        text = text.replace(hint, "")
    return text.strip()
