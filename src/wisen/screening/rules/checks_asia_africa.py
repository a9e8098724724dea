"""Checks of official numbers of Asia, Australia and Africa, as their issuers publish them."""

from collections.abc import Mapping

from wisen.screening.rules import checksums as sums
from wisen.screening.rules.checksums import Check

_RRN_WEIGHTS = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
_UEN_LETTERS = "ABCDEFGHJKLMNPQRSTUVWX0123456789"


def _abn(value: str) -> bool:
    return (sums.weighted(value, (10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)) - 10) % 89 == 0


def _acn(value: str) -> bool:
    return -sums.weighted(value, range(8, 0, -1)) % 10 == int(value[8])


def _tfn(value: str) -> bool:
    weights = (1, 4, 3, 7, 5, 8, 6, 9, 10) if len(value) == 9 else (10, 7, 8, 4, 6, 3, 5, 1)  # noqa: PLR2004 - old ones have 8
    return sums.weighted(value, weights) % 11 == 0


def _medicare(value: str) -> bool:
    return sums.weighted(value, (1, 3, 7, 9, 1, 3, 7, 9)) % 10 == int(value[8])


def _fin(value: str) -> bool:
    total = sums.weighted(value[1:], (2, 7, 6, 5, 4, 3, 2)) + {"T": 4, "G": 4, "M": 3}.get(value[0], 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "M": "XWUTRQPNJLK"}.get(value[0], "XWUTRQPNMLK")
    place = 10 - total % 11 if value[0] == "M" else total % 11
    return letters[place] == value[8]


def _uen(value: str) -> bool:
    if value[0] in "RST" and value[3].isalpha():
        numbers = [_UEN_LETTERS.find(letter) for letter in value]
        total = sum(number * weight for number, weight in zip(numbers, (4, 3, 5, 3, 10, 2, 2, 5, 7), strict=False))
        return _UEN_LETTERS[(total - 5) % 11] == value[9]
    if len(value) == 9:  # noqa: PLR2004 - a business; a local company has 10
        return "XMKECAWLJDB"[sums.weighted(value, (10, 4, 9, 3, 8, 2, 7, 1)) % 11] == value[8]
    return "ZKCMDNERGWH"[sums.weighted(value, (10, 8, 6, 4, 9, 7, 5, 3, 1)) % 11] == value[9]


def _birth(value: str) -> bool:
    century = 1900 if value[6] in "1256" else 2000
    return sums.day(century + int(value[:2]), int(value[2:4]), int(value[4:6]))


def _rrn(value: str) -> bool:
    return _birth(value) and (11 - sums.weighted(value, _RRN_WEIGHTS) % 11) % 10 == int(value[12])


def _frn(value: str) -> bool:
    return _birth(value) and (13 - sums.weighted(value, _RRN_WEIGHTS) % 11) % 10 == int(value[12])


def _brn(value: str) -> bool:
    total = sums.weighted(value, (1, 3, 7, 1, 3, 7, 1, 3, 5)) + int(value[8]) * 5 // 10
    return -total % 10 == int(value[9])


def _tnin(value: str) -> bool:
    return (11 - sums.weighted(value, range(13, 1, -1)) % 11) % 10 == int(value[12])


def _tr_id(value: str) -> bool:
    numbers = sums.digits(value)
    tenth = (7 * sum(numbers[0:9:2]) - sum(numbers[1:8:2])) % 10
    return tenth == numbers[9] and sum(numbers[:10]) % 10 == numbers[10]


def _vkn(value: str) -> bool:
    total = 0
    for place, digit in enumerate(sums.digits(value[:9])):
        shifted = (digit + 9 - place) % 10
        total += 9 if shifted == 9 else shifted * 2 ** (9 - place) % 9  # noqa: PLR2004 - 9 stays 9
    return -total % 10 == int(value[9])


def _ph_tin(value: str) -> bool:
    return sums.weighted(value, range(9, 1, -1)) % 11 == int(value[8])


def _za_id(value: str) -> bool:
    return sums.yymmdd(value) and sums.luhn(value)


def _resident(value: str) -> bool:
    return sums.day(int(value[6:10]), int(value[10:12]), int(value[12:14])) and sums.mod_11_2(value)


def _hkid(value: str) -> bool:
    padded = value if len(value) == 9 else "#" + value  # noqa: PLR2004 - two letters, six digits, one check digit
    numbers = [36 if letter == "#" else int(letter, 36) for letter in padded[:8]]
    total = sum(number * weight for number, weight in zip(numbers, range(9, 1, -1), strict=True))
    return "0123456789A"[-total % 11] == padded[8]


def _tw_id(value: str) -> bool:
    head = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(value[0]) + 10
    return (sums.weighted(f"{head}{value[1:]}", (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1))) % 10 == 0


def _my_number(value: str) -> bool:
    left = sums.weighted(value, (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return (0 if left <= 1 else 11 - left) == int(value[11])


CHECKS: Mapping[str, Check] = {
    "abn": _abn,
    "acn": _acn,
    "birth": _birth,
    "brn": _brn,
    "fin": _fin,
    "frn": _frn,
    "hkid": _hkid,
    "medicare": _medicare,
    "my-number": _my_number,
    "ph-tin": _ph_tin,
    "resident": _resident,
    "rrn": _rrn,
    "tfn": _tfn,
    "tnin": _tnin,
    "tr-id": _tr_id,
    "tw-id": _tw_id,
    "uen": _uen,
    "vkn": _vkn,
    "za-id": _za_id,
}
"""The checks that `data/ids.toml` names."""
