"""Readings: what a text says once hidden characters are out and encoded layers decoded."""

import base64
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen.screening.decoding import hidden, readings, visible

SECRET = "Open the second drawer and read the green note."


def encoded_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


ENCODINGS: dict[str, Callable[[str], str]] = {
    "base64": encoded_base64,
    "hex": lambda text: text.encode().hex(),
    "url": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "entities": lambda text: "".join(f"&#{ord(one)};" for one in text),
    "escapes": lambda text: "".join(f"\\u{ord(one):04x}" for one in text),
    "tags": lambda text: "".join(chr(0xE0000 + ord(one)) for one in text),
    "comment": lambda text: f"<!-- {text} -->",
    "reordered": lambda text: f"\u202e{text[::-1]}\u202c",
}


def said(text: str) -> set[str]:
    return {reading.text.strip(" .") for reading in readings(text)}


@pytest.mark.parametrize("how", ENCODINGS)
def test_encoded_parts_are_decoded_and_have_their_place(how: str) -> None:
    part = ENCODINGS[how](SECRET)
    text = f"See this: {part} (end)"
    found = [reading for reading in readings(text) if reading.how == how and SECRET in reading.text]
    assert found
    if how not in ("comment", "reordered", "tags"):
        assert text[found[0].start : found[0].end].strip("()") in (part, part.rstrip("="))
    assert found[0].start >= 10


def test_layers_in_layers_are_decoded() -> None:
    text = SECRET
    for _ in range(4):
        text = encoded_base64(text)
    assert SECRET.strip(".") in said(text)
    assert SECRET.strip(".") in said(quote(encoded_base64(ENCODINGS["entities"](SECRET)), safe=""))


def test_more_layers_than_are_read_are_told() -> None:
    text = SECRET
    for _ in range(9):
        text = encoded_base64(text)
    assert readings(text)[-1].how == "unread"


def test_utf16_is_read() -> None:
    assert SECRET.strip(".") in said(base64.b64encode(SECRET.encode("utf-16-le")).decode())


def test_spaced_letters_become_words() -> None:
    assert "open the drawer" in said("o p e n   t h e   d r a w e r")
    assert "openthedrawer" in said("o.p.e.n.t.h.e.d.r.a.w.e.r")


@pytest.mark.parametrize(
    "written", ["\u043epen", "\uff4fpen", "o\u0301pen", "o\u200bpen", "\U0001d428pen", "\u03bfp\u0435n", "o\u00adpen"]
)
def test_letters_that_look_alike_are_read_as_latin(written: str) -> None:
    assert "open" in said(written)


@pytest.mark.parametrize(
    "text",
    [
        "Plain advice.",
        "Family \U0001f468\u200d\U0001f469\u200d\U0001f467 and heart \u2764\ufe0f and key 1\ufe0f\u20e3",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937",
        "\u05e9\u05dc\u05d5\u05dd\u200f (abc)",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "Write `<!-- prettier-ignore -->` above the table.",
    ],
)
def test_what_a_script_or_an_emoji_needs_is_left(text: str) -> None:
    assert not hidden(text)
    assert visible(text) is text


@pytest.mark.parametrize(
    ("text", "rule", "seen"),
    [
        ("Clo\u00adse it", "hidden-characters", "Close it"),
        ("\ufeffClose it", "hidden-characters", "Close it"),
        ("Clo\u200b\u2060se it", "hidden-characters", "Close it"),
        ("Close\x00 it\x1b[31m", "control-characters", "Close it"),
        ("Close<!-- later --> it", "html-comment", "Close it"),
        ("Close<!<!-- a -->-- b --> it", "html-comment", "Close it"),
    ],
)
def test_hidden_text_is_found_and_taken_out(text: str, rule: str, seen: str) -> None:
    found = hidden(text)
    assert [one.rule for one in found][:1] == [rule]
    assert all(one.family == "hidden" for one in found)
    assert visible(text) == seen


@given(
    st.text() | st.text(st.characters(categories=["Cf", "Cs", "Cc", "Mn", "Lo"])) | st.from_regex(r"(<!|--|>|a){0,30}")
)
def test_visible_text_has_nothing_hidden(text: str) -> None:
    assert not hidden(visible(text))


@given(st.text(max_size=300) | st.text("%&;#x=41\\u0 aQ<!->", max_size=300))
def test_readings_are_bounded_and_in_place(text: str) -> None:
    found = readings(text)
    assert found[0].how == "visible"
    assert sum(len(reading.text) for reading in found) <= 12 * len(text) + 9_000
    assert all(0 <= reading.start <= reading.end <= len(text) for reading in found)


def test_hex_digits_beside_words_are_read() -> None:
    assert SECRET.strip(".") in said(f"call with {SECRET.encode().hex()} failed")
