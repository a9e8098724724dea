"""Checks of official numbers of the Americas and of no country in particular, as their issuers publish them."""

from collections.abc import Mapping

from wisen.screening.rules import checksums as sums
from wisen.screening.rules.checksums import Check


def _npi(value: str) -> bool:
    return sums.luhn("80840" + value)


def _routing(value: str) -> bool:
    return sums.weighted(value, (3, 7, 1) * 3) % 10 == 0


def _dea(value: str) -> bool:
    numbers = sums.digits(value[2:])
    return (sum(numbers[0:6:2]) + 2 * sum(numbers[1:6:2])) % 10 == numbers[6]


def _eleven(value: str, weights: tuple[int, ...]) -> int:
    """The check digit of the Brazilian, Argentine and similar kinds: 11 minus the remainder, 0 for 10 and 11."""
    left = 11 - sums.weighted(value, weights) % 11
    return 0 if left > 9 else left  # noqa: PLR2004 - digits end at 9


def _cpf(value: str) -> bool:
    return (
        len(set(value)) > 1
        and _eleven(value, tuple(range(10, 1, -1))) == int(value[9])
        and _eleven(value, tuple(range(11, 1, -1))) == int(value[10])
    )


def _cnpj(value: str) -> bool:
    weights = (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
    return (
        len(set(value)) > 1
        and _eleven(value, weights[1:]) == int(value[12])
        and _eleven(value, weights) == int(value[13])
    )


def _curp(value: str) -> bool:
    alphabet = "0123456789ABCDEFGHIJKLMN_OPQRSTUVWXYZ"
    total = sum(alphabet.index(letter) * weight for letter, weight in zip(value, range(18, 1, -1), strict=False))
    return str(-total % 10) == value[17]


def _rut(value: str) -> bool:
    total = sum(int(digit) * (2 + place % 6) for place, digit in enumerate(reversed(value[:-1])))
    return "0123456789K0"[11 - total % 11] == value[-1]


def _cuit(value: str) -> bool:
    return _eleven(value, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) == int(value[10])


def _vin(value: str) -> bool:
    letters = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789", strict=True))
    plain = "".join(letters.get(letter, letter) for letter in value)
    left = sums.weighted(plain, (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return "0123456789X"[left] == value[8]


CHECKS: Mapping[str, Check] = {
    "cnpj": _cnpj,
    "cpf": _cpf,
    "cuit": _cuit,
    "curp": _curp,
    "dea": _dea,
    "npi": _npi,
    "routing": _routing,
    "rut": _rut,
    "vin": _vin,
}
"""The checks that `data/ids.toml` names."""
