"""Wordings, opposites and other rules, with the vectors of the real embedder."""

import json
from itertools import combinations
from pathlib import Path
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
from wisen.memory_ci.comparing import Comparer
from wisen.protocols import KnowsMeaning

pytestmark = pytest.mark.anyio

WORDING_TEXTS = Path(__file__).parents[2] / "benchmarks" / "wording_texts"


def rows_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (WORDING_TEXTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


@pytest.mark.local_model
@pytest.mark.parametrize("name", ["opposites", "different"])
async def test_no_opposites_and_no_different_rules_are_joined(embedder: LocalEmbedder, name: str):
    pairs = [(pair["a"], pair["b"]) for pair in corpus(name)]

    found = (await Comparer().compare(embedder, pairs)).relations

    assert len(found) == 100
    assert not set(found.values()) & {"same", "idea"}


@pytest.mark.no_cover
@pytest.mark.local_model
@pytest.mark.parametrize(
    ("rows", "at_least"),
    [
        pytest.param(corpus("ideas"), 0.15, id="nearly all words differ"),
        pytest.param(rows_of("sixth/ideas"), 0.8, id="half of the words differ"),
    ],
)
async def test_wordings_find_their_idea_and_no_other(
    embedder: LocalEmbedder, rows: list[dict[str, Any]], at_least: float
):
    texts, lessons = wordings(rows)
    compared = await Comparer().compare(embedder, [*combinations(texts, 2)])
    found, wrong = 0, 0

    for new, text in enumerate(texts):
        earlier = [old for old in texts[:new] if compared.relations[old, text] == "idea"]
        if earlier:
            nearest = max(earlier, key=lambda old: compared.cosine(old, text))
            right = lessons[texts.index(nearest)] == lessons[new]
            found, wrong = found + right, wrong + (not right)

    assert wrong <= 0.01 * len(texts)
    assert found >= at_least * (len(texts) - len(set(lessons)))


@pytest.mark.no_cover
@pytest.mark.local_model
async def test_different_lessons_of_one_situation_are_not_joined(embedder: LocalEmbedder):
    texts = [(row["situation"], row["lesson"], text) for row in rows_of("like_situations") for text in row["wordings"]]
    pairs = [(a, b) for (s, one, a), (t, other, b) in combinations(texts, 2) if s == t and one != other]

    found = (await Comparer().compare(embedder, pairs)).relations

    assert len(found) == 12_160
    assert not [pair for pair, said in found.items() if said in {"same", "idea"}]


@pytest.mark.local_model
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("`po_ref` has to be ten characters long.", "Leave `po_ref` empty on credit notes."),
        ("`npm ci` fails when the lock file is out of date.", "Use `npm ci` in the pipeline because it is faster."),
        ("Restart the worker after changing `config.yaml`.", "Secrets don't belong in `config.yaml`."),
        ("Table `dim_customer` has one row per customer and period.", "Join `dim_customer` on the surrogate key."),
        ("Use `jq` on the response.", "Parse the config with `jq`."),
    ],
)
async def test_two_rules_for_one_thing_are_two_ideas(embedder: LocalEmbedder, one: str, other: str):
    compared = await Comparer().compare(embedder, [(one, other)])

    assert compared.relations == {(one, other): "other"}
    near = compared.cosine(one, other)
    assert relation(one, other, cosine=near, same_meaning=embedder.same_meaning) == "idea", "but for what is said of it"


@pytest.mark.local_model
async def test_one_rule_for_one_thing_is_one_idea(embedder: LocalEmbedder):
    pair = (
        "Payment terms of `acc_7` start at the invoice date.",
        "Count when `acc_7` has to pay from the day of billing.",
    )

    assert (await Comparer().compare(embedder, [pair])).relations == {pair: "idea"}


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
