"""Redaction over several texts at once, in every form that a store or a model may read them."""

import unicodedata
from collections.abc import Sequence

from wisen.protocols import Finding
from wisen.screening.decoding import hidden, readings, visible
from wisen.screening.redaction import Detector, Replacement, redact


def cleaned(texts: Sequence[str], detectors: Sequence[Detector]) -> tuple[list[str], list[Finding]]:
    """The texts without what the detectors find, and the findings; positions are those in the texts joined by newlines.

    A secret is one however it is written: with hidden characters in it, in another Unicode form, over several lines, or
    encoded. Where only another form of a text shows one, that form is what is kept.
    """
    found = hidden("\n".join(texts))
    left = [visible(text) for text in texts]
    for form in (_as_it_is, _compatible, _flat):
        formed = [form(text) for text in left]
        if form is not _as_it_is and formed == left:
            continue
        redacted = redact("\n".join(formed), tuple(detectors))
        if redacted.findings:
            found += redacted.findings
            left = _apart(formed, redacted.replacements)
    encoded = _encoded("\n".join(left), detectors)
    if encoded:
        found += encoded
        left = _apart(left, [Replacement(start=one.start, end=one.end, text="«the encoded secret»") for one in encoded])
    return left, found


def _as_it_is(text: str) -> str:
    return text


def _compatible(text: str) -> str:
    return text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)


def _flat(text: str) -> str:
    return " ".join(_compatible(text).split())


def _encoded(text: str, detectors: Sequence[Detector]) -> list[Finding]:
    """Parts of the text that hide a finding in an encoding, each as a whole."""
    return [
        Finding(rule=f"encoded-{reading.how}", family="secret", start=reading.start, end=reading.end)
        for reading in readings(text)
        if reading.text != text and any(detector(reading.text) for detector in detectors)
    ]


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
