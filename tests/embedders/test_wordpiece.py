"""The word pieces equal those of BERT's own tokenizer; the ids below come from the reference implementation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen.embedders.wordpiece import WordPiece


@pytest.fixture(scope="module")
def pieces() -> WordPiece:
    return WordPiece.bundled()


GOLDEN = {
    "": [101, 102],
    "Fix the failing test.": [101, 8081, 1996, 7989, 3231, 1012, 102],
    "Grüße aus Zürich: 日本": [101, 24665, 2226, 17499, 17151, 10204, 1024, 1864, 1876, 102],
    "don't stop_here v2.0": [101, 2123, 1005, 1056, 2644, 1035, 2182, 1058, 2475, 1012, 1014, 102],
    "unbelievably anticlockwise": [101, 4895, 8671, 2666, 3567, 6321, 3424, 20464, 7432, 14244, 102],
    "ΟΔΥΣΣΕΥΣ 🎉": [101, 1169, 29722, 29735, 29733, 29733, 29723, 29735, 29733, 100, 102],
}


@pytest.mark.parametrize("text", list(GOLDEN))
def test_ids_are_those_of_the_reference(pieces: WordPiece, text: str):
    assert pieces.ids(text, limit=99) == GOLDEN[text]


def test_invisible_characters_vanish_and_white_space_is_one(pieces: WordPiece):
    plain = pieces.ids("fix the test", limit=99)

    assert pieces.ids("fi\u200bx\x00 the\u00a0\n\ttest\ufeff\ufffd", limit=99) == plain
    assert pieces.ids("fix\x07 the test", limit=99) == plain


def test_marker_names_in_a_text_forge_no_marker(pieces: WordPiece):
    ids = pieces.ids("a [SEP] b [CLS]", limit=99)

    assert (ids.count(101), ids.count(102)) == (1, 1)


def test_words_beyond_reason_are_unknown(pieces: WordPiece):
    assert pieces.ids("x" * 101, limit=99) == [101, 100, 102]


def test_limit_counts_the_markers(pieces: WordPiece):
    ids = pieces.ids("unbelievably " * 1000, limit=16)

    assert len(ids) == 16
    assert ids[-1] == 102


@given(st.text(max_size=300))
def test_any_text_has_markers_and_known_ids(pieces: WordPiece, text: str):
    ids = pieces.ids(text, limit=64)

    assert (ids[0], ids[-1]) == (101, 102)
    assert len(ids) <= 64
    assert all(0 <= one < 30_522 for one in ids)
