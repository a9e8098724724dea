"""How much a run of characters looks drawn at random, and whether it stands in for a value instead of being one."""

import re
from itertools import pairwise

_FOLLOWERS = (
    "abcdgilmnprstuvyk baeilorsu cacdehiklorstu dadefilorsu eabcdefgilmnoprstvwxy faefilortu gaehilnrsu haeiot "
    "iabcdefglmnoprstvz ke lacdeilostuy mabeimopsu nacdefginostuv oabcdfgilmnoprstuvw paehiloprstuy qu "
    "racdegilmnoprstuy sacefhilopstuy tacdefhilmoprstuy uabceilmnprst vaei waeir xpt yps ze"
)
"""The 240 commonest pairs of letters in words and identifiers: each first letter with those that follow it."""
_COMMON, _RARE, _TITLE, _CAMEL, _TURN, _NUMBER = -1.0, 1.3, -0.4, 0.2, 0.9, 0.1
_DIGITS = "0123456789"
_LOWER = "abcdefghijklmnopqrstuvwxyz"


def _weights() -> dict[str, float]:
    """What each pair of ASCII characters says for randomness; pairs with a separator say nothing."""
    common = {group[0] + second for group in _FOLLOWERS.split() for second in group[1:]}
    weights: dict[str, float] = {}
    for first in _LOWER:
        for second in _LOWER:
            weight = _COMMON if first + second in common else _RARE
            weights[first + second] = weights[first.upper() + second.upper()] = weight
            weights[first.upper() + second] = _TITLE if weight == _COMMON else _RARE
            weights[first + second.upper()] = _CAMEL
        for digit in _DIGITS:
            for letter in (first, first.upper()):
                weights[letter + digit] = weights[digit + letter] = _TURN
    for first in _DIGITS:
        for second in _DIGITS:
            weights[first + second] = _NUMBER
    return weights


_WEIGHTS = _weights()
_DRAWN = 4.0
_SCRAMBLED = 8
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
_BRACKET = re.compile(r"[(){}\[\]]")
_CLOSED = {"(": ")", "[": "]", "{": "}"}
_PADDED = re.compile(r"[A-Za-z0-9+/-]{7,4000}={1,2}")
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]{16,}+|[0-9A-F]{16,}+)={0,2}")
_UUID = re.compile(r"[0-9a-zA-Z]{8}-[0-9a-zA-Z]{4}-[0-9a-zA-Z]{4}-[0-9a-zA-Z]{4}-[0-9a-zA-Z]{12}")
_SERIES = re.compile(r"abcdef|ghijkl|jklmno|mnopqr|qrstuv|uvwxyz|zyxwvu|asdfgh|qwerty|234567|456789|987654|765432")
_SAYS_SO = re.compile(
    r"change[-_]?(?:me|this|it)|placeholder|redacted|\bexample|example\b|dummy|not[-_]?set|goes[-_]here|[-_]here\b|x{6}|"
    r"\*{4}|\.{3}|…|\bfake|todo|fixme|masked|hidden|removed|foobar|lorem",
    re.IGNORECASE,
)
"""What a placeholder says of itself."""
_STAND_IN = re.compile(
    r"\A(?:"
    r"[<\[{(«%].{0,200}[>\]})»%]|\$[{(].{0,200}|\$\w{1,80}(?:[./:-].{0,200})?|#\{.{0,200}|@\w.{0,80}@|%\w.{0,60}%?|&\w.{0,80};?"
    r"|«.{0,300}|#[0-9a-f]{3,8}|[*•xX.#_?-]{1,200}|(.)\1{3,}+"
    r"|(?:your?|my|an?|the|some|example|sample|insert|enter|replace|add|put|use|see|set|get|paste)[-_ ].{0,200}"
    r"|(?:process\.env|os\.environ|env|secrets|vault|config|settings|var|local|self|this|args|kwargs|data|params|options|"
    r"input|request|req|ctx|context|state|props|app|inputs|matrix|steps|github|runner|credentials)[.\[:].{0,200}"
    r")\Z",
    re.IGNORECASE | re.DOTALL,
)


def randomness(token: str) -> float:
    """How much more the pairs of neighbours look like chance than like words; words are below zero.

    Drawn at random from letters and digits, a token gains about half a point with each character.
    """
    get = _WEIGHTS.get
    return sum([get(first + second, 0.0) for first, second in pairwise(token)])


def is_scrambled(token: str) -> bool:
    """Whether a token of letters in both cases changes case where no words begin, or has pairs that no words have.

    Of ten tokens of eight letters drawn at random nine do, of a hundred names in camel case two.
    """
    if token.islower() or token.isupper() or not token.isascii():
        return False
    letters = token.replace("-", "").replace("_", "")
    if len(letters) < _SCRAMBLED or not (letters := letters.rstrip(_DIGITS)).isalpha():
        return False
    chance = randomness(letters)
    return chance > len(letters) / 4 or (chance > -1 and has_short_humps(letters))


def has_short_humps(token: str) -> bool:
    """Whether the parts of a token in camel case have fewer than three letters on average, as hardly any words have."""
    return len(token) < 3 * len(_HUMP.findall(token))


def has_digit(token: str) -> bool:
    """Whether a token has a digit in it."""
    return _DIGIT.search(token) is not None


def is_mixed(token: str) -> bool:
    """Whether a token has both letters and digits."""
    return has_digit(token) and _LETTER.search(token) is not None


def is_jumbled(value: str) -> bool:
    """Whether a bracket closes another kind of bracket, as in no expression, template or text; a password may."""
    open_: list[str] = []
    for sign in _BRACKET.findall(value):
        if sign in _CLOSED:
            open_.append(_CLOSED[sign])
        elif open_ and open_.pop() != sign:
            return True
    return False


def is_padded(value: str) -> bool:
    """Whether a value ends as base64 does."""
    return _PADDED.fullmatch(value) is not None


def is_series(token: str) -> bool:
    """Whether a token has a stretch of the alphabet or of the digits in it, as keys in examples have."""
    return _SERIES.search(token.lower()) is not None


def is_digest(token: str) -> bool:
    """Whether a token is written as digests and identifiers are: in hexadecimal or as a UUID."""
    return bool(_HEX.fullmatch(token) or _UUID.fullmatch(token))


def is_uuid(token: str) -> bool:
    """Whether a token is written as UUIDs are."""
    return _UUID.fullmatch(token) is not None


def is_stand_in(value: str) -> bool:
    """Whether a value is a placeholder, a variable or a row of asterisks: what one writes in place of a secret.

    Brackets alone make no placeholder of a value that looks drawn at random.
    """
    if _SAYS_SO.search(value, 0, 80):
        return True
    drawn = value.startswith(("<", "«")) and is_mixed(value) and randomness(value) > _DRAWN
    return not drawn and _STAND_IN.match(value[:300]) is not None
