"""`wisen screen`: says what the screen would take out of texts or reject, with an exit code for hooks."""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, cast

import typer

from wisen.cli.output import print_json
from wisen.cli.shared_options import OutputOptions
from wisen.errors import ConfigError
from wisen.explain.wording import clean, line
from wisen.protocols import Finding

_FOUND = 1
_UNREADABLE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenedText:
    """One text and what the screen says of it."""

    name: str
    """The file, and for texts in lines, the line."""
    outcome: str
    text: str
    kept: str | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A file, or a line of one, that holds no text to look at."""

    name: str
    problem: str


def screen(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Texts to look at, or - for standard input.", show_default=False),
    ],
    *,
    jsonl: Annotated[
        str, typer.Option("--jsonl", metavar="FIELD", help="Each line is a JSON object; look at this field of it.")
    ] = "",
    show: Annotated[
        bool, typer.Option("--print", help="Print the texts as they would be kept; findings go to standard error.")
    ] = False,
    lesson: Annotated[
        bool, typer.Option("--lesson", help="Judge each text as a lesson: its length and form, too.")
    ] = False,
    output: OutputOptions,
) -> None:
    """Say what the screen would redact or reject. Exit code: 0 nothing, 1 something found, 2 unreadable."""
    said = [
        one if isinstance(one, Unreadable) else _look(*one, lesson=lesson)
        for file in files
        for one in _texts(file, jsonl)
    ]
    looked = [one for one in said if isinstance(one, ScreenedText)]
    unreadable = [one for one in said if isinstance(one, Unreadable)]
    if output.as_json:
        print_json([_json(one) for one in said])
    else:
        for one in looked:
            _report(one, aside=show)
    if show and not output.as_json:
        for one in looked:
            if one.kept is not None:
                kept = clean(one.kept) if sys.stdout.isatty() else one.kept
                typer.echo(kept, nl=not kept.endswith("\n"))
    bad = sum(one.outcome != "pass" for one in looked)
    if not output.as_json and looked:
        typer.echo(_summary(looked, bad), err=True)
    for one in unreadable:
        typer.echo(line(f"wisen: {one.problem}", 500), err=True)
    if unreadable:
        raise typer.Exit(_UNREADABLE)
    if bad:
        raise typer.Exit(_FOUND)


def _texts(file: str, field: str) -> Iterator[tuple[str, str] | Unreadable]:
    """Names with texts; what can't be read stands among them, so that it hides nothing of the others."""
    name = "standard input" if file == "-" else file
    try:
        text = sys.stdin.buffer.read().decode() if file == "-" else Path(file).read_bytes().decode()
    except UnicodeDecodeError as error:
        problem = f"{name}: isn't UTF-8 text (byte {error.start}); `wisen screen` reads texts"
        yield Unreadable(name=name, problem=problem)
        return
    except OSError as error:
        yield Unreadable(name=name, problem=f"{name}: {error.strerror or error}")
        return
    if not field:
        yield name, text
        return
    for number, row in enumerate(text.splitlines(), 1):
        if row.strip():
            place = f"{name}:{number}"
            try:
                yield place, _field(place, row, field)
            except ConfigError as error:
                yield Unreadable(name=place, problem=str(error))


def _field(name: str, row: str, field: str) -> str:
    try:
        value: object = json.loads(row)
    except ValueError:
        raise ConfigError(f"{name}: isn't JSON; --jsonl reads one object a line") from None
    found: object = cast("dict[str, object]", value).get(field) if isinstance(value, dict) else None
    if not isinstance(found, str):
        raise ConfigError(f"{name}: has no text {field!r}; name another field with --jsonl")
    return found


def _look(name: str, text: str, *, lesson: bool) -> ScreenedText:
    from wisen.screening.screens import (  # noqa: PLC0415 - keeps `wisen --help` quick
        FormScreen,
        ImmuneScreen,
        RedactionScreen,
    )

    # Each screen looks at the whole text, so that an order in it doesn't hide the secrets beside it.
    screens = (*([FormScreen()] if lesson else []), ImmuneScreen(), RedactionScreen())
    verdicts = [one.check_text(text) for one in screens]
    findings = tuple(finding for verdict in verdicts for finding in verdict.findings)
    if any(verdict.kept is None for verdict in verdicts):
        return ScreenedText(name=name, outcome="rejected", text=text, kept=None, findings=findings)
    last = verdicts[-1]
    return ScreenedText(name=name, outcome=last.outcome, text=text, kept=last.kept, findings=findings)


def _place(text: str, start: int) -> tuple[int, int]:
    """Line and column, from 1."""
    before = text[:start]
    return before.count("\n") + 1, start - (before.rfind("\n") + 1) + 1


def _report(one: ScreenedText, *, aside: bool) -> None:
    for finding in _distinct(one.findings):
        done = "rejected" if finding.family in ("injection", "form") else "would be taken out"
        row, column = _place(one.text, finding.start)
        what = f"{finding.family}/{finding.rule}"
        typer.echo(line(f"{one.name}:{row}:{column}: {what}: {done}", 500), err=aside)


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each rule and place: two readings of a text can find the same there."""
    return list({(one.start, one.family, one.rule): one for one in findings}.values())


def _summary(looked: list[ScreenedText], bad: int) -> str:
    if not bad:
        return f"nothing found in {len(looked)} text{'s' if len(looked) != 1 else ''}"
    counts = {name: sum(one.outcome == name for one in looked) for name in ("redacted", "rejected")}
    said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"of {len(looked)} text{'s' if len(looked) != 1 else ''}: {said}"


def _json(one: ScreenedText | Unreadable) -> dict[str, object]:
    if isinstance(one, Unreadable):
        return {"name": one.name, "outcome": "unreadable", "problem": one.problem}
    return {
        "name": one.name,
        "outcome": one.outcome,
        "findings": [
            {name: value for name, value in asdict(finding).items() if name != "field"}
            | dict(zip(("line", "column"), _place(one.text, finding.start), strict=True))
            for finding in _distinct(one.findings)
        ],
        "kept": one.kept,
    }
