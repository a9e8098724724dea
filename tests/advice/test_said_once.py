"""A prompt never holds the same words twice: of equal cards the best is shown, and the record says so of the others."""

from dataclasses import replace
from typing import Any

import pytest

from wisen import (
    Agent,
    InMemoryVectorStore,
    LearningOptions,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    MemoryStatus,
    Reflexion,
    ScriptedModel,
)
from wisen.advice.compiler import OwnRun, PromptCompiler, Recalled
from wisen.cards import CardEvidence, Provenance, Situation
from wisen.memory_ci.trial import TrialRule
from wisen.protocols import ScreenVerdict
from wisen.records import Advice, Injection

pytestmark = pytest.mark.anyio

LAYOUT = PromptCompiler().layout
MODEL = "scripted"
WORDS = "Read the header first."


def card(name: str, content: str = WORDS, kind: MemoryKind = MemoryKind.LESSON, **more: Any) -> MemoryCard:
    return MemoryCard(id=name, kind=kind, content=content, **more)


def episode(name: str, prompt: str, answer: str) -> MemoryCard:
    checked = Provenance(created_by="reflexion", verified=True)
    return card(name, answer, kind=MemoryKind.SKILL_CARD, situation=Situation(prompt=prompt), provenance=checked)


def seen(gained: int, lost: int, model: str = MODEL) -> tuple[CardEvidence, ...]:
    return (CardEvidence(model=model, layout=LAYOUT, gained=gained, lost=lost),)


def recalled(one: MemoryCard, score: float = 1.0, *, shown: bool = True) -> Recalled:
    injection = Injection(card_id=one.id, kind=one.kind.value, reasons=(), score=score, shown=shown, propensity=0.85)
    return Recalled(card=one, injection=injection)


def logged(advice: Advice) -> list[str]:
    return [one.card_id for one in advice.injections]


def why(advice: Advice) -> dict[str, str]:
    return {one.card_id: one.why for one in advice.left_out}


@pytest.mark.parametrize("diversity", [0.0, 0.3])
@pytest.mark.parametrize("kind", [kind for kind in MemoryKind if kind is not MemoryKind.LESSON])
def test_the_same_words_are_shown_once_whatever_their_kind(kind: MemoryKind, diversity: float) -> None:
    both = [recalled(card("a")), recalled(card("b", "Read  the header\nfirst.", kind=kind))]
    advice = PromptCompiler(diversity=diversity).compile(both)
    assert (logged(advice), why(advice)) == (["a"], {"b": "says the same as card a"})
    assert advice.section.count("header") == 1


@pytest.mark.parametrize("episodes", ["turns", "section"])
def test_an_example_is_shown_once_and_the_same_answer_to_other_tasks_too(episodes: str) -> None:
    tasks = {"a": "The lift is broken.", "b": "the lift is broken", "c": "The lift is loud."}
    every = [recalled(episode(name, prompt, "Maple")) for name, prompt in tasks.items()]
    advice = PromptCompiler(episodes=episodes).compile(every)
    assert (logged(advice), why(advice)) == (["a", "c"], {"b": "says the same as card a"})


def test_what_no_prompt_holds_of_an_example_makes_no_difference() -> None:
    one, other = episode("a", "The lift is broken.", "Maple"), episode("b", "The lift is broken.", "Maple")
    advice = PromptCompiler().compile([recalled(one), recalled(replace(other, pattern="lifts"))])
    assert (logged(advice), why(advice)) == (["a"], {"b": "says the same as card a"})


@pytest.mark.parametrize(
    "better",
    [
        {"status": MemoryStatus.PROMOTED},
        {"pinned": True},
        {"evidence": seen(5, 0)},
        {"evidence": seen(2, 2)},
        {"status": MemoryStatus.PROMOTED, "evidence": seen(0, 3)},
    ],
)
def test_the_one_with_the_better_status_or_evidence_is_shown(better: dict[str, Any]) -> None:
    other = card("a", evidence=seen(9, 0, model="another"))
    both = [recalled(other, 0.9), recalled(card("b", **better), 0.4)]
    advice = PromptCompiler().compile(both, model=MODEL)
    assert (logged(advice), why(advice)) == (["b"], {"a": "says the same as card b"})


async def test_the_evidence_is_of_the_model_that_is_asked() -> None:
    both = [recalled(card("a", evidence=seen(0, 3))), recalled(card("b"))]
    assert logged(await PromptCompiler().compile_for(ScriptedModel([]), both)) == ["b"]
    assert logged(await PromptCompiler().compile_for(object(), both)) == ["a"]
    nobodys = [recalled(card("a")), recalled(card("b", evidence=seen(5, 0, model="")))]
    assert logged(await PromptCompiler().compile_for(object(), nobodys)) == ["b"], "a model without a name has its own"
    assert logged(PromptCompiler().compile(nobodys)) == ["b"]


def test_the_better_one_stands_where_the_nearer_one_stood() -> None:
    near, better, other = card("a"), card("b", pinned=True), card("c", "Guess no totals.")
    advice = PromptCompiler().compile([recalled(near, 0.9), recalled(other, 0.8), recalled(better, 0.1)], most=1)
    assert logged(advice) == ["b"]
    assert why(advice) == {"a": "says the same as card b", "c": "not among the best 1"}


@pytest.mark.parametrize("shown", [True, False])
def test_where_the_one_that_is_tried_is_held_out_the_other_does_not_stand_in_for_it(shown: bool) -> None:
    advice = PromptCompiler().compile([recalled(card("a"), shown=shown), recalled(card("b"))])
    assert logged(advice) == ["a"]
    assert why(advice)["b"] == "says the same as card a"
    assert (WORDS in advice.section) is shown


class Keeping:
    """A screen that keeps one card out."""

    name = "keeping"

    def check(self, card: MemoryCard) -> ScreenVerdict:
        """Reject the card "a"."""
        return (
            ScreenVerdict(outcome="rejected", card=None) if card.id == "a" else ScreenVerdict(outcome="pass", card=card)
        )


def test_one_that_the_screen_keeps_out_leaves_its_place_to_the_other() -> None:
    advice = PromptCompiler(screen=Keeping()).compile([recalled(card("a", pinned=True)), recalled(card("b"))])
    assert [one.card_id for one in advice.blocked] == ["a"]
    assert (logged(advice), why(advice)) == (["b"], {})


def test_what_the_own_run_or_the_block_says_is_not_said_again() -> None:
    every = [recalled(card("a")), recalled(card("b", "Guess no totals.")), recalled(card("c", "Ask for dates."))]
    own = OwnRun(lessons=(WORDS, WORDS))
    advice = PromptCompiler().compile(
        every, own=own, block="- Guess no totals.\n\n- Keep it short.\n- Guess no totals."
    )
    assert logged(advice) == ["c"]
    assert why(advice) == {"a": "says the same as a lesson of this run", "b": "says the same as a line of the block"}
    assert (advice.section.count(WORDS), advice.section.count("Guess no totals.")) == (1, 1)


async def test_a_card_that_was_left_out_as_equal_is_counted_on_neither_side() -> None:
    store = InMemoryVectorStore()
    prompts = ("Which team handles a broken invoice?", "Which team handles a lost parcel, or an invoice?")
    await store.add(
        [
            card(
                name,
                situation=Situation(prompt=prompt),
                status=MemoryStatus.QUARANTINED,
                provenance=Provenance(run_id="earlier", agent="agent"),
            )
            for name, prompt in zip("ab", prompts, strict=True)
        ]
    )
    options = LearningOptions(keep_successes="none")
    rule = TrialRule(holdout=0.5, first_shown=0)
    agent = Agent(
        "Name a team.",
        model=ScriptedModel(["Harbour"] * 20),
        architecture=Reflexion(max_attempts=1, lesson_store=MemoryCI(store, trial=rule), options=options),
        evaluator=lambda _task, _output: 1.0,
    )
    sides = set[bool]()
    for _ in range(20):
        [attempt] = (await agent.run(prompts[0])).record.attempts
        drawn = {one.card_id: one.shown for one in attempt.injections}
        assert len(drawn) == 1
        sides |= set(drawn.values())
        other = {"a", "b"} - drawn.keys()
        assert {one.card_id for one in attempt.left_out if one.why != "held out by the trial"} == other
    assert sides == {True, False}
    assert sum(one.runs for each in await store.get(["a", "b"]) for one in each.trials) == 20
