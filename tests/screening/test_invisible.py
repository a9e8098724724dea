"""Reviewers see what nobody else sees."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen.explain.wording import clean, line
from wisen.screening.invisible import unveiled


def shown(code: int) -> str:
    return f"\u2039U+{code:04X}\u203a"


@pytest.mark.parametrize(
    "code", [0x0, 0x8, 0x1B, 0x7F, 0x85, 0xAD, 0x200B, 0x200F, 0x202E, 0x2028, 0x2066, 0xFEFF, 0xE0041, 0xD800, 0xD]
)
def test_what_is_invisible_or_steers_is_shown(code: int) -> None:
    assert unveiled(f"Re{chr(code)}ad") == f"Re{shown(code)}ad"
    assert clean(f"Re{chr(code)}ad") == f"Re{shown(code)}ad"
    assert line(f"Re{chr(code)}ad", 100) == f"Re{shown(code)}ad"


@pytest.mark.parametrize(
    "text",
    [
        "Plain\nadvice.",
        "Family \U0001f468\u200d\U0001f469\u200d\U0001f467 and heart \u2764\ufe0f",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    ],
)
def test_what_is_needed_is_left(text: str) -> None:
    assert unveiled(text) is text


def test_marks_that_turn_the_writing_are_shown_even_if_needed() -> None:
    assert unveiled("\u05e9\u05dc\u05d5\u05dd\u200f (abc)") == f"\u05e9\u05dc\u05d5\u05dd{shown(0x200F)} (abc)"


@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Lu"])))
def test_nothing_that_steers_is_printed(text: str) -> None:
    said = clean(text)
    assert all(one == "\n" or unicodedata.category(one) not in ("Cc", "Cs", "Zl", "Zp") for one in said)
    assert not any(one in said for one in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
