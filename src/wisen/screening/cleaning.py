"""Redaction over several texts at once, in every form that a store or a model may read them."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from wisen.protocols import Finding
from wisen.screening.decoding import Reading, hidden, readings, visible
from wisen.screening.hidden import bare
from wisen.screening.lookalikes import folded
from wisen.screening.redaction import Detector, Replacement, found_in, redact, without_placeholders

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNEVEN = re.compile(r"[^\S ]|  ")
"""White space that isn't a single blank."""
_WORD = re.compile(r"\S+")
_LIGATURE = re.compile("([\u3300-\u3357\ufdfa\ufdfb]+)")
"""Letters that stand for whole words, and would make a text many times as long."""
_ROUNDS = 3


def cleaned(texts: Sequence[str], detectors: Sequence[Detector]) -> tuple[list[str], list[Finding]]:
    """The texts without what the detectors find, and the findings; positions are those in the texts joined by newlines.

    A secret is one however it is written: with hidden characters in it, in another Unicode form, over several lines, or
    encoded. Where only another form of a text shows one, that form is what is kept. Halves of characters (lone
    surrogates), which no file can hold, become the sign for what can't be read.
    """
    joined = "\n".join(texts)
    found = hidden(joined)
    left = [visible(text) for text in texts] if found else list(texts)
    if not joined.isascii():
        found += _halves(joined)
        left = [_SURROGATE.sub("\ufffd", text) for text in left]
    redacted = redact("\n".join(left), tuple(detectors))
    if redacted.findings:
        found += redacted.findings
        left = _apart(left, redacted.replacements)
    for form in (_compatible, _flat):
        formed = [form(text) for text in left]
        if formed == left:
            continue
        redacted = redact("\n".join(formed), tuple(detectors))
        if redacted.findings:
            found += redacted.findings
            left = _apart(formed, redacted.replacements)
    return _without_encoded(left, detectors, found)


def _halves(text: str) -> list[Finding]:
    return [
        Finding(rule="lone-surrogates", family="hidden", start=match.start(), end=match.end(), label="hidden text")
        for match in _SURROGATE.finditer(text)
    ]


def _compatible(text: str) -> str:
    """The text without what isn't seen, needed or not, and with each letter in its usual form."""
    if text.isascii():
        return text
    text = bare(text)
    if unicodedata.is_normalized("NFKC", text):
        return text
    parts = _LIGATURE.split(text)
    parts[::2] = [unicodedata.normalize("NFKC", part) for part in parts[::2]]
    return "".join(parts)


def _flat(text: str) -> str:
    text = _compatible(text)
    return " ".join(text.split()) if _UNEVEN.search(text) else text


def _without_encoded(
    texts: list[str], detectors: Sequence[Detector], found: list[Finding]
) -> tuple[list[str], list[Finding]]:
    """The texts without the parts that hide a finding in an encoding or in look-alike letters, and all findings.

    A part within another one counts; where there is nothing more to find without it, the other one had only said the
    same.
    """
    left = texts
    for _ in range(_ROUNDS):
        form = [_compatible(text) for text in left]
        encoded = _encoded("\n".join(form), detectors)
        if not encoded:
            return left, found
        found = [*found, *encoded]
        left = _apart(form, [_instead(one) for one in encoded])
    whole = Finding(rule="beyond-redaction", family="secret", start=0, end=len("\n".join(left)), label="secret")
    return _apart(left, [_instead(whole)]), [*found, whole]


def _instead(finding: Finding) -> Replacement:
    return Replacement(start=finding.start, end=finding.end, text="«the encoded secret»")


def _encoded(text: str, detectors: Sequence[Detector]) -> list[Finding]:
    """The smallest parts of a text that hide a finding, by place; placeholders hide none."""
    plain = without_placeholders(text)
    found: list[Finding] = []
    for reading in readings(plain):
        if reading.how == "visible":
            continue  # the text as it is, or in another Unicode form, in which it was looked at before
        within = found_in(reading.text, detectors)
        if not within:
            continue
        places = _unfolded(plain, within) if reading.how == "folded" else [(reading.start, reading.end)]
        found += [_hides(reading, start, end) for start, end in places]
    return _smallest(found)


def _hides(reading: Reading, start: int, end: int) -> Finding:
    return Finding(rule=f"encoded-{reading.how}", family="secret", start=start, end=end, label="encoded secret")


def _unfolded(text: str, found: Sequence[Finding]) -> list[tuple[int, int]]:
    """Where in a text lies what was found in it with its letters folded."""
    ends = list(accumulate(len(folded(letter)) for letter in text))
    return [(bisect_right(ends, one.start), min(bisect_right(ends, one.end - 1) + 1, len(text))) for one in found]


def _smallest(found: Sequence[Finding]) -> list[Finding]:
    """Those that hold no other, and don't overlap."""
    kept: list[tuple[int, int, Finding]] = []
    for one in sorted(found, key=lambda one: (one.end - one.start, one.start)):
        place = bisect_right(kept, one.start, key=lambda other: other[0])
        free = (not place or kept[place - 1][1] <= one.start) and (place == len(kept) or kept[place][0] >= one.end)
        if free and one.end > one.start:
            kept.insert(place, (one.start, one.end, one))
    return [one for *_, one in kept]


def _apart(texts: Sequence[str], replacements: Sequence[Replacement]) -> list[str]:
    """The texts with replacements made, whose places are those in the texts joined by newlines.

    A replacement that reaches over a border stands in the first of the texts, and its rest is cut from the next.
    """
    result: list[str] = []
    begin = 0
    for text in texts:
        end, at, kept = begin + len(text), begin, list[str]()
        for one in replacements:
            if one.end <= begin or one.start >= end:
                continue
            kept.append(text[at - begin : max(one.start, begin) - begin])
            if one.start >= begin:
                kept.append(one.text)
            at = min(one.end, end)
        result.append("".join((*kept, text[at - begin :])))
        begin = end + 1
    return result
