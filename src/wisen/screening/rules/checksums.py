"""Check digits as their issuers publish them: what tells an identifier from a number that only looks like one.

Every function takes the identifier without separators, letters in upper case, and never raises for ASCII letters and
digits; a string of another length or alphabet fails.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import date

Check = Callable[[str], bool]

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_VERHOEFF_D = (
    *((0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 4, 0, 6, 7, 8, 9, 5), (2, 3, 4, 0, 1, 7, 8, 9, 5, 6)),
    *((3, 4, 0, 1, 2, 8, 9, 5, 6, 7), (4, 0, 1, 2, 3, 9, 5, 6, 7, 8), (5, 9, 8, 7, 6, 0, 4, 3, 2, 1)),
    *((6, 5, 9, 8, 7, 1, 0, 4, 3, 2), (7, 6, 5, 9, 8, 2, 1, 0, 4, 3), (8, 7, 6, 5, 9, 3, 2, 1, 0, 4)),
    (9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
)
_VERHOEFF_P = (
    *((0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 5, 7, 6, 2, 8, 3, 0, 9, 4), (5, 8, 0, 3, 7, 9, 6, 1, 4, 2)),
    *((8, 9, 1, 6, 0, 4, 3, 5, 2, 7), (9, 4, 5, 3, 1, 2, 6, 8, 7, 0), (4, 2, 8, 6, 5, 7, 3, 9, 0, 1)),
    *((2, 7, 9, 3, 8, 0, 6, 4, 1, 5), (7, 0, 4, 6, 9, 1, 3, 2, 5, 8)),
)


def digits(value: str) -> list[int]:
    """The decimal digits of `value`; letters count from A = 10."""
    return [int(character, 36) for character in value]


def weighted(value: str, weights: Sequence[int]) -> int:
    """The sum of digit times weight, over as many as there are weights."""
    return sum(digit * weight for digit, weight in zip(digits(value), weights, strict=False))


def cross_sum(value: str, weights: Sequence[int]) -> int:
    """Like `weighted`, with the digits of every product added up."""
    return sum(sum(divmod(digit * weight, 10)) for digit, weight in zip(digits(value), weights, strict=False))


def luhn(value: str) -> bool:
    """ISO/IEC 7812-1: payment cards and many others."""
    total = 0
    for place, character in enumerate(reversed(value)):
        digit = int(character) * (1 + place % 2)
        total += digit - 9 if digit > 9 else digit  # noqa: PLR2004 - digits end at 9
    return total % 10 == 0


def verhoeff(value: str) -> bool:
    """Verhoeff's dihedral check digit."""
    check = 0
    for place, character in enumerate(reversed(value)):
        check = _VERHOEFF_D[check][_VERHOEFF_P[place % 8][int(character)]]
    return check == 0


def mod_11_10(value: str) -> bool:
    """ISO/IEC 7064, hybrid MOD 11,10."""
    product = 10
    for character in value[:-1]:
        product = ((int(character) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(value[-1])


def mod_11_2(value: str) -> bool:
    """ISO/IEC 7064, pure MOD 11-2; the check character may be X."""
    total = 0
    for character in value[:-1]:
        total = (total + int(character)) * 2 % 11
    return "0123456789X"[(12 - total) % 11] == value[-1]


def mod_97_10(value: str) -> bool:
    """ISO/IEC 7064, MOD 97-10, after the first four characters have moved to the end: IBAN."""
    return int("".join(map(str, digits(value[4:] + value[:4])))) % 97 == 1


def ean(value: str) -> bool:
    """The check digit of article numbers (EAN-13), which some registers use."""
    return sum(digit * (3 if place % 2 else 1) for place, digit in enumerate(digits(value))) % 10 == 0


def icao(value: str) -> bool:
    """ICAO 9303: weights 7, 3, 1; the last character is the check digit."""
    return value[-1].isdigit() and weighted(value[:-1], (7, 3, 1) * 5) % 10 == int(value[-1])


def day(year: int, month: int, number: int) -> bool:
    """Whether there is such a day."""
    try:
        date(year, month, number)
    except ValueError:
        return False
    return True


def yymmdd(value: str) -> bool:
    """Whether the six digits are a day in either century."""
    year, month, number = int(value[:2]), int(value[2:4]), int(value[4:6])
    return day(2000 + year, month, number) or day(1900 + year, month, number)


def ddmmyy(value: str) -> bool:
    """Whether the six digits are a day in either century, the day first."""
    return yymmdd(value[4:6] + value[2:4] + value[:2])


def base58check(value: str, versions: Sequence[int]) -> bool:
    """Base58Check with a payload of a version byte and a hash of 20 bytes."""
    number = 0
    for character in value:
        place = _BASE58.find(character)
        if place < 0:
            return False
        number = number * 58 + place
    if number >= 1 << 200:
        return False
    raw = number.to_bytes(25, "big")
    zeros = len(raw) - len(raw.lstrip(b"\0"))
    ones = len(value) - len(value.lstrip("1"))
    return (
        zeros == ones
        and raw[0] in versions
        and hashlib.sha256(hashlib.sha256(raw[:21]).digest()).digest()[:4] == raw[21:]
    )


def bech32(value: str) -> bool:
    """BIP 173 and BIP 350: the checksum of a Segwit address, human-readable part included."""
    prefix, _, data = value.lower().rpartition("1")
    if not prefix or any(character not in _BECH32 for character in data):
        return False
    check = 1
    expanded = [*(ord(character) >> 5 for character in prefix), 0, *(ord(character) & 31 for character in prefix)]
    for symbol in (*expanded, *(_BECH32.index(character) for character in data)):
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ symbol
        for bit, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= generator if top >> bit & 1 else 0
    return check in (1, 0x2BC830A3)


CHECKS: Mapping[str, Check] = {
    "ddmmyy": ddmmyy,
    "ean": ean,
    "icao": icao,
    "luhn": luhn,
    "mod-11-10": mod_11_10,
    "verhoeff": verhoeff,
    "yymmdd": yymmdd,
}
"""Those that `data/ids.toml` names."""
