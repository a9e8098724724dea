"""What is personal data and what only looks like it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen.screening.personal import find_personal

FOUND = (
    ("e-mail", "Write to anna.schmidt@firma.de about it.", "anna.schmidt@firma.de"),
    ("e-mail", "mailto:bob+news@mail.acme.co.uk", "bob+news@mail.acme.co.uk"),
    ("e-mail", "the login anna@example.com failed", "anna@example.com"),
    ("e-mail", "user@xn--80ak6aa92e.com", "user@xn--80ak6aa92e.com"),
    ("phone", "My number is (415) 555-0132, thanks", "(415) 555-0132"),
    ("phone", "reach us at +44 20 7946 0958.", "+44 20 7946 0958"),
    ("phone", "reach us at +49 (0)30 1234567.", "+49 (0)30 1234567"),
    ("phone", "fax 0171 1234567", "0171 1234567"),
    ("phone", "Telefon: 06 12 34 56 78", "06 12 34 56 78"),
    ("phone", "Birinci: +905321234567, ikinci: 05359876543", "+905321234567"),
    ("phone", "call 2125550187 first", "2125550187"),
    ("phone", "0917-123-4567", "0917-123-4567"),
    ("card", "the card 4012 8888 8888 1881 was charged", "4012 8888 8888 1881"),
    ("card", "it charged 378282246310005 twice", "378282246310005"),
    ("card", "a debit card 4222222222222", "4222222222222"),
    ("IBAN", "pay to GB29 NWBK 6016 1331 9268 19 today", "GB29 NWBK 6016 1331 9268 19"),
    ("IBAN", "pay to de89370400440532013000.", "de89370400440532013000"),
    ("wallet", "sent to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"),
    ("wallet", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"),
    ("wallet", "to 0x" + "52908400098527886E0F7030069857D2E4169EE7", "0x52908400098527886E0F7030069857D2E4169EE7"),
    ("date of birth", "she was born on 12 March 1984 in Ulm", "12 March 1984"),
    ("date of birth", "Geburtsdatum: 12.03.1984", "12.03.1984"),
    ("date of birth", "生年月日 1984年3月12日", "1984年3月12日"),
    ("address", "deliver to 221B Baker Street, please", "221B Baker Street"),
    ("address", "deliver to 12 N. Oak Tree Ave, Springfield, IL 62704", "12 N. Oak Tree Ave, Springfield, IL 62704"),
    ("address", "wohnt Musterstraße 12, 80331 München", "Musterstraße 12, 80331 München"),
    ("address", "12 rue de la Paix, 75002 Paris", "12 rue de la Paix, 75002 Paris"),
    ("address", "Calle de Alcalá 45", "Calle de Alcalá 45"),
    ("address", "Keizersgracht 12", "Keizersgracht 12"),
    ("address", "send it to P.O. Box 1234", "P.O. Box 1234"),
    ("address", "from Springfield, IL 62704 to here", "Springfield, IL 62704"),
    ("address", "nach 10115 Berlin", "10115 Berlin"),
    ("address", "nach D-80331 München", "D-80331 München"),
    ("address", "From SW1A 1AA to here", "SW1A 1AA"),
)
LEFT = (
    *(
        "write to user@example.com",
        "noreply@github.com",
        "git@github.com:org/project.git",
        "logo@2x.png",
        "a @decorator",
    ),
    *("version 1.2.3.4", "on 2024-03-15 at 14:30:00", "2024-03-15T14:30:00.123+05:30", "ISBN 978-3-16-148410-0"),
    *("port 8080", "1700000000000", "1700000000123456789", "20240315143000", "epoch 1710512345", "100.53096491487338"),
    *("commit 8f953371d3e85eddb89b05ed6b9e680791055315", "uuid 123e4567-e89b-12d3-a456-426614174000", "0x7fff5fbff8c0"),
    *(
        "3.141592653589793",
        "0.4532015112830366",
        "RFC 7591 and PEP 484",
        "CVE-2021-44228",
        "error ORA-01017",
        "id 12345",
    ),
    *(
        "2 Google Drive folders",
        "404 Not Found",
        "the 2 best ways",
        "1 to 10 of 100",
        "1,000,000 rows",
        "M2 8GB",
        "C++17",
    ),
    *("from https://github.com/a/b/issues/12345678", "100 chunks of 3,000 tokens", "item B07KLR21K8", "HTTP/1.1 403"),
    *(
        "step 3 of 12 took 1234567 ms",
        "countertop 1 and cabinet 2",
        "01-02-2024 10:30",
        "bytes 01 02 03 04 05",
        "x" * 200,
    ),
    *("4012 8888 8888 1882", "GB29 NWBK 6016 1331 9268 18", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", "+1 123 456 7890"),
    *(
        "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdp",
        "born in the USA 80 times",
        "+63 912 345",
        "GB29",
        "XX29 1234 5678 9012 3456",
    ),
)


@pytest.mark.parametrize(("label", "text", "value"), FOUND)
def test_it_is_found_with_its_place(label: str, text: str, value: str) -> None:
    finding = find_personal(text)[0]

    assert (finding.label, text[finding.start : finding.end], finding.family) == (label, value, "personal")


@pytest.mark.parametrize("text", LEFT)
def test_it_is_left_alone(text: str) -> None:
    assert find_personal(f"Yesterday we noticed: {text} and went on.") == []


def test_a_bare_mobile_number_counts_beside_another_number() -> None:
    assert len(find_personal("Birinci: +905321234567, ikinci: 05359876543")) == 2


def test_markdown_around_a_number_hides_nothing() -> None:
    for around in ("_{}_", "**{}**", "`{}`", '"{}"', "({})", "[{}]", "<b>{}</b>", "x={};"):
        for value in ("4012888888881881", "44051401359", "anna@acme.io", "DE89370400440532013000"):
            text = around.format(value)
            (finding,) = find_personal(text)
            assert text[finding.start : finding.end].strip("_") == value


@given(st.text(st.characters(), max_size=200) | st.text("0123456789 -./:+()@ABCDEXYZabc_٣ßİ\ud800", max_size=60))
def test_any_text_is_taken(text: str) -> None:
    findings = find_personal(text)

    assert all(0 <= finding.start < finding.end <= len(text) for finding in findings)
    assert all(one.end <= other.start for one, other in pairwise(findings))


@given(st.sampled_from(FOUND), st.text(max_size=40), st.text(max_size=40))
def test_lines_around_hide_nothing(found: tuple[str, str, str], before: str, after: str) -> None:
    label, text, _ = found
    whole = f"{before}\n{text}\n{after}"
    start, end = len(before), len(before) + len(text) + 1

    assert any(finding.start < end and finding.end > start for finding in find_personal(whole)), label


def test_placeholders_are_no_data() -> None:
    for label in {label for label, _, _ in FOUND}:
        assert find_personal(f"It is <{label.lower().replace(' ', '-')}-12>, <{label.lower()}-3>; born <x-1>.") == []
    assert find_personal("<e-mail-1> AB1234567") == []


def test_thousands_of_readings_are_settled_one_by_one() -> None:
    text = "078-05-1121 " * 3000

    findings = find_personal(text)

    assert len(findings) == 3000
    assert {text[finding.start : finding.end] for finding in findings} == {"078-05-1121"}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Reach him as bob [at] proton [dot] me.", "e-mail"),
        ("Write to ann.smith (at) mail.example.net", "e-mail"),
        ("dial 00442079460958", "phone-bare"),
        ("SIN 130 692 544", "ca-sin"),
    ],
)
def test_numbers_and_addresses_written_otherwise(text: str, rule: str) -> None:
    assert [one.rule for one in find_personal(text)] == [rule]


@pytest.mark.parametrize("text", ["array [at] index 3", "Meet (at) noon.", "the cell (at) row.column of x"])
def test_what_is_no_address(text: str) -> None:
    assert find_personal(text) == []
