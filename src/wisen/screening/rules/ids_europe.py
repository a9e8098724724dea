"""Official numbers of Europe without Germany and Britain, with their published checks."""

from wisen.screening.rules import checksums as sums
from wisen.screening.rules.id_rules import ALONE, CONTEXT, NOTHING, IdRule, rule

_NIF = "TRWAGMYFPDXBNJZSQVHLCKE"
_HETU = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
"""What the Italian fiscal code counts a digit or letter for in an odd place."""


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


_PASSPORT = "passport pasaporte passaporto paszport passeport passi pass_nr passaporte"
_ID = "dni nif nie identidad identificación identificacion documento cédula cedula"

EUROPE: tuple[IdRule, ...] = (
    rule("es-nif", "national-id", 9, r"\d{8}-?[A-Z]|\d{2}\.\d{3}\.\d{3}-?[A-Z]", NOTHING, _ID, _nif),
    rule("es-nif", "national-id", 8, r"\d{7}-?[A-Z]", ALONE, _ID, _nif),
    rule("es-nie", "national-id", 9, r"[XYZ]-?\d{7}-?[A-Z]", NOTHING, _ID, _nie),
    rule("es-cif", "tax-id", 9, r"[ABCDEFGHJNPQRSUVW]-?\d{7}-?[0-9A-J]", ALONE, "cif nif", _cif),
    rule("es-passport", "passport", 9, r"[A-Z]{3}\d{6}", ALONE, _PASSPORT),
    rule(
        "it-fiscal-code",
        "tax-id",
        16,
        r"[A-Z]{6}[0-9LMNP-V]{2}[ABCDEHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]",
        NOTHING,
        "codice fiscale",
        _fiscal_code,
    ),
    rule(
        "it-fiscal-code",
        "tax-id",
        16,
        r"[A-Z]{6}[0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]",
        ALONE,
        "codice fiscale",
    ),
    rule("it-vat", "tax-id", 13, r"IT[ -]?\d{11}", NOTHING, "iva", _partita_iva),
    rule("it-vat", "tax-id", 11, r"\d(?:[ _-]?\d){10}", ALONE, "iva partita vat piva p.iva", _partita_iva),
    rule(
        "it-driving-licence",
        "driving-licence",
        10,
        r"[A-Z]{2}\d{7}[A-Z]|U1[A-Z0-9]{7}[A-Z]",
        ALONE,
        "patente guida licenza driver",
    ),
    rule("it-passport", "passport", 9, r"[A-Z]{2}\d{7}", ALONE, _PASSPORT),
    rule(
        "it-identity-card",
        "national-id",
        9,
        r"[A-Z]{2} ?\d{5} ?[A-Z]{2}|\d{7}[A-Z]{2}",
        ALONE,
        "carta identità identita cie identity_card",
    ),
    rule("it-identity-card", "national-id", 9, r"[A-Z]{2} ?\d{7}", CONTEXT, "carta identità identita"),
    rule("pl-pesel", "national-id", 11, r"\d{11}", NOTHING, "pesel", _pesel),
    rule("pl-nip", "tax-id", 10, r"\d{3}-\d{3}-\d\d-\d\d|\d{3}-\d\d-\d\d-\d{3}", NOTHING, "nip", _nip),
    rule("pl-nip", "tax-id", 10, r"\d{10}", CONTEXT, "nip vat podatk", _nip),
    rule("pl-regon", "tax-id", 9, r"\d{9}", CONTEXT, "regon", _regon),
    rule("pl-identity-card", "national-id", 9, r"[A-Z]{3} ?\d{6}", ALONE, "dowód dowod dowodu identity_card", _pl_card),
    rule(
        "fi-hetu",
        "national-id",
        (10, 11),
        r"\d{6}[-+ABCDEFYXWVU]\d{3}[0-9A-FHJ-NPR-Y]",
        NOTHING,
        "hetu henkilötunnus",
        _hetu,
    ),
    rule(
        "se-personnummer",
        "national-id",
        (10, 12),
        r"1[89]\d{10}|(?:1[89])?\d{6}[-+]\d{4}",
        NOTHING,
        "personnummer",
        _no_time,
    ),
    rule(
        "se-personnummer",
        "national-id",
        (10, 12),
        r"(?:18|19|20)?\d{6}[-+]?\d{4}",
        ALONE,
        "personnummer pnr samordningsnummer personal_identity",
        _personnummer,
    ),
    rule(
        "se-organisationsnummer",
        "tax-id",
        (10, 12),
        r"(?:16)?[25-9]\d[2-9]\d{3}-?\d{4}",
        ALONE,
        "organisationsnummer orgnummer orgnr org.nr org",
        _organisationsnummer,
    ),
    rule("se-vat", "tax-id", 14, r"SE\d{10}01", NOTHING, "momsnr"),
    rule(
        "fr-nir",
        "national-id",
        15,
        r"[12378] ?\d\d ?(?:0[1-9]|1[0-2]|[2-4]\d|[5-9]\d) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d",
        NOTHING,
        "nir insee sécurité",
        _nir,
    ),
    rule("nl-bsn", "national-id", 9, r"\d{9}|\d{4}[. ]\d\d[. ]\d{3}", CONTEXT, "bsn burgerservicenummer sofi", _bsn),
    rule("nl-vat", "tax-id", 14, r"NL\d{9}B\d\d", NOTHING, "btw"),
    rule("be-nrn", "national-id", 11, r"\d\d\.\d\d\.\d\d-\d{3}\.\d\d", NOTHING, "rijksregister registre", _nrn),
    rule(
        "be-nrn", "national-id", 11, r"\d{11}", CONTEXT, "rijksregister rijksregisternummer registre_national nrn", _nrn
    ),
    rule("dk-cpr", "national-id", 10, r"[0-3]\d[01]\d{3}-?\d{4}", CONTEXT, "cpr cpr-nummer", sums.ddmmyy),
    rule(
        "no-fodselsnummer",
        "national-id",
        11,
        r"\d{6} ?\d{5}",
        NOTHING,
        "fødselsnummer fodselsnummer personnummer fnr",
        _fodselsnummer,
    ),
    rule("ch-ahv", "national-id", 13, r"756\.\d{4}\.\d{4}\.\d\d|756\d{10}", NOTHING, "ahv avs", sums.ean),
    rule(
        "at-svnr",
        "national-id",
        10,
        r"\d{4} ?[0-3]\d[01]\d{3}",
        CONTEXT,
        "svnr sozialversicherung versicherungsnummer",
        _svnr,
    ),
    rule("at-vat", "tax-id", 11, r"ATU ?\d{8}", NOTHING, "uid ust"),
    rule("pt-nif", "tax-id", 9, r"[1-35689]\d\d ?\d{3} ?\d{3}", CONTEXT, "nif contribuinte", _pt_nif),
    rule("ro-cnp", "national-id", 13, r"[1-8]\d{12}", ALONE, "cnp", _cnp),
    rule("cz-rodne-cislo", "national-id", 10, r"\d{6}/\d{4}", NOTHING, "rodné rodne", _rodne_cislo),
    rule("bg-egn", "national-id", 10, r"\d{10}", CONTEXT, "egn егн", _egn),
    rule("ee-isikukood", "national-id", 11, r"[1-6]\d{10}", CONTEXT, "isikukood asmens", _isikukood),
    rule("hr-oib", "national-id", 11, r"\d{11}", CONTEXT, "oib", sums.mod_11_10),
    rule("gr-amka", "national-id", 11, r"\d{11}", CONTEXT, "amka αμκα", sums.luhn),
    rule("ie-pps", "national-id", (8, 9), r"\d{7}[A-W][A-IW]?", ALONE, "pps ppsn", _pps),
)
"""Rules for Europe without Germany and Britain."""
