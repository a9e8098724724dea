"""Every rule for an official number finds a published example, and no number whose check digit is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen.screening.personal import find_personal
from wisen.screening.rules.id_rules import id_rules

EXAMPLES = (
    ("ar-cuit", "20-05536168-2"),
    ("at-svnr", "SVNR 1237 010180"),
    ("at-vat", "ATU13585627"),
    ("au-abn", "83 914 571 673"),
    ("au-acn", "004 085 616"),
    ("au-medicare", "medicare 2123 45670 1"),
    ("au-tfn", "tax file number 123 456 782"),
    ("bank-account", "my bank account number is 94545678"),
    ("be-nrn", "85.07.30-033.28"),
    ("bg-egn", "EGN 7523169263"),
    ("br-cnpj", "16.727.230/0001-97"),
    ("br-cpf", "390.533.447-05"),
    ("ca-sin", "SIN 123-456-782"),
    ("certificate", "certificate number QX-20391"),
    ("ch-ahv", "756.9217.0769.85"),
    ("cl-rut", "12.531.909-2"),
    ("cn-resident", "11010519491231002X"),
    ("cz-rodne-cislo", "710319/2745"),
    ("de-bsnr", "BSNR: 201234568"),
    ("de-driving-licence", "Führerschein B072RRE2I55"),
    ("de-handelsregister", "HRB 86891"),
    ("de-health-insurance", "KVNR A123456780"),
    ("de-id-card", "Ausweis L01X00T471"),
    ("de-lanr", "LANR 123456601"),
    ("de-plate", "Kennzeichen M-AB 123"),
    ("de-plate", "Kennzeichen TÜ-A 7"),
    ("de-postcode", "PLZ 80331"),
    ("de-postcode", "80331"),
    ("de-social-security", "15070649C103"),
    ("de-tax-id", "Steuer-ID 36 574 261 809"),
    ("de-tax-number", "Steuernummer 181/815/08155"),
    ("de-vat-id", "DE136695976"),
    ("dk-cpr", "CPR 211062-5629"),
    ("driving-licence", "driver's license D123-4567-8901-23"),
    ("ee-isikukood", "isikukood 36805280109"),
    ("es-cif", "CIF J99216582"),
    ("es-nie", "X-2482300W"),
    ("es-nif", "54362315-K"),
    ("es-passport", "pasaporte AAB123456"),
    ("fi-hetu", "131052-308T"),
    ("fr-nir", "2 95 10 99 126 111 93"),
    ("gr-amka", "AMKA 01013099997"),
    ("hk-id", "HKID A1234563"),
    ("hr-oib", "OIB 33392005961"),
    ("id-nik", "NIK 3171011708450001"),
    ("ie-pps", "PPS 6433435F"),
    ("il-id", "teudat zehut 039337423"),
    ("imei", "IMEI 490154203237518"),
    ("in-aadhaar", "2341 2341 2346"),
    ("in-gstin", "27AAPFU0939F1ZV"),
    ("in-pan", "ACUPA7085R"),
    ("in-passport", "passport J8369854"),
    ("in-vehicle", "vehicle KA-01-AB-1234"),
    ("in-voter", "voter card WKH1186253"),
    ("it-driving-licence", "patente U1K711J11M"),
    ("it-fiscal-code", "RCCMNL83S18D969H"),
    ("it-identity-card", "carta d'identità CA00000AA"),
    ("it-passport", "passaporto YA1234567"),
    ("it-vat", "IT00743110157"),
    ("jp-my-number", "マイナンバー 1234 5678 9018"),
    ("kr-brn", "116-82-00276"),
    ("kr-driving-licence", "11-22-123456-12"),
    ("kr-frn", "외국인등록 901212-5000008"),
    ("kr-passport", "여권번호 M123A4567"),
    ("kr-rrn", "주민등록 971013-1019902"),
    ("mx-curp", "BOXW310820HNERXN09"),
    ("mx-rfc", "RFC GODE561231GR8"),
    ("my-nric", "MyKad 770305-02-1234"),
    ("ng-nin", "NIN 01234567895"),
    ("ng-vehicle", "plate ABJ-123XY"),
    ("nl-bsn", "BSN 111222333"),
    ("nl-vat", "NL004495445B01"),
    ("no-fodselsnummer", "151086 95088"),
    ("ph-philsys", "PhilSys 1234-5678-9012-3456"),
    ("ph-sss", "SSS 34-1234567-8"),
    ("ph-tin", "TIN 000-123-456"),
    ("pl-identity-card", "dowód ABA300000"),
    ("pl-nip", "856-734-62-15"),
    ("pl-pesel", "44051401359"),
    ("pl-regon", "REGON 192598184"),
    ("pt-nif", "NIF 501 964 843"),
    ("ro-cnp", "CNP 1630615123457"),
    ("se-organisationsnummer", "orgnr 556016-0680"),
    ("se-personnummer", "811218-9876"),
    ("se-vat", "SE123456789701"),
    ("sg-fin", "S9108268C"),
    ("sg-uen", "UEN 00192200M"),
    ("th-tnin", "1-2345-45678-78-1"),
    ("tr-national-id", "17291716060"),
    ("tr-plate", "plaka 34 ABC 1234"),
    ("tr-tax-number", "vergi 4540536920"),
    ("tw-id", "身分證 A123456789"),
    ("uk-driving-licence", "MORGA607054SM9IJ"),
    ("uk-nhs", "NHS 943 476 5919"),
    ("uk-nino", "AB 12 34 56 C"),
    ("uk-passport", "travel document AB1234567"),
    ("uk-plate", "vehicle BD62 XYZ"),
    ("uk-postcode", "EC1A 1BB"),
    ("us-dea-number", "DEA AP5836727"),
    ("us-itin", "ITIN 911-70-1234"),
    ("us-mbi", "1EG4-TE5-MK73"),
    ("us-npi", "NPI 1234567893"),
    ("us-passport", "passport A12803456"),
    ("us-routing-number", "routing 111000025"),
    ("us-ssn", "078-05-1121"),
    ("vin", "VIN 1M8GDM9AXKP042788"),
    ("za-id", "South African ID 7503305044089"),
)
CHECKED = (
    *("44051401359", "17291716060", "151086 95088", "529.982.247-25", "756.9217.0769.85", "2 95 10 99 126 111 93"),
    *("116-82-00276", "83 914 571 673", "11010519491231002X", "BOXW310820HNERXN09", "131052-308T", "54362315K"),
    *("RCCMNL83S18D969H", "15070649C103", "DE136695976", "S9108268C", "856-734-62-15", "20-05536168-2", "X2482300W"),
)
"""Published examples of kinds whose check digit alone decides, in a sentence without a word of context."""


@pytest.mark.parametrize(("rule", "text"), EXAMPLES)
def test_a_published_example_is_found(rule: str, text: str) -> None:
    from wisen.screening.rules.national_ids import sight_ids

    assert rule in {sighting.rule for sighting in sight_ids(text, text.lower())}
    assert len(find_personal(text)) == 1


def test_every_rule_has_an_example() -> None:
    assert {rule.name for rule in id_rules()} == {name for name, _ in EXAMPLES}


@pytest.mark.parametrize("number", CHECKED)
def test_a_strong_check_needs_no_context(number: str) -> None:
    text = f"Yesterday the record for {number} was refused."

    (finding,) = find_personal(text)

    assert text[finding.start : finding.end] == number
    assert finding.family == "personal"


@given(number=st.sampled_from(CHECKED), data=st.data())
def test_with_another_last_digit_it_is_not_that_number(number: str, data: st.DataObject) -> None:
    place = max(place for place, character in enumerate(number) if character.isdigit())
    digit = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != number[place]]))
    text = f"Yesterday the record for {number[:place]}{digit}{number[place + 1 :]} was refused."
    rules = {finding.rule for finding in find_personal(f"Yesterday the record for {number} was refused.")}

    assert not rules & {finding.rule for finding in find_personal(text)}


@pytest.mark.parametrize(
    "text",
    [
        "my tax id 911-89-1234",
        "personnummer 200504422381",
        "Reisepass C01234567 wurde abgelehnt",
        "VAT DE12345678",
        "ein Betrag von 15071349C103",
        "000-05-1121",
        "666-05-1121",
    ],
)
def test_context_does_not_heal_a_wrong_number(text: str) -> None:
    assert not [finding for finding in find_personal(text) if finding.label in ("tax-id", "national-id")]


@pytest.mark.parametrize(
    ("weak", "context"),
    [
        ("A1234567", "passport"),
        ("AB1234567", "passport"),
        ("12345678", "bank account"),
        ("34 ABC 1234", "plaka"),
        ("80331", "Postleitzahl"),
        ("1234567893", "NPI"),
    ],
)
def test_a_weak_form_takes_a_word_of_context(weak: str, context: str) -> None:
    assert not find_personal(f"Yesterday the value {weak} came back again.")
    assert find_personal(f"Yesterday the {context} {weak} came back again.")


@pytest.mark.parametrize("text", ["it is 25 %", "it is 3", "Its id is 77", "Take it is 12", "It is 30."])
def test_a_short_sentence_is_no_number_plate(text: str) -> None:
    assert not find_personal(text)


@pytest.mark.parametrize("text", ["M-AB 123", "M AB 123", "m-ab123", "Kennzeichen m-ab 123", "kennzeichen m ab 123"])
def test_a_number_plate_by_itself_is_as_one_writes_it_or_has_a_word_of_context(text: str) -> None:
    assert [finding.label for finding in find_personal(text)] == ["plate"]


def test_a_text_of_numbers_alone_is_context_enough() -> None:
    assert len(find_personal("S9108268C T7572225C")) == 2
    assert [finding.label for finding in find_personal("AB1234567")] == ["passport"]


def test_one_number_that_fits_several_kinds_is_one_finding() -> None:
    (finding,) = find_personal("NHS number: 943 476 5919")

    assert finding.rule == "uk-nhs"


@pytest.mark.parametrize("text", ["0.44051401359", "1.44051401359.2", "44051401359-1", "9/44051401359"])
def test_a_part_of_a_longer_number_is_not_found(text: str) -> None:
    assert not find_personal(f"Yesterday the value {text} came back again.")
