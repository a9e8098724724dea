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


LABELLED = [
    "Error: 404 means the page is gone; ask for the new address.",
    "Root cause: the port was guessed. Ask the API for it.",
    "Summary: quote every name with a comma in it.",
    "Plan: read the header, then the rows.",
    "Reason: the date was wrong. Use ISO dates.",
    "Context: invoices. Use code R7.",
    "Problem: the agent guessed. Solution: ask the API.",
    "What went wrong: the file was opened as UTF-8; open it as cp1252.",
    "Diagnose: geraten statt gefragt; frag die API.",
    "理由：日期写错了，用ISO格式。",
]


@pytest.mark.parametrize("lesson", LABELLED)
def test_what_is_called_a_thought_is_the_lesson_where_it_is_all_there_is(lesson: str):
    assert lesson_in(lesson) == lesson
    assert lesson_in(f"{lesson}\nConfidence: high") == lesson
    assert lesson_in(f"**{lesson}**\n\nLesson: Ask first.") == "Ask first."


@pytest.mark.parametrize("reply", ["Score: 0.3", "Confidence: high", "Reasoning:"])
def test_a_label_with_no_sentence_is_no_lesson(reply: str):
    assert lesson_in(reply) == ""


NO_MARKS = [
    "Wrap the final result in <answer> and </answer> tags.",
    "Close each <answer> tag with </answer>.",
    "Put <result>42</result> around a number.",
    "<answer> and </answer> must stand around the number.",
    "Never put <final> inside a table.",
]


@pytest.mark.parametrize("lesson", NO_MARKS)
def test_tags_in_a_sentence_are_spoken_about(lesson: str):
    assert lesson_in(lesson) == lesson


@pytest.mark.parametrize(
    "around",
    [
        "My advice: <answer>{}</answer>",
        "So my lesson is <lesson>{}</lesson>",
        "It paid twice. <lesson>{}</lesson> Good luck!",
    ],
)
def test_tags_where_an_answer_begins_are_its_marks(around: str):
    assert lesson_in(around.format(LESSON)) == LESSON


GOES_ON = [
    ("Run `a`:\n\n    git pull\n\nthen push.", "Run `a`: git pull then push."),
    ("Replace\n```\nfoo\n```\nby\n```\nbar\n```", "Replace foo by bar"),
    ("When it says\n```python\nx = 1\n```\nset y instead.\n\nIt helps.", "When it says x = 1 set y instead."),
    ("Before a push, run:\n```sh\ngit pull\n```\nThen push.", "Before a push, run: git pull"),
    ("When: dates vary\nThen: use ISO", "When: dates vary; Then: use ISO"),
    ("If: the list is empty.\nDo: return 0.\nAvoid: null.", "If: the list is empty. Do: return 0. Avoid: null."),
    ("はい、わかりました。\n\n日付はISOで書く。", "日付はISOで書く。"),
    ("Sure, no problem!\n\nUse ISO dates.", "Use ISO dates."),
]


@pytest.mark.parametrize(("reply", "lesson"), GOES_ON)
def test_a_sentence_goes_on_through_code_and_fields(reply: str, lesson: str):
    assert lesson_in(reply) == lesson


NONE = [
    '{"lesson": null}',
    '{"lesson": ""}',
    '```json\n{"lessons": []}\n```',
    '{"lesson": null, "reason": "the answer was right"}',
    "{'lesson': None}",
    "No lesson to learn.",
    "No lesson needed.",
    "**No new lesson.**",
    "Lesson: no further advice.",
    "There is no lesson here.",
    "Lesson: -",
    "I can't determine what went wrong.",
    "I'm sorry, but I can't help with that.",
    "Unfortunately, I am unable to identify the mistake.",
    "As an AI language model, I cannot.",
    "I don't know.",
    "I don't have enough information to say what to change.",
]


@pytest.mark.parametrize("reply", NONE)
def test_a_reply_without_a_lesson_gives_none(reply: str):
    assert lesson_in(reply) == ""


SOME = [
    "No tickets may be closed without a reason code.",
    "No answer is better than a guess.",
    "None of the rows may be skipped.",
    "Nothing should be deleted before the backup.",
    "No, the port is 8080.",
    "I can't tell dates without a year apart, so ask for it.",
    "I don't know the rate; look it up.",
]


@pytest.mark.parametrize("lesson", SOME)
def test_a_lesson_may_begin_with_no(lesson: str):
    assert lesson_in(lesson) == lesson


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
    assert remarks_in("score: 0.7\n- Fail: the comma\n- Only 9/10 rows.") == ("Fail: the comma", "Only 9/10 rows.")


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
        "when: a\n",
        "no lesson ",
        "sure, ",
        "error: a b\n",
        "run:\n\n    a\n\nthen b\n",
        "```\na\n```\nb\n",
    ],
)
def test_a_megabyte_of_anything_is_read(unit: str):
    assert len(lesson_in(unit * (1_000_000 // len(unit)))) <= LONGEST
