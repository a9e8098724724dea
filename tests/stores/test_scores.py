"""The arithmetic of recall: one relevance from two likenesses, and bits that keep angles."""

import numpy as np
import pytest

from wisen.stores.block_text import appended
from wisen.stores.index import scoring
from wisen.stores.index.lexical import distinct_words
from wisen.stores.index.vectors import PackLine, pack, sign_bits


def test_relevance_joins_both_sides() -> None:
    vector = scoring.rescaled(np.array([0.1, 0.2, 0.6, 1.0]), 0.2)
    assert vector.tolist() == pytest.approx([0.0, 0.0, 0.5, 1.0])
    lexical = np.array([0.0, 1.0, 0.5, 0.0])
    same = np.array([False, False, False, False])
    assert scoring.relevance(vector, lexical, same).tolist() == pytest.approx([0.0, 0.5, 0.625, 0.999])
    assert scoring.relevance(vector, lexical, ~same).tolist() == [1.0] * 4


def test_a_rare_word_is_worth_more_and_a_new_one_most() -> None:
    new, rare, common = scoring.rarity(np.array([0.0, 2.0, 900.0]), 1_000).tolist()
    assert new > rare > common > 0
    of_the_only_card, of_none = scoring.rarity(np.array([1.0, 0.0]), 1).tolist()
    assert of_the_only_card > of_none / 2


def test_reasons_are_for_a_reader() -> None:
    assert scoring.reasons(same_prompt=True, situation=1.0, text=0.1, floor=0.2, shared=["a", "b", "c", "d"]) == (
        "same prompt",
        "shares rare words: a, b, c",
    )
    assert scoring.reasons(same_prompt=False, situation=0.5, text=0.4, floor=0.2, shared=[]) == (
        "similar situation (0.50)",
    )
    assert scoring.reasons(same_prompt=False, situation=0.3, text=0.4, floor=0.2, shared=[]) == (
        "its text fits the situation (0.40)",
    )
    assert scoring.reasons(same_prompt=False, situation=0.1, text=0.1, floor=0.2, shared=[]) == ()


@pytest.mark.parametrize("dimension", [16, 384, 1_024])
def test_sign_bits_keep_angles_of_sparse_vectors_too(dimension: int) -> None:
    rows = np.eye(16, dimension, dtype=np.float32)
    half_way = (rows[0] + rows[1]) / np.sqrt(2)
    bits = sign_bits(np.vstack([rows, half_way]).astype(np.float32))
    apart = np.bitwise_count(bits[:, np.newaxis] ^ bits[np.newaxis]).sum(axis=2)
    right_angles = apart[:16, :16][~np.eye(16, dtype=bool)]
    assert 180 < right_angles.min() <= right_angles.max() < 332
    assert 80 < apart[16, 0] < 176


@pytest.mark.parametrize(("dimension", "kept"), [(300, 0xCD389B0EEAB82EC3), (1_500, 0xF89E0258D4C242FB)])
def test_stored_bits_mean_the_same_in_every_version(dimension: int, kept: int) -> None:
    vector = np.sin(np.arange(1, dimension + 1) ** 1.5).astype(np.float32)
    assert int(np.bitwise_xor.reduce(sign_bits(vector[np.newaxis])[0])) == kept


@pytest.mark.parametrize(
    ("values", "limit", "places"),
    [([3, 1, 2], 3, [0, 1, 2]), ([3, 1, 2], 2, [0, 2]), ([5, 7, 5, 5], 2, [1, 3]), ([4, 4, 4, 4], 3, [1, 2, 3])],
)
def test_the_highest_are_never_more_than_asked_for(values: list[int], limit: int, places: list[int]) -> None:
    for kind in (np.uint16, np.float64):
        assert sorted(scoring.highest(np.array(values, dtype=kind), limit).tolist()) == places


def test_words_are_normalized_and_everyday_ones_left_out() -> None:
    assert distinct_words("The INVOICE, for the Nordic — invoice!") == ["invoice", "nordic"]
    assert distinct_words("चॉकलेट केक है। चॉकलेट") == ["चॉकलेट", "केक", "है"]
    assert distinct_words("சாக்லேட் கேக்!") == ["சாக்லேட்", "கேக்"]
    assert distinct_words("q\u0304b snake_case") == ["q", "b", "snake_case"]


def test_an_empty_line_is_a_line() -> None:
    assert appended("first", "", 100) == "first\n"


def test_vectors_that_wait_together_are_packed_as_they_are_alone() -> None:
    draws = np.random.default_rng(7)
    batches = [draws.standard_normal((cards, 2, 384)).astype(np.float32) for cards in (1, 3, 1, 2)] * 40
    batches[2] = np.zeros((1, 2, 384), dtype=np.float32)
    line = PackLine()
    waiting = [line.join(vectors) for vectors in batches]

    assert waiting[150].entries() == pack(batches[150])
    assert [one.entries() for one in waiting] == [pack(vectors) for vectors in batches]
