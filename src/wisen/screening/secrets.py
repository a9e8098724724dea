"""Which parts of a text are secrets: keys, tokens, passwords and the like.

There are three passes. One reads long runs of characters: known prefixes, then how random a run looks and what precedes
it. The others read names with a value, and forms such as key files and addresses with passwords. Each asks its rules
only if a cheap first look has found something to ask about.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence

from wisen.protocols import Finding
from wisen.screening.rules.secret_assignments import find_assignments
from wisen.screening.rules.secret_forms import find_forms
from wisen.screening.rules.secret_names import (
    CONTEXT,
    OTHER_PURPOSE,
    SERVICE,
    SERVICES,
    label_for,
    names_no_secret,
    names_secret,
)
from wisen.screening.rules.secret_prefixes import Kind, prefix_table
from wisen.screening.rules.secret_shapes import (
    has_digit,
    has_short_humps,
    is_digest,
    is_mixed,
    is_series,
    is_stand_in,
    is_uuid,
    randomness,
)
from wisen.screening.rules.secret_uses import find_uses

_RUN = re.compile(r"[A-Za-z0-9_+/~.%-]{12,4000}+={0,2}")
_JOINED = re.compile(r"[A-Za-z0-9+/]")
_WINDOW = 64
_NAMED = re.compile(
    r"[a-z0-9_.-]{0,60}?(?:key|token|secret|private|access|password|passwd|pass)(?:[-_.]?(?:key|token|secret|tok))?"
    r"[-_.:]{0,1}(?=[a-z0-9])",
)
_SERVED = re.compile(r"([a-z][a-z0-9]{2,24})[-_.:]")
_FILE = re.compile(r"\.[a-z]{1,5}\Z")
_LEAST_DIGEST = 32
_IDENTIFIER = re.compile(
    r"(?:[^a-z_.-]|call_|message_)id[\"'`]{0,2}\s{0,2}[:=][\s\"'`]{0,3} |"
    r" (?:call|toolu|srvtoolu|chatcmpl|cmpl|msg|resp|run|req|asst|thread|item|evt|wrkspc|rlg|file|batch|step|gen)[_-]"
)
"""What identifiers of calls, messages and the like have before or at their beginning."""
_ALPHABET = re.compile(r"(?:abcdefghijklmnopqrstuvwxyz|0?123456789|1234567890|234567|[+/_-])++", re.IGNORECASE)
_ASSIGNED = re.compile(
    r"(?<![a-z])(?!id|_id|[a-z_]{0,20}_ids?[^a-z])[a-z_]{1,30}[\"']?\s{0,2}(?::=|=>|[:=])\s{0,2}[\"']\Z"
)
"""A quoted value with a name: even one written as digests are is a key, unless the name says what else it is."""
_VALUED = re.compile(r"([A-Za-z][\w. -]{0,40}?)[\"'`\])]{0,3}\s{0,2}(?::=|=>|[:=]|\b(?:is|was)\b)[\s\"'`]{0,3}\Z")
"""What says right before a value what it is called."""
_OPENING = re.compile(r"[\s\"'`<>(\[{=:|@-]{0,40}(?:value|default|content|data|string|literal|text)?[\s\"'`<>=:@]{0,8}")
"""What may stand before a value on its own line, so that the line above it names it."""
_AFTER = re.compile(
    r"[\"'`);,\]\s]{0,6}(?:#|//|--|/\*|<!--|===?|!==?)[^\n]{0,30}?"
    r"(?:passw|pwd|secret|token|api[-_ ]?key|credential|private[-_ ]?key|access[-_ ]?key)"
)
_ADDRESS = re.compile(r"(?:https?:|www\.|\]\(|href=)[^\s]{0,200}\Z")
_DATA = re.compile(
    r"(?:base64,|sha\d{1,3}[-:_.]|data:[\w/+.-]{1,40}|(?:ssh-|ecdsa-|sk-)[\w@.-]{2,40}[ ]|"
    r"public[-_ ]?key[\"'`]{0,2}\s{0,2}(?:is|[:=])?[\s\"'`]{0,3})\Z"
)
"""What stands before data that is public: pictures, digests, public keys."""
_PUBLIC = ("xn--", "sha256-", "sha384-", "sha512-", "sha1-", "AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh")
_PIECE = re.compile(r"[^/.]{12,}+")
_ALONE, _LEAST_ALONE = 5.0, 20
_TOGETHER, _LEAST_TOGETHER = -0.5, 12
_WORDY, _LETTERS, _SERVED_LEAST, _MANY, _MOST = -4.0, 1.0, 3.0, 12.0, 20.0
_OVERLAP = 12
"""Most characters that the end of one prefix shares with the beginning of another."""
_WORDS_BETWEEN, _MARKS_BETWEEN = 4, 4


def find_secrets(text: str) -> list[Finding]:
    """All secrets in a text, by place; they may overlap. Each span is the value itself, not the name before it."""
    folded = _folded(text)
    found = [*_runs(text, folded), *find_assignments(text, folded), *find_forms(text, folded), *find_uses(text, folded)]
    return sorted(found, key=lambda one: (one.start, one.end))


def _folded(text: str) -> str:
    """The text in lower case, each character in its old place."""
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def _runs(text: str, folded: str) -> Iterator[Finding]:
    done, data = 0, -1
    prefixes = sorted((start, -end) for _, start, end in prefix_table().prefixes.found(text))  # the longest first
    for match in _RUN.finditer(text):
        start, end = match.span()
        if start < done:
            data = end if start == data else data
            continue
        within = prefixes[bisect_left(prefixes, (start,)) : bisect_left(prefixes, (end,))]
        found = list(_prefixed(text, within, end))
        if not found and _is_word(match[0]):
            continue
        if start == data or _DATA.search(folded, max(0, start - _WINDOW), start):
            data = end  # pictures and digests, however many runs long
        else:
            found += _random(text, folded, start, end)
        for one in found:
            done = max(done, one.end)
            yield one


def _is_word(run: str) -> bool:
    """Whether a run looks like a word of a language, which needs no further look."""
    if not run.isalpha() or not (run.islower() or run.istitle()):
        return False
    return randomness(run) < 0 and not (is_series(run) or is_digest(run))


def _prefixed(text: str, prefixes: Sequence[tuple[int, int]], end: int) -> Iterator[Finding]:
    table, place = prefix_table(), 0
    for first, last in ((start, -negative) for start, negative in prefixes):
        if first < place or last > end:
            continue
        place = max(first + 1, last - _OVERLAP)
        joined = _JOINED.match(text, max(0, first - 1), first) is not None
        for rule in table.rules[text[first:last]]:
            begun = rule.begun(text, first) if rule.kind == "telling" or not joined else None
            if begun and _looks_issued(rule.prefix, *begun):
                place = rule.end(text, first)
                yield Finding(rule=rule.name, family="secret", start=first, end=place, label=rule.label)
                break


def _looks_issued(prefix: str, body: str, kind: Kind) -> bool:
    """Whether what follows a prefix can be a secret, given how much it has to show."""
    chance, series = randomness(body), is_series(body)
    if (chance < _ALONE and is_stand_in(body)) or is_digest(prefix + body):
        return False
    if kind == "telling" or series:
        return True
    if kind == "plain":
        return chance >= _WORDY or has_short_humps(body)
    return chance > (1 if has_digit(body) else _LETTERS)


def _stands_in(value: str) -> bool:
    return is_stand_in(value) and randomness(value) < _ALONE


def _random(text: str, folded: str, start: int, end: int) -> Iterator[Finding]:
    before = folded[max(0, start - _WINDOW) : start]
    line = before.rfind("\n")
    if line >= 0 and not _OPENING.fullmatch(before, line):
        before = before[line + 1 :]
    name = _name_within(folded, start, end)
    before, start = before + folded[start:name], name
    run = text[start:end]
    for first, last in _pieces(run):
        value = run[first:last]
        ahead = (
            before + folded[start : start + first]
            if first < _WINDOW
            else folded[start + first - _WINDOW : start + first]
        )
        why = _why(value, ahead, folded[start + last : start + last + _WINDOW])
        if why and not _is_data(text, start):
            rule, label = why
            yield Finding(rule=rule, family="secret", start=start + first, end=start + last, label=label)


def _is_data(text: str, start: int) -> bool:
    """Whether what stands before a place names the value there as one that is no secret."""
    named = _VALUED.search(text, max(0, start - _WINDOW), start)
    return named is not None and names_no_secret(named[1])


def _name_within(folded: str, start: int, end: int) -> int:
    """Where a name that is joined to its value by a dash or nothing ends; the start where there is none."""
    named = _NAMED.match(folded, start, end) or _SERVED.match(folded, start, end)
    if named is None or end - named.end() < _LEAST_TOGETHER or (named.re is _SERVED and named[1] not in SERVICES):
        return start
    return named.end()


def _pieces(run: str) -> list[tuple[int, int]]:
    """The run as a whole where it looks random as a whole; else its parts between slashes and dots."""
    body = run.rstrip(".-")
    extension = _FILE.search(body)
    if extension:
        body = body[: extension.start()]
    pieces = [piece.span() for piece in _PIECE.finditer(body)]
    whole = "/" not in body and "." not in body
    if not whole and randomness(body) > _ALONE and not body.startswith("/"):
        whole = not any(is_digest(body[first:last]) for first, last in pieces)
    return [(0, len(body))] if whole else pieces


def _why(value: str, before: str, after: str) -> tuple[str, str] | None:
    """The rule and the label for a value that is a secret, given what stands before it in lower case."""
    if len(value) < _LEAST_TOGETHER or _stands_in(value) or not value.strip("0-") or value.startswith(_PUBLIC):
        return None
    digest = is_digest(value)
    if digest and OTHER_PURPOSE.search(before[-40:]):
        return None
    chance = randomness(value)
    digits = has_digit(value)
    address = _ADDRESS.search(before) is not None
    drawn = digest or (chance > _TOGETHER and digits) or chance > _LETTERS or is_series(value)
    name = (_last(before, address=address) or _next(after)) if drawn else ""
    if name and (not is_uuid(value) or names_secret(name)):
        return "secret-by-name", label_for(name)
    if address or value.isdigit():
        return None
    return _unnamed(value, before, chance, digest=digest, digits=digits)


def _unnamed(value: str, before: str, chance: float, *, digest: bool, digits: bool) -> tuple[str, str] | None:
    """The rule and the label for a value that no name makes a secret, but a service or its look."""
    drawn = digest or is_series(value) or chance > (_SERVED_LEAST if digits else _MANY)
    if drawn and not SERVICES.isdisjoint(SERVICE.findall(before[-40:])):
        return "secret-by-service", "API key"
    if digest:
        alone = len(value) >= _LEAST_DIGEST and "-" not in value and _ASSIGNED.search(before[-40:]) is not None
    else:
        alone = len(value) >= _LEAST_ALONE and chance > (_ALONE if is_mixed(value) else _MOST)
        alone = alone and not _ALPHABET.fullmatch(value) and not _IDENTIFIER.search(f"{before[-20:]} {value[:12]}")
    return ("random-value", "secret") if alone else None


def _next(after: str) -> str:
    """What names a value behind it, in a comment or a comparison; "" for nothing."""
    match = _AFTER.match(after)
    return match[0] if match else ""


def _last(before: str, *, address: bool) -> str:
    """The last word before a value that makes it a secret, with what stands between them; "" for none."""
    last = deque(CONTEXT.finditer(before), maxlen=1)
    if not last:
        return ""
    end = last[0].end()
    between = before[end:]
    near = len(between) <= _MARKS_BETWEEN and "=" in between if address else len(between.split()) <= _WORDS_BETWEEN
    return before[max(0, last[0].start() - 12) :] if near else ""
