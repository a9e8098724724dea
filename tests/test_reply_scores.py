# ruff: noqa: RUF001 - replies in other scripts
"""What score is read in a judge's reply."""

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen.replies.numbers import western
from wisen.replies.reply_words import folded, words
from wisen.replies.score import score_in

READABLE = [
    ("0.85", 0.85),
    ("0.85.", 0.85),
    ("1", 1.0),
    ("0", 0.0),
    ("1.0", 1.0),
    ("**0.85**", 0.85),
    ("85%", 0.85),
    ("85 %", 0.85),
    ("8/10", 0.8),
    ("8.5 / 10", 0.85),
    ("score: 8/10", 0.8),
    ("Score: 85%", 0.85),
    ("score: 85 percent", 0.85),
    ("score = .9", 0.9),
    ("score:0,85", 0.85),
    ("score: 0,850", 0.85),
    ("SCORE - 0.5", 0.5),
    ("score: 1", 1.0),
    ("score: 0", 0.0),
    ("score is 0.3", 0.3),
    ("score: ~0.8", 0.8),
    ("score: approximately 0.8", 0.8),
    ("Score (0-1): 0.85", 0.85),
    ("Score [0, 1]: 0.85", 0.85),
    ("Score (out of 10): 8", 0.8),
    ("Score (0-10): 8", 0.8),
    ("Score (0-10): 80%", 0.8),
    ("Score between 0 and 1: 0.6", 0.6),
    ("Rating - 4 out of 5", 0.8),
    ("Rating: 4 of 5", 0.8),
    ("score: four out of five", 0.8),
    ("Grade: 0.7", 0.7),
    ("**Score:** 0.85", 0.85),
    ("**Score: 0.85**", 0.85),
    ("## Score: 0.85\n\nGood.", 0.85),
    ("### Score\n\n0.85\n\nGood.", 0.85),
    ("Score:\n1\n\nIt does all that was asked.", 1.0),
    ("- Score: 0.4\n- Justification: no", 0.4),
    ("| Score | 0.85 |", 0.85),
    ("| Criterion | Score |\n|---|---|\n| Accuracy | 0.9 |\n| **Overall** | 0.85 |", 0.85),
    ("| Score |\n|---|\n| 0.85 |", 0.85),
    ('{"score": 0.85}', 0.85),
    ('{"score": 1, "reason": "fine"}', 1.0),
    ('{"score": "8/10"}', 0.8),
    ('{"reason": "the \\"score: 0.9\\" line", "score": 0.4}', 0.4),
    ('{"overall_score": 0.5, "criteria": {"score": 0.9}}', 0.5),
    ('{"evaluation": {"score": 0.5}}', 0.5),
    ('```json\n{"score": 0.85}\n```', 0.85),
    ('Here is my verdict in the requested shape:\n```json\n{\n  "score": 0.85,\n  "reason": "ok"\n}\n```', 0.85),
    ('My verdict: {"score": 0.85, "reason": "ok"}', 0.85),
    ("{'score': 0.85}", 0.85),
    ('{"score": 0.85, "reason": broken', 0.85),
    ("<score>0.85</score>", 0.85),
    ("`score: 0.85`", 0.85),
    ("```\nscore: 0.85\n```", 0.85),
    ("> score: 0.85", 0.85),
    ("I give it 0.7", 0.7),
    ("I'd give this answer a 7/10.", 0.7),
    ("I would rate it 70%.", 0.7),
    ("I'd say 0.7", 0.7),
    ("The capital is right, but not the year. 6/10", 0.6),
    ("I'd call this a 7 out of 10.", 0.7),
    ("The answer deserves a 0.7.", 0.7),
    ("0.7 is my score", 0.7),
    ("0.7 would be the final score.", 0.7),
    ("I give it a score of 0.7 because it is short.", 0.7),
    ("My score is 0.7.", 0.7),
    ("0.85 - mostly right", 0.85),
    ("0.85 because a gap remains", 0.85),
    ("The answer is right.\n\n0.85", 0.85),
    ('The format is `score: <number>`, e.g. "score: 0.9".\nscore: 0.4', 0.4),
    ("For example:\n```\nscore: 0.9\n```\nscore: 0.4", 0.4),
    ("e.g. score: 0.9\nscore: 0.4", 0.4),
    ("The output itself claims “score: 1.0”.\nscore: 0.1", 0.1),
    ("The output says 'score: 1.0'.\nscore: 0.1", 0.1),
    ("score: 0-1\nscore: 0.4", 0.4),
    ("Accuracy: 0.9\nClarity: 0.5\nscore: 0.7", 0.7),
    ("Accuracy score: 0.9\nClarity score: 0.5\nOverall score: 0.7", 0.7),
    ("score: 0.6\nI scored it 0.6 as said; overall: 0.6", 0.6),
    ("score: 0.85\n\nPython 3.11 was asked for in 2024; 3 of 4 tests pass, 0.5 s each.", 0.85),
    ("score: 0.8 - 3 issues found", 0.8),
    ("The passing score is 0.8. score: 0.6", 0.6),
    ("\uff53\uff43\uff4f\uff52\uff45\uff1a \uff10\uff0e\uff18\uff15", 0.85),
    ("score: 0.85\r\nfine", 0.85),
]

UNREADABLE = [
    "",
    "   ",
    "The answer is good.",
    "score: <number>",
    "score: nan",
    "score: inf",
    "score: N/A",
    "nan",
    '{"score": NaN}',
    '{"score": null}',
    '{"score": true}',
    '{"score": 8}',
    '{"score": "good"}',
    '{"verdict": "good"}',
    '{"a": {"score": 0.1}, "b": {"score": 0.2}}',
    '{"score": -0.1}',
    "score: -0.2",
    "-0.2",
    "score: 1.2",
    "1.2",
    "score: 120%",
    "120%",
    "score: 8",
    "8",
    "I give it 8",
    "score: 85",
    "score: 12/10",
    "score: 3/0",
    "score: 1,000",
    "score: 0.8-0.9",
    "score: 0.8 to 0.9",
    "score: 0 to 1",
    "score: 0-1",
    "score: > 0.8",
    "score: 2024-01-31",
    "score: 1/2/2024",
    "score: 0.5.3",
    "score: 0.4\nscore: 0.9",
    "score: 0.9\nscore: 0.4\nFinal score: 0.6",
    "Final score: 0.4\nOverall score: 0.9",
    "score: 0.4\nscore: 8",
    "I give it 0.4. I give it 0.9.",
    "Written for Python 3.11.",
    "Published in 2024.",
    "This is step 2 of 5.",
    "3/4 tests pass and 85% of lines are covered.",
    "The function gives 0.5 when called.",
    "The error rate is 0.1.",
    "The total is 12. 3 of 4 rows are right. The rest: 0.5 each.",
    "It is short.\nIt is dull. 0.7\nIt is late.",
    "The passing score is 0.8.",
    "Accuracy: 0.9\nClarity: 0.5",
    "1. The answer is short.\n2. It is right.",
    "1) good",
    'I can\'t judge. The format is "score: 0.9".',
    "I can't judge. The format would be, for example:\n```\nscore: 0.9\n```",
    "[" * 5_000,
    '{"a":' * 5_000,
]


@pytest.mark.parametrize(("text", "score"), READABLE)
def test_a_stated_score_is_read(text: str, score: float):
    found = score_in(text)
    assert found is not None
    assert math.isclose(found, score, abs_tol=1e-9)


@pytest.mark.parametrize("text", UNREADABLE)
def test_no_score_in_range_and_beyond_doubt_is_unknown(text: str):
    assert score_in(text) is None


ELSEWHERE = [
    ("\u0660\u066b\u0668", 0.8),
    ("\u0627\u0644\u0646\u062a\u064a\u062c\u0629: \u0668/\u0661\u0660", 0.8),
    ("\u0661\u0660\u0660\u066a", 1.0),
    ("\u06f0\u066b\u06f7\u06f5", 0.75),
    ("\u096c/\u0967\u0966", 0.6),
    ("score: \u0be6.\u0bee", 0.8),
    ("คะแนน: ๐.๘", 0.8),
    ("\u0661", 1.0),
    ("score: \u0966", 0.0),
    ("½", 0.5),
    ("0·8", 0.8),
    ("评分：8/10。理由：很好", 0.8),
    ("スコアは0.8です", 0.8),
    ("점수: 0.8점", 0.8),
    ("总分：85/100", 0.85),
    ("Bewertung: 8 von 10", 0.8),
    ("70 von 100 Punkten", 0.7),
    ("Note : 16/20", 0.8),
    ("Оценка: 8 из 10", 0.8),
    ("Note: 3 of 4 tests pass", None),
    ("★★★★☆", 0.8),
    ("★★★★", None),
    ("4 stars out of 5", 0.8),
    ("4/5 stars", 0.8),
    (r"\boxed{0.7}", 0.7),
    ("~~0.9~~ 0.4", 0.4),
    ("Score: 7 (on a scale of 1 to 10)", 0.7),
    ("On a scale of 1 to 10, I'd give it a 7.", 0.7),
    ("On a scale from 0 to 1: 0.55", 0.55),
    ("10/10!", 1.0),
    ("score 0.8", 0.8),
    ("Final score 7/10", 0.7),
    ("Anything above 0.7 is fine. This one gets 0.9.", 0.9),
    ("It gets 4 out of 6 amounts right.", None),
    ("The invoice total is 357.00 EUR.\n\nscore: 0.1", 0.1),
    ("<answer>0.7</answer>", 0.7),
]


@pytest.mark.parametrize(("text", "score"), ELSEWHERE)
def test_other_scripts_languages_and_forms(text: str, score: float | None):
    found = score_in(text)
    assert found == (score if score is None else pytest.approx(score))


def test_digits_of_all_scripts_become_western():
    assert western("\u0661\u066b\u0968 \u0e53\u066a") == "1.2 3%"


THOUGHTS = [
    ("<think>Maybe 0.7? The date is wrong; score: 0.5.</think>\n0.4", 0.4),
    ("<think>\nScore: 0.9\n</think>\n\nscore: 0.3", 0.3),
    ("4 of 6 are right, so 0.67?\nscore: 0.6</think>\nscore: 0.7", 0.7),
    ("<think>score: 0.9", None),
    ("score: 0.2\n<think>Was that fair? score: 0.9", 0.2),
    ("Reasoning: I'd give it 0.7 at first sight.\nscore: 0.5", 0.5),
    ("Thought: 0.9 is too much.\nAnswer: 0.5", 0.5),
    ("Thought: I rate it 0.9.\nAnswer: 0.5", 0.5),
    ("Reasoning: I give it 0.7.", 0.7),
    ("<|channel|>analysis<|message|>score: 0.2<|end|><|start|>assistant<|channel|>final<|message|>score: 0.8", 0.8),
]


@pytest.mark.parametrize(("text", "score"), THOUGHTS)
def test_thoughts_do_not_count(text: str, score: float | None):
    assert score_in(text) == score


VERDICTS = [
    ("PASS", 1.0),
    ("**FAIL**", 0.0),
    ("fail.", 0.0),
    ("Verdict: PASS", 1.0),
    ("Verdict: ✅ PASS", 1.0),
    ("Result: pass", 1.0),
    ("FAIL: the date is wrong.", 0.0),
    ("The sum is right.\n\nPASS", 1.0),
    ("3/4 tests pass.\nPASS", 1.0),
    ("The date is wrong. Verdict: FAIL", 0.0),
    ("Final verdict: FAIL. Had it cited the source it would pass.", 0.0),
    ("Yes", 1.0),
    ("no", 0.0),
    ("Pass? No", 0.0),
    ("Correct: yes", 1.0),
    ("<answer>PASS</answer>", 1.0),
    ("合格", 1.0),
    ("判定：不合格", 0.0),
    ("nicht bestanden", 0.0),
    ("not acceptable", 0.0),
    ('{"verdict": "PASS"}', 1.0),
    ('{"pass": false, "reason": "short"}', 0.0),
    ("I would pass it if the date were right.", None),
    ("It would pass if the date were right.", None),
    ("The tests pass.", None),
    ("I think this should PASS.", None),
    ("Not a pass.", None),
    ("No, the date is wrong.", None),
    ("No issues found.", None),
    ("The answer is correct.", None),
    ("Verdict: PASS or FAIL", None),
    ("PASS/FAIL", None),
    ("Passed: 3\nFailed: 1", None),
    ("PASS\n\nFAIL", None),
    ('The output says "PASS" but is wrong.\n\nFAIL', 0.0),
    ("Verdict: PASS\nscore: 0.2", None),
    ("score: 0.9\nVerdict: FAIL", None),
    ('{"score": 0.9, "verdict": "FAIL"}', None),
    ("Verdict: FAIL\nscore: 0.2", 0.2),
    ("Verdict: PASS\nscore: 0.9", 0.9),
    ("score: 0.8\nNo", 0.8),
    ("> PASS\n\nFAIL", 0.0),
    ("Does it cite sources?\nNo\nscore: 0.8", 0.8),
]


@pytest.mark.parametrize(("text", "score"), VERDICTS)
def test_a_verdict_counts_alone_or_labelled_and_never_in_a_sentence(text: str, score: float | None):
    assert score_in(text) == score


CONTRADICTIONS = [
    "score: 0.8 (75%)",
    "score: 0.8 → 0.6",
    "I rate it 0.5; no, 0.7.",
    "0.2\n0.7",
    '{"score": 0.2, "rating": 0.9}',
    '{"score": 0.2, "final_score": 0.9}',
    '{"score": 0.2}{"score": 0.9}',
    "score: 7/10\nscore: 0.4",
    "score: 0.6/0.8",
    "Between 0.6 and 0.8",
]


@pytest.mark.parametrize("text", CONTRADICTIONS)
def test_numbers_that_contradict_each_other_are_unknown(text: str):
    assert score_in(text) is None


def test_numbers_that_agree_are_one():
    assert score_in("score: 0.8 (= 80%)\nscore: 8/10") == 0.8
    assert score_in('{"score": 8, "max": 10, "rating": "80%"}') == 0.8


BELOW = [
    "- overall: 90% of the rows are missing",
    "Final: 9/10 wrong",
    "The overall score: 0.95 in the report is made up",
    "- The final score is 3/4 in the game, and the answer says 2/4.",
    "- grade: 5/5 is claimed, but nothing shows it",
    "- 100% of the sources are dead links",
    "Overall, 9/10 sections are empty.",
    "The score would be 1.0 if it named the port.",
    "To get a score of 1.0, name the port.",
    "A rating of 5/5 needs a source.",
    "I'd give it 0.9 with a source.",
    "With a source I'd give it 0.9.",
    "I would have given 1.0 if the source had been named.",
    "- No source for 0.9.",
    "- expected 0.9, got 0.4.",
    "- Total score: 48 of 50 points is what the quiz says",
    "Correct: the date",
    "Incorrect: only the year.",
    "Fail: minor formatting",
    "FAIL - the header",
    "- Correct: the date. Wrong: the port.",
    "- PASS: date\n- FAIL: port",
    "- the status says: passed",
    "Accuracy score: 0.9",
    "| Criterion | Score |\n|---|---|\n| Overall | 0.9 |",
]


@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("score", [0.2, 0.7])
def test_below_the_asked_line_stand_shortcomings(score: float, below: str):
    assert score_in(f"score: {score}\n{below}") == score
    assert score_in(f"**Score: {score}**\n\n{below}\n- It is short.") == score


def test_the_asked_line_may_give_its_reason_and_come_after_thoughts():
    assert score_in("score: 0.2 - most of it is missing\nFinal: 9/10 wrong") == 0.2
    assert score_in("I'd say 0.9 for the style.\nscore: 0.2\nOverall: 2 of 10 fields") == 0.2


TAKEN_BACK = [
    "score: 0.2\nscore: 0.9",
    "score: 0.2\nNo source.\n**Score:** 9/10",
    "score: 0.2\nFinal score: 0.9",
    "score: 0.9\nOverall: 20%",
    "score: 0.9\nWait, the date is wrong. 0.2",
    "score: 0.9\n\nWait, actually 0.2",
    "score: 0.9\nOn second thought: 4/10, since the date is wrong.",
    "score: 0.9\nThe date is wrong.\n0.2",
    "score: 0.9\nMy final score is 0.2.",
    "score: 0.9\nActually, I'd give it 0.2.",
    "score: 0.9\nThe date is wrong. I'd rather give it a 0.2.",
    "score: 0.9\nCorrected: 0.2",
    "score: 0.9\n\nEdit: score: 0.4",
    "score: 0.9, no, 0.3\nThe date is wrong.",
    "score: 0.9\nThe date is wrong. FAIL",
    "score: 0.9\nFAIL.",
    "score: 0.3\nVerdict: PASS, since it tried",
    "score: 0.3\nResult: pass",
    "FAIL: the date is wrong.\nscore: 0.9",
]


@pytest.mark.parametrize("text", TAKEN_BACK)
def test_an_asked_line_that_is_taken_back_is_unknown(text: str):
    assert score_in(text) is None


def test_an_asked_line_in_code_does_not_overrule_what_is_said_outside():
    assert score_in("```\nscore: 0.7\n```\nThe date is wrong.") == 0.7
    assert score_in("> score: 1.0\nThat is what the output says. I give it 0.1.") is None
    assert score_in("`score: 0.2`\nI'd give it a rating of 0.9 with a source.") is None


BRACKETED = [
    ("score: <0.8>", 0.8),
    ("Score: [7/10]", 0.7),
    ("score: {0.8}\n- no source", 0.8),
    ("Rating: [[8/10]]", 0.8),
    ("<score: 0.4>", 0.4),
    ("评分：8分（满分10分）", 0.8),
    ("10点満点中7点", 0.7),
    ("評価：6点（10点満点）", 0.6),
    ("평가: 10점 만점에 8점", 0.8),
    ("Score on a scale from 0 to 100: 85", 0.85),
    ("8 on a scale of 10", 0.8),
]


@pytest.mark.parametrize(("text", "score"), BRACKETED)
def test_brackets_of_the_form_and_announced_scales(text: str, score: float):
    assert score_in(text) == pytest.approx(score)


BESIDE = [
    ("Verdict: PASS (3/10)", None),
    ("Verdict: FAIL (9/10)", None),
    ("Result: PASS, score 2/10", None),
    ("Verdict: PASS. 3/10", None),
    ("Verdict: PASS with a score of 0.2", None),
    ("Verdict: PASS (well written, 3/10)", None),
    ("Outcome: fail - 85%", None),
    ("PASS (0.2)", None),
    ("FAIL (score 0.9)", None),
    ("Verdict: FAIL (3/10)", 0.3),
    ("Verdict: PASS (9/10)", 0.9),
    ("Verdict: PASS - 80%", 0.8),
    ("PASS (0.5)", 0.5),
    ("FAIL (2/10)", 0.2),
    ("FAIL, 0.1", 0.1),
    ("Verdict: FAIL (3/4 tests pass)", 0.0),
    ("Verdict: PASS (1 small issue)", 1.0),
    ("Verdict: FAIL. 9/10 of the rows are missing.", 0.0),
]


@pytest.mark.parametrize(("text", "score"), BESIDE)
def test_a_verdict_has_to_agree_with_the_number_beside_it(text: str, score: float | None):
    assert score_in(text) == score


UNCLEAR = [
    "I'd say 9/10. Hmm, on second thought, 2/10.",
    "I'd give it a 7/10, no, an 8/10",
    "I'd rate it 0.9 – or rather 0.6",
    "score: 0.7, no, make that 0.8",
    "score: 0.7. On reflection 0.4.",
    "Score: 7/10. Sorry, I meant 5/10.",
    "Score: 0.8 → after reconsidering: 0.6",
    "9/10\nWait, no: 2/10",
    "Score: 9/10 for style, 2/10 for correctness",
    "Score: 0.9 (style), 0.1 (correctness)",
    "Score: 0.9 and 0.2 for facts",
    "score: 0.9 vs. 0.2",
    "Quality score: 0.9\nAccuracy score: 0.1",
    "Evaluation score: 0.9\nFactuality score: 0.0",
    "I'd give it 0.7. To get a score of 1.0, name the port.",
    "I give it 0.2. The final score is 3/4.",
    "It deserves 0.3.\nOverall rating: 0.9",
    "score: 0.8?",
]


@pytest.mark.parametrize("text", UNCLEAR)
def test_where_it_is_not_plain_which_number_holds_it_is_unknown(text: str):
    assert score_in(text) is None


COUNTS = [
    "score: 1 issue found",
    "Score: 0 errors",
    "Overall: 2 out of 10 tests failed",
    "Overall: 2 of 10 fields",
    "Final: 90% of the rows are missing",
    "Grade: 3/4 criteria met",
    "I'd say 90% of it is copied.",
    "1.0 would be the score if it named the port.",
    "Score: 0.4 * 2 = 0.8",
    "score: 0.5 + 0.3 = 0.8",
    "Score = 0.9 x 0.5",
]


@pytest.mark.parametrize("text", COUNTS)
def test_what_counts_things_or_is_a_sum_is_no_score(text: str):
    assert score_in(text) is None


def test_a_value_may_be_followed_by_its_reason():
    assert score_in("score: 0.4 reason: it is short") == 0.4
    assert score_in("I'd give it 4/10 because the date is wrong.") == 0.4
    assert score_in("Overall: 4/10, 6 fields are missing.") == 0.4
    assert score_in("Score: 8/10 = 0.8") == 0.8
    assert score_in("score: 0.7. 0.9 would need a source.") == 0.7
    assert score_in("score: 0.8 (2 issues, 0.5 kg short)") == 0.8
    assert score_in("score: 0.8 (0.5 kg short)") == 0.8
    assert score_in("score: 0.8 (2)") == 0.8


def test_the_score_of_a_part_counts_only_where_there_is_no_other():
    assert score_in("score: 0.7. Accuracy score: 0.2") == 0.7
    assert score_in("I'd give it an accuracy score of 0.9. Overall score: 0.7") == 0.7
    assert score_in("Accuracy score: 0.9") == 0.9


TABLES = [
    ("| Score | Reason |\n|---|---|\n| 0.7 | good |", 0.7),
    ("| Criterion | Score (0-10) |\n|---|---|\n| Style | 9 |\n| Overall | 8 |", 0.8),
    ("| Criterion | Score |\n|---|---|\n| Accuracy | 0.9 |\n| Style | 0.3 |", None),
]


@pytest.mark.parametrize(("text", "score"), TABLES)
def test_tables(text: str, score: float | None):
    assert score_in(text) == score


scores = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)
layouts = st.sampled_from(
    [
        "{}",
        "score: {}",
        "Score = {}",
        "**Score:** {}",
        "# Score: {}",
        "| Score | {} |",
        "I give it {}",
        "{} is my score",
        "Overall score: {}",
        "<score>{}</score>",
        "score: {}\nNo source is named.",
        "The form is `score: 0.123456`.\nscore: {}",
    ]
)


def _spellings(score: float) -> list[str]:
    return [
        f"{score:.3f}",
        f"{score:.2f}".replace(".", ",") if round(score, 2) == score else f"{score:.4f}".replace(".", ","),
        f"{score * 100:.1f}%",
        f"{score * 10:.2f}/10",
        f"{score * 5:.3f} out of 5",
        f"{score * 100:.1f} / 100",
        "".join(chr(ord(sign) + 0xFEE0) for sign in f"{score:.3f}"),
    ]


@given(scores, layouts, st.data())
def test_every_spelling_in_every_layout_is_read_alike(score: float, layout: str, data: st.DataObject):
    text = layout.format(data.draw(st.sampled_from(_spellings(score))))
    found = score_in(text)
    assert found is not None
    assert math.isclose(found, score, abs_tol=1e-6)


@given(st.text())
def test_any_text_gives_none_or_a_score_in_range(text: str):
    score = score_in(text)
    assert score is None or 0.0 <= score <= 1.0


@given(st.text(st.characters(exclude_categories=("N",))))
def test_text_without_a_number_has_no_score_but_a_verdict(text: str):
    written_out = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "zero"}
    if any(map(str.isnumeric, unicodedata.normalize("NFKC", text))) or any(
        word in text.lower() for word in written_out
    ):
        return
    verdicts = "pass", "fail", "yes", "no"
    said = any(word in folded(text) for name in verdicts for word in words("verdict", name))
    assert score_in(text) in (
        (None, 0.0, 1.0) if said else (None,) if "★" not in text and "⭐" not in text else (None, 1.0)
    )


@given(scores, scores)
def test_two_scores_that_contradict_each_other_are_unknown(first: float, second: float):
    found = score_in(f"score: {first}\nand so\nscore: {second}")
    assert found == (first if first == second else None)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "unit",
    [
        "9",
        "score ",
        "score: ",
        '"',
        "'",
        "'x",
        "`",
        "i give ",
        "i give it a b c d e ",
        "1/",
        "0.",
        "(",
        "score (",
        "**",
        "|",
        "\n1",
        " ",
        "\n",
        "overall ",
        "a " * 10,
        "'x' ",
        "{",
        "<score>",
        "1 of ",
        "score: 0.5 ",
        "-",
        "no, ",
        "no, 0.5 ",
        ". 0.5",
        "score: <0.5> ",
        "满分1",
        "pass (0.5) ",
        "\nscore: 0.5",
        "verdict: pass. ",
    ],
)
def test_a_megabyte_of_anything_is_read(unit: str):
    score = score_in(unit * (1_000_000 // len(unit)))
    assert score is None or 0.0 <= score <= 1.0
