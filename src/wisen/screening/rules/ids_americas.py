"""Official numbers of the Americas and of no country in particular, with their published checks."""

from wisen.screening.rules import checksums as sums
from wisen.screening.rules.id_rules import ALONE, CONTEXT, NOTHING, IdRule, rule


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


_SSN = "social_security ssn ssns ssid taxpayer"
_TAX = "itin tax tin taxpayer"
_PASSPORT = "passport travel_document"
_LICENCE = "driver's driver drivers driving dl dls führerschein permis_de patente"
_MBI_LETTER = "AC-HJKMNP-RT-Y"
_MBI_MIDDLE = f"[{_MBI_LETTER}][0-9{_MBI_LETTER}][0-9]"
_MBI = f"[1-9]{_MBI_MIDDLE}-?{_MBI_MIDDLE}-?[{_MBI_LETTER}]{{2}}[0-9]{{2}}"

AMERICAS: tuple[IdRule, ...] = (
    rule("us-ssn", "national-id", 9, r"(?!000|666|9)\d{3}([ -])(?!00)\d\d\1(?!0000)\d{4}", NOTHING, _SSN),
    rule(
        "us-ssn",
        "national-id",
        9,
        r"(?!000|666|9)\d{3}(?:\.(?!00)\d\d\.|-(?!00)\d\d|(?!00)\d\d-)(?!0000)\d{4}",
        ALONE,
        _SSN,
    ),
    # A number that begins with 0 is an identifier, not a quantity.
    rule("us-ssn", "national-id", 9, r"(?!000)0\d\d(?!00)\d\d(?!0000)\d{4}", ALONE, _SSN),
    rule("us-ssn", "national-id", 9, r"(?!000|666|9)\d{3}[ .-]?(?!00)\d\d[ .-]?(?!0000)\d{4}", CONTEXT, _SSN),
    rule(
        "us-itin",
        "tax-id",
        9,
        r"9\d\d(?:([ -])(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])\1|-?(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])-?)\d{4}",
        ALONE,
        _TAX,
    ),
    rule("us-passport", "passport", 9, r"(?!C)[A-Z]\d{8}", ALONE, _PASSPORT),
    rule("us-passport", "passport", 9, r"\d{9}", CONTEXT, _PASSPORT),
    rule("us-mbi", "national-id", 11, _MBI, NOTHING, "medicare mbi beneficiary"),
    rule("us-npi", "national-id", 10, r"[12]\d{3}([ -]?)\d{3}\1\d{3}", ALONE, "npi provider prescriber", _npi),
    rule(
        "us-routing-number",
        "bank-account",
        9,
        r"(?:0\d|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)\d\d(-?)\d{4}\1\d",
        ALONE,
        "aba routing bank rtn",
        _routing,
    ),
    rule(
        "us-dea-number",
        "medical-licence",
        9,
        r"[A-HJ-MPRSTUX][A-Z9]\d{7}",
        ALONE,
        "dea certificate medical prescriber",
        _dea,
    ),
    rule(
        "bank-account",
        "bank-account",
        tuple(range(8, 18)),
        r"\d{2,17}(?:[ -]\d{2,12}){0,4}",
        CONTEXT,
        "bank_account bank account_number account_no account_# acct debit checking savings_account "
        "konto kontonummer sort_code",
    ),
    rule(
        "driving-licence",
        "driving-licence",
        tuple(range(6, 17)),
        r"(?:[A-Z]{0,3}[ -]?\d{2,14}(?:-\d{2,6}){0,4}[A-Z]?|[A-Z]\d\d[A-Z]\d{6})",
        CONTEXT,
        _LICENCE,
    ),
    rule(
        "driving-licence",
        "driving-licence",
        14,
        r"[A-Z]\d{3}-\d{4}-\d{4}-?\d{2}|[A-Z]\d{4}-\d{5}-\d{5}",
        ALONE,
        _LICENCE,
    ),
    rule(
        "certificate",
        "certificate",
        tuple(range(5, 20)),
        r"[A-Z]{0,6}[ -]?\d{1,14}(?:[ /.-][A-Z0-9]{1,10}){0,4}",
        CONTEXT,
        "certificate_number certificate_no certificate_id licence_number license_number medical_licen",
    ),
    rule("ca-sin", "national-id", 9, r"[1-79]\d\d([ -]?)\d{3}\1\d{3}", ALONE, "sin social_insurance", sums.luhn),
    rule("br-cpf", "tax-id", 11, r"\d{3}\.\d{3}\.\d{3}-\d\d", NOTHING, "cpf", _cpf),
    rule("br-cpf", "tax-id", 11, r"\d{11}", CONTEXT, "cpf", _cpf),
    rule("br-cnpj", "tax-id", 14, r"\d\d\.\d{3}\.\d{3}/\d{4}-\d\d", NOTHING, "cnpj", _cnpj),
    rule("br-cnpj", "tax-id", 14, r"\d{14}", ALONE, "cnpj", _cnpj),
    rule("mx-curp", "national-id", 18, r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z0-9]\d", NOTHING, "curp", _curp),
    rule(
        "mx-rfc", "tax-id", (12, 13), r"[A-Z]{3,4}\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[A-Z0-9]{3}", ALONE, "rfc"
    ),
    rule("cl-rut", "national-id", (8, 9), r"\d{1,2}\.\d{3}\.\d{3}-[\dK]", NOTHING, "rut run", _rut),
    rule("cl-rut", "national-id", (8, 9), r"\d{7,8}-[\dK]", ALONE, "rut run", _rut),
    rule("ar-cuit", "tax-id", 11, r"(?:2[03-7]|3[034])(-)\d{8}\1\d", NOTHING, "cuit cuil", _cuit),
    rule("ar-cuit", "tax-id", 11, r"(?:2[03-7]|3[034])\d{9}", ALONE, "cuit cuil", _cuit),
    rule(
        "vin",
        "vehicle",
        17,
        r"[A-HJ-NPR-Z0-9]{11}[A-HJ-NPR-Z0-9]\d{5}|[A-HJ-NPR-Z0-9]{17}",
        CONTEXT,
        "vin chassis vehicle",
        _vin,
    ),
    rule("imei", "device", 15, r"\d{2}([ -]?)\d{6}\1\d{6}\1\d", CONTEXT, "imei handset", sums.luhn),
)
"""Rules for the Americas, and those that belong to no country."""
