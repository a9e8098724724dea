"""The control of experiments: advice as long as another, which says nothing."""

import pytest

from wisen.advice.placebo import FILLER_ANSWER, emptied, filler
from wisen.records import Advice

LINE = "This line holds no information and was put here for its length alone. "


@pytest.mark.parametrize(
    ("characters", "text"),
    [
        (0, ""),
        (4, "This"),
        (5, "This"),
        (70, LINE.strip()),
        (74, f"{LINE}This"),
        (139, f"{LINE}{LINE}".strip()),
        (144, f"{LINE}{LINE}This"),
    ],
)
def test_a_filler_is_as_long_as_asked_but_for_blanks(characters: int, text: str) -> None:
    assert len(LINE) == 70
    assert filler(characters) == text


def test_turns_keep_their_number_and_length_or_move_to_the_system_prompt() -> None:
    advice = Advice(section="Ask first.", turns=(("x" * 30, "42"), ("y" * 9, "a lift")))
    turns = emptied(advice, as_turns=True)
    assert turns == Advice(section="Ask first.", turns=((filler(30), FILLER_ANSWER), (filler(9), FILLER_ANSWER)))
    assert FILLER_ANSWER == "Noted."
    assert emptied(advice, as_turns=False) == Advice(section=filler(30 + 2 + 9 + 6))
