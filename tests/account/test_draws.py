"""Chance decides which ideas a run is shown; it is written down before, and never drawn twice the same way."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from ruling import CLERK, made, promoted
from trying import (
    COIN,
    HARBOUR,
    LAYOUT,
    NOON,
    ON_TRIAL,
    PROMPT,
    Meaning,
    Ordered,
    advice_of,
    agent,
    drawing,
    drawn,
    found,
    keeper,
    kept,
    lesson,
    only,
    open_in,
    ran,
    says_yes,
    seeded,
    trial_in,
)

from wisen import (
    Agent,
    CardFilter,
    InMemoryVectorStore,
    MemoryCard,
    MemoryCI,
    MemoryKind,
    ReflectionEvaluation,
    Reflexion,
    ScriptedModel,
    Situation,
    Task,
    Trace,
)
from wisen.account.counts import Outcome
from wisen.account.eligibility import WAITS
from wisen.cards import Provenance
from wisen.deadlines import RunTime
from wisen.errors import DeadlineError, PartTimeoutError, StoreError
from wisen.events import Degraded, Event, LessonsRecalled
from wisen.memory_ci.changes import change_card
from wisen.memory_ci.pipeline import Found
from wisen.memory_ci.trial import TrialRule
from wisen.models.scripted import ScriptedCall
from wisen.recall import RecallHit
from wisen.records import Advice
from wisen.trial_records import DrawCounts, OpenDraw, Trial

pytestmark = pytest.mark.anyio

ONE_PLACE = replace(COIN, at_once=1)
OTHERS = tuple(f"Ask for {what} before you answer." for what in ("the year", "a receipt", "two names", "the gate"))


async def test_the_draw_is_written_before_the_first_attempt_and_counted_after_it() -> None:
    store = Ordered()
    await keeper(store).submit(lesson())

    def reply(messages: object, call: ScriptedCall) -> str:
        store.noted.append("attempt")
        return says_yes(messages, call)

    def judge(output: str) -> float:
        store.noted.append("judged")
        return float(output == "yes")

    await agent(store, reply, evaluator=judge).run(PROMPT)
    assert store.noted == ["write 1 open", "attempt", "judged", "write 0 open"]


async def test_only_the_first_attempt_draws_and_what_it_drew_holds_for_the_run() -> None:
    sides = Counter[bool]()
    for seed in range(12):
        store, prompts = InMemoryVectorStore(), list[str]()
        await keeper(store).submit(lesson())

        def reply(messages: object, call: ScriptedCall, prompts: list[str] = prompts) -> str:
            del messages
            prompts.append(call.system)
            return "no"

        ci = MemoryCI(store, trial=COIN)
        learning = {"max_attempts": 3}
        result = await agent(ci, reply, learning=learning, clockwork=seeded(seed)).run(PROMPT)
        (first,) = result.attempts[0].injections
        assert {HARBOUR in one for one in prompts} == {first.shown}
        assert len(prompts) == 3
        assert [len(one.injections) for one in result.attempts] == [1, 1, 1]
        assert trial_in(await only(store), "scripted").runs == 1
        sides[first.shown] += 1
    assert set(sides) == {True, False}


async def test_what_only_a_later_attempt_recalls_is_not_counted() -> None:
    store = InMemoryVectorStore()

    class Teaching:
        name = "teaching"

        async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
            del task, trace
            await keeper(store).submit(lesson())
            return ReflectionEvaluation(overall_score=float(output == "yes"), verifiable=True)

    learning = {"max_attempts": 2}
    result = await agent(store, ["no", "yes"], evaluator=Teaching(), learning=learning).run(PROMPT)
    assert [len(one.injections) for one in result.attempts] == [0, 0]
    assert [one.why for one in result.attempts[1].left_out] == [WAITS]
    card = await only(store)
    assert (card.content, card.trials, card.open_draws) == (HARBOUR, (), ())


@pytest.mark.parametrize("trust", ["trial", "screened"])
async def test_what_a_later_attempt_finds_first_is_shown_without_a_draw(trust: str) -> None:
    ci = keeper(InMemoryVectorStore(), rule=replace(COIN, recheck=0.5), trust=trust)
    card_id = (await ci.submit(lesson())).card_id
    await ci.promote(card_id, "it helps")
    for number in range(20):
        (one,) = await drawing(ci, nonce=f"n{number}").with_draws(await found(ci), first=False)
        assert (one.injection.shown, one.injection.propensity, one.injection.draw) == (True, 1.0, "")


async def test_the_first_three_deliveries_are_shown_and_say_nothing() -> None:
    ci = keeper(InMemoryVectorStore(), rule=TrialRule(holdout=0.5))
    await ci.submit(lesson())
    for number in range(3):
        draws = drawing(ci, run_id=str(number))
        advice = await drawn(draws)
        (one,) = advice.injections
        assert (one.shown, one.propensity, bool(one.draw)) == (True, 1.0, True)
        await draws.settle(advice, Outcome(good=number > 0))
    trial = trial_in(await only(ci.store))
    assert (trial.first, trial.first_good, trial.number, trial.stage, trial.counts) == (3, 2, 0, "waiting", ())
    (fourth,) = (await drawn(drawing(ci))).injections
    assert fourth.propensity == 0.5
    trial = trial_in(await only(ci.store))
    assert (trial.number, trial.stage) == (1, "on trial")


async def test_deliveries_at_once_are_three_too() -> None:
    ci = keeper(InMemoryVectorStore(), rule=TrialRule(holdout=0.5))
    await ci.submit(lesson())
    shares = [(await drawn(drawing(ci))).injections[0].propensity for _ in range(5)]
    assert shares == [1.0, 1.0, 1.0, 0.5, 0.5]


async def test_who_has_just_failed_sees_the_lesson_next_time() -> None:
    for seed in range(6):
        store = InMemoryVectorStore()
        script = ["no", "Invoices go to Harbour.", "yes"]
        model = ScriptedModel(script)
        made = Agent(
            model=model,
            architecture=Reflexion(lesson_store=store, max_attempts=1),
            evaluator="yes".__eq__,
            clockwork=seeded(seed),
        )
        await made.run(PROMPT)
        await made.run(PROMPT)
        assert HARBOUR in model.calls[2].system


async def test_a_program_that_begins_with_the_same_seed_draws_anew() -> None:
    store, sides = InMemoryVectorStore(), list[bool]()
    await keeper(store).submit(lesson())
    for _ in range(30):
        ci = MemoryCI(store, trial=COIN)
        result = await agent(ci, says_yes, clockwork=seeded(1)).run(PROMPT)
        sides.append(result.attempts[0].injections[0].shown)
    assert 5 < sum(sides) < 25
    assert trial_in(await only(store), "scripted").runs == 30


async def test_a_run_id_that_comes_back_is_drawn_anew() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    await ci.submit(lesson())
    seen = [(await drawn(drawing(ci, run_id="ticket-1"))).injections[0] for _ in range(30)]
    assert len({one.draw for one in seen}) == 30
    assert 5 < sum(one.shown for one in seen) < 25


async def test_an_execution_that_is_made_again_finds_its_draw() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    await ci.submit(lesson())
    once = await drawn(drawing(ci, run_id="r", nonce="n"))
    again = await drawn(drawing(ci, run_id="r", nonce="n"))
    assert again == once
    assert open_in(await only(ci.store)) == ["r"]


@pytest.mark.parametrize("model", ["m", "half a pair \ud83d"])
async def test_a_draw_follows_from_the_execution_and_from_how_often_others_drew_the_idea(model: str) -> None:
    """A program of another version that resumes the run finds it."""
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    card_id = (await ci.submit(lesson())).card_id
    before = DrawCounts(propensity=0.5, shown=3, held_out=2)
    now = DrawCounts(propensity=0.5, shown=4, held_out=7)
    trial = Trial(model=model, layout=LAYOUT, number=1, stage="on trial", first=20, counts=(now,), before=(before,))
    opened = [
        OpenDraw(id=str(at), at=NOON, model="n", layout="l", run_id=run) for at, run in enumerate(("a", "b", "r"))
    ]
    await change_card(ci.store, card_id, lambda card: replace(card, trials=(trial,), open_draws=tuple(opened)))
    (one,) = await drawing(ci, run_id="r", nonce="n", model=model).with_draws(await found(ci), first=True)
    text = "\x1f".join(("n", card_id, model, LAYOUT, str(20 + 11 + 5 + 2)))
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    assert one.injection.draw == digest[:24]
    assert one.injection.shown is (int(digest[24:40], 16) / 2**64 < 0.5)


async def test_what_the_first_attempt_drew_holds_though_it_would_wait_now() -> None:
    ci = keeper(InMemoryVectorStore(), rule=ONE_PLACE)
    await ci.submit(lesson())
    for number in range(8):
        draws = drawing(ci, nonce=f"n{number}")
        first = advice_of(await draws.with_draws(await found(ci), first=True))
        later = await draws.with_draws(await found(ci), first=False, before=first)
        assert [(one.injection, one.barred) for one in later] == [(one, "") for one in first.injections]
    assert [one.barred for one in await drawing(ci).with_draws(await found(ci), first=False)] == [WAITS]


async def test_five_of_those_that_wait_are_told() -> None:
    ci = keeper(InMemoryVectorStore(), rule=ONE_PLACE)
    every = [Found(hit=RecallHit(card=card, relevance=0.9, reasons=()), head=card) for card in map(lesson, "abcdefgh")]
    await ci.store.add_unscreened([one.head for one in every])
    draws = drawing(ci)
    told = await draws.with_draws(every, first=True)
    assert Counter(one.barred for one in told) == {WAITS: 5, "": 1}
    kept = advice_of(told)
    again = await draws.with_draws(every, first=False, before=kept)
    assert Counter(one.barred for one in again) == {WAITS: 5, "": 1}
    assert [one.injection for one in again if not one.barred] == list(kept.injections)


async def test_what_is_tainted_is_told_as_such() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    await ci.submit(lesson(tainted=True))
    (one,) = await drawing(ci).with_draws(await found(ci), first=True)
    assert one.injection.tainted


async def test_a_rule_stands_in_the_runs_of_its_model_unless_the_run_knows_it() -> None:
    rule = promoted("Name the unit.", evidence="m")
    ci = await made(InMemoryVectorStore(), rule)
    for model, layout, known, stands in (
        ("m", LAYOUT, (), True),
        ("n", LAYOUT, (), False),
        ("m", "another", (), False),
        ("m", LAYOUT, (rule.id,), False),
    ):
        rules = await drawing(ci, model=model, layout=layout).rules(CLERK, known=known)
        assert [one.card.id for one in rules] == ([rule.id] if stands else [])


async def test_a_draw_that_was_counted_is_not_opened_again() -> None:
    """Two processes at one run have drawn the same, and one is through before the other has written it."""
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    await ci.submit(lesson())
    one, other = drawing(ci, run_id="r", nonce="n"), drawing(ci, run_id="r", nonce="n")
    advice = [advice_of(await each.with_draws(await found(ci), first=True)) for each in (one, other)]
    assert advice[0] == advice[1]
    await one.settle(await one.write(advice[0]), Outcome(good=True))
    await other.settle(await other.write(advice[1]), Outcome(good=True))
    card = await only(ci.store)
    assert (open_in(card), trial_in(card).runs) == ([], 1)


async def test_a_draw_that_an_earlier_program_counted_is_known_by_the_beginning_of_its_id() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    card_id = (await ci.submit(lesson())).card_id
    draws = drawing(ci, run_id="r", nonce="n")
    advice = advice_of(await draws.with_draws(await found(ci), first=True))
    known = (advice.injections[0].draw[:12],)
    await change_card(ci.store, card_id, lambda card: replace(card, observed=known))
    await draws.write(advice)
    assert open_in(await only(ci.store)) == []


async def test_draws_that_no_attempt_was_made_with_are_taken_back() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    await ci.submit(lesson())
    used, unused = [await drawn(drawing(ci, run_id="r")) for _ in range(2)]
    assert open_in(await only(ci.store)) == ["r", "r"]
    await drawing(ci, run_id="r").withdraw(unused, used=used)
    assert [one.id for one in (await only(ci.store)).open_draws] == [used.injections[0].draw]
    await drawing(ci, run_id="r").withdraw(used, used=used)
    assert open_in(await only(ci.store)) == ["r"]


async def test_taking_back_what_is_not_there_changes_nothing() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    for text in (HARBOUR, OTHERS[0]):
        await ci.submit(lesson(text))
    draws = drawing(ci)
    unused, nothing = await drawn(draws), Advice()
    await draws.withdraw(unused, used=nothing)
    before = await kept(ci.store, lesson(OTHERS[0]).id)
    assert before.open_draws == ()
    await ci.store.delete([lesson().id])
    await draws.withdraw(unused, used=nothing)
    assert await kept(ci.store, before.id) == before


async def test_outcomes_are_written_down_also_where_the_runs_time_is_over_and_draws_are_not() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    await ci.submit(lesson())
    draws, other = drawing(ci), drawing(ci, run_id="other")
    advice, unused = await drawn(draws), await drawn(other)
    with RunTime(seconds=0.0, step_seconds=None) as time, time.closing("the run"):
        await draws.settle(advice, Outcome(good=True))
        await other.withdraw(unused, used=advice)
        with pytest.raises(DeadlineError, match="store InMemoryVectorStore"):
            await draws.write(advice)
    card = await only(ci.store)
    assert (trial_in(card).runs, open_in(card)) == (1, [])


class Stalled(InMemoryVectorStore):
    """A store whose writes don't end, once it has stalled."""

    stalled = False

    async def update(self, card: MemoryCard) -> None:
        """Wait."""
        if self.stalled:
            await asyncio.Event().wait()
        await super().update(card)


@pytest.mark.parametrize("step", ["write", "settle", "withdraw"])
async def test_a_store_that_stalls_is_named(step: str) -> None:
    store = Stalled()
    ci = keeper(store)
    await ci.submit(lesson())
    draws = drawing(ci)
    advice = await drawn(draws)
    store.stalled = True
    steps: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
        "write": lambda: drawing(ci, run_id="other").write(replaced(advice)),
        "settle": lambda: draws.settle(advice, Outcome(good=True)),
        "withdraw": lambda: draws.withdraw(advice, used=Advice()),
    }
    time = RunTime(seconds=None, step_seconds=0.05)
    with time, pytest.raises(PartTimeoutError, match="store Stalled"):
        await time.spend("run", steps[step]())


def replaced(advice: Advice) -> Advice:
    """The advice as another run would have drawn it."""
    return replace(advice, injections=tuple(replace(one, draw="another") for one in advice.injections))


async def test_the_coin_is_as_fair_as_it_says() -> None:
    ci = keeper(InMemoryVectorStore(), rule=TrialRule(first_shown=0, holdout=0.25))
    await ci.submit(lesson())
    (one,) = await found(ci)
    shown = 0
    for number in range(2_000):
        (part,) = await drawing(ci, nonce=f"n{number}").with_draws([one], first=True)
        shown += part.injection.shown
    assert 1_420 < shown < 1_580


async def test_ideas_that_wait_reach_no_run() -> None:
    store, prompts = InMemoryVectorStore(), list[str]()
    ci = keeper(store)
    for text in (HARBOUR, *OTHERS):
        await ci.submit(lesson(text))

    def reply(messages: object, call: ScriptedCall) -> str:
        prompts.append(call.system)
        return says_yes(messages, call)

    made, tried = agent(MemoryCI(store, trial=TrialRule(first_shown=10)), reply), set[str]()
    for _ in range(4):
        result = await made.run(PROMPT)
        tried = {one.card_id for one in result.attempts[0].injections}
        assert len(tried) == 2
        assert {one.why for one in result.attempts[0].left_out} == {WAITS}
        assert len(result.attempts[0].left_out) == 3
    waiting = [one for one in await found(ci) if one.head.id not in tried]
    assert len(waiting) == 3
    for one in waiting:
        assert not any(one.hit.card.content in prompt for prompt in prompts)
        assert (one.head.trials, one.head.open_draws) == ((), ())


async def on_trial(ci: MemoryCI) -> set[str]:
    return {one.idea for one in (await drawn(drawing(ci))).injections if one.draw}


async def test_the_place_goes_to_what_was_taught_most_often() -> None:
    ci = keeper(InMemoryVectorStore(), rule=ONE_PLACE)
    often = (await ci.submit(lesson(OTHERS[0]))).card_id
    for text in (OTHERS[1], OTHERS[2]):
        await ci.submit(lesson(text, created_at=NOON + timedelta(days=1)))
    for run in ("again", "and again"):
        assert (await ci.submit(lesson(OTHERS[0], run=run))).outcome == "duplicate"
    assert await on_trial(ci) == {often}


@pytest.mark.parametrize(
    ("remedy", "places"), [("`./run --list --fresh unit`", 2), ("`APP_ENV=ci ./run --list unit`", 1), ("patience", 1)]
)
async def test_failures_are_tried_side_by_side_whose_remedies_have_no_word_in_common(remedy: str, places: int) -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    said = (
        ("./run unit", "exit code 3: settings: no environment is chosen", "`APP_ENV=ci ./run unit`"),
        ("./run --list unit", "exit code 75: the cache is locked by another process", remedy),
    )
    for command, error, passed in said:
        text = f"`{command}` failed here with {error}\nWhat passed instead: {passed}"
        await ci.submit(replace(lesson(text, command, run=command), kind=MemoryKind.FAILURE_PATTERN))
    assert [card.rivals for card in await ci.store.list(CardFilter())] == [(), ()]
    advice = await drawn(drawing(ci), "./run --list unit")
    assert len([one for one in advice.injections if one.draw]) == places


async def test_examples_have_places_of_their_own() -> None:
    ci = keeper(InMemoryVectorStore(), rule=ONE_PLACE)
    for text in OTHERS[:2]:
        await ci.submit(lesson(text))
    for number, answer in enumerate(("Harbour", "Maple", "Cedar")):
        example = MemoryCard(
            kind=MemoryKind.SKILL_CARD,
            content=answer,
            situation=Situation(prompt=f"{PROMPT} It is ticket number {number}."),
            provenance=Provenance(run_id=f"solved {number}", agent="agent", verified=True),
        )
        assert (await ci.submit(example)).outcome == "added"
    tried = [await kept(ci.store, idea) for idea in await on_trial(ci)]
    assert Counter(one.kind for one in tried) == {MemoryKind.LESSON: 1, MemoryKind.SKILL_CARD: 1}
    families = {one.kind: (trial_in(one).number, trial_in(one).family) for one in tried}
    assert families == {MemoryKind.LESSON: (1, ""), MemoryKind.SKILL_CARD: (1, "examples")}, "and numbers"


async def test_a_correction_takes_the_place_of_what_it_corrects() -> None:
    ci = keeper(InMemoryVectorStore(embedder=Meaning(("invoice",), ("year",))), rule=ONE_PLACE)
    early = NOON - timedelta(days=60)
    old = (await ci.submit(lesson(HARBOUR, verified=True, created_at=early))).card_id
    for number in range(4):
        await ci.submit(lesson(HARBOUR, run=f"again {number}", verified=True, created_at=early))
    assert await on_trial(ci) == {old}
    new = await ci.submit(lesson("Invoices go to Maple.", verified=True, created_at=NOON))
    assert new.rivals == (old,)
    for number in range(2):
        await ci.submit(lesson(OTHERS[0], run=f"another {number}", verified=True, created_at=NOON))
    assert await on_trial(ci) == {new.card_id}


@pytest.mark.parametrize("trust", ["trial", "screened"])
async def test_an_idea_that_is_held_out_is_in_no_prompt_of_the_run_in_any_wording(trust: str) -> None:
    topics = (("invoice", "bill"),)
    wordings = (HARBOUR, "Bills: hand each of them over to the Harbour team.")
    sides = set[bool]()
    for seed in range(10):
        store, prompts = InMemoryVectorStore(embedder=Meaning(*topics)), list[str]()
        ci = MemoryCI(store, trial=replace(COIN, recheck=0.5), trust=trust)  # type: ignore[arg-type]
        ideas = {(await ci.submit(lesson(text))).idea for text in wordings}
        assert len(ideas) == 1

        def reply(messages: object, call: ScriptedCall, prompts: list[str] = prompts) -> str:
            del messages
            prompts.append(call.system + call.prompt)
            return "no"

        learning = {"max_attempts": 2}
        result = await agent(ci, reply, learning=learning, clockwork=seeded(seed)).run(PROMPT)
        (one,) = result.attempts[0].injections
        held = [[text in prompt for text in wordings].count(True) for prompt in prompts]
        assert held == ([1, 1] if one.shown else [0, 0])
        sides.add(one.shown)
    assert sides == {True, False}


async def test_an_idea_that_is_losing_is_shown_less() -> None:
    for trust, usual in (("trial", 0.6), ("screened", 0.9)):
        ci = keeper(InMemoryVectorStore(), trust=trust)
        await ci.submit(lesson())
        shares = list[float]()
        for number in range(60):
            draws = drawing(ci, nonce=f"n{number}")
            advice = await drawn(draws)
            if not advice.injections:
                break
            shares.append(advice.injections[0].propensity)
            await draws.settle(advice, Outcome(good=not advice.injections[0].shown))
        assert shares[0] == usual
        assert shares[-1] == 0.25


async def test_under_replayed_nothing_is_drawn() -> None:
    ci = keeper(InMemoryVectorStore(), trust="replayed")
    card_id = (await ci.submit(lesson())).card_id
    assert (await drawn(drawing(ci))).injections == ()
    await ci.promote(card_id, "it helps")
    (one,) = (await drawn(drawing(ci))).injections
    assert (one.shown, one.propensity, one.draw) == (True, 1.0, "")


async def test_the_trials_of_a_store_are_numbered_in_the_order_in_which_they_begin() -> None:
    ci = keeper(InMemoryVectorStore())
    for number, prompt in enumerate(("Route the ticket.", "Bake a cake.", "Fly to Mars."), 1):
        await ci.submit(lesson(f"Lesson about {prompt}", prompt))
        draws = drawing(ci)
        advice = await drawn(draws, prompt)
        assert [trial_in(await kept(ci.store, one.idea)).number for one in advice.injections] == [number]
    card_id = lesson("Lesson about Bake a cake.", "Bake a cake.").id
    await ci.archive(card_id, "no")
    await ci.quarantine(card_id, "once more")
    await drawn(drawing(ci), "Bake a cake.")
    again = trial_in(await kept(ci.store, card_id))
    assert (again.number, again.rounds) == (4, 1), "a hypothesis of its own"


class Failing(InMemoryVectorStore):
    """A store that changes no card any more."""

    broken = False

    async def update(self, card: MemoryCard) -> None:
        """Fail."""
        if self.broken:
            raise StoreError("disk full")
        await super().update(card)


async def test_where_the_draw_can_not_be_written_the_run_goes_on_and_counts_for_nothing() -> None:
    store, events = Failing(), list[Event]()
    await keeper(store).submit(lesson())
    store.broken = True
    result = await agent(store, says_yes, watch=events.append).run(PROMPT)
    assert (result.output, result.status) == ("yes", "satisfied")
    (told,) = [event for event in events if isinstance(event, Degraded)]
    skipped = "counting this run on the ideas that it tries"
    assert told == Degraded(stage="trial", error="StoreError: disk full", skipped=skipped, attempt=1)
    assert [one.draw for one in result.attempts[0].injections] == [""]
    card = await only(store)
    assert (card.trials, card.open_draws) == ((), ())


class Half(InMemoryVectorStore):
    """A store that can't write the draws of one lesson, and for a while takes nothing back."""

    keeps = False

    async def update(self, card: MemoryCard) -> None:
        """Write, unless it fails."""
        if OTHERS[0] in card.content or (self.keeps and not card.open_draws):
            raise StoreError("disk full")
        await super().update(card)


@pytest.mark.parametrize("keeps", [False, True])
async def test_where_one_draw_can_not_be_written_the_others_are_taken_back(*, keeps: bool) -> None:
    store = Half()
    store.keeps = keeps
    for text in (HARBOUR, OTHERS[0]):
        await keeper(store).submit(lesson(text))
    result = await agent(store, says_yes).run(PROMPT)
    assert (result.status, result.record.degradations) == ("satisfied", ("trial: StoreError: disk full",))
    assert [one.draw for one in result.attempts[0].injections] == ["", ""]
    cards = await store.list(CardFilter())
    assert sum(len(card.open_draws) for card in cards) == keeps
    assert sum(trial.runs for card in cards for trial in card.trials) == 0


async def test_where_the_outcome_can_not_be_counted_the_answer_stays() -> None:
    store, events = Failing(), list[Event]()
    await keeper(store).submit(lesson())

    def reply(messages: object, call: ScriptedCall) -> str:
        store.broken = True
        return says_yes(messages, call)

    result = await agent(store, reply, watch=events.append).run(PROMPT)
    assert (result.output, result.status) == ("yes", "satisfied")
    (told,) = [event for event in events if isinstance(event, Degraded)]
    skipped = "counting this run on the ideas that it tried"
    assert told == Degraded(stage="trial", error="StoreError: disk full", skipped=skipped, attempt=1)
    assert len((await only(store)).open_draws) == 1


async def test_an_idea_that_is_gone_before_its_draw_is_written_counts_for_nothing() -> None:
    ci = keeper(InMemoryVectorStore())
    for text in (HARBOUR, OTHERS[0]):
        await ci.submit(lesson(text))
    draws = drawing(ci)
    parts = await draws.with_draws(await found(ci), first=True)
    await ci.store.delete([lesson().id])
    before = advice_of(parts)
    gone = lesson().id
    expected = tuple(replace(one, draw="") if one.card_id == gone else one for one in before.injections)
    assert [bool(one.draw) for one in before.injections] == [True, True]
    assert await draws.write(before) == replace(before, injections=expected)


async def test_an_old_draw_is_counted_when_the_next_one_is_written() -> None:
    ci = keeper(InMemoryVectorStore())
    await ci.submit(lesson())
    await drawn(drawing(ci, run_id="killed"))
    later = keeper(ci.store, now=lambda: NOON + timedelta(hours=24))
    await ran(later, lambda _: True, run_id="next")
    card = await only(ci.store)
    assert (card.open_draws, trial_in(card).runs) == ((), 2)
    assert sum(one.shown_unknown + one.held_out_unknown for one in trial_in(card).counts) == 0, "nobody was asked"


async def test_what_is_recalled_is_told_with_its_draw() -> None:
    store, events = InMemoryVectorStore(), list[Event]()
    await keeper(store).submit(lesson())
    await agent(store, says_yes, watch=events.append).run(PROMPT)
    (told,) = [event for event in events if isinstance(event, LessonsRecalled)]
    (one,) = told.injections
    assert (one.propensity, one.idea) == (1.0 - ON_TRIAL.holdout, lesson().id)
    assert one.draw
