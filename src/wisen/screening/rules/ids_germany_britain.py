"""Official numbers of Germany and Britain, with their published checks."""

from collections import Counter

from wisen.screening.rules import checksums as sums
from wisen.screening.rules.id_rules import ALONE, CONTEXT, NOTHING, WHOLE, IdRule, rule


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


_AREAS = (
    "(?:A[BL]|B[ABDHLNRST]?|C[ABFHMORTVW]|D[ADEGHLNTY]|E[CHNX]?|F[KY]|G[LUY]?|H[ADGPRSUX]|I[GMPV]|JE|K[ATWY]|L[ADELNSU]?"
    "|M[EKL]?|N[EGNPRW]?|O[LX]|P[AEHLOR]|R[GHM]|S[AEGKLMNOPRSTWY]?|T[ADFNQRSW]|UB|W[ACDFNRSV]?|YO|ZE)"
)
POSTCODE = rf"(?:GIR ?0AA|{_AREAS}[0-9][0-9A-HJKMNPR-Y]? ?[0-9][ABD-HJLNP-UW-Z]{{2}})"
_SERIAL = "[CFGHJKLMNPRTVWXYZ0-9]"
_CARD = f"[CFGHJKLMNPRTVWXYZ]{_SERIAL}{{7}}"
_AUSWEIS = "ausweis personalausweis reisepass pass passnummer passport identity_card id_card"
_UK_PLATE = "vehicle plate registration car reg vrn vrm number_plate"
_KFZ = "kennzeichen kfz fahrzeug auto plate nummernschild"
_STATES = "(?:10|11|2[1-46-8]|3[0-2]|4[01]|5\\d|9\\d)"

GERMANY_BRITAIN: tuple[IdRule, ...] = (
    rule(
        "de-tax-id",
        "tax-id",
        11,
        r"[1-9]\d([ ]?)\d{3}\1\d{3}\1\d{3}",
        ALONE,
        "steuer idnr steuer-id tax_id tin",
        _tax_id,
    ),
    rule("de-tax-id", "tax-id", 11, r"[1-9]\d([ ]?)\d{3}\1\d{3}\1\d{3}", CONTEXT, "steuer-id idnr", sums.mod_11_10),
    rule(
        "de-tax-number",
        "tax-id",
        (9, 10, 11),
        r"\d{2,3}/\d{3,4}/\d{4,5}|\d{5}/\d{5}|\d\d/\d{3}/\d{4}/\d|0?\d\d \d{3} \d{5}",
        ALONE,
        "steuernummer steuer-nr st.-nr tax_number steuer",
    ),
    rule(
        "de-tax-number",
        "tax-id",
        13,
        rf"0[1-9]\d{{11}}|{_STATES}\d{{2}}0\d{{8}}",
        ALONE,
        "steuernummer steuer tax_number",
    ),
    rule(
        "de-tax-number",
        "tax-id",
        (10, 11, 12, 13),
        r"\d{10,13}|\d{2,3}[ /]\d{3,4}[ /]\d{4,5}",
        CONTEXT,
        "steuernummer steuer-nr st.-nr tax_number",
    ),
    rule(
        "de-social-security",
        "national-id",
        12,
        r"\d\d ?\d{6} ?[A-Z] ?\d{3}",
        NOTHING,
        "rentenversicherung sozialversicherung rvnr svnr",
        _social_security,
    ),
    rule(
        "de-health-insurance",
        "national-id",
        10,
        r"[A-Z]\d{9}",
        ALONE,
        "kvnr krankenkasse krankenversicher versichertennummer gesundheitskarte",
        _health_insurance,
    ),
    rule(
        "de-vat-id",
        "tax-id",
        11,
        r"DE([ -]?)\d{3}\1\d{3}\1\d{3}|DE[ -]\d{9}",
        NOTHING,
        "ust ust-id umsatzsteuer vat",
        _vat,
    ),
    rule("de-id-card", "passport", 9, rf"{_CARD}\d", ALONE, _AUSWEIS, sums.icao),
    rule("de-id-card", "passport", 10, rf"{_CARD}{_SERIAL}\d", ALONE, _AUSWEIS, sums.icao),
    rule("de-id-card", "passport", 9, rf"{_CARD}{_SERIAL}", CONTEXT, _AUSWEIS),
    rule(
        "de-driving-licence",
        "driving-licence",
        11,
        r"(?!DE\d{9})[A-Z][A-Z0-9]{3}[A-Z0-9]{5}\d[A-Z0-9]",
        ALONE,
        "führerschein fuehrerschein fahrerlaubnis",
    ),
    rule("de-lanr", "medical-licence", 9, r"\d{9}", ALONE, "lanr arztnummer arzt", _lanr),
    rule("de-bsnr", "medical-licence", 9, r"0[1-3]\d{7}", ALONE, "bsnr betriebsstätte betriebsstaette"),
    rule(
        "de-bsnr",
        "medical-licence",
        9,
        r"(?:0[1-3]|17|20|35|38|46|5[125]|7[1-4]|78|83|88|9[389])\d{7}",
        CONTEXT,
        "bsnr betriebsstätte betriebsstaette",
    ),
    rule(
        "de-handelsregister",
        "company-number",
        tuple(range(4, 12)),
        r"HR[AB][ -]?\d{1,6}(?: ?[A-Z]{1,2})?",
        NOTHING,
        "handelsregister amtsgericht",
    ),
    rule(
        "de-plate",
        "plate",
        tuple(range(3, 10)),
        r"[A-ZÄÖÜ]{1,3}[ -][A-Z]{1,2}[ -]?[1-9]\d{0,3}[EH]?",
        ALONE,
        _KFZ,
    ),
    rule(
        "de-postcode",
        "address",
        5,
        r"(?!010[0-5]|0106[0-6])(?:0[1-9]|[1-9]\d)\d{3}",
        WHOLE,
        "plz postleitzahl wohnhaft postcode anschrift postal_code zip_code",
    ),
    rule("uk-nhs", "national-id", 10, r"\d{3}([ -]?)\d{3}\1\d{4}", ALONE, "nhs national_health", _nhs),
    rule(
        "uk-nino",
        "national-id",
        9,
        r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][ -]?\d\d[ -]?\d\d[ -]?\d\d[ -]?[A-D]",
        NOTHING,
        "nino ni national_insurance",
    ),
    rule("uk-passport", "passport", 9, r"[A-Z]{2}\d{7}", ALONE, "passport travel_document"),
    rule(
        "uk-driving-licence",
        "driving-licence",
        16,
        r"[A-Z]{1,5}9{0,4}(?<=[A-Z9]{5})\d(?:[05][1-9]|[16][0-2])(?:0[1-9]|[12]\d|3[01])\d[A-Z][A-Z9]\d[A-Z]{2}",
        NOTHING,
        "driving licence",
    ),
    rule("uk-plate", "plate", 7, r"[A-HJ-PR-Y]{2}(?:0[2-9]|[12]\d|5[1-9]|[67]\d)[ -]?[A-HJ-PR-Z]{3}", ALONE, _UK_PLATE),
    rule(
        "uk-plate",
        "plate",
        (5, 6, 7),
        r"[A-HJ-NPR-TV-Y]\d{1,3} ?[A-HJ-PR-Y]{3}|[A-HJ-PR-Y]{3} ?\d{1,3} ?[A-HJ-NPR-TV-Y]",
        ALONE,
        _UK_PLATE,
    ),
    rule("uk-plate", "plate", (5, 6, 7), r"[A-Z]{1,3} ?\d{1,4}|\d{1,4} ?[A-Z]{1,3}", CONTEXT, "vrn vrm number_plate"),
    rule("uk-postcode", "address", (5, 6, 7), POSTCODE, ALONE, "postcode post_code address lives", _not_a_size),
    rule("uk-postcode", "address", (5, 6, 7), rf"(?=[^ ]{{2,4}} ){POSTCODE}", NOTHING, "", _not_a_size),
)
"""Rules for Germany and Britain."""
