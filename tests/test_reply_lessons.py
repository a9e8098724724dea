# ruff: noqa: RUF001 - replies in other scripts
"""What lesson is read in a reflector's reply, and what the answer of a reply is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen.replies.answer import answer_in
from wisen.replies.lesson import LONGEST, lesson_in
from wisen.replies.remarks import remarks_in

LESSON = "Check the order history before a refund."

AROUND = [
    "{}",
    "  \n\n{}\n\n",
    "<think>It paid twice. Lesson: pay once?</think>{}",
    "<think>\n</think>\n\n**{}**",
    "It paid twice, so I have to say so.\n</think>\n\n{}",
    "<think>a<think>b</think>c</think>{}",
    "Draft.<think>a</think>That was no good, since it paid.</think>{}",
    "[THINK]It paid twice.[/THINK]{}",
    "<|begin_of_thought|>It paid twice.<|end_of_thought|>{}",
    "<|channel|>analysis<|message|>It paid.<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
    "Thinking...\nIt paid twice.\n...done thinking.\n\n{}",
    "Thought: The agent guessed.\nAnswer: {}",
    "Reasoning:\nIt paid twice.\nIt never looked.\n\nLesson:\n{}",
    "**Reasoning:** It paid twice.\n\n**Lesson:** {}",
    "### Analysis\n\nIt paid twice.\n\n### Lesson\n\n{}\n\n### Why\n\nIt never looked.",
    "**Analysis**\nIt paid twice.\n\n**Lesson**\n{}",
    "The agent paid twice because it never looked.\n\nLesson: {}",
    "Lesson: Pay once.\nFinal lesson: {}",
    "Reasoning: It paid twice.\n\n{}",
    "Draft: Look first.\nFinal: {}",
    "What went wrong: It paid twice.\nWhat to do differently: {}",
    "Lesson: {}\nConfidence: high",
    "Lesson: {}",
    "LESSON - {}",
    "**Lesson**: {}",
    "* **Lesson:** {}",
    "Lesson\n------\n{}",
    "1. {}",
    "1. {}\n2. Pay once.",
    "Here are the lessons:\n1. {}\n2. Pay once.",
    "> {}",
    "```\n{}\n```",
    "```text\nLesson: {}\n```",
    '"{}"',
    "“{}”",
    "« {} »",
    "<lesson>\n{}\n</lesson>",
    "| Reason | Lesson |\n|---|---|\n| It paid twice. | {} |",
    r"\boxed{{{}}}",
    '{{"reason": "It paid twice.", "lesson": "{}"}}',
    "{{'lesson': '{}'}}",
    '```json\n{{"lesson": "{}"}}\n```',
    '["{}"]',
    "Sure! Here's a concise lesson for next time: {}",
    "Sure thing 😊\n\nLesson: {}\n\nHope this helps!",
    "Of course! {}",
    "I apologise for the mistake. {}",
    "Certainly. Based on the transcript, the advice is:\n\n{}",
    "Sluit u aan bij wat ik dacht, dan luidt het zo:\n\n{}",
    "Hier ist die Lektion:\n\n„{}“",
    "Aquí está la lección:\n\n{}",
    "Вот урок:\n\n{}",
    "以下是教训：\n\n{}",
    "以下是教训：{}",
    "もちろんです。教訓は次のとおりです：\n\n「{}」",
    "إليك الدرس:\n\n{}",
    "यहाँ सबक है: {}",
    "The lesson from this failed attempt is: {}",
    "💡 {}",
    "{}\n\nLet me know if you'd like it shorter!",
    "{} I hope this helps.",
    "{}\n\n(This would have avoided the second payment.)",
]


@pytest.mark.parametrize("around", AROUND)
def test_the_lesson_is_read_out_of_what_stands_around_it(around: str):
    assert lesson_in(around.format(LESSON)) == LESSON


SAME = [
    "When a date is ambiguous: ask.",
    "Refunds: check the order history first.",
    "Note: blank lines at the end of an export aren't records.",
    "Next time, open the file as cp1252.",
    "Run `a` before `b`.",
    "`a` before `b`",
    '"Yes" is not "no"',
    "Use 's' and 't'",
    "Strip `</think>` before you parse a reply.",
    "Strip <think> blocks before you parse a reply.",
    'Return an object: {"status": "ok"}',
    "I should have checked the order history.",
    "退款前先检查订单。",
    "Ask when it's unclear: never guess.",
]


@pytest.mark.parametrize("lesson", SAME)
def test_a_lesson_alone_stays_as_it_is(lesson: str):
    assert lesson_in(lesson) == lesson


LINES = [
    (
        "When a customer paid by gift card,\nrefund it as credit.",
        "When a customer paid by gift card, refund it as credit.",
    ),
    ("退款前先检查\n订单。", "退款前先检查订单。"),
    ("When a date is ambiguous:\nask the user.", "When a date is ambiguous: ask the user."),
    ("Before answering, check:\n- the date\n- the sum", "Before answering, check: the date; the sum."),
    ("Before a commit, run this:\n```bash\npytest -x\n```", "Before a commit, run this: pytest -x"),
    ("Check the date.\nIt was wrong.", "Check the date."),
    ("Use this pattern.\n```python\nx = 1\n```", "Use this pattern."),
    ('{"lesson": "Check the ord', "Check the ord"),
]


@pytest.mark.parametrize(("reply", "lesson"), LINES)
def test_lines_belong_together_by_their_structure(reply: str, lesson: str):
    assert lesson_in(reply) == lesson


@pytest.mark.parametrize(
    "reply", ["", " \n", "<think>Check it.", "Check it.</think>", "N/A", "None.", "```\n```", "---", "无"]
)
def test_nothing_is_nothing(reply: str):
    assert lesson_in(reply) == ""


def test_a_lesson_has_a_bound():
    assert len(lesson_in("a " * 1_000)) <= LONGEST


@pytest.mark.parametrize("text", ['{"lesson": "strip </think>"}', json.dumps(["<think>"])])
def test_json_is_left_as_it_is(text: str):
    assert answer_in(text) == text


def test_an_answer_keeps_what_is_no_thought():
    assert answer_in("One.\n<think>x</think>\nTwo.<think/>") == "One.\n\nTwo."
    assert answer_in("One.<!-- x --><details><summary>Why</summary>y</details>") == "One."


def test_remarks_have_no_thoughts_and_no_score():
    assert remarks_in("<think>Too short?</think>score: 0.5\n- It is short.") == ("It is short.",)
    assert remarks_in("FAIL\nThe date is wrong.") == ("The date is wrong.",)
    assert remarks_in("score: 0.7\n- Fail: the comma\n- overall: 90%") == ("Fail: the comma",)


@given(st.text())
def test_any_text_is_read(text: str):
    assert "\n" not in lesson_in(text)
    assert len(lesson_in(text)) <= LONGEST


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a ",
        "<think>",
        "</think>",
        "<think>x</think>",
        "lesson: ",
        "lesson ",
        "- a\n",
        "a\n",
        "a:\n",
        "**",
        "`",
        "'",
        "sure! ",
        "|a",
        '"',
        "{",
        '{"a":',
        "<answer>",
        "<!--",
        "```\n",
        "a. ",
        ": ",
        "的",
        "教训",
        "<|channel|>",
        "(",
        "> ",
    ],
)
def test_a_megabyte_of_anything_is_read(unit: str):
    assert len(lesson_in(unit * (1_000_000 // len(unit)))) <= LONGEST
