"""Official numbers of Asia, Australia and Africa, with their published checks."""

from wisen.screening.rules import checksums as sums
from wisen.screening.rules.id_rules import ALONE, CONTEXT, NOTHING, IdRule, rule

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


_INDIAN_STATES = (
    "(?:A[NPRS]|B[RH]|C[GH]|D[DLN]|G[AJ]|H[PR]|J[HK]|K[AL]|L[AD]|M[HLNPZ]|N[LP]|O[DR]|P[BY]|RJ|SK|T[GNRS]|U[AKP]|WB)"
)
_THAI_PROVINCES = "(?:1[0-9]|2[0-7]|3[0-9]|4[0-9]|5[0-8]|6[0-7]|7[0-7]|8[0-6]|9[0-6])"
_PLATE = "vehicle plate registration car plaka araç regn rc motor"
_PASSPORT = "passport travel_document 여권 여권번호 पासपोर्ट"
_KR_ID = "주민등록 주민번호 resident rrn identification 외국인등록 외국인 foreigner frn alien korean"

ASIA_AFRICA: tuple[IdRule, ...] = (
    rule("au-abn", "tax-id", 11, r"[1-9]\d \d{3} \d{3} \d{3}", NOTHING, "abn business_number", _abn),
    rule("au-abn", "tax-id", 11, r"[1-9]\d{10}", NOTHING, "abn business_number", _abn),
    rule("au-acn", "tax-id", 9, r"\d{3}([ -]?)\d{3}\1\d{3}", ALONE, "acn company_number", _acn),
    rule("au-tfn", "tax-id", (8, 9), r"\d{3}([ -]?)\d{3}\1\d{2,3}", ALONE, "tfn tax_file tax", _tfn),
    rule(
        "au-medicare", "national-id", (10, 11), r"[2-6]\d{3}([ -]?)\d{5}\1\d(?:[ /-]\d)?", ALONE, "medicare", _medicare
    ),
    rule("sg-fin", "national-id", 9, r"[STFGM]\d{7}[A-Z]", NOTHING, "fin nric singapore", _fin),
    # Older ones and those of visitors follow no published check.
    rule("sg-fin", "national-id", 9, r"[A-W]\d{7}[A-Z]", ALONE, "fin nric"),
    rule(
        "sg-uen",
        "tax-id",
        (9, 10),
        r"\d{8}[A-Z]|(?:18|19|20)\d{7}[A-Z]|[RST]\d\d[A-Z][A-Z0-9]\d{4}[A-Z]",
        ALONE,
        "uen entity company business",
        _uen,
    ),
    rule("in-pan", "tax-id", 10, r"[A-Z]{3}[ABCFGHJLPTKE][A-Z]\d{4}[A-Z]", NOTHING, "pan permanent_account"),
    rule("in-pan", "tax-id", 10, r"[A-Z]{5}\d{4}[A-Z]", ALONE, "pan permanent_account"),
    rule(
        "in-aadhaar",
        "national-id",
        12,
        r"[2-9]\d{3}([ -:])\d{4}\1\d{4}",
        NOTHING,
        "aadhaar aadhar uidai",
        sums.verhoeff,
    ),
    rule("in-aadhaar", "national-id", 12, r"[2-9]\d{11}", ALONE, "aadhaar aadhar uidai uid", sums.verhoeff),
    rule("in-voter", "national-id", 10, r"[A-Z]{3}\d{7}", ALONE, "vote voter voting epic elector"),
    rule("in-voter", "national-id", 13, r"[A-Z]{2}/\d\d/\d{3}/\d{6}", NOTHING, "voter"),
    rule("in-passport", "passport", 8, r"[A-PR-WY][1-9]\d{6}", ALONE, _PASSPORT),
    rule(
        "in-gstin",
        "tax-id",
        15,
        r"(?:0[1-9]|[12]\d|3[0-8]|97)[A-Z]{5}\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]",
        NOTHING,
        "gst gstin",
    ),
    rule(
        "in-vehicle",
        "plate",
        tuple(range(6, 12)),
        rf"{_INDIAN_STATES}[ -]?\d{{1,2}}[ -]?[A-Z]{{1,3}}[ -]?\d{{1,4}}|\d\d[ -]?BH[ -]?\d{{4}}[ -]?[A-Z]{{1,2}}",
        ALONE,
        _PLATE,
    ),
    rule("in-vehicle", "plate", (6, 7), r"(?!RFC|PEP|ISO|CWE|CVE|PR|MS|UTC)[A-Z]{2,3}\d{4}", ALONE, _PLATE),
    rule("kr-rrn", "national-id", 13, r"\d{6}-?[1-4]\d{6}", ALONE, _KR_ID, _rrn),
    # Numbers given since October 2020 have no check digit.
    rule("kr-rrn", "national-id", 13, r"\d{6}-[1-4]\d{6}", ALONE, _KR_ID, _birth),
    rule("kr-rrn", "national-id", 13, r"\d{13}", CONTEXT, "주민등록 주민번호 rrn", _birth),
    rule("kr-frn", "national-id", 13, r"\d{6}-?[5-8]\d{6}", ALONE, _KR_ID, _frn),
    rule("kr-frn", "national-id", 13, r"\d{6}-[5-8]\d{6}", ALONE, _KR_ID, _birth),
    rule("kr-brn", "tax-id", 10, r"\d{3}-\d\d-\d{5}", NOTHING, "사업자 brn business_registration", _brn),
    rule("kr-brn", "tax-id", 10, r"\d{10}", ALONE, "사업자 brn business_registration", _brn),
    rule("kr-passport", "passport", 9, r"[DGMORS]\d{3}(?:[A-Z]\d{4}|\d{5})", ALONE, _PASSPORT),
    rule(
        "kr-driving-licence",
        "driving-licence",
        12,
        r"(?:1[1-9]|2[0-8])([ -])\d\d\1\d{6}\1\d\d",
        NOTHING,
        "운전면허 driver license licence",
    ),
    rule("ng-nin", "national-id", 11, r"\d{11}", ALONE, "nin national_identi nimc", sums.verhoeff),
    rule("ng-vehicle", "plate", 8, r"[A-Z]{3}[ -]?\d{3}[ -]?[A-Z]{2}", ALONE, _PLATE),
    rule(
        "th-tnin",
        "national-id",
        13,
        rf"[1-8]{_THAI_PROVINCES}\d{{10}}",
        ALONE,
        "thai tnin citizen บัตรประชาชน เลขประจำตัว",
        _tnin,
    ),
    rule("th-tnin", "national-id", 13, rf"[1-8]([ -]){_THAI_PROVINCES}\d\d\1\d{{5}}\1\d\d\1\d", NOTHING, "thai", _tnin),
    rule("tr-national-id", "national-id", 11, r"[1-9]\d{10}", NOTHING, "tc tckn kimlik t.c. turkish", _tr_id),
    rule("tr-tax-number", "tax-id", 10, r"\d{10}", CONTEXT, "vkn vergi", _vkn),
    rule(
        "tr-plate",
        "plate",
        tuple(range(5, 10)),
        # A month in Roman numerals makes it a date: 26 V 2025.
        r"(?!\d\d [IVX]{1,4} (?:19|20)\d\d)"
        r"(?:0[1-9]|[1-7]\d|8[01])([ -]?)(?:[A-Z]\1\d{4,5}|[A-Z]{2}\1\d{3,4}|[A-Z]{3}\1\d{2,4})",
        ALONE,
        _PLATE,
    ),
    rule("ph-tin", "tax-id", (12, 14), r"\d{3}-\d{3}-\d{3}-(?:\d{3}|\d{5})", NOTHING, "tin taxpayer", _ph_tin),
    rule(
        "ph-tin",
        "tax-id",
        (9, 12, 13, 14),
        r"\d{3}([ -]?)\d{3}\1\d{3}(?:[ -]?\d{3,5})?",
        ALONE,
        "tin taxpayer bir",
        _ph_tin,
    ),
    rule("ph-philsys", "national-id", 16, r"\d{4}-\d{4}-\d{4}-\d{4}", CONTEXT, "philsys philid psn"),
    rule(
        "ph-sss",
        "national-id",
        (10, 12),
        r"\d\d-\d{7}-\d|\d{4}-\d{7}-\d|\d\d-\d{9}-\d",
        CONTEXT,
        "sss umid crn philhealth gsis",
    ),
    rule(
        "za-id",
        "national-id",
        13,
        r"\d{6} ?\d{4} ?[012]\d{2}",
        ALONE,
        "rsa south_africa id sa_id identity resident",
        _za_id,
    ),
    rule("cn-resident", "national-id", 18, r"[1-8]\d{5}(?:19|20)\d{9}[\dX]", NOTHING, "身份证 resident", _resident),
    rule("hk-id", "national-id", (8, 9), r"[A-Z]{1,2}\d{6}-?[0-9A]", ALONE, "hkid hong_kong 身份證", _hkid),
    rule("tw-id", "national-id", 10, r"[A-Z][1289]\d{8}", CONTEXT, "taiwan 身分證", _tw_id),
    rule(
        "my-nric",
        "national-id",
        12,
        r"\d{6}-(?:0[1-9]|[1-5]\d|[678]\d|9[0-9])-\d{4}",
        ALONE,
        "mykad nric kad",
        sums.yymmdd,
    ),
    rule("id-nik", "national-id", 16, r"[1-9]\d{15}", CONTEXT, "nik ktp"),
    rule(
        "jp-my-number",
        "national-id",
        12,
        r"\d{4}([ -]?)\d{4}\1\d{4}",
        CONTEXT,
        "マイナンバー my_number 個人番号",
        _my_number,
    ),
    rule("il-id", "national-id", 9, r"\d{8}-?\d", CONTEXT, "teudat zehut israeli זהות", sums.luhn),
)
"""Rules for Asia, Australia and Africa."""
