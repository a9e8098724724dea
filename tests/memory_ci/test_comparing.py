"""Texts compared by their content and by vectors that are given here."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from wisen.errors import EmbedderError
from wisen.identity import apart
from wisen.memory_ci import comparing
from wisen.memory_ci.comparing import Comparer

pytestmark = pytest.mark.anyio
ADMINS, FIREWALL = "Port 8443 serves the admin console.", "Open 8443 in your firewall."
APART = "port serves admin console", "open firewall"
DROP, IGNORE, SHIP = "Drop blank lines.", "Ignore empty rows.", "Ship on Friday."
DROP_APART, IGNORE_APART = "drop blank lines", "ignore empty rows"


class Angles:
    """An embedder whose texts have the angles that are given, in degrees; it notes what it was asked for."""

    name, dimension, floor = "angles", 2, 0.5

    def __init__(self, angles: Mapping[str, float], same_meaning: float | None = 0.8) -> None:
        self.same_meaning = same_meaning
        self.asked: list[str] = []
        self._angles = angles

    def knows(self, text: str) -> bool:
        return text in self._angles

    async def embed(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        turned = np.radians([self._angles[text] for text in texts])
        return np.stack([np.cos(turned), np.sin(turned)], axis=1)


async def test_a_pair_is_one_idea_from_the_cosine_of_the_same_meaning():
    pair, other = (DROP, IGNORE), (DROP, SHIP)
    angles = Angles({DROP: 0, IGNORE: 36, SHIP: 38, DROP_APART: 0, IGNORE_APART: 5})
    compared = await Comparer().compare(angles, [pair, other])
    assert compared.relations == {pair: "idea", other: "other"}
    assert compared.cosine(*pair) == pytest.approx(0.809, abs=0.001)


@pytest.mark.parametrize(("between", "said"), [(58, "idea"), (60, "other")])
async def test_the_words_that_are_apart_decide_too(between: float, said: str):
    angles: dict[str, float] = dict(zip((ADMINS, FIREWALL, *APART), (0, 10, 20, 20 + between), strict=True))
    embedder = Angles(angles)
    assert (await Comparer().compare(embedder, [(ADMINS, FIREWALL)])).relations == {(ADMINS, FIREWALL): said}
    assert embedder.asked == [*angles]


@pytest.mark.parametrize(("whole", "between", "said"), [(0, 0, "rivals"), (0, 100, "other"), (60, 0, "other")])
async def test_rivals_in_other_words_have_to_mean_the_same(whole: float, between: float, said: str):
    one, other = "Charge foreign guests 12 percent tourist tax.", "For visitors from abroad the levy is 25 percent."
    words = "charge foreign guests 12 percent tourist tax", "visitors abroad levy 25 percent"
    embedder = Angles({one: 0, other: whole, words[0]: 0, words[1]: between})
    assert (await Comparer().compare(embedder, [(one, other)])).relations == {(one, other): said}


async def test_rivals_by_their_words_are_not_read_any_further():
    pair = "Retry the upload 3 times after a timeout on Monday.", "After a timeout wait, then retry an upload 5 times."
    assert apart(*pair)
    embedder = Angles(dict.fromkeys(pair, 0))
    assert (await Comparer().compare(embedder, [pair])).relations == {pair: "rivals"}
    assert embedder.asked == [*pair]


async def test_of_texts_that_are_not_alike_nothing_more_is_read():
    embedder = Angles({ADMINS: 0, FIREWALL: 90})
    assert (await Comparer().compare(embedder, [(ADMINS, FIREWALL)])).relations == {(ADMINS, FIREWALL): "other"}


async def test_an_embedder_without_a_say_joins_nothing_and_is_asked_for_nothing_that_content_parts():
    embedder = Angles({}, same_meaning=None)
    compared = await Comparer().compare(embedder, [(DROP, IGNORE)], beside={(DROP, IGNORE): [SHIP]})
    assert (compared.relations, embedder.asked) == ({(DROP, IGNORE): "other"}, [])
    assert compared.cosine(DROP, SHIP) == 0.0


async def test_a_text_that_the_embedder_does_not_know_is_joined_with_none():
    embedder = Angles({DROP: 0})
    assert (await Comparer().compare(embedder, [(DROP, IGNORE)])).relations == {(DROP, IGNORE): "other"}


async def test_texts_beside_a_pair_are_read_with_it_but_for_empty_ones():
    embedder = Angles({DROP: 0, IGNORE: 0, SHIP: 60, DROP_APART: 0, IGNORE_APART: 0})
    compared = await Comparer().compare(embedder, [(DROP, IGNORE)], beside={(DROP, IGNORE): [SHIP, " ", DROP]})
    assert embedder.asked == [DROP, IGNORE, SHIP, DROP_APART, IGNORE_APART]
    assert compared.cosine(DROP, SHIP) == pytest.approx(0.5)
    assert compared.cosine(SHIP, " ") == compared.cosine(" ", SHIP) == 0.0


async def test_texts_that_the_embedder_does_not_know_are_alike_by_their_words():
    tea, more_tea, train = "ชงชา เขียว ร้อน", "ชงชา เขียว เย็น", "จองตั๋ว รถไฟ เขียว"
    embedder = Angles({DROP: 0, IGNORE: 0, DROP_APART: 0, IGNORE_APART: 0, SHIP: 60})
    compared = await Comparer().compare(
        embedder, [(DROP, IGNORE)], beside={(DROP, IGNORE): [tea, more_tea, train, SHIP]}
    )
    assert embedder.asked == [DROP, IGNORE, SHIP, DROP_APART, IGNORE_APART]
    assert compared.cosine(tea, more_tea) == 0.0
    assert compared.alike(tea, more_tea, 1.0)
    assert not compared.alike(tea, train, -1.0)
    assert not compared.alike(SHIP, tea, -1.0)
    assert compared.alike(DROP, SHIP, 0.5)
    assert not compared.alike(DROP, SHIP, 0.51)
    assert not compared.alike(" ", " ", -1.0)


@pytest.mark.parametrize(("known", "said"), [(True, "idea"), (False, "other")])
async def test_own_words_that_the_embedder_does_not_know_are_alike_in_nothing(known: bool, said: str):
    embedder = Angles({ADMINS: 0, FIREWALL: 10, **dict.fromkeys(APART if known else APART[:1], 20)})
    assert (await Comparer().compare(embedder, [(ADMINS, FIREWALL)])).relations == {(ADMINS, FIREWALL): said}


async def test_the_last_texts_are_remembered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(comparing, "_REMEMBERED", 4)
    void, void_apart = "Delete void cells.", "delete void cells"
    embedder = Angles(dict.fromkeys((DROP, IGNORE, void, DROP_APART, IGNORE_APART, void_apart), 0))
    comparer, first = Comparer(), [DROP, IGNORE, DROP_APART, IGNORE_APART]
    for pair in ((DROP, IGNORE), (DROP, IGNORE), (IGNORE, void), (DROP, IGNORE)):
        compared = await comparer.compare(embedder, [pair])
        assert compared.relations == {pair: "idea"}
    assert embedder.asked == [*first, void, void_apart, *first]


async def test_an_embedder_that_gives_too_few_rows_is_told_of():
    class Short(Angles):
        async def embed(self, texts: Sequence[str]) -> Any:
            return (await super().embed(texts))[1:]

    with pytest.raises(EmbedderError, match="shape"):
        await Comparer().compare(Short({DROP: 0, IGNORE: 0}), [(DROP, IGNORE)])
