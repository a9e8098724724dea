"""What the compiler chooses of the recalled cards, in which order, and what it says of the rest."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wisen import MemoryCard, MemoryKind, MemoryStatus, PromptCompiler, Situation
from wisen.advice.compiler import OwnRun, Recalled
from wisen.advice.diversity import Likeness, MarginalRelevance, features, likeness
from wisen.advice.token_counts import at_most, counter_of, estimated
from wisen.cards import Provenance
from wisen.errors import ModelError
from wisen.protocols import ScreenVerdict
from wisen.records import Advice, Injection

pytestmark = pytest.mark.anyio

WORDS = ("ask", "before", "naming", "teams", "read", "headers", "twice", "keep", "short", "check", "dates", "never")


class Open:
    """A screen that lets all pass."""

    name = "open"

    def check(self, card: MemoryCard) -> ScreenVerdict:
        """Let it pass."""
        return ScreenVerdict(outcome="pass", card=card)


def lesson(text: str, **more: object) -> MemoryCard:
    return MemoryCard(kind=MemoryKind.LESSON, content=text, **more)  # type: ignore[arg-type]


def episode(prompt: str, answer: str) -> MemoryCard:
    verified = Provenance(created_by="reflexion", verified=True)
    return MemoryCard(
        kind=MemoryKind.SKILL_CARD, content=answer, situation=Situation(prompt=prompt), provenance=verified
    )


def recalled(card: MemoryCard, score: float = 1.0, *, shown: bool = True, barred: str = "", fit: int = 0) -> Recalled:
    injection = Injection(card_id=card.id, kind=card.kind.value, reasons=(), score=score, shown=shown)
    return Recalled(card=card, injection=injection, barred=barred, fit=fit)


def why(advice: Advice) -> dict[str, str]:
    return {one.card_id: one.why for one in advice.left_out}


def shown(advice: Advice) -> list[str]:
    return [one.card_id for one in advice.injections if one.shown]


def size(advice: Advice, count: Callable[[str], int]) -> int:
    return count(advice.section) + sum(count(text) for turn in advice.turns for text in turn)


def by_words(text: str) -> int:
    return len(text.split())


def by_bytes(text: str) -> int:
    return len(text.encode())


def odd(text: str) -> int:
    """Counts more for a whole than for its parts."""
    return len(text) // 5 + (len(text) // 100) ** 2


SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=25).map(" ".join)
LESSONS = st.builds(lesson, SENTENCES)
EPISODES = st.builds(episode, SENTENCES, st.sampled_from(("Maple", "Harbour")))
RECALLED = st.lists(
    st.builds(
        recalled,
        st.one_of(LESSONS, EPISODES),
        st.floats(0.0, 1.0),
        shown=st.booleans(),
        barred=st.sampled_from(("", "", "hurts (evidence)")),
    ),
    max_size=8,
)


@given(
    cards=RECALLED,
    own=st.builds(
        OwnRun,
        lessons=st.lists(SENTENCES, max_size=4).map(tuple),
        rejected=st.lists(SENTENCES, max_size=4).map(tuple),
    ),
    block=st.lists(SENTENCES, max_size=4).map("\n".join),
    tokens=st.integers(1, 400),
    count=st.sampled_from((estimated, by_words, by_bytes, odd)),
    most=st.one_of(st.none(), st.integers(1, 4)),
    layout=st.sampled_from(("turns", "section")),
    diversity=st.sampled_from((0.0, 0.3, 1.0)),
)
def test_bound_bytes_and_accounts_hold_for_any_input(  # noqa: PLR0917 - hypothesis fills them in
    cards: list[Recalled],
    own: OwnRun,
    block: str,
    tokens: int,
    count: Callable[[str], int],
    most: int | None,
    layout: str,
    diversity: float,
) -> None:
    def compiled() -> Advice:
        compiler = PromptCompiler(max_tokens=tokens, episodes=layout, diversity=diversity, screen=Open())
        return compiler.compile(cards, own=own, block=block, most=most, count=count)

    advice = compiled()
    assert advice == compiled()
    assert size(advice, count) <= tokens
    assert most is None or len(advice.injections) <= most
    assert not set(shown(advice)) & set(why(advice))
    assert {*shown(advice), *why(advice)} == {one.card.id for one in cards}
    assert len(advice.left_out) == len(why(advice))
    assert all(one.shown or why(advice)[one.card_id] == "held out by the trial" for one in advice.injections)


@given(RECALLED, st.integers(0, 7))
def test_what_becomes_of_a_card_does_not_depend_on_its_own_draw(cards: list[Recalled], at: int) -> None:
    once = list({one.card.id: one for one in cards}.values())
    if at >= len(once):
        return

    def eligible(*, drawn: bool) -> bool:
        card = once[at]
        asked = [
            *once[:at],
            recalled(card.card, card.injection.score, shown=drawn, barred=card.barred),
            *once[at + 1 :],
        ]
        advice = PromptCompiler(max_tokens=90, screen=Open()).compile(asked, most=3)
        return card.card.id in {one.card_id for one in advice.injections}

    assert eligible(drawn=True) == eligible(drawn=False)


def test_the_room_of_a_card_that_is_held_out_stays_empty() -> None:
    held_out, other = lesson("Read the header twice, " * 8), lesson("Guess no totals, and ask first, " * 6)
    compiler = PromptCompiler(max_tokens=140)
    assert shown(compiler.compile([recalled(held_out), recalled(other)])) == [held_out.id]
    advice = compiler.compile([recalled(held_out, shown=False), recalled(other)])
    assert shown(advice) == []
    assert why(advice) == {held_out.id: "held out by the trial", other.id: "no room"}


@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=25), min_size=2, max_size=6),
    st.lists(st.booleans(), min_size=6, max_size=6),
    st.integers(20, 160),
    st.none() | st.integers(1, 4),
    st.sampled_from(["turns", "section"]),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([4, 3]),
)
def test_no_draw_decides_what_is_logged_or_why_a_card_is_left_out(
    texts: list[list[str]],
    draws: list[bool],
    room: int,
    most: int | None,
    episodes: str,
    diversity: float,
    letters: int,
) -> None:
    cards = [
        episode(" ".join(words), "yes") if number % 2 else lesson(" ".join(words)) for number, words in enumerate(texts)
    ]
    compiler = PromptCompiler(max_tokens=room, episodes=episodes, diversity=diversity, screen=Open())

    def chosen(drawn: list[bool]) -> tuple[list[str], dict[str, str]]:
        given = [
            recalled(card, 1.0 - 0.1 * at, shown=one) for at, (card, one) in enumerate(zip(cards, drawn, strict=False))
        ]

        # Rounded up over parts and down over the whole, or the other way round: both ways of being left out for room.
        def count(text: str) -> int:
            return len(text) // 4 if letters == 4 else -(-len(text) // letters)

        advice = compiler.compile(given, most=most, count=count)
        assert {one.card_id for one in advice.injections if not one.shown} == {
            one for one, said in why(advice).items() if said == "held out by the trial"
        }
        reasons = {one: said for one, said in why(advice).items() if said != "held out by the trial"}
        return [one.card_id for one in advice.injections], reasons

    assert chosen(draws) == chosen([True] * 6)


def test_what_says_the_same_is_shown_once_and_what_only_looks_alike_is_shown_too() -> None:
    first = lesson("Name the team alone, and nothing else.")
    again = lesson("name the  team alone, and nothing else")
    alike = lesson("Name the team alone and nothing else.")
    cards = [recalled(first, 0.9), recalled(again, 0.9), recalled(alike, 0.8)]
    for diversity in (0.3, 0.0):
        advice = PromptCompiler(diversity=diversity).compile(cards)
        assert shown(advice) == [first.id, alike.id]
        assert why(advice) == {again.id: f"says the same as card {first.id}"}


def test_diversity_decides_who_gets_the_last_place() -> None:
    first = lesson("Name the team alone, and nothing but the team.")
    alike = lesson("Name the team alone, and nothing but the word.")
    other = lesson("Read the header of each ticket twice before answering.")
    cards = [recalled(first, 0.9), recalled(alike, 0.85), recalled(other, 0.8)]
    advice = PromptCompiler().compile(cards, most=2)
    assert shown(advice) == [first.id, other.id]
    assert why(advice) == {alike.id: f"like card {first.id}, and there are 2 already"}
    assert shown(PromptCompiler().compile(cards)) == [first.id, other.id, alike.id], "where there is a place for all"
    plain = PromptCompiler(diversity=0.0).compile(cards, most=2)
    assert shown(plain) == [first.id, alike.id]
    assert why(plain) == {other.id: "not among the best 2"}


def test_a_note_whose_situation_agrees_loses_its_place_to_none_that_only_sounds_alike() -> None:
    first = lesson("Name the team alone, and nothing but the team.")
    alike = lesson("Name the team alone, and nothing but the word.")
    other = lesson("Read the header of each ticket twice before answering.")
    agreeing = [recalled(first, 0.9, fit=1), recalled(alike, 0.85, fit=1)]
    advice = PromptCompiler(diversity=0.9).compile([*agreeing, recalled(other, 0.84)], most=2)
    assert shown(advice) == [first.id, alike.id]
    denying = [recalled(first, 0.9), recalled(alike, 0.85), recalled(other, 0.84, fit=-1)]
    assert shown(PromptCompiler(diversity=0.9).compile(denying, most=2)) == [first.id, alike.id]
    both = PromptCompiler().compile([*agreeing, recalled(other, 0.84, fit=1)], most=2)
    assert shown(both) == [first.id, other.id], "among those that agree, likeness counts"


def test_the_order_given_holds_whatever_the_scores() -> None:
    cards = [lesson("Read the header twice."), lesson("Guess no totals.")]
    advice = PromptCompiler().compile([recalled(cards[0], 0.3), recalled(cards[1], 0.9)], most=1)
    assert shown(advice) == [cards[0].id]


def test_examples_may_be_alike() -> None:
    near = [recalled(episode(f"Ticket {number}: the lift.", "Maple"), 0.9 - number / 100) for number in range(3)]
    far = recalled(episode("An invoice is wrong.", "Harbour"), 0.5)
    advice = PromptCompiler().compile([*near, far], most=3)
    assert advice.turns[-1] == ("Ticket 0: the lift.", "Maple")
    assert why(advice) == {far.card.id: "not among the best 3"}


def test_examples_take_no_place_of_notes_that_are_alike() -> None:
    notes = [recalled(lesson(f"Ticket about the {one}: Maple takes it."), 0.6) for one in ("lift", "stairs")]
    examples = [recalled(episode(f"Ticket {number}: the lift.", "Maple"), 0.9) for number in range(3)]
    given = [notes[0], examples[0], notes[1], *examples[1:]]
    advice = PromptCompiler(diversity=0.9).compile(given, most=3)
    assert shown(advice) == [one.card.id for one in given[:3]]


def test_what_all_have_in_common_is_no_likeness() -> None:
    cards = [lesson(f"Which team handles this ticket about the {one}?") for one in ("lift", "parcel", "invoice")]
    assert Likeness(cards)(0, 1) == 0.0
    assert Likeness([episode("Ticket 1: the lift.", "Maple")] * 2)(0, 1) == 0.0, "and examples are like nothing"
    assert likeness(features("a b"), features("a c")) == pytest.approx(1 / 5)
    assert likeness(features(""), features("")) == 1.0


@pytest.mark.parametrize(("second", "near", "order"), [(0.8, 0.5, [0, 2, 1]), (0.9, 0.1, [0, 1, 2])])
def test_what_is_like_one_taken_before_loses_by_its_likeness(second: float, near: float, order: list[int]) -> None:
    alike = {(1, 0): near, (2, 0): 0.0}
    places = MarginalRelevance(
        [1.0, second, 0.4], lambda at, taken: alike.get((at, taken), 0.0), kinds="nnn", diversity=0.5
    )
    found: list[int] = []
    for place in places:
        found.append(place)
        places.take(place)
    assert found == order


def test_places_compete_with_those_of_their_kind_and_none_is_worth_more_than_an_earlier_one() -> None:
    places = MarginalRelevance([0.2, 0.9, 0.9, 0.1], lambda at, _: float(at == 2), kinds="nene", diversity=0.5)
    found: list[int] = []
    for place in places:
        found.append(place)
        places.take(place)
    assert found == [0, 1, 2, 3]
    fallen = MarginalRelevance([0.2, 0.5, 0.9, 0.4], lambda at, _: 0.1 * (at == 2), kinds="nene", diversity=0.5)
    assert list(fallen) == [0, 1, 2, 3]


def test_the_nearest_one_taken_is_known_and_of_equals_the_first() -> None:
    alike = {0: 0.25, 1: 0.125, 2: 0.5, 3: 0.5}
    places = MarginalRelevance([0.5] * 5, lambda _, taken: alike[taken], kinds="nnnnn", diversity=1.0)
    assert places.nearest(4) == (0.0, -1)
    seen: list[tuple[float, int]] = []
    for taken in range(4):
        places.take(taken)
        seen.append(places.nearest(4))
    assert seen == [(0.25, 0), (0.25, 0), (0.5, 2), (0.5, 2)]


def test_cards_that_hurt_are_not_shown_and_take_no_place() -> None:
    harmful, good = lesson("Guess."), lesson("Read the header.")
    advice = PromptCompiler().compile([recalled(harmful, barred="hurts (evidence)"), recalled(good)], most=1)
    assert shown(advice) == [good.id]
    assert why(advice) == {harmful.id: "hurts (evidence)"}


def test_a_corrected_card_is_not_shown_beside_its_correction() -> None:
    old, stale = lesson("Guess.", id="old"), lesson("Hm.", id="stale", superseded_by="elsewhere")
    new = lesson("Read the header.", id="new", supersedes="old")
    advice = PromptCompiler().compile([recalled(old), recalled(stale), recalled(new, 0.3)])
    assert shown(advice) == ["new"]
    assert why(advice) == {"old": "superseded by card new", "stale": "superseded by card elsewhere"}
    # Nor does it come back where the correction is held out.
    assert not PromptCompiler().compile([recalled(old), recalled(new, shown=False)])


def test_lasting_cards_come_first_and_relevance_moves_no_note() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)

    def aged(text: str, days: int, **more: object) -> MemoryCard:
        return lesson(text, provenance=Provenance(created_at=start + timedelta(days=days)), **more)

    cards = [
        aged("Newest.", 9),
        aged("Pinned.", 8, pinned=True),
        aged("Oldest.", 1),
        aged("Promoted.", 5, status=MemoryStatus.PROMOTED),
        lesson("Naive.", provenance=Provenance(created_at=start.replace(year=2025, tzinfo=None))),
        lesson("East.", provenance=Provenance(created_at=datetime(2026, 1, 2, 5, tzinfo=timezone(timedelta(hours=9))))),
    ]
    some = PromptCompiler().compile([recalled(card, 0.9 - place / 10) for place, card in enumerate(cards)]).section
    turned = [recalled(card, 0.9 - place / 10) for place, card in enumerate(reversed(cards))]
    assert PromptCompiler().compile(turned).section == some
    places = [some.index(text) for text in ("Promoted.", "Pinned.", "Naive.", "East.", "Oldest.", "Newest.")]
    assert places == sorted(places)


def test_prompts_of_attempts_begin_alike() -> None:
    cards = [recalled(lesson("Read the header.")), recalled(lesson("Guess no totals."), 0.5)]
    first = PromptCompiler().compile(cards).section
    second = PromptCompiler().compile(cards, own=OwnRun(lessons=("Be brief.",))).section
    third = PromptCompiler().compile(cards, own=OwnRun(lessons=("Be brief.", "Name the team."))).section
    assert second.startswith(first.removesuffix("</memory>"))
    assert third.startswith(second.removesuffix("\n\n</memory>"))


def test_the_newest_words_of_the_own_run_stay() -> None:
    own = OwnRun(lessons=tuple(f"Lesson {number} says to be brief." for number in range(5)))
    advice = PromptCompiler(max_tokens=110).compile([recalled(lesson("Read."))], own=own, block="a line\nof a block")
    assert "Lesson 4" in advice.section
    assert "Lesson 0" not in advice.section
    assert estimated(advice.section) <= 110


def test_of_the_own_run_the_last_ten_are_read_by_kind_and_each_to_its_bound() -> None:
    screen = Noting()
    own = OwnRun(
        lessons=("oldest", *(f"{number} says" for number in range(7)), "abcdefgh", "abcdefghi", " "),
        rejected=("41", "x" * 601),
        corrected=(("How many?", "42"),),
    )
    section = PromptCompiler(own_characters=8, screen=screen).compile([], own=own).section
    lessons = [*(f"{number} says" for number in range(7)), "abcdefgh", "abcdefghi"]
    answers = ["Answer:\n41", f"Answer:\n{'x' * 601}", "Answer:\n42"]
    assert screen.noted == [
        *((MemoryKind.LESSON, text) for text in lessons),
        *((MemoryKind.SKILL_CARD, text) for text in answers),
    ]
    said = re.findall(r"- \[\w{6}\] (.*) \[\w{6}\]", section)
    assert said == [*lessons[:-1], "abcdefgh …", "41", f"{'x' * 600} …"]


class Noting(Open):
    """Lets all pass, and notes what it has read."""

    def __init__(self) -> None:
        self.noted: list[tuple[MemoryKind, str]] = []

    def check(self, card: MemoryCard) -> ScreenVerdict:
        """Note it, and let it pass."""
        self.noted.append((card.kind, card.content))
        return super().check(card)


@pytest.mark.parametrize("tokens", [7, 6])
def test_the_bound_itself_is_within_the_bound(tokens: int) -> None:
    def count(text: str) -> int:
        return 7 if "Guess" in text and "</memory>" in text else 0

    advice = PromptCompiler(max_tokens=tokens).compile([recalled(lesson("Guess no totals."))], count=count)
    assert (len(shown(advice)), list(why(advice).values())) == ((1, []) if tokens == 7 else (0, ["no room"]))


SCRIPT = """
from wisen import MemoryCard, MemoryKind, PromptCompiler
from wisen.advice.compiler import Recalled
from wisen.records import Injection
cards = [MemoryCard(kind=MemoryKind.LESSON, content=f"Read the {one} of each ticket twice.") for one in "abcdefgh"]
logged = [Injection(card_id=card.id, kind="lesson", reasons=(), score=0.5) for card in cards]
print(PromptCompiler().compile([Recalled(card=c, injection=i) for c, i in zip(cards, logged)], most=4))
"""


def test_bytes_do_not_depend_on_the_order_of_sets_and_dictionaries() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1
    assert b"Read the a" in said.pop()


class Counting:
    """A model with a tokenizer of its own: a token for each letter."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked = 0
        self._error = error

    async def token_counter(self) -> Callable[[str], int]:
        """Count letters."""
        self.asked += 1
        return self._count

    def _count(self, text: str) -> int:
        if self._error:
            raise self._error
        return len(text)


class Unloadable:
    """A model whose weights can't be loaded."""

    async def token_counter(self) -> Callable[[str], int]:
        """Fail."""
        raise ModelError("m", "no weights")


async def test_the_models_own_tokenizer_counts_where_it_matters() -> None:
    cards = [recalled(lesson("Read the header twice, " * 20)), recalled(lesson("Guess no totals, " * 20))]
    model = Counting()
    advice = await PromptCompiler(max_tokens=800).compile_for(model, cards)
    assert size(advice, len) <= 800
    assert len(shown(advice)) == 1
    assert len(shown(PromptCompiler(max_tokens=800).compile(cards))) == 2
    assert model.asked == 1
    everything = await PromptCompiler(max_tokens=9_000).compile_for(model, cards, block="é")
    assert model.asked == 1
    assert everything == PromptCompiler(max_tokens=9_000).compile(cards, block="é", count=len)


async def test_the_tokenizer_is_asked_only_where_there_may_be_too_much() -> None:
    short, long = lesson("Guess no totals."), lesson("a\n" * 150)
    asked: list[tuple[PromptCompiler, list[Recalled], OwnRun | None, bool]] = [
        (PromptCompiler(), [recalled(short, shown=False)], None, False),
        (PromptCompiler(max_tokens=1_000), [recalled(long)], None, True),
        (PromptCompiler(max_tokens=600), [recalled(short)], OwnRun(lessons=("Be brief. " * 30,)), True),
        (PromptCompiler(max_tokens=600), [recalled(short)], OwnRun(rejected=("No. " * 90,)), True),
        (PromptCompiler(max_tokens=1_500), [recalled(short)], OwnRun(corrected=(("Sum. " * 90, "4 " * 200),)), True),
        (PromptCompiler(max_tokens=1_500), [recalled(long)], OwnRun(lessons=("Be brief.",)), True),
    ]
    for compiler, cards, own, expected in asked:
        model = Counting()
        advice = await compiler.compile_for(model, cards, own=own)
        assert (bool(model.asked), advice) == (expected, compiler.compile(cards, own=own, count=len))


async def test_no_more_cards_are_shown_than_asked_for_though_all_would_fit() -> None:
    cards = [recalled(lesson(text)) for text in ("Read the header.", "Guess no totals.")]
    advice = await PromptCompiler().compile_for(object(), cards, most=1)
    assert (len(shown(advice)), list(why(advice).values())) == (1, ["not among the best 1"])


@pytest.mark.parametrize("model", [object(), Unloadable(), Counting(ModelError("m", "gone"))])
async def test_without_a_tokenizer_the_estimate_counts(model: object) -> None:
    cards = [recalled(lesson("Read the header twice, " * 20)), recalled(lesson("Guess no totals, " * 20))]
    compiler = PromptCompiler(max_tokens=300)
    assert await compiler.compile_for(model, cards) == compiler.compile(cards)
    assert (estimated("read 123"), at_most("é\ud800"), await counter_of(object())) == (5, 5, None)
