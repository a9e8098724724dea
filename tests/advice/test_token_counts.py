# ruff: noqa: RUF001 - texts in other scripts
"""How many tokens a text has, where no tokenizer is at hand: compared with the bundled model's own tokenizer."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wisen.advice import token_counts
from wisen.advice.frame import FRAME, LESSONS_HEADING, REJECTED_HEADING, OwnRun, block_sample, item
from wisen.advice.token_bound import TokenBound, most_that
from wisen.advice.token_counts import TokenCounter, at_most, estimated, ready
from wisen.embedders.wordpiece import WordPiece
from wisen.models.local import LocalModel

pytestmark = pytest.mark.anyio

TEXTS = {
    "English": "When a table has merged header cells, read the header row by row before naming the columns.",
    "code": "def parse(line: str) -> dict[str, int]:\n    return {key: int(value) for key, value in pairs(line)}\n",
    "digits": "2024-03-04 357.00 EUR, 119.23, 0049 151 2345678, ORD-99812, 10.0.0.17, a1b2c3d4e5f60718",
    "JSON": '{"action": "search", "params": {"query": "tides", "page": 12}, "ok": true, "items": [1, 2, 3]}',
    "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "log": "2026-11-22T16:07:41.123Z ERROR [worker-7] TimeoutError: deadline exceeded after 30000ms",
    "German": "Prüfe vor jeder Erstattung, ob die Bestellung schon erstattet wurde.",
    "Polish": "Zawsze sprawdzaj, czy zamówienie nie zostało już zwrócone, zanim wypłacisz pieniądze klientowi.",
    "Swahili": "Angalia historia ya agizo kabla ya kurejesha pesa na uombe picha ya uharibifu.",
    "Vietnamese": "Kiểm tra lịch sử đơn hàng trước khi hoàn tiền, và luôn hỏi khách hàng về hình ảnh.",
    "Russian": "Проверяй историю заказа перед возвратом денег и всегда спрашивай фотографию повреждения.",
    "Greek": "Έλεγξε το ιστορικό της παραγγελίας πριν από την επιστροφή χρημάτων.",
    "Arabic": "تحقق من سجل الطلبات قبل رد المبلغ واطلب دائما صورة للضرر من العميل.",
    "Hebrew": "בדוק את היסטוריית ההזמנות לפני החזר כספי ובקש תמונה של הנזק.",
    "Hindi": "रिफंड देने से पहले ऑर्डर का इतिहास जाँचें और ग्राहक से नुकसान की तस्वीर माँगें।",
    "Telugu": "డబ్బు తిరిగి ఇచ్చే ముందు ఆర్డర్ చరిత్రను తనిఖీ చేయండి.",
    "Thai": "ตรวจสอบประวัติการสั่งซื้อก่อนคืนเงิน และขอรูปถ่ายความเสียหายจากลูกค้าเสมอ",
    "Chinese": "退款前先检查订单历史记录，并始终向客户索要损坏的照片。日期必须使用标准格式。",
    "Japanese": "返金する前に注文履歴を確認し、必ず顧客に損傷の写真を求めること。",
    "Korean": "환불하기 전에 주문 내역을 확인하고 항상 고객에게 손상 사진을 요청하세요.",
    "Amharic": "ገንዘብ ከመመለስዎ በፊት የትዕዛዝ ታሪክን ያረጋግጡ።",
    "emoji": "🎉🚀👩‍💻🇩🇪✅ 😀😃 👍🏽❤️",
    "mixed": "Use 退款 API v2.1: POST /refunds → 200 OK ✅ (见文档)",
}


@pytest.fixture(scope="module")
def bundled() -> LocalModel:
    return LocalModel()


@pytest.mark.local_model
@pytest.mark.parametrize("what", TEXTS)
async def test_the_estimate_is_never_far_below_a_small_vocabulary(what: str, bundled: LocalModel) -> None:
    counted = (await bundled.token_counter())(TEXTS[what])
    assert 0.9 * counted <= estimated(TEXTS[what]) <= 1.5 * counted


@pytest.mark.parametrize("what", TEXTS)
def test_the_estimate_is_no_less_than_what_berts_vocabulary_counts(what: str) -> None:
    assert estimated(TEXTS[what]) >= 0.9 * (len(WordPiece.bundled().ids(TEXTS[what], limit=10_000)) - 2)


@given(st.text(), st.text())
@example("\xa0", "")
def test_the_estimate_has_bounds_and_grows_with_the_text(one: str, other: str) -> None:
    assert estimated(one) <= 2 * at_most(one) + 1
    assert estimated(f"{one}\n{other}") >= estimated(one)


def test_nothing_has_no_tokens() -> None:
    assert (estimated(""), estimated(" ")) == (0, 0)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("1", 1),
        ("12, 3", 4),
        ("ABCDE", 6),
        ("\n", 1),
        ("1\n2", 3),
        ("1 \t\n\n\r\n \f2", 3),
        ("\n1", 2),
        ("1\n", 2),
        ("\n1\n", 3),
        ("1\n2\n", 4),
        ("\n1\n2", 4),
        ("1\n2\n3", 5),
        ("  1\n 2 \n3  ", 7),
        ("the", 2),
        ("the " * 40, 42),
    ],
)
def test_a_break_is_one_token_with_the_blanks_around_it(text: str, tokens: int) -> None:
    assert estimated(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("the ", 1.05),
        ("NASA ", 4 * 1.05),
        ("1  2\t", 4),
        ("退", 2.0),
        ("é", 1.1),
        ("the 12 退\u3000", 1.05 + 2 + 2.0 + 2.0),
    ],
)
def test_a_long_line_is_counted_word_by_word(text: str, tokens: float) -> None:
    assert estimated(text * 1_200) == math.ceil(round(1_200 * tokens, 6))


async def test_what_the_estimate_needs_is_loaded_before_it_is_needed() -> None:
    every = [token_counts._vocabulary, token_counts._weights]
    for missing in (every, every[:1], every[1:]):
        for one in missing:
            one.cache_clear()
        await ready()
        assert [one.cache_info().currsize for one in every] == [1, 1]


@pytest.mark.parametrize("text", ["1\n{}2", "1{}\n2", "1\n{}2\n3", "1\n2{}\n3"])
def test_other_scripts_blanks_are_tokens_of_their_own(text: str) -> None:
    assert estimated(text.format("\u3000")) > estimated(text.format(" ")) == estimated(text.format(""))


def test_the_first_text_in_the_frame_pays_for_it() -> None:
    room = TokenBound(len(FRAME) + 10, len)
    asked = (
        ("abc", False),
        ("abcdefgh", True),
        ("abcd", True),
        ("abcd", True),
        ("abc", True),
        ("", False),
        ("a", False),
    )
    assert [room.fits(text, framed=framed) for text, framed in asked] == [True, False, True, False, True, True, False]


def test_a_list_of_the_own_runs_words_pays_for_one_heading() -> None:
    own = OwnRun(lessons=("Be brief.", "Be kind."), rejected=("41", "43"))
    sizes = [len(LESSONS_HEADING), len(REJECTED_HEADING)]
    sizes += [len(item(text)) for text in (*own.lessons, *own.rejected)]
    tokens = len(FRAME) + sum(sizes) + len(sizes)
    assert TokenBound(tokens, len).own(own) == own
    assert TokenBound(tokens - 1, len).own(own) == OwnRun(lessons=own.lessons, rejected=("43",))


@pytest.mark.parametrize(("more", "kept", "left"), [(0, "- a\n- b", 0), (3, "- a\n- b", 3), (-1, "- b", 3)])
def test_a_block_pays_for_itself_and_for_the_frame(more: int, kept: str, left: int) -> None:
    room = TokenBound(len(FRAME) + len(block_sample("- a\n- b")) + more, len)
    assert room.block("- a\n- b") == kept
    asked = [(left + 1, True), (left + 1, False), (left, True), (1, False)]
    assert [room.fits("x" * size, framed=framed) for size, framed in asked] == [False, False, True, False]


NEW = "退款前先检查订单。"
OLD = "Read the header row by row before naming the columns."


@pytest.mark.parametrize("lines", [[OLD] * 40 + [NEW] * 40, [NEW] * 40 + [OLD] * 40])
@pytest.mark.parametrize("count", [estimated, at_most, len])
def test_a_block_keeps_as_many_of_its_newest_lines_as_fit(lines: list[str], count: TokenCounter) -> None:
    kept = TokenBound(500, count).block("\n".join(lines)).split("\n")
    assert 0 < len(kept) < len(lines)
    assert kept == lines[-len(kept) :]
    more = "\n".join(lines[-len(kept) - 1 :])
    assert TokenBound(500, count).block(more) != more
    assert TokenBound(500, count).own(OwnRun(lessons=(more,))).lessons == ()


def test_of_a_line_that_is_too_long_the_beginning_is_kept() -> None:
    kept = TokenBound(200, estimated).block(f"{OLD}\n{NEW * 100}")
    assert kept
    assert (NEW * 100).startswith(kept)
    assert TokenBound(10, estimated).block(NEW) == ""


@given(st.integers(0, 50), st.integers(0, 50))
def test_the_highest_number_that_holds(least: int, most: int) -> None:
    assert most_that(lambda number: number <= least, most) == min(least, most)
