"""What `wisen demo` prints of one customer's messages: which ideas earned trust, and when."""

from typing import TYPE_CHECKING, Final

import typer

from wisen.cli.output import Column, print_table
from wisen.explain.card_facts import trial_word

if TYPE_CHECKING:
    from wisen.experiments.one_customer import TrialReport

TRIAL: Final = "trial"
_COLUMNS = (
    Column(heading="idea"),
    Column(heading="now"),
    Column(heading="good, shown", number=True),
    Column(heading="good, held out", number=True),
)


def print_trial(report: "TrialReport") -> None:
    """The learning curve, the verdicts, and how far each idea came."""
    from wisen.experiments.curve import curve_lines  # noqa: PLC0415 - keeps `wisen --help` quick

    typer.echo(f"\n{TRIAL}: {report.customer}, {len(report.stream_with.first_try)} messages, with harm planted")
    for line in curve_lines(report.curves):
        typer.echo(line)
    for verdict in report.verdicts or ["no verdict fell"]:
        typer.echo(f"Verdict: {verdict}")
    rows = [
        (
            one.what,
            trial_word(one.trial, report.promoted),
            f"{one.shown_good} of {one.shown}",
            f"{one.held_out_good} of {one.held_out}",
        )
        for one in report.ideas
    ]
    print_table(_COLUMNS, rows)
