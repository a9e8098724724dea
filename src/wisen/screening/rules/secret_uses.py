"""Secrets known by how they are used: in calls, on command lines, in tables, and codes that are spoken of."""

import re
from collections.abc import Iterator

from wisen.protocols import Finding
from wisen.screening.rules.secret_names import WORDS
from wisen.screening.rules.secret_shapes import has_digit, is_mixed, is_scrambled, is_stand_in
from wisen.screening.rules.sightings import mentions

_VALUE = r"[\"'`]?([^\s\"'`|-][^\s\"'`|]{2,200}+)"
_USES: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (rule, tuple(marks.split()), re.compile(pattern, re.IGNORECASE))
    for rule, marks, pattern in (
        (
            "login-call",
            "auth login signin sign_in log_in credential",
            (
                r"(?:\bauth\s{0,2}=\s{0,2}\(|auth\(|\b(?:log_?in|sign_?in|authenticate|set_?credentials|credentials?)\()\s{0,9}"
                r"[\"'][^\"'\n]{1,80}[\"']\s{0,3},\s{0,9}(?:\w{1,20}\s?=\s?)?[\"']([^\"'\n]{4,200})[\"']"
            ),
        ),
        (
            "command-password",
            "htpasswd",
            rf"\bhtpasswd\s{{1,3}}-\w{{0,6}}n\w{{0,4}}b\w{{0,4}}\s{{1,3}}\S{{1,80}}\s{{1,3}}{_VALUE}",
        ),
        (
            "command-password",
            "htpasswd",
            r"\bhtpasswd\s{1,3}-(?!\w{0,6}n)\w{0,6}b\w{0,6}\s{1,3}(?:-\w{1,3}\s{1,3}){0,3}\S{1,200}\s{1,3}\S{1,80}\s{1,3}"
            + _VALUE,
        ),
        ("token-login", "vault", rf"\bvault\s{{1,3}}login\s{{1,3}}(?:token=)?{_VALUE}"),
        (
            "command-password",
            "openssl",
            rf"\bopenssl\b[^\n|]{{0,160}}?\s(?:-k\s{{1,3}}|-pass(?:in|out|word)?\s{{1,3}}(?!env:|file:|fd:|stdin)(?:pass:)?){_VALUE}",
        ),
        ("command-password", "zip", rf"\b(?:un)?zip\b[^\n|]{{0,120}}?\s-P\s{{0,2}}{_VALUE}"),
        ("archive-password", "7z rar", rf"\b(?:7z[ar]?|(?:un)?rar)\b[^\n|]{{0,120}}?\s-h?p{_VALUE}"),
        (
            "command-password",
            "sudo",
            r"\becho\s{1,3}(?:-\w\s{1,2})?[\"']?([^\s\"'|]{3,200}+)[\"']?\s{0,3}\|\s{0,3}sudo\s[^\n|]{0,40}?-\w{0,5}s",
        ),
        (
            "command-password",
            "/user",
            rf"\bnet\s{{1,3}}use\s{{1,3}}\S{{1,40}}\s{{1,3}}(?:\\\\\S{{1,120}}\s{{1,3}})?{_VALUE}\s{{1,3}}/user",
        ),
        (
            "database-password",
            "password",
            (
                r"\bset\s{1,3}password\b[^\n=']{0,80}(?:'[^'\n]{0,60}'@'[^'\n]{0,60}'\s{0,3})?=\s{0,3}(?:password\(\s{0,2})?"
                r"[\"']([^\"'\n]{3,200})[\"']"
            ),
        ),
        (
            "network-key",
            "wifi wi-fi wlan wpa",
            rf"\b(?:wi-?fi|wlan|wpa[23]?)[ -](?:key|code|psk)\b[\"']?\s{{0,2}}(?:is|was|:|=)\s{{0,3}}{_VALUE}",
        ),
        (
            "login-pair",
            "credential creds login zugangsdaten",
            (
                r"\b(?:credentials?|creds|logins?|zugangsdaten)\b(?:\sfor\s[^\n:]{1,40}?)?(?:\s(?:are|is|were|was|sind)\b|\s?[:=])"
                r"\s{0,3}[\"'`(]?[\w.@-]{1,60}(?::|\s?/\s)(?!/)([^\s\"'`,;)]{4,120}+)"
            ),
        ),
        ("oracle-address", "jdbc:oracle", r"jdbc:oracle:\w{2,6}:[^\s/@\"']{1,60}/([^\s@\"']{2,120}+)@"),
    )
)
"""The rule, marks of which one is in every text that it fits, and the form, whose group is the secret."""
_SURE = frozenset(("command-password", "oracle-address", "database-password"))
"""Whose place alone makes a secret of anything but a word that stands for one."""
_CODES = ("pin", "otp", "code", "puk", "one-time", "one time")
_CODE = re.compile(
    r"(?<![\w-])(?:otp|puk|(?:mfa|2fa|sms|verification|security|confirmation|access|login|auth(?:entication)?|door|gate|"
    r"alarm|unlock|safe|reset|backup) code|one[- ]time (?:password|passcode|code|pin)|pin(?: ?code| number)?|passcode)"
    r"(?:\s(?:for|of|to)\s[^\n.:=]{1,40}?)?\s{0,2}(?:\b(?:is|was|ist|war|lautet)\b|[:=#])\s{0,2}[\"'`]?(\d{4,8})"
    r"(?![\w-]|[.,]\d)"
)
_COLUMN = re.compile(
    r"(?:\w{1,20}[ _-])?(?:pass(?:word|wd|phrase|code)?|pwd|passwort|kennwort|mot de passe|contraseñas?|senha|"
    r"wachtwoord|api[ _-]?keys?|secrets?|tokens?)(?:s|\s?\(\w{1,20}\))?"
)
"""What a column of secrets is called, in lower case."""
_SEPARATORS = ("|", "\t", ";", ",")
_MOST_CELLS = 40


def find_uses(text: str, folded: str) -> Iterator[Finding]:
    """What calls, commands, tables and spoken codes tell; `folded` is the text in lower case, as long as the text."""
    for rule, marks, form in _USES:
        if mentions(folded, marks):
            for match in form.finditer(text):
                value = match[1].rstrip(".,:;!?") if rule == "login-pair" else match[1]
                if _is_odd(value) or (rule in _SURE and not _is_word(value)):
                    yield _finding(rule, match.start(1), match.start(1) + len(value), "password")
    if has_digit(text) and mentions(folded, _CODES):
        for match in _CODE.finditer(folded):
            yield _finding("spoken-code", *match.span(1), "code")
    if "\n" in text:
        yield from _columns(text, folded)


def _finding(rule: str, start: int, end: int, label: str) -> Finding:
    return Finding(rule=rule, family="secret", start=start, end=end, label=label)


def _is_word(value: str) -> bool:
    return value.lower() in WORDS or is_stand_in(value)


def _is_odd(value: str) -> bool:
    """Whether a value isn't a word, a placeholder or a path, but has what passwords have."""
    if _is_word(value) or value.startswith(("/", "./", "../", "--")) or "://" in value:
        return False
    marked = any(sign in value for sign in "!#$%^*") and any(map(str.isalpha, value))
    return is_mixed(value) or is_scrambled(value) or marked


def _columns(text: str, folded: str) -> Iterator[Finding]:
    """The values in columns of tables, in Markdown or with separators, that have a secret's name at their head."""
    head: tuple[str, int, tuple[int, ...]] | None = None
    start = 0
    for line in folded.split("\n"):
        if head is not None:
            separator, size, columns = head
            cells = _cells(line, separator)
            if len(cells) == size:
                for column in columns:
                    first, last = cells[column]
                    value = text[start + first : start + last]
                    if last - first > 3 and " " not in value and _is_odd(value):  # noqa: PLR2004 - shorter ones say little
                        yield _finding("table-secret", start + first, start + last, "password")
            else:
                head = None
        if head is None:
            head = _head(line)
        start += len(line) + 1


def _head(line: str) -> tuple[str, int, tuple[int, ...]] | None:
    """The separator, the number of cells and the columns of secrets, where a line is the head of a table."""
    for separator in _SEPARATORS:
        if separator in line:
            cells = _cells(line, separator)
            columns = tuple(n for n, (first, last) in enumerate(cells) if _COLUMN.fullmatch(line, first, last))
            return (separator, len(cells), columns) if columns and len(cells) <= _MOST_CELLS else None
    return None


def _cells(line: str, separator: str) -> list[tuple[int, int]]:
    """Where the cells' texts begin and end, without blanks and quotes."""
    cells: list[tuple[int, int]] = []
    at = 0
    for cell in line.split(separator):
        inner = cell.strip(" \t\r\"'`")
        first = at + (cell.index(inner) if inner else 0)
        cells.append((first, first + len(inner)))
        at += len(cell) + 1
    return cells
