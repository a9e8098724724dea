"""The screens: each judges texts, a chain asks several, and `DefaultScreen` is the chain in front of every store.

The package's own read cards, situations and plain texts. A screen of others reads cards alone, so it is asked of one.

Screening is partial by nature: instructions worded as ordinary advice pass. It is the first of several guards;
provenance, quarantine, the quoted frame in the prompt and trials are the others.
"""

import hashlib
import inspect
import re
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TypeVar, cast

from wisen.cards import MemoryCard, MemoryKind, Situation
from wisen.deadlines import calling
from wisen.errors import ConfigError
from wisen.protocols import Finding, Screen, ScreenVerdict
from wisen.screening.attacks import find_attacks
from wisen.screening.cleaning import cleaned
from wisen.screening.redaction import DETECTORS, Detector
from wisen.screening.texts import (
    ANY_LESSON,
    LONGEST_UNSHOWN,
    Screened,
    TextPart,
    parts_of,
    parts_of_situation,
    parts_of_text,
    shortened,
    situation_with,
    text_with,
    unshortened,
    with_parts,
)

_Given = TypeVar("_Given")
_REMEMBERED = 4_096
_SAYS_NOTHING = re.compile(
    r"\W{0,9}(?:"
    r"(?:n/?a|none|null|nil|nothing|todo|tbd"
    r"|no (?:lesson|advice|reflection|comment|issue)s?"
    r"(?: (?:needed|learned|learnt|available|found|to (?:report|give)))?)"
    r"\W{0,9}\Z"
    r"|lorem ipsum"
    r"|i(?:'m| am) (?:very )?sorry,? (?:but )?(?:i |as an)"
    r"|as an? (?:ai|large) (?:language )?model,? i (?:can|do|am))",
    re.IGNORECASE,
)
"""Refusals, and what is written where something had to be."""


class ReadsTexts(ABC):
    """What is common to screens that judge texts, wherever these stand."""

    __slots__ = ()

    def check(self, card: MemoryCard) -> ScreenVerdict:
        """See `Screen.check`."""
        said = _said_of(card, self.judge(card.kind, parts_of(card)), with_parts)
        return ScreenVerdict(outcome=said.outcome, card=said.kept, findings=said.findings)

    def check_text(self, text: str, *, kind: MemoryKind = MemoryKind.LESSON) -> Screened[str]:
        """The verdict that `check` has on a card with this text alone, without building one."""
        return _said_of(text, self.judge(kind, parts_of_text(text)), text_with)

    def check_situation(self, situation: Situation) -> Screened[Situation]:
        """The verdict that `check` has on a lesson from this situation, whatever the lesson."""
        return _said_of(situation, self.judge(MemoryKind.LESSON, parts_of_situation(situation)), situation_with)

    @abstractmethod
    def judge(self, kind: MemoryKind, parts: Sequence[TextPart]) -> Screened[Sequence[TextPart]]:
        """What may be kept of texts that stand in a card of that kind; the parts themselves where they pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormScreen(ReadsTexts):
    """Rejects texts that can't be lessons by their form: too long, empty, without words, or a refusal to give one."""

    max_characters: int = 8_000
    """Most characters of a card that a prompt could show."""
    name: str = "form"

    def judge(self, kind: MemoryKind, parts: Sequence[TextPart]) -> Screened[Sequence[TextPart]]:
        """See `ReadsTexts.judge`."""
        length = sum(len(part.text) for part in parts if part.shown)
        if length > self.max_characters:
            return _rejected("too-long", length)
        names = sum(len(part.text) for part in parts if part.field.startswith("situation.t"))
        if names > LONGEST_UNSHOWN:  # of a task's type and tools
            return _rejected("too-long", names)
        own = "\n".join(part.text for part in parts if part.shown and not part.field.startswith("situation.")).strip()
        if not own:
            return _rejected("empty", 0)
        if kind is MemoryKind.SKILL_CARD:  # an answer may be anything
            return Screened(outcome="pass", kept=parts)
        if not any(map(str.isalpha, own)):
            return _rejected("no-words", length)
        return _rejected("says-nothing", length) if _SAYS_NOTHING.match(own) else Screened(outcome="pass", kept=parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImmuneScreen(ReadsTexts):
    """Rejects texts that give orders to the model that will read them, in the open, hidden or encoded."""

    name: str = "immune"

    def judge(self, kind: MemoryKind, parts: Sequence[TextPart]) -> Screened[Sequence[TextPart]]:  # noqa: ARG002 - it judges all kinds alike
        """See `ReadsTexts.judge`."""
        shown = [part for part in parts if part.shown]
        found = [one for one in find_attacks("\n".join(part.text for part in shown)) if one.family == "injection"]
        if not found:
            return Screened(outcome="pass", kept=parts)
        return Screened(outcome="rejected", kept=None, findings=placed(found, shown))


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionScreen(ReadsTexts):
    """Takes secrets, personal data, internal addresses and hidden characters out of a card.

    Of a text that no prompt shows (the task's prompt, its error, the note) and that has more than 20,000 characters,
    the beginning and the end are looked at and kept. The same long prompt is cut alike each time, so it is found again.
    """

    detectors: tuple[Detector, ...] = DETECTORS
    name: str = "redaction"

    def judge(self, kind: MemoryKind, parts: Sequence[TextPart]) -> Screened[Sequence[TextPart]]:  # noqa: ARG002 - it judges all kinds alike
        """See `ReadsTexts.judge`."""
        short = [shortened(part) for part in parts]
        cut = [_shortened(old) for old, new in zip(parts, short, strict=True) if new is not old]
        texts, found = cleaned([part.text for part in short], self.detectors)
        if not found and not cut:
            return Screened(outcome="pass", kept=parts)
        kept = [shortened(replace(part, text=text)) for part, text in zip(short, texts, strict=True)]
        told = placed(found, short)
        if cut:
            pairs = {new.field: (new, old) for old, new in zip(parts, short, strict=True)}
            told = tuple(
                replace(
                    one, start=unshortened(one.start, *pairs[one.field]), end=unshortened(one.end, *pairs[one.field])
                )
                for one in told
            )
        return Screened(outcome="redacted", kept=kept, findings=(*cut, *told))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenChain:
    """Asks several screens in turn; each sees what the one before has left, and the first rejection ends it."""

    screens: tuple[Screen, ...]
    name: str = "chain"

    def check(self, card: MemoryCard) -> ScreenVerdict:
        """See `Screen.check`."""
        said = self._through_all(card, _screened_card)
        return ScreenVerdict(outcome=said.outcome, card=said.kept, findings=said.findings)

    def check_text(self, text: str, *, kind: MemoryKind = MemoryKind.LESSON) -> Screened[str]:
        """The screens' verdict on a text alone."""
        return self._through_all(text, lambda screen, left: check_text(screen, left, kind=kind))

    def check_situation(self, situation: Situation) -> Screened[Situation]:
        """The screens' verdict on a lesson from this situation, whatever the lesson."""
        return self._through_all(situation, check_situation)

    def _through_all(self, given: _Given, ask: Callable[[Screen, _Given], Screened[_Given]]) -> Screened[_Given]:
        findings: list[Finding] = []
        left = given
        for screen in self.screens:
            said = ask(screen, left)
            if said.kept is None:
                return said
            findings += said.findings
            left = said.kept
        outcome = "pass" if left is given else "redacted"
        return Screened(outcome=outcome, kept=left, findings=tuple(findings))


class _Passed:
    """Hashes of the cards or texts that passed, the last few thousand. Safe to use from several threads."""

    def __init__(self) -> None:
        self._keys: OrderedDict[bytes, None] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, key: bytes) -> bool:
        return key in self._keys

    def __reduce__(self) -> tuple[type["_Passed"], tuple[()]]:
        """A copy starts empty: what passed here is checked again by the copy."""
        return _Passed, ()

    def add(self, key: bytes) -> None:
        with self._lock:
            self._keys[key] = None
            while len(self._keys) > _REMEMBERED:
                self._keys.popitem(last=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultScreen(ReadsTexts):
    """Form, immune scan and redaction in turn; remembers by their hashes which cards it saw last and let pass whole.

    Of a card with several faults the first screen that rejects it says why. The immune scan reads nothing but what a
    prompt could show, so what of that passed it once passes it in any card.
    """

    max_characters: int = 8_000
    """Cards that would show a prompt more than that are rejected: they aren't lessons."""
    detectors: tuple[Detector, ...] = DETECTORS
    name: str = "default"
    _passed: _Passed = field(default_factory=_Passed, init=False, repr=False, compare=False)
    _harmless: _Passed = field(default_factory=_Passed, init=False, repr=False, compare=False)

    def judge(self, kind: MemoryKind, parts: Sequence[TextPart]) -> Screened[Sequence[TextPart]]:
        """See `ReadsTexts.judge`."""
        key = _digest(kind, parts)
        if key in self._passed:
            return Screened(outcome="pass", kept=parts)
        form = FormScreen(max_characters=self.max_characters).judge(kind, parts)
        if form.kept is None:
            return form
        shown = _hashed("\n".join(part.text for part in parts if part.shown))
        if shown not in self._harmless:
            immune = ImmuneScreen().judge(kind, parts)
            if immune.kept is None:
                return immune
            self._harmless.add(shown)
        redaction = RedactionScreen(detectors=self.detectors).judge(kind, parts)
        if redaction.outcome == "pass":
            self._passed.add(key)
        return redaction


def verdict_of(screen: Screen, card: MemoryCard) -> ScreenVerdict:
    """The verdict of any screen, a user's too, on a card; a rejected card is never passed on.

    Raises `ConfigError` if it returns anything but a `ScreenVerdict`.
    """
    name = _name_of(screen)
    with calling(f"screen {name!r}"):
        verdict = cast("object", screen.check(card))
    if not isinstance(verdict, ScreenVerdict):
        if inspect.iscoroutine(verdict):
            verdict.close()
        given = "nothing" if verdict is None else f"a {type(verdict).__name__}"
        raise ConfigError(f"screen {name!r} gave {given}; its check(card) has to return a ScreenVerdict")
    return replace(verdict, card=None) if verdict.outcome == "rejected" and verdict.card else verdict


def check_text(screen: Screen, text: str, *, kind: MemoryKind = MemoryKind.LESSON) -> Screened[str]:
    """The verdict of any screen, a user's too, on a text alone.

    A screen that only has `check` is given a card with that text as its content. Raises what `verdict_of` does.
    """
    reader = _reader(screen)
    if reader is not None:
        with calling(f"screen {_name_of(screen)!r}"):
            return reader.check_text(text, kind=kind)
    said = _screened_card(screen, MemoryCard(kind=kind, content=text, id="text"))
    kept = None if said.kept is None else said.kept.content
    return Screened(outcome=said.outcome, kept=kept, findings=said.findings)


def check_situation(screen: Screen, situation: Situation) -> Screened[Situation]:
    """What a screen says of a situation, as it would stand in a lesson from it; otherwise as `check_text`."""
    reader = _reader(screen)
    if reader is not None:
        with calling(f"screen {_name_of(screen)!r}"):
            return reader.check_situation(situation)
    said = _screened_card(screen, MemoryCard(kind=MemoryKind.LESSON, content=ANY_LESSON, situation=situation))
    kept = None if said.kept is None else said.kept.situation
    return Screened(outcome=said.outcome, kept=kept, findings=said.findings)


def admitted(screen: Screen, text: str, *, kind: MemoryKind = MemoryKind.LESSON) -> str:
    """What of a text may be shown to a model: the text itself, redacted, or its lines that pass; "" for nothing."""
    if not text.strip():
        return ""
    said = check_text(screen, text, kind=kind)
    if said.kept is not None:
        return said.kept
    lines = text.splitlines()
    if len(lines) == 1:
        return ""
    kept = "\n".join(filter(None, (admitted(screen, line, kind=kind) for line in lines)))
    again = check_text(screen, kept, kind=kind)
    # What no single line says, several can say together; being long is all that a sum of good lines may be.
    long = all(one.rule == "too-long" for one in again.findings)
    return again.kept if again.kept is not None else kept if long else ""


def placed(findings: Sequence[Finding], parts: Sequence[TextPart]) -> tuple[Finding, ...]:
    """Findings in texts joined by newlines, each with the field that it begins in and its place there."""
    result: list[Finding] = []
    begin, number = 0, 0
    for one in sorted(findings, key=lambda finding: (finding.start, finding.end)):
        while number < len(parts) - 1 and one.start > begin + len(parts[number].text):
            begin += len(parts[number].text) + 1
            number += 1
        end = min(one.end - begin, len(parts[number].text))
        result.append(replace(one, start=one.start - begin, end=max(end, one.start - begin), field=parts[number].field))
    return tuple(result)


def _name_of(screen: Screen) -> str:
    return getattr(screen, "name", type(screen).__name__)


def _reader(screen: Screen) -> ReadsTexts | ScreenChain | None:
    """The screen, where it reads texts itself; `None` for one of others, and where a subclass has its own `check`.

    The nearest class that has one of the two methods has to have both, else a text would pass by what `check` asks for.
    """
    if not isinstance(screen, ReadsTexts | ScreenChain):
        return None
    both = {"check", "check_text"}
    nearest = next(one for one in type(screen).__mro__ if both & vars(one).keys())
    return screen if both <= vars(nearest).keys() else None


def _said_of(
    given: _Given, judged: Screened[Sequence[TextPart]], with_texts: Callable[[_Given, Sequence[TextPart]], _Given]
) -> Screened[_Given]:
    """What was judged of its texts, said of the thing that has them; what passes is that thing itself."""
    if judged.kept is None:
        return Screened(outcome=judged.outcome, kept=None, findings=judged.findings)
    kept = given if judged.outcome == "pass" else with_texts(given, judged.kept)
    return Screened(outcome=judged.outcome, kept=kept, findings=judged.findings)


def _screened_card(screen: Screen, card: MemoryCard) -> Screened[MemoryCard]:
    verdict = verdict_of(screen, card)
    return Screened(outcome=verdict.outcome, kept=verdict.card, findings=verdict.findings)


def _rejected(rule: str, length: int) -> Screened[Sequence[TextPart]]:
    finding = Finding(rule=rule, family="form", start=0, end=length)
    return Screened(outcome="rejected", kept=None, findings=(finding,))


def _shortened(part: TextPart) -> Finding:
    return Finding(rule="shortened", family="form", start=0, end=len(part.text), field=part.field)


def _digest(kind: MemoryKind, parts: Sequence[TextPart]) -> bytes:
    """A hash of a card's kind and texts, with their lengths, so that no text can pass for two."""
    head = ",".join((kind.value, *(f"{part.field}:{len(part.text)}" for part in parts)))
    return _hashed("".join((head, "\n", *(part.text for part in parts))))


def _hashed(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
