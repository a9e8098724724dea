"""Values that the name before them makes secrets: assignments, settings, arguments, markup, prose."""

import re
from collections.abc import Iterator
from typing import Literal

from wisen.protocols import Finding
from wisen.screening.rules.secret_names import (
    KEY_BEGINNINGS,
    KEY_OF_DATA,
    KEY_WORD,
    NAME_ENDS_OTHERWISE,
    PASSWORD_NAME,
    SECRET_NAME,
    WORDS,
    label_for,
)
from wisen.screening.rules.secret_shapes import (
    is_jumbled,
    is_mixed,
    is_padded,
    is_scrambled,
    is_stand_in,
    is_uuid,
    randomness,
)

_Kind = Literal["password", "secret", "key"]
"""What a name says: of a password, of another secret, or of something that may be one."""

_LONGEST_NAME = 60
_LEAST, _LEAST_SPOKEN, _LEAST_SECRET, _LEAST_KEY = 4, 6, 8, 12
_PAIR, _PHRASE = 2, 4
_LIKE_NAMES = -2.0
"""The randomness below which a value is written as words are."""
_NAME = re.compile(r"[A-Za-z0-9_.$-]{1,60}+\Z")
_REST = re.compile(r"[A-Za-z0-9_]{0,40}+(?:[-.][A-Za-z_][A-Za-z0-9_]{0,30}+){0,3}+")
_VALUE = re.compile(
    r"""[\\"'`\])*}]{0,4}+(?:\[\d{0,4}\])?
    (?:\ {0,2}(?:[Aa]s\ |:\ {0,2})
       (?:str|[sS]tring|&(?:'static\ )?str|char\*?|text|varchar(?:\(\d{1,4}\))?|Optional\[str\]|Secret(?:Str)?)\b
       (?=\ {0,2}[=:]))?
    (?P<gap>[\ \t]{0,20}+)
    (?:
      (?P<mark>[.?+|]{1,2}=|:=|=>|===?|!==?|->|=|:|,|\(|\)?>|\|)(?P<after>[\ \t]{0,20}+)
        (?:[\\(\[{@bruf$]{0,2}(?=\\?["'`])|(?:new\ )?(?!\s)(?=\w))?
      | (?P<prose>(?:is|was|equals|to|as|=|of|be|lautet|ist|war|est|était|es|era|é|è|jest|er|är)
         (?:\ now|\ still|\ set\ to|\ just)?[\ :]{1,3}+)
      | (?P<markup>,?\s{0,40}["']?\b(?:value|content|default)["']?\ {0,2}[=:]\ {0,2}|
        </[\w:.-]{1,60}>\s{0,40}<(?:value|string|data)>)
      | (?P<line>\r?\n[\ \t]{0,40}+(?=["'<]))
    )?
    (?:(?P<quote>\\?["'`])(?P<quoted>[^\r\n]{1,300}?)(?P=quote)|(?P<bare>[^\s"'`<,;|]{3,300}+)(?P<next>.?))""",
    re.VERBOSE,
)
_COMPARED = re.compile(r"[\"'`]([^\"'`\n]{4,200})[\"'`]\s{0,3}(?:===?|!==?)\s{0,3}[\w.$>-]{0,60}\Z")
_REFERENCE = re.compile(r"[A-Za-z_$@&*][\w$]{0,80}(?:(?:\.|->|::)[\w$*]{1,80}){1,9}|[A-Za-z_]+|[A-Za-z_]{1,60}\d{0,2}")
_CALL = re.compile(r"[A-Za-z_$][\w$.:>-]{0,80}[(\[]")
_MEASURE = re.compile(r"[\d.,:%/x+-]+\w{0,3}")
_NO_BEGINNING = ("//", "--", "/", "*", "=", "&", "$", "%", "#", "@", "-", ".", "(", "[", "{", ")", "]", "}")
_DIRECTIVES = frozenset(("requirepass", "masterauth", "rootpw"))
_LOGIN = re.compile(r"\b(?:login|user|username|user[-_ ]name|uid)\b[\"']?\s{0,3}[:=]", re.IGNORECASE)
_MACHINE = re.compile(r"\blogin\s{1,9}\S{1,60}\s{1,9}\Z", re.IGNORECASE)
_CONNECTION = re.compile(r"\b(?:server|data source|database|driver|provider|dsn)\s{0,3}=[^\n]{1,80};", re.IGNORECASE)
_SETTING, _QUOTES = ("=", ":", ":=", "=>"), ("'", '"', "`")
_ENDS = ("", "\n", "\r")
_ASSIGNING = ("=", ":", ":=", "=>", ">", "->", "|", None)


def find_assignments(text: str, folded: str) -> Iterator[Finding]:
    """Values after names of passwords, keys and tokens; `folded` is the text in lower case, just as long."""
    done = 0
    for start in KEY_BEGINNINGS.starts(folded):
        word = KEY_WORD.match(folded, start) if start >= done else None
        if word is None:
            continue
        rest = _REST.match(text, word.end())
        stop = rest.end() if rest else word.end()
        done = stop
        *_, last = KEY_WORD.finditer(folded, start, stop)
        found = _found(text, folded, start, last.end(), stop)
        if found:
            done = max(done, found.end)
            yield found


def _found(text: str, folded: str, start: int, end: int, stop: int) -> Finding | None:
    before = _NAME.search(text, max(0, start - _LONGEST_NAME), start)
    first = before.start() if before else start
    name = folded[first:stop]
    if _is_folder(text, first, stop) or KEY_OF_DATA.search(name) or _is_public(folded, first, name):
        return None
    kind = _kind(folded[start:stop], name)
    compared = _COMPARED.search(text, max(0, first - 220), first) if kind != "key" else None
    if compared and _quoted(compared[1], kind, name):
        return _finding(name, compared.start(1), compared.end(1))
    match = None if NAME_ENDS_OTHERWISE.search(folded, end, stop) else _VALUE.match(text, stop)
    if match is None:
        return None
    if match["quoted"] is not None:
        good = _opened(match, kind, name) and _quoted(match["quoted"], kind, name)
        return _finding(name, *match.span("quoted")) if good else None
    if not _bare(match, text, first, kind, name):
        return None
    return _finding(name, match.start("bare"), match.start("bare") + len(_trimmed(match)))


def _is_folder(text: str, first: int, stop: int) -> bool:
    """Whether the name is the shell's for the folder that one is in."""
    return text[first:stop].lstrip("${(") in ("PWD", "OLDPWD") and text[first : first + 1] == "$"


def _is_public(folded: str, first: int, name: str) -> bool:
    return "public" in name or folded.endswith("public ", max(0, first - 7), first)


def _kind(words: str, name: str) -> _Kind:
    if PASSWORD_NAME.search(words):
        return "password"
    return "secret" if SECRET_NAME.search(name) else "key"


def _finding(name: str, start: int, end: int) -> Finding:
    return Finding(rule="named-secret", family="secret", start=start, end=end, label=label_for(name))


def _opened(match: re.Match[str], kind: _Kind, name: str) -> bool:
    """Whether what stands between a name and a quoted text makes the text the name's value."""
    code = match["quote"] == "`"
    if match["mark"] or match["prose"] or match["markup"] or match["line"]:
        return match["mark"] != "," or (not code and kind == "password") or is_mixed(match["quoted"])
    return kind != "key" and name != "pass" and (not code or is_mixed(match["quoted"]))


def _quoted(value: str, kind: _Kind, name: str) -> bool:
    value = value.strip()
    low = value.lower()
    if len(value) < _LEAST or low in WORDS or is_stand_in(value) or low.replace(" ", "_").replace("-", "_") in name:
        return False
    if is_jumbled(value) or (kind != "key" and is_padded(value)):
        return True
    blanks = value.count(" ")
    if kind == "password":
        word = blanks == 0 and not KEY_WORD.fullmatch(low) and not _asks(low)
        return word or (blanks > 0 and _is_phrase(low))
    if blanks:
        return False
    if kind == "secret":
        drawn = (len(value) >= _LEAST_SPOKEN and is_mixed(value) and _unlike_names(value)) or is_scrambled(value)
        return drawn or ("secret" in name and len(value) >= _LEAST_SECRET and value.isalnum())
    drawn = len(value) >= _LEAST_KEY and is_mixed(value) and randomness(value) > 0 and not is_uuid(value)
    return drawn and not value.startswith(("http", "/", "."))


def _bare(match: re.Match[str], text: str, first: int, kind: _Kind, name: str) -> bool:
    value = _trimmed(match)
    low = value.lower()
    joined = _in_series(match, text, first)
    if len(value) < _LEAST or ((low in WORDS or low in name) and not joined) or is_stand_in(value):
        return False
    if is_jumbled(value) or (kind != "key" and is_padded(value) and _is_assigned(match)):
        return True
    if _CALL.match(value) or (value.startswith(_NO_BEGINNING) and not match["mark"]):
        return False
    if match["prose"] or not (match["mark"] or match["markup"]):
        option = not match["prose"] and (text.startswith("-", first) or _takes_a_value(text, first, name))
        return bool(match["prose"] or match["gap"]) and _spoken(value, kind, option=option)
    if kind == "password":
        return _is_password(value, match, text, first)
    return (kind == "secret" and is_scrambled(value)) or _is_key(value, kind)


def _is_assigned(match: re.Match[str]) -> bool:
    """Whether an unquoted value is what its name is set to, and not another name with a quoted value."""
    return bool(match["prose"] or match["mark"] in _SETTING) and match["next"] not in _QUOTES


def _is_key(value: str, kind: _Kind) -> bool:
    if not (is_mixed(value) and _unlike_names(value)) or _REFERENCE.fullmatch(value):
        return False
    if kind == "secret":
        return len(value) >= _LEAST_SECRET
    return len(value) >= _LEAST_KEY and randomness(value) > 0 and not is_uuid(value)


def _trimmed(match: re.Match[str]) -> str:
    """An unquoted value without the punctuation and the further arguments after it."""
    value = match["bare"].rstrip("\\" if match["mark"] else ".:?\\&")
    for opening, closing in ("()", "[]", "{}"):
        while value.endswith(closing) and value.count(closing) > value.count(opening):
            value = value[:-1]
    further = match["mark"] == "=" and "=" in value.partition("&")[2]
    return value.partition("&")[0] if further else value


def _takes_a_value(text: str, first: int, name: str) -> bool:
    """Whether a name is an option or a directive, so that whatever comes next is its value."""
    if name in _DIRECTIVES or text[max(0, first - 1) : first] == "-":
        return True
    return _MACHINE.search(text, max(0, first - 80), first) is not None


def _is_password(value: str, match: re.Match[str], text: str, first: int) -> bool:
    """Whether an unquoted value assigned to a password is one, and no variable or word."""
    mark, head, ahead = match["mark"], text[first : match.start()], text[max(0, first - 1) : first]
    tight = not match["gap"] and not match["after"] and mark in ("=", ":")
    if _in_series(match, text, first) or (is_scrambled(value) and mark in _ASSIGNING):
        return True
    if value.startswith(("/", "~/", "./", "../")) and head.lower().endswith("pwd"):
        return False
    if _REFERENCE.fullmatch(value):
        if mark in (":", "=") and _LOGIN.search(text, max(0, first - 120), first):
            return True
        if mark == "=":
            outside = head.isupper() or ahead in ("&", "?", "-") or head.startswith("-")
            return tight and (outside or ("." in head and not head.startswith(("self.", "this."))))
        return mark == ":" and head.islower() and value.islower() and _is_line(match, text, first)
    return _is_written_out(value, match, tight=tight)


def _is_written_out(value: str, match: re.Match[str], *, tight: bool) -> bool:
    """Whether a value that can't be a variable is written as passwords are."""
    if value.isdigit() or value.replace("-", "").isalpha():
        return (tight or match["next"] in _ENDS) and (value.islower() or value.isdigit())
    return match["mark"] in _ASSIGNING and (tight or is_mixed(value))


def _in_series(match: re.Match[str], text: str, first: int) -> bool:
    """Whether the name is one of the settings of a connection string, with semicolons between them."""
    if match["mark"] != "=":
        return False
    if match["gap"]:
        return match["next"] == ";" and _CONNECTION.search(text, max(0, first - 160), first) is not None
    return match["next"] == ";" or text.endswith(";", max(0, first - 1), first)


def _is_line(match: re.Match[str], text: str, first: int) -> bool:
    """Whether the name begins its line and the value ends it, as in a settings file."""
    before = text[max(0, first - 40) : first]
    return not before.rpartition("\n")[2].strip(" -\"'") and match["next"] in _ENDS


def _spoken(value: str, kind: _Kind, *, option: bool) -> bool:
    """Whether a word that follows a name after a blank or "is" is the secret itself."""
    if option and kind == "password":
        return True
    if (_REFERENCE.fullmatch(value) and not is_mixed(value)) or "://" in value:
        return False
    if kind == "password":
        mixed = is_mixed(value) and not _MEASURE.fullmatch(value)
        return len(value) >= _LEAST_SPOKEN and (value.isdigit() or mixed or "!" in value or is_scrambled(value))
    drawn = len(value) >= _LEAST_SECRET and (is_scrambled(value) or (is_mixed(value) and randomness(value) > 0))
    return kind == "secret" and drawn and "/" not in value[:2]


def _unlike_names(value: str) -> bool:
    """Whether a value isn't written as words, versions, addresses and paths are."""
    return randomness(value) > _LIKE_NAMES and "://" not in value and not value.startswith(("/", "./", "../"))


def _asks(low: str) -> bool:
    return low.startswith(("enter ", "your ", "type ")) or low.endswith((":", "...", "?"))


def _is_phrase(low: str) -> bool:
    """Whether words in a row are a pass phrase: two rare ones, or at least four with one common word at most."""
    words = low.split()
    common = sum(word in WORDS for word in words)
    few = common == 0 and not low.endswith("ed") if len(words) == _PAIR else common <= 1 and len(words) >= _PHRASE
    return few and "".join(words).isalpha()
