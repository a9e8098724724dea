"""How `wisen ci` prints: a ledger of cards with the evidence they were decided on."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from wisen.cards import MemoryCard, MemoryStatus
from wisen.cli.output import Column, glance, print_table
from wisen.explain.wording import line

if TYPE_CHECKING:
    from wisen.replay.card_tests import CardOutcome, ReplayReport
    from wisen.replay.log import Release

RESULTS: Mapping[MemoryStatus, str] = {
    MemoryStatus.PROMOTED: "promoted",
    MemoryStatus.ARCHIVED: "archived",
    MemoryStatus.REJECTED: "rejected",
    MemoryStatus.QUARANTINED: "undecided",
    MemoryStatus.CANDIDATE: "undecided",
}


def print_ledger(report: "ReplayReport", cards: Mapping[str, MemoryCard], labels: Mapping[str, str]) -> None:
    """One line for each card tested; `labels` say what a card is, where somebody knows."""
    columns = (
        Column(heading="card", id=True),
        Column(heading="result"),
        *((Column(heading="planted as"),) if labels else ()),
        Column(heading="tasks", number=True, spare=4),
        Column(heading="clusters", number=True, spare=3),
        Column(heading="gained", number=True),
        Column(heading="lost", number=True),
        Column(heading="ties", number=True, spare=2),
        Column(heading="e helps", number=True),
        Column(heading="e hurts", number=True, spare=1),
        Column(heading="own task", spare=5),
        Column(heading="text", wide=True, cut=True),
    )
    order = {MemoryStatus.PROMOTED: 0, MemoryStatus.ARCHIVED: 1}
    ranked = sorted(report.cards, key=lambda one: (order.get(one.status, 2), -one.helps, one.hurts))
    print_table(columns, [_row(one, cards[one.card_id], labels) for one in ranked])


def _row(one: "CardOutcome", card: MemoryCard, labels: Mapping[str, str]) -> tuple[str, ...]:
    return (
        one.card_id,
        RESULTS[one.status],
        *((labels.get(one.card_id, ""),) if labels else ()),
        str(one.tasks),
        str(one.clusters),
        str(one.counts.gained),
        str(one.counts.lost),
        str(one.counts.ties),
        f"{one.helps:.3g}",
        f"{one.hurts:.3g}",
        one.own,
        card.text,
    )


def print_summary(report: "ReplayReport") -> None:
    """Sums, releases, and what went wrong."""
    counted = {name: sum(RESULTS[one.status] == name for one in report.cards) for name in ("promoted", "archived")}
    undecided = len(report.cards) - sum(counted.values())
    typer.echo(
        f"cards tested: {len(report.cards)}; {counted['promoted']} promoted, {counted['archived']} archived, "
        f"{undecided} undecided; {report.attempts} attempts, {report.tokens} tokens, {report.seconds:.0f} s"
    )
    for release in report.releases:
        typer.echo(release_line(release))
    few = Counter(one.too_few for one in report.cards if one.too_few and one.status is MemoryStatus.QUARANTINED)
    for said, count in sorted(few.items()):
        typer.echo(f"too few for a verdict: {said} (cards: {count})")
    for problem, count in sorted(report.problems.items()):
        typer.echo(f"attempts without a score: {glance(problem)} (count: {count})")
    if report.exhausted:
        typer.echo(f"stopped early: {line(report.exhausted, 300)}; nothing is lost, run it again to go on")


def release_line(release: "Release") -> str:
    """A release in a line."""
    number = len(release.cards)
    said = f"release {release.number}: {f'{number} cards together' if number != 1 else '1 card'}"
    if release.verdict != "untested":
        said += f": {release.gained} gained, {release.lost} lost, {release.ties} ties, {release.verdict}"
    if release.withdrawn:
        said += f"; withdrawn after {release.searches} tests: {', '.join(one[:12] for one in release.withdrawn)}"
    return said


def report_json(report: "ReplayReport") -> dict[str, object]:
    """The report as JSON values."""
    return {
        "cards": [{**asdict(one), "result": RESULTS[one.status]} for one in report.cards],
        "releases": [asdict(one) for one in report.releases],
        "attempts": report.attempts,
        "tokens": report.tokens,
        "seconds": round(report.seconds, 3),
        "exhausted": report.exhausted or None,
        "problems": report.problems,
    }
