"""Finds texts built to take over their reader: hidden, posing as the chat, overriding its orders, harmful commands.

This reads structure and nothing else. Bad advice in plain words passes: how far a lesson is trusted depends on where it
was learned.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wisen.protocols import Finding
from wisen.screening.decoding import Reading, hidden, readings
from wisen.screening.rules.marks import Marked
from wisen.screening.rules.structure import FORMS, Form

RULES: dict[str, str] = {
    "overrides-instructions": "Tells the model to drop its instructions, or announces others in their place.",
    "poses-as-a-role": "Uses the marks of a chat's template, or begins as the system or another role would.",
    "runs-payload": "Holds a command that runs what it downloads or decodes.",
    "opens-shell": "Holds a command that opens a shell over the network, or lets somebody in.",
    "destroys": "Holds a command that deletes or overwrites everything.",
    "hidden-text": "Holds text written in characters that nobody sees.",
    "reordered-text": "Overrides the direction of writing, so that it reads differently from how it is stored.",
    "encoded-too-deep": "Is encoded in more layers than are read.",
    "hidden-characters": "Holds characters that nobody sees; they are taken out.",
    "control-characters": "Holds control characters; they are taken out.",
    "html-comment": "Holds an HTML comment, which nobody sees when the text is rendered; it is taken out.",
}
"""What each rule finds, in a sentence."""

_FORMS = Marked((form, form.marks) for form in FORMS)
_UNSEEN = {"tags": "hidden-text", "reordered": "reordered-text"}
"""Ways of hiding a text that are an attack whatever it says."""
_OPEN = ("visible", "folded")
_STRAIGHT = str.maketrans("\u2019\u2018\u201c\u201d\u201e\xab\xbb*_~", "''" + 5 * '"' + "   ")
"""Quotation marks as typed, and emphasis as blanks."""
_LINE_ENDS = re.compile("[\r\u2028\u2029]")
"""Ends of lines that no control character is; those are taken out before."""
_REACH = 120
"""Characters before a form that are looked at for who says it."""
_FORBIDDEN = re.compile(
    r"(?:\b(?:never|not|cannot|avoid\w*|refus\w*|reject\w*|block\w*|forbid\w*|forbidden|prevent\w*|without|instead of"
    r"|rather than|attack\w*|inject\w*|malicious)|n't)\b(?! (?:forget|hesitate|fail|wait))[^.!?;,\n]{0,100}\Z"
)
_REPORTED = re.compile(
    r"\b(?:says?|saying|asks|asking|tells|telling|tries|trying|wants|claims|claiming|contains|containing|instructs"
    r"|instructing|such as|like)\b[^.!?;,\n]{0,100}\Z"
)
_CONDEMNED = re.compile(
    r"[^.!?;,\n]{0,100}\b(?:attack|inject\w+|jailbreak|malicious|untrusted|suspicious|dangerous|refused|rejected|blocked)\b"
)
_QUOTES = "\"'`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One form, seen in one reading of a text."""

    rule: str
    form: str
    how: str
    """How the reading was made: "visible", "base64"."""
    start: int
    end: int


def find_attacks(text: str) -> list[Finding]:
    """What in a text is an attack (family "injection": reject it) or hidden (family "hidden": taken out).

    Reads the text as it is seen and every layer that is encoded in it. What a text forbids, quotes or reports in the
    open isn't held against it.
    """
    found = {(hit.rule, hit.start, hit.end): hit for hit in hits_in(text)}
    injections = [Finding(rule=rule, family="injection", start=start, end=end) for rule, start, end in found]
    return sorted([*injections, *hidden(text)], key=lambda one: (one.start, one.end, one.rule))


def hits_in(text: str) -> Iterator[Hit]:
    """Every form that is seen in a reading of the text, once for each reading."""
    for reading in readings(text):
        if reading.how == "unread":
            yield Hit(rule="encoded-too-deep", form="too deep", how="unread", start=0, end=len(text))
        elif reading.how in _UNSEEN and any(map(str.isalpha, reading.text)):
            yield Hit(rule=_UNSEEN[reading.how], form="unseen", how=reading.how, start=reading.start, end=reading.end)
        for form, match in _seen(reading):
            in_place = reading.how == "visible" and len(reading.text) == len(text)
            start, end = match.span() if in_place else (reading.start, reading.end)
            yield Hit(rule=form.rule, form=form.name, how=reading.how, start=start, end=end)


def _seen(reading: Reading) -> Iterator[tuple[Form, re.Match[str]]]:
    lower = reading.text.lower()
    if len(lower) != len(reading.text):  # a few letters have longer small forms
        lower = "".join(one.lower() if len(one.lower()) == 1 else one for one in reading.text)
    lower = _LINE_ENDS.sub("\n", lower)
    is_open = reading.how in _OPEN
    for form in _FORMS.concerned(lower):
        said = lower.translate(_STRAIGHT) if form.kind == "words" else lower
        for match in form.regex.finditer(said):
            if not (is_open and _is_talked_about(form, said, match)):
                yield form, match
                break


def _is_talked_about(form: Form, text: str, match: re.Match[str]) -> bool:
    """Whether the text forbids or condemns what it names; of words, also whether it quotes or reports them."""
    before = text[max(0, match.start() - _REACH) : match.start()]
    if _FORBIDDEN.search(before) or _CONDEMNED.match(text, match.end()):
        return True
    if form.kind == "command":
        return False
    opening = before[-1:]
    quoted = opening != "" and opening in _QUOTES and opening in text[match.end() :]
    return quoted or _REPORTED.search(before) is not None
