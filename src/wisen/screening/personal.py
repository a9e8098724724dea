"""Finds personal data: what tells who somebody is, where they live, how to reach or to pay them.

Names, plain dates and public addresses of the web aren't personal data by themselves and are left alone; so are mail
addresses that stand for anybody ("user@example.com", "noreply@…").
"""

import re
from collections.abc import Iterator

from wisen.protocols import Finding
from wisen.screening.rules.addresses import sight_addresses
from wisen.screening.rules.national_ids import sight_ids
from wisen.screening.rules.payments import sight_payments, sight_wallets
from wisen.screening.rules.phones import sight_phones
from wisen.screening.rules.sightings import Sighting, settle, terms

_MAIL = re.compile(
    r"(?<![\w.+%-])[\w.+%'-]{1,64}@(?:[\w-]{1,63}\.){1,8}(?P<top>[^\W\d_]{2,24}|xn--[\w-]{2,59})(?![^\W_]|_\w|@|-\w|\.\w)"
)
_SPELLED = re.compile(
    r"(?<![\w.+%-])[\w.+%-]{1,64} ?[\[({] ?(?:at|@|ät) ?[\])}] ?"
    r"(?:[\w-]{1,63}(?:\.| ?[\[({] ?(?:dot|punkt|\.) ?[\])}] ?)){1,4}"
    r"(?:com|org|net|edu|gov|info|app|dev|[a-z][a-z])(?![\w-]|\.\w)",
    re.IGNORECASE,
)
"""Addresses as people write them to hide them from machines."""
_FILES = terms("png jpg jpeg gif svg webp pdf py js ts tsx jsx css html htm json yml yaml md txt zip gz whl lock rs go")
_RESERVED = re.compile(
    r"(?i)@(?:[\w-]+\.){0,5}(?:example\.(?:com|org|net)|(?:[\w-]+\.)?(?:example|test|invalid|localhost))\Z"
)
_ANYBODY = re.compile(r"(?i)(?:git|no-?reply|do-?not-?reply|mailer-daemon|postmaster)@")
_PLACEHOLDER = re.compile(
    r"(?i)(?:you|your[._-]?(?:name|e?mail)|user\d*|username|me|my[._-]?e?mail|name|e?mail|someone|somebody|foo|bar|baz|test\d*|example|info|admin|root|hello|a|b|x)@"
)
_AT = re.compile(r"(?i)[\[({] ?(?:at|@|ät) ?[\])}]")
_NUMBERS = re.compile(r"[0-9]")
_LONG_NUMBERS = re.compile(r"[0-9](?:[^0-9\n]{0,6}[0-9]){6}")
"""Cards, accounts and telephone numbers have seven digits or more, and few other characters between them."""


def find_personal(text: str) -> list[Finding]:
    """Find personal data in a text; one finding for a span that fits several kinds, sorted by place."""
    return settle(_sight(text), "personal")


def _sight(text: str) -> Iterator[Sighting]:
    if "@" in text:
        yield from _mails(text)
    if _AT.search(text):
        for match in _SPELLED.finditer(text):
            yield Sighting(8, *match.span(), "e-mail", "e-mail")
    if _NUMBERS.search(text) is None:
        return
    folded = text.lower()
    if _LONG_NUMBERS.search(text):
        yield from sight_payments(text)
        yield from sight_phones(text)
    else:
        yield from sight_wallets(text)
    yield from sight_addresses(text, folded)
    yield from sight_ids(text, folded)


def _mails(text: str) -> Iterator[Sighting]:
    for match in _MAIL.finditer(text):
        if match["top"].lower() in _FILES or _ANYBODY.match(text, match.start()):
            continue
        if _RESERVED.search(match.group()) and _PLACEHOLDER.match(match.group()):
            continue
        yield Sighting(9, *match.span(), "e-mail", "e-mail")
