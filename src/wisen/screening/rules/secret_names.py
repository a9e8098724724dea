"""The words that announce a secret: names of keys and passwords, and of the services that issue them.

They are data: `data/names.toml`, and the services in `data/secrets.json` and `data/own.json`.
"""

import re
from itertools import takewhile

from wisen.screening.rules.marks import Marks
from wisen.screening.rules.tables import table_of

_TABLE = table_of("names.toml")
_QUANTIFIERS = ("?", "*", "+", "{")


def _any(name: str) -> str:
    """A pattern for any entry of a list; those that begin with the same letter share it, so that a search is quick."""
    groups: dict[str, list[str]] = {}
    for entry in _TABLE["names"][name]:
        head = entry[0] if entry[0].isalpha() and entry[1:2] not in _QUANTIFIERS else ""
        groups.setdefault(head, []).append(entry[len(head) :])
    return "|".join(f"{head}(?:{'|'.join(tails)})" for head, tails in groups.items())


def _words(table: str, name: str) -> frozenset[str]:
    return frozenset(" ".join(table_of(table)[name]).split())


def _beginning(entry: str) -> str:
    """The letters that all begins with that an entry of a list matches."""
    letters = "".join(takewhile(str.isalpha, entry))
    return letters[:-1] if entry[len(letters) :].startswith(_QUANTIFIERS) else letters


KEY_WORD = re.compile(_any("key"))
KEY_BEGINNINGS = Marks(map(_beginning, _TABLE["names"]["key"]))
"""Where one begins, a key word may; nowhere else."""
PASSWORD_NAME = re.compile(_any("password"))
SECRET_NAME = re.compile(_any("secret"))
CONTEXT = re.compile(_any("context"))
OTHER_PURPOSE = re.compile(
    rf"(?:{_any('purpose')})(?:[-_ .]?(?:ids?|key|sum|is|was|at|of|the|value|to|from|by|with|into|named|called))?"
    r"[\s\"'`:=(#@>,.\[/-]{0,6}\Z"
)
NAME_ENDS_OTHERWISE = re.compile(rf"[-_.]?(?:{_any('ends')})s?\Z")
WORDS = frozenset(_TABLE["values"]["words"].split())
"""What stands where a value would and is none, in lower case."""
_ISSUERS = _words("secrets.json", "services") | _words("own.json", "services")
SERVICES = _ISSUERS - _words("own.json", "not_services")
"""Services whose name before a random token says that the token is theirs."""
_QUALIFIED = re.compile(rf"[a-z0-9][-_.]?(?:{_any('context')})")
KEY_OF_DATA = re.compile(rf"(?:{_any('keyed')})[-_ .]?keys?\Z", re.IGNORECASE)
"""The end of the name of a key that holds no secret."""
_ID = re.compile(r"(?:[a-z]I[dD]|[-_. ](?:id|Id|ID))s?\Z")
_SECRET_ID = re.compile(rf"(?:{_any('identified')})[-_. ]?ids?\Z", re.IGNORECASE)
SERVICE = re.compile(r"[a-z][a-z0-9]{2,24}+")
"""A word that may be the name of a service, in lower case."""
_LABELS = tuple((re.compile(pattern), label) for pattern, label in _TABLE["labels"]["names"])


def label_for(name: str) -> str:
    """What may stand for the value of something with this name, which is in lower case."""
    return next((label for pattern, label in _LABELS if pattern.search(name)), "secret")


def names_no_secret(name: str) -> bool:
    """Whether a name, as it is written, is that of a key in a database, or of an id that no service gives out."""
    if KEY_OF_DATA.search(name):
        return True
    named = _ID.search(name) is not None and not _SECRET_ID.search(name)
    return named and _ISSUERS.isdisjoint(SERVICE.findall(name.lower()))


def names_secret(name: str) -> bool:
    """Whether a name, in lower case, says what its value is the secret of, so that even a UUID is one."""
    return any(pattern.search(name) for pattern in (SECRET_NAME, PASSWORD_NAME, _QUALIFIED))
