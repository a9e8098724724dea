"""How `wisen ci` prints: a ledger of cards with the evidence they were decided on."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from wisen.cards import CardEvidence, MemoryCard, MemoryStatus
from wisen.cli.output import Column, line, print_table

if TYPE_CHECKING:
    from wisen.audit.replay import CardOutcome, ReplayReport
    from wisen.audit.replay_log import Release

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
        typer.echo(said_of(release))
    few = Counter(one.too_few for one in report.cards if one.too_few and one.status is MemoryStatus.QUARANTINED)
    for said, count in sorted(few.items()):
        typer.echo(f"too few for a verdict: {said} (cards: {count})")
    for problem, count in sorted(report.problems.items()):
        typer.echo(f"attempts without a score: {line(problem)} (count: {count})")
    if report.exhausted:
        typer.echo(f"stopped early: {line(report.exhausted, 300)}; nothing is lost, run it again to go on")


def said_of(release: "Release") -> str:
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


def few_said(cards: Sequence[MemoryCard]) -> str:
    """How many cards in quarantine have been replayed on too few clusters for any verdict; "" where none has."""
    from wisen.audit.clusters import fewest_clusters  # noqa: PLC0415 - keeps `wisen --help` quick

    replayed = [
        max(one.gained + one.lost + one.ties for one in card.evidence)
        for card in cards
        if card.status is MemoryStatus.QUARANTINED and card.evidence
    ]
    needed = fewest_clusters()
    few = sum(0 < clusters < needed for clusters in replayed)
    said = f"replayed on fewer than {needed} clusters of like tasks, too few for a verdict: "
    return f"{said}{few} card{'' if few == 1 else 's'}" if few else ""


def evidence_rows(cards: Sequence[MemoryCard]) -> list[tuple[str, ...]]:
    """One row for each card and condition that its evidence comes from; one for a card without any."""
    return [_evidence_row(card, one) for card in cards for one in (card.evidence or (CardEvidence(),))]


def evidence_json(one: CardEvidence) -> dict[str, object]:
    """Counts of one condition with the e-values of each kind of evidence; `None` for a kind that there is none of."""
    said = {
        name: None if found is None else {"helps": found[0], "hurts": found[1]}
        for name, found in (("e_replays", _of_replays(one)), ("e_trial", _of_trial(one)))
    }
    return {**asdict(one), **said}


def _of_replays(one: CardEvidence) -> tuple[float, float] | None:
    from wisen.memory_ci.statistics import sign_e_value  # noqa: PLC0415 - keeps `wisen --help` quick

    if not one.gained + one.lost + one.ties:
        return None
    return sign_e_value(one.gained, one.lost), sign_e_value(one.lost, one.gained)


def _of_trial(one: CardEvidence) -> tuple[float, float] | None:
    from wisen.memory_ci.verdicts import trial_e_value_of  # noqa: PLC0415 - keeps `wisen --help` quick

    if not one.shown + one.held_out:
        return None
    return trial_e_value_of(one), trial_e_value_of(one, hurts=True)


def _evidence_row(card: MemoryCard, one: CardEvidence) -> tuple[str, ...]:
    replayed = one.gained + one.lost + one.ties
    e_values = _of_replays(one) or _of_trial(one)
    return (
        card.id,
        card.status.value + (", pinned" if card.pinned else ""),
        one.model,
        f"{one.gained}/{one.lost}/{one.ties}" if replayed else "",
        *(("", "") if e_values is None else (f"{value:.3g}" for value in e_values)),
        _good_of(one.shown, one.shown_successes, one.shown_unknown),
        _good_of(one.held_out, one.held_out_successes, one.held_out_unknown),
        card.text,
    )


def _good_of(runs: int, good: int, unknown: int) -> str:
    return (f"{good}/{runs}" if runs else "") + (f" ({unknown})" if unknown else "")
