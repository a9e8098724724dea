"""Finds texts that give orders to the model that will read them, in the open, hidden or encoded."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator

from wisen.protocols import Finding
from wisen.screening.decoding import Reading, hidden, readings
from wisen.screening.rules.attack_code import COMMANDS, PLACES, TEMPLATES, plants_code
from wisen.screening.rules.attack_combinations import EXCUSES, combined
from wisen.screening.rules.attack_elsewhere import sentences_against
from wisen.screening.rules.attack_forms import FORMS as FORMED
from wisen.screening.rules.attack_languages import DENIED, ENDED, ENDING_PROHIBITION, FOREIGN, FORMS, UNSAID
from wisen.screening.rules.attack_lexicon import CUED
from wisen.screening.rules.attack_personas import CAPS, ENOUGH, KINDS
from wisen.screening.rules.attack_sentences import Hit, Sentences, hits, is_limited, is_told, read

REJECT = 3
"""Weight of evidence that rejects a text."""

RULES: dict[str, str] = {
    "overrides-instructions": "Tells the model to drop its instructions, or says that they no longer hold.",
    "poses-as-a-role": "Poses as the system, the operator or another role of the chat, or uses its template's marks.",
    "poses-as-authority": "Claims the order or consent of somebody who may not be doubted.",
    "steers-the-score": "Tells how to pass without doing the task: false results, altered tests, a swayed judge.",
    "discloses-secrets": "Tells to give secrets, personal data or the model's instructions to others.",
    "sends-out": "Holds a command or code that sends data out or lets somebody in.",
    "runs-payload": "Holds a command that runs what it downloads or decodes, or that opens a shell.",
    "destroys": "Holds a command that destroys data or opens all files.",
    "misuses-tools": "Tells to use tools against the user: payments, deletions, back doors, sabotage.",
    "conceals": "Tells to hide something from the user, the reviewers or the logs.",
    "covers-traces": "Holds a command that removes the traces of what was done.",
    "disables-safety": "Tells to switch off or to skip checks, verification or protection.",
    "skips-approval": "Tells to act without the consent or the review that is needed.",
    "widens-scope": "Tells to take more rights or more data than the task needs, or to give them to others.",
    "obeys-foreign-text": "Tells to obey whatever stands in a page, a message or a tool's output, or whoever asks.",
    "persists": "Tells to keep or to spread itself in memories.",
    "promotes": "Tells to advertise, to place links or to promote a fraud.",
    "plants-code": "Asks to carry harmful code into answers.",
    "jailbreak": "Sets up a persona that knows no rules.",
    "harmful": "Asks how to harm people, break into things or make weapons, drugs or malware.",
    "hidden-order": "Addresses an order to models in a comment or in markup that isn't shown.",
    "hidden-text": "Holds text written in characters that nobody sees.",
    "reordered-text": "Overrides the direction of writing, so that it reads differently from how it is stored.",
    "encoded-too-deep": "Is encoded in more layers than are read.",
    "hidden-characters": "Holds characters that nobody sees; they are taken out.",
    "control-characters": "Holds control characters; they are taken out.",
    "html-comment": "Holds an HTML comment, which nobody sees when the text is rendered; it is taken out.",
}
"""What each rule finds, in a sentence."""

_ENCODED = frozenset({"base64", "base32", "hex", "bits", "codes", "tags", "reversed", "rot13", "several", "reordered"})
_STRAIGHT = str.maketrans("\u2019\u2018\u201c\u201d\u201e\xab\xbb", "''" + 5 * '"')
_DASHED = re.compile(r"(?<=[a-z])(?:[@$])(?=[a-z0-9])")
_RUN_TOGETHER = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)(?:all|any|the|your|every|of|my|previous|prior|above|earlier|system|safety|security|given|initial){1,6}"
    r"(?:instruction|rule|prompt|guideline|polic|direct|restriction)"
    r"|(?:reveal|print|show|leak|send|dump|output)(?:me|the|your|all|us|every|admin|user){0,4}(?:systemprompt|password|apikey|secret|credential|privatekey)"
    r"|(?:donot|dont|never)(?:tell|inform|mentionthisto|alert|notify|warn)(?:the|any)?(?:user|customer|human|reviewer|one)"
    r"|(?:disable|bypass|skip|turnoff)(?:the|all|any|every)?(?:safety|security|certificate|verification|humanreview|approval)"
    r"|markevery(?:test|task)|mark(?:all)?(?:the)?tests?aspassed"
)
_ADDRESS = re.compile(r"\b[a-z][a-z\d+.-]{1,20}://[^\s<>\"'`)\]?{$]{1,2000}")
_LINK = 120
"""Characters before an address that are looked at for what links to it."""
_LINKED = re.compile(r"(?<!!)(?:\[(?!here\b|this\b)[^\[\]\n]{1,80}\]\(|`(?!here\b|this\b)[^`<>]{1,80}<)$")
_LEADS_TO = re.compile(r"\b(?:to|at|via|from|into|with|through|on|in|using)\s{1,3}(?:\w{1,8}\s{1,3})?[*_]{0,2}$")
_LONG = 20
_ENDING = 14
"""Characters after a form in which a language may still deny it."""
_LONG_WORD = re.compile(r"[^\W_]{20,400}")


_PATTERNS = (*COMMANDS, *FORMED, *TEMPLATES)
_MARK_WORDS: defaultdict[str, list[int]] = defaultdict(list)
_MARK_SIGNS: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
"""By a sign that is in them, marks that aren't words."""
for _number, _pattern in enumerate(_PATTERNS):
    for _mark in _pattern.marks:
        _sign = next((one for one in _mark if not one.isalnum() and one != "_"), "")
        if _sign:
            _MARK_SIGNS[_sign].append((_mark, _number))
        else:
            _MARK_WORDS[_mark.strip("_")].append(_number)


def find_attacks(text: str) -> list[Finding]:
    """What in a text is an attack (family "injection": reject it) or hidden (family "hidden": taken out).

    Reads the text as it is seen and every layer that is encoded in it. Evidence is weighed: a weak sign alone finds
    nothing, and what a text forbids, reports or condemns isn't held against it.
    """
    found: dict[tuple[str, int, int], Finding] = {}
    for reading in readings(text):
        if reading.how == "unread":
            found["", 0, 0] = Finding(rule="encoded-too-deep", family="injection", start=0, end=len(text))
        for hit in _evidence(reading):
            start, end = _place(reading, hit, text)
            found.setdefault((hit.rule, start, end), Finding(rule=hit.rule, family="injection", start=start, end=end))
    return sorted([*found.values(), *hidden(text)], key=lambda one: (one.start, one.end, one.rule))


def _place(reading: Reading, hit: Hit, text: str) -> tuple[int, int]:
    if reading.how == "visible" and len(reading.text) == len(text):
        return hit.start, hit.end
    if reading.how == "comment" or reading.start > 0 or reading.end < len(text):
        return reading.start, reading.end
    return 0, len(text)


def _evidence(reading: Reading) -> list[Hit]:
    """The evidence against a reading where it is enough, nothing otherwise."""
    found = list(_signs(reading))
    best: dict[object, Hit] = {}
    for hit in found:
        best.setdefault(hit.key, hit)
    return list(best.values()) if sum(hit.weight for hit in best.values()) >= REJECT else []


def _signs(reading: Reading) -> Iterator[Hit]:
    text = reading.text
    lower = text.lower()
    if len(lower) != len(text):  # a few letters have longer small forms
        lower = "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
    if not lower.isascii():
        lower = lower.translate(_STRAIGHT)
    if "@" in lower or "$" in lower:
        lower = _DASHED.sub(lambda match: "a" if match.group() == "@" else "s", lower) if _leet(lower) else lower
    made = read(lower)
    if reading.how in ("tags", "reordered") and any(map(str.isalpha, text)):
        yield Hit("hidden-text" if reading.how == "tags" else "reordered-text", REJECT, 0, len(text), reading.how)
    if not made.words:
        return
    _clear_addresses(made, lower)
    for name, marks, form in PLACES:
        if any(map(lower.__contains__, marks)):
            _place_class(made, name, form.finditer(lower))
    yield from hits(made)
    yield from combined(made)
    yield from _patterns(lower, made)
    yield from _personas(made)
    yield from _languages(lower, made.words)
    if max(map(len, made.words)) >= _LONG:
        yield from _together(lower)
    planted = plants_code(text)
    if planted:
        yield Hit("plants-code", REJECT, *planted, "plants-code")


def _leet(lower: str) -> bool:
    return "://" not in lower and re.search(r"@[\w-]{1,63}\.[a-z]{2,10}\b", lower) is None


def _clear_addresses(made: Sentences, lower: str) -> None:
    """Take the words of addresses, up to their query, out of the classes: they name a place and say nothing."""
    if "://" not in lower:
        return
    spans = [(made.at(one.start()), bisect_left(made.starts, one.end())) for one in _ADDRESS.finditer(lower)]
    inside = {word for start, end in spans for word in range(start, end)}
    for name in made.classes.keys() - EXCUSES:
        places = made.classes[name]
        if any(start in inside for start, _ in places):
            made.classes[name] = [place for place in places if place[0] not in inside]


def _place_class(made: Sentences, name: str, matches: Iterable[re.Match[str]]) -> None:
    places: list[tuple[int, int]] = []
    named: list[tuple[int, int]] = []
    for match in matches:
        start = made.at(match.start())
        places.append((start, max(start + 1, made.at(match.end()))))
        if name == "URL" and not _is_reference(made.text, match):
            named.append(places[-1])
    if places:
        made.add(name, places)
    if named:
        made.add("URLTO", named)
    if named or (places and name == "EMAIL"):
        made.add("OUTSIDE", named or places)


def _is_reference(text: str, match: re.Match[str]) -> bool:
    """Whether an address is only what a word links to; after "to", "from" and the like it is a place."""
    if "?" in match.group():
        return False
    before = text[max(0, match.start() - _LINK) : match.start()]
    linked = _LINKED.search(before)
    return linked is not None and _LEADS_TO.search(before, 0, linked.start()) is None


def _patterns(lower: str, made: Sentences) -> Iterator[Hit]:
    for number in sorted(_candidates(lower, made)):
        pattern = _PATTERNS[number]
        for match in pattern.regex.finditer(lower):
            start, last = made.at(match.start()), made.at(match.end())
            discussed = pattern in TEMPLATES and next(made.within("CHATTALK", *made.sentence_of(start)), None)
            last = max(last, start + 1)
            if not discussed and not is_limited(made, pattern.rule, last) and not is_told(made, start, last):
                yield Hit(pattern.rule, pattern.weight, *match.span(), ("pattern", number))
                break


def _candidates(lower: str, made: Sentences) -> set[int]:
    """The patterns whose marks a text has; most marks are words."""
    words = _MARK_WORDS.keys() & set(made.words)
    numbers = {number for word in words for number in _MARK_WORDS[word]}
    for sign, marks in _MARK_SIGNS.items():
        if sign in lower:
            numbers.update(number for mark, number in marks if mark in lower)
    return numbers


def _languages(lower: str, words: list[str]) -> Iterator[Hit]:
    if lower.isascii() and not FOREIGN.intersection(words):
        return
    for rule, start, end in sentences_against(lower):
        yield Hit(rule, REJECT, start, end, ("elsewhere", rule))
    for rule, form in FORMS:
        for match in form.finditer(lower):
            if not _unsaid(lower, match, rule):
                yield Hit(rule, REJECT, *match.span(), ("language", rule))
                break


def _unsaid(lower: str, match: re.Match[str], rule: str) -> bool:
    """Whether a condition, a prohibition or a report stands before a form in its sentence."""
    if rule == "discloses-secrets" and DENIED.search(match.group()):
        return True
    before = lower[max(0, match.start() - 80) : match.start()]
    ends = [one.end() for one in ENDED.finditer(before)]
    before = before[ends[-1] :] if ends else before
    ended = ENDED.search(lower, match.end(), match.end() + _ENDING)
    end = ended.start() if ended else match.end() + _ENDING
    if rule != "conceals" and ENDING_PROHIBITION.search(lower[match.start() : end]):
        return True
    return UNSAID.search(before) is not None


def _together(lower: str) -> Iterator[Hit]:
    """Words that were run together, as spaced letters are when they are joined."""
    for match in _LONG_WORD.finditer(lower):
        found = _RUN_TOGETHER.search(match.group())
        if found:
            yield Hit("overrides-instructions", REJECT, *match.span(), "together")
            return


def _personas(made: Sentences) -> Iterator[Hit]:
    """A persona without rules: cues of several kinds, enough of them together."""
    sums: defaultdict[str, int] = defaultdict(int)
    first, last = len(made.words), 0
    for name in made.classes.keys() & CUED.keys():
        kind, weight = CUED[name]
        if sums[kind] < CAPS[kind]:
            for start, end in made.classes[name][:9]:
                if not is_told(made, start, end, even_if_forbidden=True):
                    sums[kind] = min(CAPS[kind], sums[kind] + weight)
                    first, last = min(first, start), max(last, end)
                    break
    if sum(map(bool, sums.values())) >= KINDS and sum(sums.values()) >= ENOUGH:
        yield Hit("jailbreak", REJECT, made.starts[first], made.end(last - 1), "jailbreak")
