"""A card as a Markdown file: reports in the protocol's form, other cards as their text, the rest in front matter.

Pure functions of text. What a person wrote stays as it is wherever a change doesn't concern it.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from functools import cache
from typing import Any, NamedTuple, cast

from wisen.cards import CardEvidence, MemoryCard, MemoryKind, MemoryStatus
from wisen.errors import ReportError, StoreError
from wisen.report_text import Headings, listed, numbered, trimmed, unified
from wisen.reports import Report, card_to_report, from_markdown, report_to_card, to_markdown
from wisen.stores.markdown.card_counts import without_counts
from wisen.stores.markdown.file_names import day_of
from wisen.stores.markdown.front_matter import Entry, changed, divided, joined, value_of, written
from wisen.stores.markdown.seals import believed, by_hand, seal_of
from wisen.stores.serialization import card_from_values, card_to_values

_BOM = "\ufeff"
_TEXTS = ("pattern", "content", "strategy", "steps")
_KEYS: Mapping[str, tuple[str, ...]] = {
    "id": ("id",),
    "kind": ("kind",),
    "status": ("status",),
    "agent": ("provenance", "agent"),
    "created_at": ("provenance", "created_at"),
    "created_by": ("provenance", "created_by"),
    "source": ("provenance", "source"),
    "run": ("provenance", "run_id"),
    "attempt": ("provenance", "attempt"),
    "trace": ("provenance", "trace_id"),
    "model": ("provenance", "model"),
    "evaluator": ("provenance", "evaluator"),
    "verified": ("provenance", "verified"),
    "owner": ("provenance", "owner"),
    "tainted": ("provenance", "tainted"),
    "prompt": ("situation", "prompt"),
    "task_type": ("situation", "task_type"),
    "tools": ("situation", "tools"),
    "error": ("situation", "error"),
    "for_roles": ("scope", "agent_roles"),
    "for_tools": ("scope", "tool_names"),
    "for_task_types": ("scope", "task_types"),
    "version": ("version",),
    "repeats": ("duplicates",),
    "alike": ("alike",),
    "idea": ("idea",),
    "retold": ("retold",),
    "rivals": ("rivals",),
    "trials": ("trials",),
    "open_draws": ("open_draws",),
    "evidence": ("evidence",),
    "supersedes": ("supersedes",),
    "superseded_by": ("superseded_by",),
    "note": ("note",),
    "pinned": ("pinned",),
    "held": ("held",),
    "released": ("released",),
    "history": ("history",),
    "observed": ("observed",),
    "refused": ("refused",),
    **{name: (name,) for name in _TEXTS},
}
"""What front matter may hold, in order, and where a card has it. Counts are read, and no longer written."""
_OLD_COUNT = "duplicates"
"""What earlier versions called `repeats`; they counted by spelling, so all of them go to `alike`, too."""
_COUNTS = (_OLD_COUNT, "repeats", "alike", "retold", "trials", "open_draws", "evidence", "observed")
"""What earlier versions wrote into files, and the next change of the card takes out: see `card_counts`."""
_SEAL = "seal"
_ORDER = (*_KEYS, _SEAL)
_NAMES: Mapping[tuple[str, ...], str] = {path: key for key, path in _KEYS.items()}
_LISTS = ("tools", "for_roles", "for_tools", "for_task_types", "steps", "rivals", "held")
_NUMBERS = ("attempt", "version", "repeats", "alike", "retold")
_CARD_HEADINGS = Headings(("When it applies", "Strategy", "Steps"))
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
LARGEST = 4_000_000
"""Bytes of a card's file as it is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a file's path says of its card."""

    tenant: str
    reports: bool
    """Whether it is below `reflections`; else it is below `cards`."""
    folder: str
    """The agent's or the kind's folder."""
    stem: str
    """The file's name without its ending."""
    archived: bool = False

    @property
    def card_id(self) -> str:
        """The id of a card whose file names none; stays when the file is archived."""
        parts = ("file", self.tenant, str(self.reports), self.folder, self.stem)
        return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:20]

    def seen(self, card: MemoryCard) -> MemoryCard:
        """The card as it is at this place: in the archive it is archived, which is a change of its own."""
        if not self.archived or card.status is MemoryStatus.ARCHIVED:
            return card
        return card.with_status(MemoryStatus.ARCHIVED)


class FileReading(NamedTuple):
    """What a file holds."""

    card: MemoryCard
    """As far as the file is believed, wherever it is."""
    said: MemoryCard
    """As the file has it."""
    report: Report | None


def read(text: str, place: Place) -> FileReading:
    """Read a file; what it says of a run, checks and its status counts where its seal fits. Raises `ReportError`."""
    text = unified(text.removeprefix(_BOM))
    if len(_CONFLICT.findall(text)) > 1:
        raise ReportError("holds both sides of a merge conflict")
    entries, body = divided(text)
    said = {entry.key: value_of(entry) for entry in entries if entry.key in _KEYS}
    counted = next((value_of(entry) for entry in entries if entry.key == _OLD_COUNT), None)
    said = {"repeats": counted, "alike": counted} | said
    said = {key: value for key, value in said.items() if value not in (None, "", [])}
    said = {"id": place.card_id, **said}
    if place.reports and said.keys().isdisjoint(("kind", *_TEXTS)):
        report = from_markdown(text, agent=place.folder, on=day_of(place.stem))
        texts = card_to_values(report_to_card(report))
        said.pop("agent", None)
    else:
        report, texts = None, _card_texts(body, place, "kind" in said)
    card = card_from_values(_with(texts, said, place.tenant), _NAMES)
    if report is not None and card.provenance.created_at.date() != report.date:
        card = replace(card, provenance=report_to_card(report, provenance=card.provenance).provenance)
    seal = next((value_of(entry) for entry in entries if entry.key == _SEAL), None)
    return FileReading(believed(card, seal), card, report)


def render(card: MemoryCard, place: Place) -> str:
    """A new file for a card; `read` gives the same card back, without its counts."""
    card = without_counts(card)
    report = _report_of(card, place)
    entries = _sealed(_facts(card, place, report), card)
    body = _card_body(card) if report is None else to_markdown(report)
    return _checked(joined(entries, f"\n{body}" if body else ""), card, place)


def rewritten(text: str, card: MemoryCard, old_place: Place, place: Place) -> str:
    """The file with another version of its card in it, without counts; only the lines that have to change do."""
    card = without_counts(card)
    bare = unified(text.removeprefix(_BOM))
    old = read(bare, old_place)
    entries, body = divided(bare)
    there = {entry.key: value_of(entry) for entry in entries}
    if _needs_seal(card):  # then every line has to be true; else those that nobody believes may stay
        before = {key: value for key, value in _facts(old.said, old_place, old.report).items() if key in there}
    else:
        before = _facts(old.card, old_place, old.report)
    if _says(card) == _says(old.card):
        report = old.report
    else:
        report = _report_of(card, place)
        body = f"\n{_card_body(card) if report is None else to_markdown(report)}"
    after = _facts(card, place, report)
    new = {key: after.get(key) for key in _KEYS if before.get(key) != after.get(key)}
    new |= {key: None for key in _COUNTS if key in there}
    if _needs_seal(card) and there.get(_SEAL) != (seal := seal_of(card)):
        new[_SEAL] = seal
    lines = changed(entries, new, _ORDER)
    if not entries and not body.startswith("\n"):
        body = f"\n{body}"
    again = _checked(joined(lines, body), card, place)
    if "\r\n" in text:
        again = again.replace("\n", "\r\n")
    return f"{_BOM}{again}" if text.startswith(_BOM) else again


def _report_of(card: MemoryCard, place: Place) -> Report | None:
    """The report that can stand in the file; a file with a zero character is no text to git."""
    return card_to_report(card) if place.reports and "\0" not in card.text else None


def _says(card: MemoryCard) -> tuple[object, ...]:
    source = card.provenance
    return card.kind, source.agent, source.created_at.date(), *(getattr(card, name) for name in _TEXTS)


def _checked(text: str, card: MemoryCard, place: Place) -> str:
    """The text if it is read as the card; else one that holds all of the card's own texts as values.

    Raises `StoreError` where neither is possible.
    """
    if len(text.encode()) > LARGEST:
        raise StoreError(f"card {card.id!r} can't be kept: its file would have more than {LARGEST} bytes")
    try:
        if read(text, place).card == card:
            return text
    except ReportError:
        pass
    values = card_to_values(card)
    facts = _facts(card, place, None) | {name: values[name] for name in _TEXTS if values[name]}
    text = joined(_sealed(facts, card), "")
    if read(text, place).card != card:
        raise StoreError(f"card {card.id!r} can't be kept in a Markdown file")
    return text


def _needs_seal(card: MemoryCard) -> bool:
    return by_hand(card) != card


def _sealed(facts: Mapping[str, object], card: MemoryCard) -> list[Entry]:
    """The entries for what a file says of a card, with the seal last where one is needed to believe it."""
    entries = [written(key, value) for key, value in facts.items()]
    return [*entries, written(_SEAL, seal_of(card))] if _needs_seal(card) else entries


@cache
def _defaults() -> dict[str, Any]:
    return card_to_values(MemoryCard(kind=MemoryKind.LESSON, id="default"))


def _facts(card: MemoryCard, place: Place, report: Report | None) -> dict[str, object]:
    """What the front matter of a card's file says: all that neither its text nor its path does."""
    values = card_to_values(card)
    values["history"] = [
        one | {"evidence": one["evidence"] and _without_empty(one["evidence"])} for one in values["history"]
    ]
    facts: dict[str, object] = {}
    for key, path in _KEYS.items():
        value = _at(values, path)
        if key not in _COUNTS and (key in ("id", "status") or value != _at(_defaults(), path)):
            facts[key] = value
    if report is not None:
        for key in ("kind", "agent", *_TEXTS):
            facts.pop(key, None)
        if card.provenance.created_at == datetime.combine(report.date, time(), UTC):
            facts.pop("created_at", None)
        return facts
    for name in _TEXTS:
        if _plain(card, name):
            facts.pop(name, None)
    facts.pop("kind", None)
    if place.reports or place.folder != card.kind.value:
        facts["kind"] = card.kind.value
    return {key: facts[key] for key in _KEYS if key in facts}


@cache
def _no_evidence() -> Mapping[str, object]:
    card = MemoryCard(kind=MemoryKind.LESSON, evidence=(CardEvidence(),), id="empty")
    return card_to_values(card)["evidence"][0]


def _without_empty(said: Mapping[str, object]) -> dict[str, object]:
    """Evidence without what an empty one says, such as the counts of what never happened."""
    return {name: value for name, value in said.items() if value != _no_evidence()[name]}


def _at(values: Mapping[str, Any], path: tuple[str, ...]) -> object:
    return values[path[0]] if len(path) == 1 else values[path[0]][path[1]]


def _with(texts: Mapping[str, Any], said: Mapping[str, object], tenant: str) -> dict[str, Any]:
    values: dict[str, Any] = {"provenance": {}, "situation": {}, "scope": {}}
    values |= {name: texts[name] for name in ("kind", *_TEXTS)}
    source: Mapping[str, object] = texts.get("provenance", {})
    values["provenance"] = {name: source[name] for name in ("agent", "created_at") if name in source}
    for key, value in said.items():
        *above, name = _KEYS[key]
        (values[above[0]] if above else values)[name] = _tolerant(key, value)
    values["scope"]["tenant"] = tenant
    return values


def _tolerant(key: str, value: object) -> object:
    """The value as a person may have meant it: a list without quotes, a text that looks like a number."""
    if key in _LISTS and isinstance(value, str):
        return [part for part in map(str.strip, value.strip("[]").split(",")) if part]
    if isinstance(value, int | float) and not isinstance(value, bool) and key not in _NUMBERS:
        return str(value)
    return value


def _card_texts(body: str, place: Place, kind_is_said: bool) -> dict[str, Any]:
    if not kind_is_said and (place.reports or place.folder not in {*MemoryKind}):
        raise ReportError(f"{place.folder!r} is no kind of card; write one under `kind` in the front matter", line=1)
    sections = _CARD_HEADINGS.split(body.split("\n"))
    found: dict[str, str] = {}
    for section in sections:
        if section.heading in found:
            raise ReportError(f"the heading {section.heading!r} is there twice", line=section.line)
        found[section.heading] = section.text
    return {
        "kind": place.folder,
        "content": found[""],
        "pattern": found.get("When it applies", ""),
        "strategy": found.get("Strategy", ""),
        "steps": [*listed(found.get("Steps", ""))],
    }


def _card_body(card: MemoryCard) -> str:
    sections = [
        (heading, getattr(card, name))
        for name, heading in (("content", ""), ("pattern", "When it applies"), ("strategy", "Strategy"))
        if getattr(card, name) and _plain(card, name)
    ]
    if card.steps and _plain(card, "steps"):
        sections.append(("Steps", numbered(card.steps)))
    return f"{_CARD_HEADINGS.render(sections)}\n" if sections else ""


def _plain(card: MemoryCard, name: str) -> bool:
    """Whether a text can stand in the file as it is, and come back so."""
    value = cast("str | tuple[str, ...]", getattr(card, name))
    return all(
        bool(one) and one == trimmed(one) and not _CONTROL.search(one) and not _CONFLICT.search(one)
        for one in ((value,) if isinstance(value, str) else value)
    )


def day_of_card(card: MemoryCard) -> date:
    """The day that a card's file is named after."""
    return card.provenance.created_at.date()


def title_of(card: MemoryCard) -> str:
    """What a card's file is named after: the first of its texts that says something."""
    texts = (card.pattern, card.content, card.strategy, *card.steps, card.situation.prompt)
    return next((text for text in texts if text.strip()), "")
