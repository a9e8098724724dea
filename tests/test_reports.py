"""Reports come back from Markdown and from cards as they were, and what can't be read says where."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from wisen.cards import MemoryKind, MemoryScope, MemoryStatus, Provenance, Situation
from wisen.errors import ConfigError, ReportError
from wisen.reports import (
    DecisionReport,
    FailedReport,
    PartialReport,
    Report,
    SuccessReport,
    card_to_report,
    from_markdown,
    mars_cards,
    report_to_card,
    to_markdown,
)

DAY = date(2026, 3, 1)
KINDS = (FailedReport, PartialReport, SuccessReport, DecisionReport)
FAILED = FailedReport(
    agent="researcher-agent",
    date=DAY,
    summary="Fetch the price list",
    what_happened="The list was fetched, and came back empty.",
    what_went_wrong="Step 3: the body was parsed.",
    why_it_went_wrong="The status was never looked at.",
    what_to_do_differently="Look at the status first.",
    tactical_rule="Always validate API response status before parsing the body.",
)
PARTIAL = PartialReport(
    agent="clerk", date=DAY, summary="File", what_happened="a", what_went_wrong="b", what_to_do_differently="c"
)
SUCCESS = SuccessReport(agent="clerk", date=DAY, summary="Sum it up", strategy="Row by row.", why_it_worked="No gap.")
DECISION = DecisionReport(
    agent="clerk", date=DAY, summary="Which table", decision="A", alternatives="B, C", why_chosen="It was there."
)

TRICKY = (
    "## What happened?",
    "  ### what WENT wrong ###",
    r"\## Tactical rule",
    r"\\# Strategy",
    "# Reflection: 2026-01-01 - a - b",
    "## Procedure",
    "**Principle**",
    "```",
    "---",
    "id: 7",
    "1. one",
    "   2) two",
    "- three",
    "    ",
    "I should follow this rule:",
    "These steps worked:",
    "a - b",
    "-",
    r"\-",
    "\r\n",
    "\u2028\x0b\x85",
    "<<<<<<< ours",
)
LINES = st.one_of(st.sampled_from(TRICKY), st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
TEXTS = st.lists(LINES, min_size=1, max_size=5).map("\n".join).filter(str.strip)
COMMON = {
    "agent": TEXTS,
    "date": st.dates(),
    "summary": TEXTS,
    "principle": st.just("") | TEXTS,
    "procedure": st.lists(TEXTS, max_size=3).map(tuple),
}


def reports() -> st.SearchStrategy[Report]:
    kinds = [st.builds(kind, **COMMON, **dict.fromkeys(kind.HEADINGS, TEXTS)) for kind in KINDS]
    return st.one_of(kinds)


@settings(max_examples=300)
@given(reports())
def test_markdown_loses_nothing(report: Report) -> None:
    text = to_markdown(report)
    assert from_markdown(text) == report
    assert from_markdown("\ufeff---\nid: x\n---\n\n" + text.replace("\n", "\r\n").rstrip("\r\n")) == report


@settings(max_examples=300)
@given(reports())
def test_a_card_loses_nothing(report: Report) -> None:
    card = report_to_card(report)
    assert card_to_report(card) == report
    assert (card.pattern, card.steps) == (report.summary, report.procedure)


def test_section_3a_a_failed_task_has_five_fields() -> None:
    assert to_markdown(FAILED) == snapshot("""\
# Reflection: 2026-03-01 - researcher-agent - Fetch the price list

## What happened?

The list was fetched, and came back empty.

## What went wrong?

Step 3: the body was parsed.

## Why did it go wrong?

The status was never looked at.

## What should I do differently?

Look at the status first.

## Tactical rule candidate

Always validate API response status before parsing the body.
""")


def headings(report: Report) -> Sequence[str]:
    return [line for line in to_markdown(report).splitlines() if line.startswith("#")]


def test_section_3b_a_partial_task_has_three_fields() -> None:
    assert headings(PARTIAL) == snapshot(
        [
            "# Reflection: 2026-03-01 - clerk - File",
            "## What happened?",
            "## What went wrong?",
            "## What should I do differently?",
        ]
    )


def test_section_3c_a_success_has_two_fields() -> None:
    assert headings(SUCCESS) == snapshot(
        ["# Procedure: 2026-03-01 - clerk - Sum it up", "## Strategy", "## Why it worked"]
    )


def test_section_3d_a_decision_has_three_fields() -> None:
    assert headings(DECISION) == snapshot(
        [
            "# Reflection: 2026-03-01 - clerk - Which table",
            "## What was the decision?",
            "## What alternatives existed?",
            "## Why was this option chosen?",
        ]
    )


@pytest.mark.parametrize("report", [FAILED, PARTIAL, SUCCESS, DECISION], ids=lambda one: type(one).__name__)
def test_section_2_every_field_is_mandatory(report: Report) -> None:
    kind = type(report)
    values: dict[str, Any] = {name: getattr(report, name) for name in ("agent", "date", "summary", *report.HEADINGS)}
    for name, heading in {"agent": "agent", "summary": "task summary", **report.HEADINGS}.items():
        emptied: dict[str, Any] = {**values, name: " \n"}
        with pytest.raises(ReportError) as caught:
            kind(**emptied)
        assert repr(heading) in str(caught.value)
        assert isinstance(caught.value, ConfigError)
        if name in report.HEADINGS:
            text = to_markdown(report).replace(f"\n\n{getattr(report, name)}\n", "\n\n \n", 1)
            with pytest.raises(ReportError, match=r"line 1: .*it has none"):
                from_markdown(text)


def test_section_6_mars_outputs_are_part_of_the_file_and_cards_of_their_own() -> None:
    report = FailedReport(
        **{name: getattr(FAILED, name) for name in ("agent", "date", "summary", *FAILED.HEADINGS)},
        principle="Read the status.",
        procedure=("Ask once.", "Read the status,\nthen the body."),
    )
    assert to_markdown(report).partition("## Principle")[2] == snapshot("""\


I should follow this rule: Read the status.

## Procedure

These steps worked:

1. Ask once.
2. Read the status,
   then the body.
""")
    source = Provenance(run_id="r1", created_at=datetime(2026, 3, 1, 9, tzinfo=UTC))
    scope, situation = MemoryScope(tenant="north"), Situation(prompt="Fetch it.")
    principle, procedure = mars_cards(
        report, situation=situation, scope=scope, provenance=source, status=MemoryStatus.QUARANTINED
    )
    assert (principle.kind, principle.content) == (MemoryKind.PRINCIPLE, "Read the status.")
    assert (procedure.kind, procedure.steps) == (MemoryKind.PROCEDURE, report.procedure)
    for card in (principle, procedure):
        assert (card.scope, card.situation, card.status) == (scope, situation, MemoryStatus.QUARANTINED)
        assert (card.provenance.agent, card.provenance.run_id) == ("researcher-agent", "r1")
        assert card_to_report(card) is None
    assert principle.id != procedure.id
    assert mars_cards(FAILED) == []


def test_cards_say_the_advice_first() -> None:
    kinds = {type(report): report_to_card(report) for report in (FAILED, PARTIAL, SUCCESS, DECISION)}
    assert [(card.kind, card.strategy) for card in kinds.values()] == [
        (MemoryKind.REFLECTION, FAILED.tactical_rule),
        (MemoryKind.REFLECTION, PARTIAL.what_to_do_differently),
        (MemoryKind.PROCEDURE, SUCCESS.strategy),
        (MemoryKind.DECISION, DECISION.decision),
    ]
    assert all(card.provenance.created_at == datetime(2026, 3, 1, tzinfo=UTC) for card in kinds.values())


def test_the_reports_day_stands() -> None:
    same_day = Provenance(created_at=datetime(2026, 3, 1, 23, 59, tzinfo=UTC))
    assert report_to_card(FAILED, provenance=same_day).provenance.created_at == same_day.created_at
    another = Provenance(created_at=datetime(2026, 3, 2, tzinfo=UTC), agent="someone")
    source = report_to_card(FAILED, provenance=another).provenance
    assert (source.created_at.date(), source.agent) == (DAY, "researcher-agent")


def test_other_cards_are_no_reports() -> None:
    card = report_to_card(FAILED)
    for changes in (
        {"kind": MemoryKind.LESSON},
        {"content": "Only words."},
        {"content": f"Preamble.\n\n{card.content}"},
        {"pattern": "Two\nlines"},
        {"strategy": ""},
        {"provenance": Provenance()},
    ):
        values = {name: getattr(card, name) for name in ("kind", "pattern", "content", "strategy", "provenance")}
        assert card_to_report(type(card)(**{**values, **changes})) is None  # pyright: ignore[reportArgumentType] - fields by name


BY_HAND = """\


### reflection : [2026-03-01] – clerk – Count the chairs  

Came in late.

# WHAT HAPPENED
Counted.

## Details
Twelve of them.
## Strategy
None.
##what went wrong?##
Missed
two.

## What  should I do differently:
Count twice."""  # noqa: RUF001, W291 - as people type


def test_what_people_write_is_read() -> None:
    assert from_markdown(BY_HAND.replace("\n", "\r\n")) == PartialReport(
        agent="clerk",
        date=DAY,
        summary="Count the chairs",
        what_happened="Came in late.\n\nCounted.\n\n## Details\nTwelve of them.\n\n## Strategy\n\nNone.",
        what_went_wrong="Missed\ntwo.",
        what_to_do_differently="Count twice.",
    )


def test_a_title_may_leave_to_the_caller_what_it_lacks() -> None:
    body = "\n## Strategy\nS\n## Why it worked\nW\n## Procedure\n- one\n  more\n* two\n"
    report = from_markdown(f"# Procedure: Count - again{body}", agent="clerk", on=DAY)
    assert (report.agent, report.date, report.summary) == ("clerk", DAY, "Count - again")
    assert report.procedure == ("one\nmore", "two")
    dated = from_markdown(f"# Procedure: 2026-03-02 - Count{body}", agent="clerk", on=DAY)
    assert (dated.agent, dated.date, dated.summary) == ("clerk", date(2026, 3, 2), "Count")
    plain = from_markdown(f"# Procedure: 2026-03-02 - x - y{body}".replace("- one\n  more\n* two", "one\n two\n"))
    assert plain.procedure == ("one", "two")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: expected a title such as '# Reflection: DATE - AGENT - SUMMARY' or '# Procedure: …'"),
        ("---\nid: x\n---\n\nWords.\n", "line 5: expected a title such as"),
        ("# Reflection: soon - a - b\n", "line 1: expected 'DATE - AGENT - SUMMARY' in the title, with a date"),
        ("# Reflection: 2026-02-30 - a - b\n", "line 1: '2026-02-30' in the title is no date of the calendar"),
        ("# Reflection: 2026-02-03 - a\n", "line 1: expected 'DATE - AGENT - SUMMARY' in the title; a part is missing"),
        ("# Procedure: 2026-02-03 - a - b\n## Strategy\nx\n## Strategy\ny", "line 4: the heading 'Strategy' is there"),
        (
            "# Reflection: 2026-02-03 - a - b\n## What happened?\nx\n## Tactical rule\ny",
            "line 1: a failed report needs a text under '## What went wrong?'; it has none",
        ),
    ],
)
def test_what_cannot_be_read_says_where(text: str, said: str) -> None:
    with pytest.raises(ReportError) as caught:
        from_markdown(text)
    assert str(caught.value).startswith(said)
    assert caught.value.line is not None


def test_only_texts_are_taken() -> None:
    values: dict[str, Any] = {name: getattr(SUCCESS, name) for name in ("agent", "date", "summary", *SUCCESS.HEADINGS)}
    for name, value in (("strategy", None), ("strategy", "\ud800"), ("procedure", "step"), ("procedure", ("\udfff",))):
        wrong: dict[str, Any] = {**values, name: value}
        with pytest.raises(ReportError, match=name):
            SuccessReport(**wrong)
    assert SuccessReport(**values, procedure=(" ", "x ")).procedure == ("x",)


def test_an_error_never_quotes_a_text() -> None:
    secret = "the words of a report"
    with pytest.raises(ReportError) as caught:
        from_markdown(f"# Reflection: {secret}\n\n{secret}")
    assert secret not in str(caught.value)
