"""Checks of official numbers of Europe without Germany and Britain, as their issuers publish them."""

from collections import Counter
from collections.abc import Mapping

from wisen.screening.rules import checksums as sums
from wisen.screening.rules.checksums import Check

_NIF = "TRWAGMYFPDXBNJZSQVHLCKE"
_HETU = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def _nif(value: str) -> bool:
    return _NIF[int(value[:-1]) % 23] == value[-1]


def _nie(value: str) -> bool:
    return _nif(str("XYZ".index(value[0])) + value[1:])


def _cif(value: str) -> bool:
    numbers = sums.digits(value[1:8])
    total = sum(numbers[1::2]) + sum(sum(divmod(2 * number, 10)) for number in numbers[0::2])
    check = -total % 10
    return value[8] in (str(check), "JABCDEFGHI"[check])


def _fiscal_code(value: str) -> bool:
    places = [int(letter, 36) - 10 if letter.isalpha() else int(letter) for letter in value]
    total = sum(_ODD[place] for place in places[0:15:2]) + sum(places[1:15:2])
    return total % 26 == places[15]


def _pesel(value: str) -> bool:
    month = int(value[2:4])
    year = {4: 1800, 0: 1900, 1: 2000, 2: 2100, 3: 2200}[month // 20] + int(value[:2])
    return sums.day(year, month % 20, int(value[4:6])) and -sums.weighted(
        value, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)
    ) % 10 == int(value[10])


def _nip(value: str) -> bool:
    return sums.weighted(value, (6, 5, 7, 2, 3, 4, 5, 6, 7)) % 11 == int(value[9])


def _regon(value: str) -> bool:
    return sums.weighted(value, (8, 9, 2, 3, 4, 5, 6, 7)) % 11 % 10 == int(value[8])


def _pl_card(value: str) -> bool:
    return sums.weighted(value[:3] + value[4:], (7, 3, 1, 7, 3, 1, 7, 3)) % 10 == int(value[3])


def _hetu(value: str) -> bool:
    number = value[-4:-1]
    return sums.ddmmyy(value[:6]) and _HETU[int(value[:6] + number) % 31] == value[-1]


def _personnummer(value: str) -> bool:
    short = value[-10:]
    number = int(short[4:6])
    born = f"{short[:4]}{number - 60 if number > 60 else number:02}"  # noqa: PLR2004 - coordination numbers add 60
    return sums.yymmdd(born) and sums.luhn(short)


def _no_time(value: str) -> bool:
    """Not a day and a time either ("240315-1430")."""
    return _personnummer(value) and (len(value) > 10 or int(value[-4:-2]) > 23 or int(value[-2:]) > 59)  # noqa: PLR2004 - a day's hours


def _organisationsnummer(value: str) -> bool:
    return sums.luhn(value[-10:])


def _nir(value: str) -> bool:
    body = value[:13].replace("2A", "19").replace("2B", "18")
    return body.isdigit() and 97 - int(body) % 97 == int(value[13:])


def _bsn(value: str) -> bool:
    return sums.weighted(value, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0 and value.strip("0") != ""


def _nrn(value: str) -> bool:
    check = int(value[9:])
    return check in (97 - int(value[:9]) % 97, 97 - int("2" + value[:9]) % 97)


def _fodselsnummer(value: str) -> bool:
    day = int(value[:2]) - (40 if value[0] > "3" else 0)
    return (
        sums.ddmmyy(f"{day:02}{value[2:6]}")
        and sums.weighted(value, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1)) % 11 == 0
        and sums.weighted(value, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0
    )


def _svnr(value: str) -> bool:
    return sums.weighted(value[:3] + value[4:], (3, 7, 9, 5, 8, 4, 2, 1, 6)) % 11 == int(value[3])


def _pt_nif(value: str) -> bool:
    left = 11 - sums.weighted(value, range(9, 1, -1)) % 11
    return (0 if left > 9 else left) == int(value[8])  # noqa: PLR2004 - digits end at 9


def _cnp(value: str) -> bool:
    left = sums.weighted(value, (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11
    return sums.yymmdd(value[1:7]) and (1 if left == 10 else left) == int(value[12])  # noqa: PLR2004 - 10 has no digit


def _rodne_cislo(value: str) -> bool:
    month = int(value[2:4]) % 50 % 20
    return sums.yymmdd(f"{value[:2]}{month:02}{value[4:6]}") and int(value) % 11 == 0


def _egn(value: str) -> bool:
    return sums.weighted(value, (2, 4, 8, 5, 10, 9, 7, 3, 6)) % 11 % 10 == int(value[9])


def _isikukood(value: str) -> bool:
    left = sums.weighted(value, (1, 2, 3, 4, 5, 6, 7, 8, 9, 1)) % 11
    if left == 10:  # noqa: PLR2004 - then the second row of weights counts
        left = sums.weighted(value, (3, 4, 5, 6, 7, 8, 9, 1, 2, 3)) % 11 % 10
    return sums.yymmdd(value[1:7]) and left == int(value[10])


def _pps(value: str) -> bool:
    total = sums.weighted(value[:7], range(8, 1, -1))
    if len(value) == 9 and value[8] != "W":  # noqa: PLR2004 - the newer kind has a second letter
        total += (ord(value[8]) - 64) * 9
    return "WABCDEFGHIJKLMNOPQRSTUV"[total % 23] == value[7]


def _partita_iva(value: str) -> bool:
    """Luhn, and an office of a province in places 8 to 10; "IT" may stand before."""
    number = value[-11:]
    office = int(number[7:10])
    return sums.luhn(number) and (1 <= office <= 100 or office in (120, 121, 888, 999)) and int(number[:7]) > 0  # noqa: PLR2004 - offices


def _tax_id(value: str) -> bool:
    counts = sorted(Counter(value[:10]).values())
    return counts[-1] in (2, 3) and counts[-2] == 1 and sums.mod_11_10(value)


def _social_security(value: str) -> bool:
    plain = f"{value[:8]}{ord(value[8]) - 64:02}{value[9:11]}"
    return sums.cross_sum(plain, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)) % 10 == int(value[11])


def _health_insurance(value: str) -> bool:
    return sums.cross_sum(f"{ord(value[0]) - 64:02}{value[1:9]}", (1, 2) * 5) % 10 == int(value[9])


def _vat(value: str) -> bool:
    return sums.mod_11_10(value[2:])


def _lanr(value: str) -> bool:
    return -sums.weighted(value, (4, 9) * 3) % 10 == int(value[6]) and value[7:] != "00"


def _nhs(value: str) -> bool:
    left = 11 - sums.weighted(value, range(10, 1, -1)) % 11
    return (0 if left == 11 else left) == int(value[9]) and len(set(value)) > 1  # noqa: PLR2004 - 11 is written 0


def _not_a_size(value: str) -> bool:
    """A gigabyte count beside a letter and a digit looks like a postcode."""
    return value[-2:] not in ("GB", "TB", "PB")


CHECKS: Mapping[str, Check] = {
    "bsn": _bsn,
    "cif": _cif,
    "cnp": _cnp,
    "egn": _egn,
    "fiscal-code": _fiscal_code,
    "fodselsnummer": _fodselsnummer,
    "health-insurance": _health_insurance,
    "hetu": _hetu,
    "isikukood": _isikukood,
    "lanr": _lanr,
    "nhs": _nhs,
    "nie": _nie,
    "nif": _nif,
    "nip": _nip,
    "nir": _nir,
    "no-time": _no_time,
    "not-a-size": _not_a_size,
    "nrn": _nrn,
    "organisationsnummer": _organisationsnummer,
    "partita-iva": _partita_iva,
    "personnummer": _personnummer,
    "pesel": _pesel,
    "pl-card": _pl_card,
    "pps": _pps,
    "pt-nif": _pt_nif,
    "regon": _regon,
    "rodne-cislo": _rodne_cislo,
    "social-security": _social_security,
    "svnr": _svnr,
    "tax-id": _tax_id,
    "vat": _vat,
}
"""The checks that `data/ids.toml` names."""
