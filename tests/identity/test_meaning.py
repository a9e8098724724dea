"""Wordings, opposites and other rules, with the vectors of the real embedder."""

from typing import Any

import numpy as np
import pytest
from lesson_corpora import corpus

from wisen.embedders.absent import AbsentEmbedder
from wisen.embedders.hashing import HashEmbedder
from wisen.embedders.local import LocalEmbedder
from wisen.embedders.meaning import meaning_of
from wisen.embedders.remote import RemoteEmbedder
from wisen.errors import ConfigError
from wisen.identity import relation
from wisen.protocols import KnowsMeaning

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


@pytest.mark.local_model
@pytest.mark.parametrize("name", ["opposites", "different"])
async def test_no_opposites_and_no_different_rules_are_joined(embedder: LocalEmbedder, name: str):
    pairs = corpus(name)
    left, right = [await embedder.embed([pair[side] for pair in pairs]) for side in "ab"]
    cosines = (left * right).sum(axis=1).tolist()

    found = [
        relation(pair["a"], pair["b"], cosine=cosine, same_meaning=embedder.same_meaning)
        for pair, cosine in zip(pairs, cosines, strict=True)
    ]

    assert len(found) == 100
    assert not set(found) & {"same", "idea"}


@pytest.mark.local_model
async def test_wordings_find_their_idea_and_no_other(embedder: LocalEmbedder):
    texts, lessons = wordings(corpus("ideas"))
    vectors = await embedder.embed(texts)
    cosines = vectors @ vectors.T
    found, wrong = 0, 0

    for new in range(len(texts)):
        near = [
            (cosines[new, old], old)
            for old in range(new)
            if relation(texts[new], texts[old], cosine=cosines[new, old], same_meaning=embedder.same_meaning) == "idea"
        ]
        if near:
            right = lessons[max(near)[1]] == lessons[new]
            found, wrong = found + right, wrong + (not right)

    assert wrong <= 0.01 * len(texts)
    assert found >= 0.45 * 200


def wordings(ideas: list[dict[str, Any]]) -> tuple[list[str], list[int]]:
    """All wordings with their lesson's number: the first of each lesson, then the second of each, and so on."""
    order = [(idea["wordings"][place], idea["lesson"]) for place in range(5) for idea in ideas]
    return [text for text, _ in order], [lesson for _, lesson in order]


@pytest.mark.local_model
@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("Check the order history", True),
        ("Prüfe die Rechnung vor dem Überweisen", True),
        ("ภาษาไทย", False),
        ("🇩🇪🇫🇷", False),
        ("请用发票模板", False),
        ("Привет мир", False),
        ("😀", False),
        ("", False),
        ("!!!", False),
        ("Done 🎉 with the release", True),
    ],
)
async def test_an_embedder_has_no_say_on_characters_that_it_never_learned(
    embedder: LocalEmbedder, text: str, known: bool
):
    assert embedder.knows(text) is known
    assert meaning_of(embedder, "hello", text) == (embedder.same_meaning if known else None)


@pytest.mark.local_model
async def test_pieces_are_counted_without_a_bound(embedder: LocalEmbedder):
    assert embedder.count_tokens("hello world") == 2
    assert embedder.count_tokens("发票" * 400) == 800
    assert embedder.count_tokens("") == 0


@pytest.mark.local_model
async def test_the_cosine_of_the_same_meaning_is_a_choice(embedder: LocalEmbedder):
    assert isinstance(embedder, KnowsMeaning)
    assert LocalEmbedder(same_meaning=0.7).same_meaning == 0.7
    with pytest.raises(ConfigError, match=r"same_meaning=1\.5"):
        LocalEmbedder(same_meaning=1.5)


async def test_who_compares_words_has_no_say_on_meaning():
    assert meaning_of(HashEmbedder()) is None
    assert meaning_of(AbsentEmbedder("some/8")) is None


async def test_a_remote_embedder_has_a_say_once_somebody_measured_it():
    unmeasured = RemoteEmbedder("openai:text-embedding-3-small")
    measured = RemoteEmbedder("openai:text-embedding-3-small", same_meaning=0.7)

    assert meaning_of(unmeasured, "hello") is None
    assert meaning_of(measured, "hello") == 0.7
    assert meaning_of(measured, "hello", " ") is None
    with pytest.raises(ConfigError, match="same_meaning=-2"):
        RemoteEmbedder("openai:text-embedding-3-small", same_meaning=-2)


async def test_equal_vectors_count_as_alike():
    assert relation("Drop blank lines", "Ignore empty rows", cosine=float(np.float32(0.6)), same_meaning=0.6) == "idea"
