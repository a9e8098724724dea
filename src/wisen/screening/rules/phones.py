"""Telephone numbers: in international form, in the usual national forms, and bare where the text speaks of one."""

import re
from collections.abc import Iterator

from wisen.screening.rules.id_rules import words
from wisen.screening.rules.sightings import Sighting, in_context, is_list_of_ids, terms

_INTERNATIONAL = re.compile(
    r"(?<![\w+])(?<!\d[.,])(?:\+|00(?=[1-9]\d{0,2}[ .-]))[ ]?"
    r"(?P<digits>[1-9](?:[ .-]?\(0\)|)(?:[ ./-]?[()]?[ ]?\d){7,14})(?![\w])(?!\.\d)"
)
_CODES = terms(
    "20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86",
    "90 91 92 93 94 95 98",
)
_LONG_CODES = re.compile(r"2[1-69]\d|3[578]\d|4[23]\d|5[09]\d|6[789]\d|8[058]\d|9[679]\d")
_LENGTHS = {
    code: (fewest, most)
    for fewest, most, codes in (
        (10, 10, "7 30 52 90 91"),
        (9, 9, "27 31 33 34 41 48 61 351 380"),
        (8, 8, "45 47 65 852"),
        (8, 9, "32 66 972"),
        (9, 10, "44 81 84"),
        (8, 10, "63 82 234"),
        (10, 11, "54 55 86"),
        (6, 11, "39 43 49 62"),
        (7, 9, "46 64"),
    )
    for code in codes.split()
}
"""How many digits follow the country's code, for the most usual ones."""
_AMERICAN = re.compile(
    r"(?<![\w.+-])(?<!\d )(?:\+?1[ .-]?)?(?:\([2-9]\d\d\) ?|[2-9]\d\d(?P<separator>[ .-]))[2-9]\d\d[ .-]\d{4}"
    r"(?![\w])(?![-.]\d)"
)
_TRUNK = re.compile(
    r"(?<![\w.+:-])(?<!\d/)(?:\(0[1-9]\d{0,4}\)|0 ?\([1-9]\d{1,4}\)|0[1-9]\d{0,4})(?:[ /-]{1,2}\d{2,8}){1,5}"
    r"(?![\w])(?![-/.:,]\d)"
)
_DATE = re.compile(r"(?:19|20)\d\d[- ](?:0\d|1[0-2])[- ][0-3]\d|0\d[-/ ]\d\d[-/ ](?:19|20)\d\d|0\d[-/]\d\d[-/]\d\d\b")
_BARE = re.compile(
    r"(?<![\w.+/:-])(?:00[1-9]\d{9,12}|0(?:5|7|9)\d{9}|639\d{9}|[2-9]\d\d[ -]\d{3}(?:[ -]\d\d){2}"
    r"|0[1-9]\d{8,9}|1[3-9]\d{9}"
    r"|\d{3}-\d{4}|\d{5}[ -]\d{5,6}|[2-9]\d{9}|\d{2,4}(?:[ -]\d{2,4}){2,4})(?![\w])(?![-/.:]\d)"
)
_SAFE_ALONE = re.compile(
    r"0(?:5[0-6]|7[1-9]|9[0-9])\d{8}|1[3-9]\d{9}|639\d{9}|5[0-5]\d{8}|[234]\d[02468]\d{7}"
    r"|5[0-5]\d[ -]\d{3}(?:[ -]\d\d){2}"
)
_WORDS = words(
    "phone phones telep telef téléph tel. tel mobile cell cellphone call calls whatsapp sms fax contact dial hotline "
    "teléf portable handy numara numaram cep gsm celular móvil mobil puhelin puh mob ph phone_number "
    "电话 手机 전화 휴대폰 電話 携帯"
)
_MY_NUMBER = re.compile(r"(?i)\bnumber is:? ?\Z|\bnumber: ?\Z")
_FEWEST, _MOST = 9, 15
_AMERICAN_DIGITS = 11


def sight_phones(text: str) -> Iterator[Sighting]:
    """All readings as a telephone number."""
    found = False
    for match in _INTERNATIONAL.finditer(text):
        if _has_country(match["digits"]):
            found = True
            yield Sighting(6, *match.span(), "phone-international", "phone")
    for match in _AMERICAN.finditer(text):
        if match["separator"] not in (" ", ".") or _spoken_of(text, match):
            found = True
            yield Sighting(5, *match.span(), "phone-american", "phone")
    for match in _TRUNK.finditer(text):
        spoken_of = in_context(_WORDS, text, *match.span()) or _after_number_is(text, match)
        sure = spoken_of or is_list_of_ids(text) or not _has_pairs(match.group())
        if sure and _is_national(match.group(), 9 if spoken_of else 10):
            found = True
            yield Sighting(4, *match.span(), "phone-national", "phone")
    yield from _bare(text, beside_another=found)


def _bare(text: str, *, beside_another: bool) -> Iterator[Sighting]:
    """Digits that are a telephone number where the text speaks of one, holds another, or is nothing else."""
    for match in _BARE.finditer(text):
        if _DATE.match(match.group()):
            continue
        if in_context(_WORDS, text, *match.span()):
            yield Sighting(4, *match.span(), "phone-bare", "phone")
        elif _SAFE_ALONE.fullmatch(match.group()) and (
            beside_another or is_list_of_ids(text) or _after_number_is(text, match)
        ):
            yield Sighting(1, *match.span(), "phone-bare", "phone")


def _after_number_is(text: str, match: re.Match[str]) -> bool:
    return _MY_NUMBER.search(text, max(0, match.start() - 12), match.start()) is not None


def _spoken_of(text: str, match: re.Match[str]) -> bool:
    return in_context(_WORDS, text, *match.span()) or is_list_of_ids(text)


def _digits(written: str) -> str:
    return "".join(filter(str.isdigit, written))


def _has_country(written: str) -> bool:
    digits = _digits(written)
    if digits[0] == "1":
        return len(digits) == _AMERICAN_DIGITS and digits[1] > "1" and digits[4] > "1"
    code = next((digits[:size] for size in (1, 2, 3) if digits[:size] in _LENGTHS), None)
    if code is not None:
        fewest, most = _LENGTHS[code]
        return fewest <= len(digits) - len(code) <= most
    return _FEWEST <= len(digits) <= _MOST and (digits[:2] in _CODES or bool(_LONG_CODES.match(digits)))


def _is_national(written: str, fewest: int) -> bool:
    return fewest <= len(_digits(written)) <= 12 and not _DATE.match(written)  # noqa: PLR2004 - a trunk 0 and nine to eleven


def _has_pairs(written: str) -> bool:
    """Groups of two digits alone, as bytes and dates have them too."""
    return all(len(group) <= 2 for group in re.split(r"[ /()-]+", written) if group)  # noqa: PLR2004 - pairs
