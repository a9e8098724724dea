"""Takes out of a text what detectors find, and leaves placeholders that keep it readable."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from wisen.protocols import Finding, FindingFamily
from wisen.screening.infrastructure import find_infrastructure
from wisen.screening.personal import find_personal
from wisen.screening.rules.secret_shapes import is_mixed
from wisen.screening.rules.tables import table_of
from wisen.screening.secrets import find_secrets

Detector = Callable[[str], list[Finding]]
DETECTORS: tuple[Detector, ...] = (find_secrets, find_personal, find_infrastructure)

SECRETS = frozenset[str](table_of("labels.toml")["secrets"])
"""What rules call the secrets that they find."""
OTHERS = frozenset[str](table_of("labels.toml")["others"])
"""What rules call personal data and infrastructure."""

_ROUNDS = 5
_PLACEHOLDER = re.compile(
    r"«the ([A-Za-z0-9][A-Za-z0-9 -]{0,38}?)(?: (\d{1,4}))?»|<([a-z][a-z0-9]{0,15}(?:-[a-z0-9]{1,15}){0,4}?)-(\d{1,4})>"
)
"""The form of placeholders; numbers are short, so that they can't hold one of their own."""
_UNNAMED = re.compile(r"[^A-Za-z0-9]+")
_GENERIC = frozenset(("named-secret", "secret-by-name", "secret-by-service", "random-value"))
_REPEATED = re.compile(r"[^\s\"'`<>,;:()\[\]{}=]{6,}+")
_SHORTEST_REPEATED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """What stands where in place of what was found; places are those in the original text, in characters."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text without what was found in it."""

    text: str
    findings: tuple[Finding, ...] = ()
    """One for each replacement, by place in the original text; of overlapping ones, the one that says most."""
    replacements: tuple[Replacement, ...] = ()
    """By place, not overlapping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """A part of the original to be replaced, with the finding that names it."""

    start: int
    end: int
    best: Finding


def redact(text: str, detectors: Sequence[Detector] = DETECTORS) -> Redacted:
    """The text with a placeholder for all that the detectors find.

    Secrets become `«the API key»`, personal data and infrastructure `<host-1>`. The same value has the same placeholder
    throughout; numbers go on after those of placeholders that are in the text already. Detectors see the result again
    until they find nothing more in it, so redacting twice changes nothing; a text that can't be brought there in a few
    rounds is taken out as a whole.
    """
    found = found_in(text, detectors)
    if not found:
        return Redacted(text=text)
    found += _repeated(text, found)
    for _ in range(_ROUNDS):
        cuts = _merged(found)
        replacements = _replacements(text, cuts)
        result = _applied(text, replacements)
        more = found_in(result, detectors)
        if not more:
            named = tuple(replace(cut.best, start=cut.start, end=cut.end) for cut in cuts)
            return Redacted(text=result, findings=named, replacements=replacements)
        found += map(_Places(replacements).original, more)
    whole = Finding(rule="beyond-redaction", family="secret", start=0, end=len(text), label="secret")
    rest = Replacement(start=0, end=len(text), text="«the secret»")
    return Redacted(text=rest.text, findings=(whole,), replacements=(rest,))


def redacted_together(texts: Sequence[str]) -> list[str]:
    """The texts as `redact` gives them where they stand below each other: as many as before, with like placeholders."""
    text = "\n".join(texts)
    replacements, result, start = redact(text).replacements, list[str](), 0
    for one in texts:
        end, place, parts = start + len(one), start, list[str]()
        for cut in replacements:
            if cut.start < end and cut.end > place:
                parts += [text[place : max(cut.start, place)], cut.text if cut.start >= start else ""]
                place = min(cut.end, end)
        result.append("".join((*parts, text[place:end])))
        start = end + 1
    return result


def found_in(text: str, detectors: Sequence[Detector]) -> list[Finding]:
    """What the detectors find outside of placeholders.

    A placeholder is what this package writes; anything else of that form may hold what it names, and is looked at.
    """
    found = [one for detector in detectors for one in detector(text) if one.end > one.start]
    if not found or ("«" not in text and "<" not in text):
        return found
    places = [(*match.span(), _kind_of(match)) for match in _PLACEHOLDER.finditer(text)]
    starts = [start for start, _, _ in places]

    def within(one: Finding) -> bool:
        number = bisect_right(starts, one.start) - 1
        if number < 0 or one.end > places[number][1]:
            return False
        kind = places[number][2]
        return kind in _KINDS or kind == _kind(one)

    return [one for one in found if not within(one)]


def without_placeholders(text: str) -> str:
    """The text, as long as it was, with a row of the same sign for each placeholder: it says nothing to a detector."""
    if "«" not in text and "<" not in text:
        return text
    return _PLACEHOLDER.sub(lambda match: "\ue000" * len(match[0]) if _kind_of(match) in _KINDS else match[0], text)


def _kind_of(match: re.Match[str]) -> str:
    return f"<{match[3]}" if match[3] else match[1]


def _repeated(text: str, found: Iterable[Finding]) -> list[Finding]:
    """Further places of the secrets found: a value that one place gives away is secret in all of them."""
    known = {
        value: one
        for one in found
        if one.family == "secret" and len(value := text[one.start : one.end]) >= _SHORTEST_REPEATED and is_mixed(value)
    }
    if not known:
        return []
    return [
        replace(one, start=match.start(), end=match.start() + len(value))
        for match in _REPEATED.finditer(text)
        if (one := known.get(value := match[0])) or (one := known.get(value := match[0].rstrip(".!?")))
    ]


def _sorted(found: Iterable[Finding]) -> list[Finding]:
    return sorted(set(found), key=lambda one: (one.start, one.end, one.rule))


def _merged(found: Iterable[Finding]) -> list[_Cut]:
    """Overlapping findings as one cut, named by the longest of them, and of equally long ones by the most specific."""
    cuts: list[_Cut] = []
    for one in _sorted(found):
        last = cuts[-1] if cuts else None
        if last is None or one.start >= last.end:
            cuts.append(_Cut(start=one.start, end=one.end, best=one))
        else:
            best = max(last.best, one, key=_weight)
            cuts[-1] = _Cut(start=last.start, end=max(last.end, one.end), best=best)
    return cuts


def _weight(one: Finding) -> tuple[int, bool, bool]:
    return one.end - one.start, one.family == "secret", one.rule not in _GENERIC


def _replacements(text: str, cuts: Sequence[_Cut]) -> tuple[Replacement, ...]:
    numbers: dict[str, int] = {}
    for match in _PLACEHOLDER.finditer(text):
        kind = _kind_of(match)
        numbers[kind] = max(numbers.get(kind, 0), int(match[4] or match[2] or 1))
    known: dict[tuple[str, str], str] = {}
    result: list[Replacement] = []
    for cut in cuts:
        value, kind = text[cut.start : cut.end], _kind(cut.best)
        placeholder = known.get((kind, value))
        if placeholder is None:
            numbers[kind] = number = numbers.get(kind, 0) + 1
            placeholder = known[kind, value] = _placeholder(kind, number)
        result.append(Replacement(start=cut.start, end=cut.end, text=placeholder))
    return tuple(result)


def _kind(finding: Finding) -> str:
    return _named(finding.label, finding.family)


def _named(label: str, family: FindingFamily) -> str:
    words = [word for word in _UNNAMED.split(label) if word]
    if family == "secret":
        name = " ".join(words)[:30].strip() or "secret"
        return f"{name} value" if name.rpartition(" ")[2].isdigit() else name
    return "<" + ("-".join(word[:12] for word in words[:3]).lower().lstrip("0123456789-") or family)


_KINDS = frozenset(
    (*(_named(label, "secret") for label in SECRETS), *(_named(label, "infrastructure") for label in OTHERS))
)
"""Placeholders with these names are exempt."""


def _placeholder(kind: str, number: int) -> str:
    if kind.startswith("<"):
        return f"{kind}-{number}>"
    return f"«the {kind}»" if number == 1 else f"«the {kind} {number}»"


def _applied(text: str, replacements: Iterable[Replacement]) -> str:
    def pieces() -> Iterator[str]:
        at = 0
        for one in replacements:
            yield text[at : one.start]
            yield one.text
            at = one.end
        yield text[at:]

    return "".join(pieces())


class _Places:
    """Where positions in a text with replacements lie in its original."""

    def __init__(self, replacements: Sequence[Replacement]) -> None:
        self._replacements = replacements
        self._starts: list[int] = []
        self._ends: list[int] = []
        shift = 0
        for one in replacements:
            self._starts.append(one.start + shift)
            shift += len(one.text) - (one.end - one.start)
            self._ends.append(one.end + shift)

    def original(self, finding: Finding) -> Finding:
        """The finding at its place in the original; one that touches a placeholder takes it in."""
        first = bisect_right(self._starts, finding.start) - 1
        last = bisect_left(self._starts, finding.end) - 1
        start = (
            self._replacements[first].start
            if self._within(first, finding.start + 1)
            else self._back(first, finding.start)
        )
        end = self._replacements[last].end if self._within(last, finding.end) else self._back(last, finding.end)
        return replace(finding, start=start, end=end)

    def _within(self, number: int, place: int) -> bool:
        return number >= 0 and place <= self._ends[number]

    def _back(self, number: int, place: int) -> int:
        return place if number < 0 else place - self._ends[number] + self._replacements[number].end
