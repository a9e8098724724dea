import ast
import re
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from secret_samples import Samples

from wisen.protocols import Finding, FindingFamily
from wisen.screening import rules
from wisen.screening.redaction import OTHERS, SECRETS, Redacted, Replacement, redact, redacted_together
from wisen.screening.rules.id_rules import id_rules
from wisen.screening.rules.secret_prefixes import prefix_table
from wisen.screening.rules.tables import table_of
from wisen.screening.secrets import find_secrets

ANY = st.text(st.characters(exclude_categories=()))
"""Any characters, lone surrogates among them."""
PIECES = (
    "password: ",
    "token ",
    "key=",
    '"',
    "@",
    "://",
    "«the password»",
    "«the ",
    "<host-1>",
    "«",
    ">",
    "\n",
    " ",
    "hunter22",
)


def find_hosts(text: str) -> list[Finding]:
    return finder(text, r"\bh\d\.corp\b", "infrastructure", "host")


def find_people(text: str) -> list[Finding]:
    return finder(text, r"\w+@[\w.]+", "personal", "e-mail")


def finder(text: str, pattern: str, family: FindingFamily, label: str) -> list[Finding]:
    return [
        Finding(rule=label, family=family, start=match.start(), end=match.end(), label=label)
        for match in re.finditer(pattern, text)
    ]


def test_a_text_without_findings_is_itself() -> None:
    text = "Read the question twice."
    assert redact(text) == Redacted(text=text)


def test_secrets_get_placeholders_that_can_be_read() -> None:
    first, second = (Samples(seed).prefixed()["stripe"] for seed in (1, 2))
    text = f"The key {first} was revoked; {second} works, {first} doesn't. password: {Samples(1).passwords()['marks']}"
    assert redact(text, [find_secrets]).text == snapshot(
        "The key «the API key» was revoked; «the API key 2» works, «the API key» doesn't. password: «the password»"
    )


def test_personal_data_and_infrastructure_are_numbered() -> None:
    text = "ann@a.org asked bob@b.org on h1.corp and h2.corp; h1.corp answered ann@a.org"
    assert redact(text, [find_people, find_hosts]).text == snapshot(
        "<e-mail-1> asked <e-mail-2> on <host-1> and <host-2>; <host-1> answered <e-mail-1>"
    )


def test_default_detectors_know_all_families() -> None:
    redacted = redact(f"mail ann.smith@mail.example.net, key {Samples(3).prefixed()['github']}, at 10.3.4.5")
    assert {one.family for one in redacted.findings} == {"secret", "personal", "infrastructure"}


def test_numbers_go_on_after_those_in_the_text() -> None:
    value = Samples(4).prefixed()["stripe"]
    text = f"«the API key» and <host-4> are known; {value} and h1.corp aren't."
    assert redact(text, [find_secrets, find_hosts]).text == snapshot(
        "«the API key» and <host-4> are known; «the API key 2» and <host-5> aren't."
    )


def test_the_longest_and_most_specific_finding_names_what_overlaps() -> None:
    def detector(text: str) -> list[Finding]:
        return (
            [
                Finding(rule="random-value", family="secret", start=4, end=10, label="secret"),
                Finding(rule="exact", family="secret", start=4, end=10, label="API key"),
                Finding(rule="short", family="secret", start=2, end=6, label="password"),
            ]
            if text.startswith("0123")
            else []
        )

    assert redact("0123456789abc", [detector]).text == "01«the API key»abc"


def test_a_secret_is_taken_out_wherever_it_stands_again() -> None:
    value = Samples(5).passwords()["word-and-digits"]
    redacted = redact(f"password: {value}\nThen I typed {value}. It failed.", [find_secrets])
    assert value not in redacted.text
    assert redacted.text.count("«the password»") == 2


def test_replacements_rebuild_the_text() -> None:
    text = f"a {Samples(6).prefixed()['github']} b {Samples(7).prefixed()['gitlab']} c"
    redacted = redact(text, [find_secrets])
    assert rebuilt(text, redacted.replacements) == redacted.text
    assert [text[one.end] for one in redacted.replacements] == [" ", " "]


def test_what_a_detector_finds_only_after_redaction_is_taken_out_too() -> None:
    def detector(text: str) -> list[Finding]:
        return finder(text, r"\[\w+\]", "secret", "note") or finder(text, "inner", "secret", "core")

    redacted = redact("x [outer] y inner z", [detector])
    assert redacted.text == "x «the note» y «the core» z"
    assert [(one.start, one.end) for one in redacted.findings] == [(2, 9), (12, 17)]


def test_a_text_that_can_not_be_cleaned_is_taken_out_as_a_whole() -> None:
    def detector(text: str) -> list[Finding]:
        return finder(text, "[a-z](?=[a-z]* end)", "secret", "note")[:1]

    assert redact("abcdefghijklmnop end", [detector]).text == "«the secret»"


@pytest.mark.parametrize("kind", Samples(0).formed())
def test_known_forms_are_gone_and_nothing_is_left_to_find(kind: str) -> None:
    text, secret = Samples(8).formed()[kind]
    redacted = redact(text)
    assert secret not in redacted.text
    assert find_secrets(redacted.text) == []


@settings(max_examples=200)
@given(ANY, ANY, st.integers(0, 2**32), st.sampled_from(sorted(Samples(0).prefixed())))
@example("public key: ", "...", 1, "github")
@example("data:image/png;base64,", "", 2, "stripe")
@example("", "²", 273008, "telegram")
@example("", "", 68762, "huggingface")
def test_a_planted_secret_is_gone(before: str, after: str, seed: int, kind: str) -> None:
    assume(not re.match(r"[\w-]", after, re.ASCII))  # a token that goes on is another token
    secret = Samples(seed).prefixed()[kind]
    assert secret not in redact(f"{before} {secret}{after}", [find_secrets]).text


@settings(max_examples=200)
@given(ANY | st.lists(st.sampled_from(PIECES)).map("".join))
def test_twice_is_once_and_the_rest_stays(text: str) -> None:
    redacted = redact(text)
    assert rebuilt(text, redacted.replacements) == redacted.text
    assert redact(redacted.text).text == redacted.text
    assert all(0 <= one.start < one.end <= len(text) for one in redacted.findings)


@pytest.mark.parametrize("form", ["«the {}»", "«the {} 2»", "<{}-1>", "see «the {}», please", "password: <{}-12>"])
def test_what_only_looks_like_a_placeholder_is_none(form: str) -> None:
    samples = Samples(11)
    for secret in (samples.prefixed()["aws"], samples.prefixed()["stripe"], "x" + samples.draw("0123456789abcdef", 20)):
        text = form.format(secret)
        if "_" in secret or form.startswith("password") or secret.startswith("AKIA"):
            assert secret not in redact(text).text, form


@pytest.mark.parametrize("number", ["4111 1111 1111 1111", "219-45-6789"])
def test_numbers_of_persons_in_the_form_of_a_placeholder_are_found(number: str) -> None:
    assert number not in redact(f"card and SSN: «the {number}»").text


def test_placeholders_of_every_name_that_rules_give_are_left_alone() -> None:
    for label in sorted(SECRETS):
        assert redact(f"password: «the {label}», token=«the {label} 2»").findings == ()
    for label in sorted(OTHERS):
        name = "-".join(re.split("[^a-z]+", label.lower()))
        assert redact(f"see <{name}-1> and <{name}-2>@<host-3>").findings == ()


def test_names_of_placeholders_are_those_that_rules_give() -> None:
    """A rule with a name that isn't in the list would have its own placeholders searched again."""
    given_names: set[str] = {rule.label for kinds in prefix_table().rules.values() for rule in kinds}
    given_names |= {rule.label for rule in id_rules()}
    given_names |= {row["label"] for row in table_of("forms.toml")["form"]}
    for file in Path(str(rules.__file__)).parent.glob("*.py"):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                labels = call.args[-1:] if call.func.id == "Sighting" else []
                labels += [keyword.value for keyword in call.keywords if keyword.arg == "label"]
                given_names |= {str(one.value) for one in labels if isinstance(one, ast.Constant)}
    assert given_names
    assert given_names <= SECRETS | OTHERS


def rebuilt(text: str, replacements: tuple[Replacement, ...]) -> str:
    pieces: list[str] = []
    at = 0
    for one in replacements:
        assert at <= one.start < one.end
        pieces += text[at : one.start], one.text
        at = one.end
    return "".join((*pieces, text[at:]))


def test_texts_redacted_together_are_as_many_as_before_and_share_their_placeholders() -> None:
    address, token = "ann.miller@example.org", Samples(3).prefixed()["github"]
    texts = [f"Ask {address}.", "", f"token: {token}", "and then", f"{address}, or", "nobody@example.com"]
    cleaned = redacted_together(texts)
    assert len(cleaned) == len(texts)
    assert "\n".join(cleaned) == redact("\n".join(texts)).text
    assert (cleaned[1], cleaned[3]) == ("", "and then")
    assert cleaned[0].removeprefix("Ask ").rstrip(".") == cleaned[4].removesuffix(", or")
    assert redacted_together([]) == []


def test_what_reaches_from_one_text_into_the_next_is_taken_out_of_both() -> None:
    key = [
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEA7bq0",
        "h3kZx9vQ2LmN8sTfYw1c",
        "-----END RSA PRIVATE KEY-----",
    ]
    cleaned = redacted_together(["before", *key, "after"])
    assert (cleaned[0], cleaned[-1], len(cleaned)) == ("before", "after", 6)
    assert "".join(cleaned[1:-1]) == redact("\n".join(key)).text
