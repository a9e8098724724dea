"""Defines the reports that an agent writes after a task: as records, Markdown that people edit, and memory cards.

Four kinds: a failed task (five fields), a partial one (three), a success (two) and an important decision (three); each
may add what MARS asks for: a principle to follow and a procedure that worked.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time
from typing import ClassVar, TypeAlias

from wisen.cards import MemoryCard, MemoryKind, MemoryScope, MemoryStatus, Provenance, Situation
from wisen.errors import ReportError
from wisen.records import NEVER
from wisen.report_text import Headings, Section, after_front_matter, listed, numbered, trimmed, unified, without

_PRINCIPLE = "Principle"
_PROCEDURE = "Procedure"
_RULE = "I should follow this rule:"
_STEPS = "These steps worked:"
_TITLE = re.compile(
    r" {0,3}#{1,6}[ \t]*(reflection|procedure|decision reflection|decision)[ \t]*:[ \t]*(.*)", re.IGNORECASE
)
_DATED = re.compile(r"\[?(\d{4}-\d{2}-\d{2})\]?\s+([-–—])\s+(.*)")  # noqa: RUF001 - dashes that people type
_LONE_HYPHEN = re.compile(r"(?<!\S)(\\*)-(?!\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _AnyReport:
    """The fields of all reports. Texts are trimmed, with plain line feeds; agent and summary are one line each."""

    HEADINGS: ClassVar[Mapping[str, str]]
    """Field by field the heading that it stands under, in order."""
    KIND: ClassVar[MemoryKind]
    ADVICE: ClassVar[str]
    """The field that becomes a card's `strategy`."""

    agent: str
    date: date
    summary: str
    """The task, in a few words."""
    principle: str = ""
    """MARS, normative: one rule to follow from now on; "" for none."""
    procedure: tuple[str, ...] = ()
    """MARS, descriptive: the steps that worked, in order."""

    def __post_init__(self) -> None:
        """Trim all texts; raise `ReportError` naming the first mandatory one that is empty."""
        for name in ("agent", "summary"):
            object.__setattr__(self, name, " ".join(_checked(self, name).split()))
        for name in (*self.HEADINGS, "principle"):
            object.__setattr__(self, name, trimmed(_checked(self, name)))
        if isinstance(self.procedure, str):
            raise ReportError("procedure is a text; pass its steps as several texts")
        for step in self.procedure:
            _encodable(step, "procedure")
        steps = [trimmed(step) for step in self.procedure]
        object.__setattr__(self, "procedure", tuple(step for step in steps if step))
        for name, heading in {"agent": "agent", "summary": "task summary", **self.HEADINGS}.items():
            if not getattr(self, name):
                raise ReportError(f"a {_word(type(self))} report needs a text for {heading!r}; it has none")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedReport(_AnyReport):
    """A task has failed: five mandatory fields."""

    HEADINGS: ClassVar[Mapping[str, str]] = {
        "what_happened": "What happened?",
        "what_went_wrong": "What went wrong?",
        "why_it_went_wrong": "Why did it go wrong?",
        "what_to_do_differently": "What should I do differently?",
        "tactical_rule": "Tactical rule candidate",
    }
    KIND: ClassVar[MemoryKind] = MemoryKind.REFLECTION
    ADVICE: ClassVar[str] = "tactical_rule"

    what_happened: str
    """Facts: the task and how it ended."""
    what_went_wrong: str
    """The point of failure: which step, tool or input."""
    why_it_went_wrong: str
    """The root cause."""
    what_to_do_differently: str
    """A correction, specific enough to follow."""
    tactical_rule: str
    """One sentence that prevents it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialReport(_AnyReport):
    """A task was done in part: three mandatory fields."""

    HEADINGS: ClassVar[Mapping[str, str]] = {
        name: FailedReport.HEADINGS[name] for name in ("what_happened", "what_went_wrong", "what_to_do_differently")
    }
    KIND: ClassVar[MemoryKind] = MemoryKind.REFLECTION
    ADVICE: ClassVar[str] = "what_to_do_differently"

    what_happened: str
    what_went_wrong: str
    what_to_do_differently: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SuccessReport(_AnyReport):
    """A task was done: how, in two fields."""

    HEADINGS: ClassVar[Mapping[str, str]] = {"strategy": "Strategy", "why_it_worked": "Why it worked"}
    KIND: ClassVar[MemoryKind] = MemoryKind.PROCEDURE
    ADVICE: ClassVar[str] = "strategy"

    strategy: str
    why_it_worked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionReport(_AnyReport):
    """A choice among several ways, in three fields."""

    HEADINGS: ClassVar[Mapping[str, str]] = {
        "decision": "What was the decision?",
        "alternatives": "What alternatives existed?",
        "why_chosen": "Why was this option chosen?",
    }
    KIND: ClassVar[MemoryKind] = MemoryKind.DECISION
    ADVICE: ClassVar[str] = "decision"

    decision: str
    alternatives: str
    why_chosen: str


Report: TypeAlias = FailedReport | PartialReport | SuccessReport | DecisionReport

_REPORTS: tuple[type[Report], ...] = (FailedReport, PartialReport, SuccessReport, DecisionReport)


_HEADINGS = Headings(
    (*(each for kind in _REPORTS for each in kind.HEADINGS.values()), _PRINCIPLE, _PROCEDURE),
    also=[("Tactical rule", FailedReport.HEADINGS["tactical_rule"])],
)


def to_markdown(report: Report) -> str:
    """The report in the protocol's form, ending with a newline; `from_markdown` reads back the very same report.

    A line that reads like one of the reports' own headings gets a backslash in front.
    """
    word = "Procedure" if isinstance(report, SuccessReport) else "Reflection"
    agent = _LONE_HYPHEN.sub(r"\1\\-", report.agent)
    title = f"# {word}: {report.date.isoformat()} - {agent} - {report.summary}"
    return f"{title}\n\n{_HEADINGS.render(_sections(report))}\n"


def from_markdown(text: str, *, agent: str = "", on: date | None = None) -> Report:
    """Read a report; spacing, line ends, and level and case of headings don't matter. Front matter is passed over.

    A heading that isn't one of the reports' own belongs to the text around it. Text before the first heading goes to
    the first field.

    Args:
        text: The Markdown.
        agent: Who reports, where the title has no date and agent.
        on: The day, likewise.

    Raises:
        ReportError: With the line and what is wrong with it, or the heading that is missing.
    """
    lines = unified(text.removeprefix("\ufeff")).split("\n")
    first = after_front_matter(lines)
    while first < len(lines) and not lines[first].strip():
        first += 1
    titled = _TITLE.fullmatch(lines[first]) if first < len(lines) else None
    if titled is None:
        what = "'# Reflection: DATE - AGENT - SUMMARY' or '# Procedure: …'"
        raise ReportError(f"expected a title such as {what}", line=min(first + 1, len(lines)))
    on, agent, summary = _title(titled[2], agent, on, first + 1)
    sections = _HEADINGS.split(lines, first + 1)
    kind = _kind(titled[1].casefold() == "procedure", sections)
    found = _gathered(sections, kind)
    texts = {name: found.get(heading, "") for name, heading in kind.HEADINGS.items()}
    missing = [heading for name, heading in kind.HEADINGS.items() if not texts[name]]
    if missing:
        raise ReportError(f"a {_word(kind)} report needs a text under '## {missing[0]}'; it has none", line=first + 1)
    steps = listed(without(found.get(_PROCEDURE, ""), _STEPS))
    mars = {"principle": without(found.get(_PRINCIPLE, ""), _RULE), "procedure": steps}
    return _made(kind, {"agent": agent, "date": on, "summary": summary, **texts, **mars})


def report_to_card(
    report: Report,
    *,
    situation: Situation | None = None,
    scope: MemoryScope | None = None,
    status: MemoryStatus = MemoryStatus.CANDIDATE,
    provenance: Provenance | None = None,
) -> MemoryCard:
    """A card that holds all of the report, so that `card_to_report` gives it back.

    `pattern` is the summary, `strategy` the advice, `steps` the procedure, and `content` the rest in Markdown.
    `provenance` gets the report's agent, and its day where `created_at` is of another one.
    """
    advice = report.HEADINGS[report.ADVICE]
    rest = [(heading, text) for heading, text in _sections(report) if heading not in (advice, _PROCEDURE)]
    return MemoryCard(
        kind=report.KIND,
        pattern=report.summary,
        content=_HEADINGS.render(rest),
        strategy=getattr(report, report.ADVICE),
        steps=report.procedure,
        situation=situation or Situation(),
        scope=scope or MemoryScope(),
        status=status,
        provenance=_signed(report, provenance),
    )


def card_to_report(card: MemoryCard) -> Report | None:
    """The card's report; `None` if it holds none, or more than a report can say."""
    if card.kind not in {kind.KIND for kind in _REPORTS}:
        return None
    sections = _HEADINGS.split(card.content.split("\n"))
    kind = _kind(card.kind is MemoryKind.PROCEDURE, sections)
    texts = {section.heading: section.text for section in sections}
    named = {name: texts.get(heading, "") for name, heading in kind.HEADINGS.items()} | {kind.ADVICE: card.strategy}
    principle = without(texts.get(_PRINCIPLE, ""), _RULE)
    who = {"agent": card.provenance.agent, "date": card.provenance.created_at.date(), "summary": card.pattern}
    try:
        report = _made(kind, {**who, **named, "principle": principle, "procedure": card.steps})
    except ReportError:
        return None
    again = report_to_card(report, provenance=card.provenance)
    same = ("kind", "pattern", "content", "strategy", "steps", "provenance")
    return report if all(getattr(again, name) == getattr(card, name) for name in same) else None


def mars_cards(
    report: Report,
    *,
    situation: Situation | None = None,
    scope: MemoryScope | None = None,
    status: MemoryStatus = MemoryStatus.CANDIDATE,
    provenance: Provenance | None = None,
) -> list[MemoryCard]:
    """A principle card and a procedure card, each where the report has that output; the principle first."""
    principle = MemoryCard(
        kind=MemoryKind.PRINCIPLE,
        pattern=report.summary,
        content=report.principle,
        situation=situation or Situation(),
        scope=scope or MemoryScope(),
        status=status,
        provenance=_signed(report, provenance),
    )
    procedure = replace(principle, kind=MemoryKind.PROCEDURE, content=_STEPS, steps=report.procedure, id="")
    return [card for card, has in ((principle, report.principle), (procedure, report.procedure)) if has]


def _signed(report: Report, provenance: Provenance | None) -> Provenance:
    source = provenance or Provenance()
    when = source.created_at
    if when == NEVER or when.date() != report.date:
        when = datetime.combine(report.date, time(), UTC)
    return replace(source, agent=report.agent, created_at=when)


def _sections(report: Report) -> list[tuple[str, str]]:
    found = [(heading, str(getattr(report, name))) for name, heading in report.HEADINGS.items()]
    if report.principle:
        found.append((_PRINCIPLE, f"{_RULE} {report.principle}"))
    if report.procedure:
        found.append((_PROCEDURE, f"{_STEPS}\n\n{numbered(report.procedure)}"))
    return found


def _kind(success: bool, sections: Sequence[Section]) -> type[Report]:
    if success:
        return SuccessReport
    headings = {section.heading for section in sections}
    if not headings.isdisjoint(DecisionReport.HEADINGS.values()):
        return DecisionReport
    failed = {FailedReport.HEADINGS[name] for name in ("why_it_went_wrong", "tactical_rule")}
    return PartialReport if headings.isdisjoint(failed) else FailedReport


def _gathered(sections: Sequence[Section], kind: type[Report]) -> dict[str, str]:
    """Text by heading; what stands under a heading of another kind of report stays with the text before it."""
    own = {*kind.HEADINGS.values(), _PRINCIPLE, _PROCEDURE}
    found = {"": sections[0].text}
    last = ""
    for section in sections[1:]:
        if section.heading not in own:
            found[last] = trimmed(f"{found[last]}\n\n## {section.heading}\n\n{section.text}")
        elif section.heading in found:
            raise ReportError(f"the heading {section.heading!r} is there twice", line=section.line)
        else:
            last = section.heading
            found[last] = section.text
    if found[""]:
        first = next(iter(kind.HEADINGS.values()))
        found[first] = trimmed(f"{found['']}\n\n{found.get(first, '')}")
    return found


def _title(said: str, agent: str, on: date | None, line: int) -> tuple[date, str, str]:
    dated = _DATED.fullmatch(said.strip())
    if dated is None:
        if agent and on is not None and said.strip():
            return on, agent, said
        raise ReportError("expected 'DATE - AGENT - SUMMARY' in the title, with a date such as 2026-03-01", line=line)
    try:
        on = date.fromisoformat(dated[1])
    except ValueError:
        raise ReportError(f"{dated[1]!r} in the title is no date of the calendar", line=line) from None
    named, dash, summary = f" {dated[3]}".partition(f" {dated[2]} ")
    if not dash:
        named, summary = agent, dated[3]
    named = _LONE_HYPHEN.sub(lambda found: f"{found[1][1:]}-", named).strip()
    if not named or not summary.strip():
        raise ReportError("expected 'DATE - AGENT - SUMMARY' in the title; a part is missing", line=line)
    return on, named, summary


def _made(kind: type[Report], values: Mapping[str, object]) -> Report:
    make: type[Report] = kind
    known = {field.name for field in fields(kind)}
    return make(**{name: value for name, value in values.items() if name in known})  # pyright: ignore[reportArgumentType] - checked by __post_init__


def _word(kind: type[object]) -> str:
    return kind.__name__.removesuffix("Report").lower()


def _checked(report: object, name: str) -> str:
    value: object = getattr(report, name)
    if not isinstance(value, str):
        raise ReportError(f"{name}={type(value).__name__} in a {_word(type(report))} report: must be a text")
    _encodable(value, name)
    return value


def _encodable(text: str, name: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ReportError(f"{name} holds half of a surrogate pair, which can't be kept") from None
