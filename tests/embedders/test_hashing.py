"""The hash embedder: the same text gives the same vector everywhere, and shared words bring texts together."""

import json
import os
import sys

import numpy as np
import pytest
from anyio import run_process
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from wisen.embedders.hashing import HashEmbedder
from wisen.errors import ConfigError

pytestmark = pytest.mark.anyio

RELATED = [
    ("Scrape the prices of laptops from an online shop", "Collect laptop prices from a web store"),
    ("Fix the failing unit test in the date parser", "The date parser's test fails; repair it"),
    ("Write a SQL query that lists customers without orders", "Which customers have never ordered? Answer with SQL"),
    ("Deploy the web service to Kubernetes", "Roll out the service on a Kubernetes cluster"),
    ("Translate this e-mail into German", "Translate the following message to German"),
]


async def test_rows_have_the_length_one_and_the_order_of_the_texts():
    embedder = HashEmbedder()
    texts = ["first text", "second", "", "  \n", "!!!", "🎉"]

    rows = await embedder.embed(texts)

    assert rows.shape == (6, embedder.dimension) == (6, 384)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1).round(5).tolist() == [1, 1, 0, 0, 1, 1]
    assert np.array_equal(rows[1], (await embedder.embed(["second"]))[0])
    assert (await embedder.embed([])).shape == (0, 384)


async def test_name_holds_dimension_and_version():
    assert HashEmbedder().name == "hash-384-v1"
    assert HashEmbedder(512).name == "hash-512-v1"


async def test_known_vector_stays_what_it_is():
    """Stores keep vectors: another vector for the same text needs another version in the name."""
    row = (await HashEmbedder(16).embed(["Fix the parser, fix the test: naïve 日本語 v2"]))[0]

    thousandths = (row * 1000).round().astype(int).tolist()
    assert thousandths == snapshot([242, 423, -55, 28, 275, 162, 71, 55, 292, -107, -83, 287, -345, 584, -12, 45])


async def test_signs_and_marks_of_latin_texts_change_no_vector():
    """Arrows, accents that stand alone and long words are read as in stores of earlier versions."""
    text = f"a\u0304b → {'long' * 20} ≤ 5 |x|"
    plain = f"a b {('long' * 20)[:32]} {('long' * 20)[32:64]} {('long' * 20)[64:]} 5 x"
    rows = await HashEmbedder().embed([text.replace("a\u0304b", "q\u0304b"), plain.replace("a b", "q b")])
    assert np.array_equal(*rows)


async def test_equal_in_another_process_with_another_hash_seed():
    program = (
        "import asyncio, json; from wisen.embedders.hashing import HashEmbedder; "
        "print(json.dumps(asyncio.run(HashEmbedder().embed(['Grüße from the date parser']))[0].tolist()))"
    )
    env = {**os.environ, "PYTHONHASHSEED": "4711"}
    done = await run_process([sys.executable, "-c", program], env=env)

    here = (await HashEmbedder().embed(["Grüße from the date parser"]))[0]

    assert json.loads(done.stdout) == here.tolist()


async def test_related_prompts_lie_above_the_floor_and_unrelated_below():
    embedder = HashEmbedder()
    left = await embedder.embed([a for a, _ in RELATED])
    right = await embedder.embed([b for _, b in RELATED])

    cosines = left @ right.T
    same = np.eye(len(RELATED), dtype=bool)

    assert cosines[same].min() > embedder.floor > cosines[~same].max()


async def test_case_unicode_form_and_inflection_hardly_matter():
    embedder = HashEmbedder()
    rows = await embedder.embed(["Parse the files", "PARSE THE FILES", "\uff30arse the files", "parsing files"])

    assert np.allclose(rows[0], rows[1])
    assert np.allclose(rows[0], rows[2])
    assert rows[0] @ rows[3] > embedder.floor


@pytest.mark.parametrize(
    ("text", "like", "unlike"),
    [
        ("சாக்லேட் கேக் எப்படி செய்வது?", "சாக்லேட் கேக் செய்", "ஷாங்காய்க்கு ரயில் டிக்கெட் பதிவு செய்."),
        ("চকলেট কেক কীভাবে বানাবো?", "চকলেট কেক বানাও", "সাংহাইয়ের ট্রেনের টিকিট বুক করো।"),
        ("चॉकलेट केक कैसे बनाएं?", "चॉकलेट केक बनाओ।", "आज मौसम कैसा है?"),
        ("Order 🍕 now", "Order 🍕 today", "Order 🍣 now"),
        ("Rules for 🇹🇭", "The rules of 🇹🇭", "Rules for 🇭🇹"),
    ],
)
async def test_vowel_signs_belong_to_words_and_pictographs_are_words(text: str, like: str, unlike: str):
    embedder = HashEmbedder()
    one, alike, other = await embedder.embed([text, like, unlike])
    assert one @ alike > embedder.floor
    assert one @ alike > one @ other
    if not text.startswith(("Order", "Rules")):
        assert one @ other < embedder.floor


async def test_order_of_words_shows():
    embedder = HashEmbedder()
    rows = await embedder.embed(["dog bites man", "man bites dog", "dog bites man"])

    assert rows[0] @ rows[1] < 0.99
    assert np.allclose(rows[0], rows[2])


async def test_large_batch_equals_single_texts():
    embedder = HashEmbedder()
    texts = [f"task {number}: sort the {number * 7} invoices by date" for number in range(300)]

    together = await embedder.embed(texts)

    assert np.array_equal(together[[0, 77, 299]], await embedder.embed([texts[0], texts[77], texts[299]]))


@pytest.mark.no_cover
async def test_more_words_than_are_remembered():
    embedder = HashEmbedder(32)
    first = await embedder.embed(["word0 word1"])

    await embedder.embed([" ".join(f"word{number}" for number in range(60_000))])

    assert np.array_equal(first, await embedder.embed(["word0 word1"]))


@given(st.lists(st.text(max_size=200), max_size=5))
async def test_any_text_gives_a_unit_row_or_zeros(texts: list[str]):
    rows = await HashEmbedder(64).embed(texts)

    norms = np.linalg.norm(rows, axis=1)
    assert np.all(np.isclose(norms, 1, atol=1e-5) | (norms == 0))
    assert [bool(norm) for norm in norms] == [bool(text.split()) for text in texts]


async def test_lone_surrogates_are_no_obstacle():
    assert np.linalg.norm(await HashEmbedder().embed(["broken \ud800 text"])) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("dimension", "floor"), [(0, None), (15, None), (384, 1.5), (384, float("nan"))])
async def test_options_out_of_range_are_refused(dimension: int, floor: float | None):
    with pytest.raises(ConfigError, match="HashEmbedder"):
        HashEmbedder(dimension, floor=floor)


async def test_floor_falls_with_the_dimension_and_can_be_set():
    assert HashEmbedder(64).floor > HashEmbedder(384).floor > HashEmbedder(2048).floor
    assert HashEmbedder(floor=0.5).floor == 0.5


async def test_words_that_are_new_together_have_the_features_that_they_have_alone():
    texts = ["invoice", "the Übergabe of 2024", "an invoice, the invoice and 中文 parcels", "carrier"]
    familiar = HashEmbedder()
    for text in texts:
        for word in text.split():
            await familiar.embed([word])

    fresh = [(await HashEmbedder().embed([text]))[0] for text in texts]

    assert np.array_equal(await familiar.embed(texts), np.array(fresh))
    assert np.array_equal(await HashEmbedder().embed(texts), np.array(fresh))


@pytest.mark.no_cover
async def test_more_words_than_are_remembered_are_embedded_as_any_others():
    many = " ".join(f"word{number}" for number in range(50_001))
    embedder = HashEmbedder()

    first = await embedder.embed([many, "word7 word8"])

    assert np.array_equal(first[0], (await HashEmbedder().embed([many]))[0])
    assert np.array_equal(first[1], (await HashEmbedder().embed(["word7 word8"]))[0])
