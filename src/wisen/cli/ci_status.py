"""`wisen ci status`: where ideas stand, and how far the trial of each is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import typer

from wisen.cards import CardEvidence, MemoryCard, MemoryStatus
from wisen.cli.output import Column, print_json, print_table
from wisen.cli.shared_options import OutputOptions, StoreOptions, TenantOptions
from wisen.cli.store_choice import StoreChoice, drive, reading
from wisen.explain.card_facts import trial_word, trials_told, waits_for
from wisen.explain.idea_evidence import e_values_of, pooled, replays_of
from wisen.memory_ci.sequence_numbers import promoted_by_trials
from wisen.recall import CardFilter
from wisen.stores.paging import every_card
from wisen.trial_records import Cohort, Trial

_COLUMNS = (
    Column(heading="card", id=True),
    Column(heading="status"),
    Column(heading="trial", wide=True, spare=1),
    Column(heading="wordings", number=True, spare=7),
    Column(heading="model", spare=8),
    Column(heading="replays", spare=2),
    Column(heading="e helps", number=True, spare=3),
    Column(heading="e hurts", number=True, spare=4),
    Column(heading="shown", number=True, spare=5),
    Column(heading="held out", number=True, spare=6),
    Column(heading="text", wide=True, cut=True),
)
_EARLIER = "counted by an earlier version"


def status(*, whose: TenantOptions, store: StoreOptions, output: OutputOptions) -> None:
    """Show each idea's status, how far its trial is, and its evidence, per model."""
    cards, promoted = drive(_found(store.choose(), whose.tenant))
    there = {card.id for card in cards}
    heads = [card for card in cards if card.idea not in there]
    wordings: dict[str, list[str]] = {}
    for card in cards:
        wordings.setdefault(card.idea, []).append(card.id)
    counts = Counter(card.status for card in heads)
    if output.as_json:
        ideas = [_as_json(head, wordings.get(head.id, []), promoted) for head in heads]
        print_json({"counts": {one.value: counts[one] for one in MemoryStatus}, "cards": ideas})
        return
    order = list(MemoryStatus)
    rows = [
        row
        for head in sorted(heads, key=lambda head: order.index(head.status))
        if head.status is not MemoryStatus.REJECTED
        for row in _rows(head, 1 + len(wordings.get(head.id, [])), promoted)
    ]
    print_table(_COLUMNS, rows)
    if any(head.evidence or head.trials for head in heads):
        typer.echo(
            "replays: gained/lost/ties, of clusters of like tasks; shown, held out: good/all (without a score); "
            "e: 20 is convincing",
            err=True,
        )
    if few := _few_said(heads):
        typer.echo(few, err=True)
    typer.echo(
        ", ".join(f"{counts[one]} {one.value}" for one in MemoryStatus if counts[one]) or "no lessons yet", err=True
    )


async def _found(choice: StoreChoice, tenant: str | None) -> tuple[list[MemoryCard], dict[Cohort, int]]:
    async with reading(choice) as store:
        cards = [card async for card in every_card(store, CardFilter(tenant=tenant))]
        return cards, await promoted_by_trials(store)


def _rows(head: MemoryCard, wordings: int, promoted: Mapping[Cohort, int]) -> list[tuple[str, ...]]:
    """One row for each trial, with the replays for its model and layout, and one for each other evidence."""
    begin = head.id, head.status.value + (", pinned" if head.pinned else "")
    many = str(wordings) if wordings > 1 else ""

    def row(said: str, seen: CardEvidence, e_values: tuple[float, float] | None) -> tuple[str, ...]:
        replayed = seen.gained + seen.lost + seen.ties
        return (
            *begin,
            said,
            many,
            seen.model,
            f"{seen.gained}/{seen.lost}/{seen.ties}" if replayed else "",
            *(("", "") if e_values is None else (f"{value:.3g}" for value in e_values)),
            _good_of(seen.shown, seen.shown_successes, seen.shown_unknown),
            _good_of(seen.held_out, seen.held_out_successes, seen.held_out_unknown),
            head.text,
        )

    trials = trials_told(head)
    replays = [replays_of(head, trial) for trial in trials]
    rows = [
        row(trial_word(trial, promoted, one), pooled(trial, one), e_values_of(trial, one))
        for trial, one in zip(trials, replays, strict=True)
    ]
    waits = waits_for(head)
    for one in head.evidence:
        if not any(one is other for other in replays):
            said = _EARLIER if one.shown + one.held_out else waits
            rows.append(row(said, one, _of_replays(one) or _of_trial(one)))
    return rows or [row(waits, CardEvidence(), None)]


def _as_json(head: MemoryCard, wordings: Sequence[str], promoted: Mapping[Cohort, int]) -> dict[str, object]:
    """An idea as JSON values."""
    return {
        "id": head.id,
        "status": head.status,
        "pinned": head.pinned,
        "text": head.text,
        "wordings": [head.id, *wordings],
        "rivals": head.rivals,
        "trials": [_trial_json(head, one, promoted) for one in head.trials],
        "evidence": [_evidence_json(one) for one in head.evidence],
    }


def _trial_json(head: MemoryCard, trial: Trial, promoted: Mapping[Cohort, int]) -> dict[str, object]:
    """A trial with how far it is, its e-values, and how many of its draws wait for an outcome."""
    e_values = e_values_of(trial, replays_of(head, trial))
    mine = [one for one in head.open_draws if (one.model, one.layout) == (trial.model, trial.layout)]
    return {
        **asdict(trial),
        "said": trial_word(trial, promoted, replays_of(head, trial)),
        "e": None if e_values is None else {"helps": e_values[0], "hurts": e_values[1]},
        "open_draws": len(mine),
    }


def _evidence_json(one: CardEvidence) -> dict[str, object]:
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


def _few_said(cards: Sequence[MemoryCard]) -> str:
    """How many cards in quarantine have been replayed on too few clusters for any verdict; "" where none has."""
    from wisen.replay.clusters import fewest_clusters  # noqa: PLC0415 - keeps `wisen --help` quick

    replayed = [
        max(one.gained + one.lost + one.ties for one in card.evidence)
        for card in cards
        if card.status is MemoryStatus.QUARANTINED and card.evidence
    ]
    needed = fewest_clusters()
    few = sum(0 < clusters < needed for clusters in replayed)
    said = f"replayed on fewer than {needed} clusters of like tasks, too few for a verdict: "
    return f"{said}{few} card{'' if few == 1 else 's'}" if few else ""


def _good_of(runs: int, good: int, unknown: int) -> str:
    return (f"{good}/{runs}" if runs else "") + (f" ({unknown})" if unknown else "")
