"""Which of the found ideas take part in a run, which of them are drawn, and which of two rivals comes first."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from trying import COIN, LAYOUT, NOON, PROMPT, drawing, keeper, lesson

from wisen import InMemoryVectorStore, MemoryCard, MemoryCI, MemoryKind, MemoryStatus, Situation
from wisen.account.eligibility import HURTS, WAITS, Assignment, Eligibility, behind, replayed, trial_of
from wisen.cards import CardEvidence, Provenance
from wisen.memory_ci.pipeline import Found
from wisen.memory_ci.status import move
from wisen.memory_ci.verdicts import Rule
from wisen.recall import RecallHit
from wisen.trial_records import DrawCounts, OpenDraw, Trial

pytestmark = pytest.mark.anyio

ONE_PLACE = replace(COIN, at_once=1)
AHEAD = Trial(
    model="m",
    layout=LAYOUT,
    number=1,
    stage="on trial",
    counts=(DrawCounts(propensity=0.5, shown=12, shown_good=12, held_out=12),),
)


def found(card: MemoryCard, relevance: float = 0.9, *, told: int = 1, **how: bool) -> Found:
    """A hit; `how` is whether it agrees, or contradicts."""
    return Found(hit=RecallHit(card=card, relevance=relevance, reasons=("so",), **how), head=card, told=told)


def on(stage: Any, **more: Any) -> tuple[Trial, ...]:
    return (Trial(model="m", layout=LAYOUT, stage=stage, **more),)


def stored(content: str, **more: Any) -> MemoryCard:
    """A card in quarantine; what its provenance has goes there."""
    names = [name for name in more if name in Provenance.__dataclass_fields__]
    source = {name: more.pop(name) for name in names}
    return replace(lesson(content, **source), status=more.pop("status", MemoryStatus.QUARANTINED), **more)


async def assigned(ci: MemoryCI, every: Sequence[Found], *, first: bool = True, circle: str = "") -> list[Assignment]:
    return await Eligibility(ci=ci, model="m", layout=LAYOUT, circle=circle).assignments(every, first=first)


async def drawn(ci: MemoryCI, every: Sequence[Found]) -> list[str]:
    """What those that have a place on trial say."""
    return [one.found.head.content for one in await assigned(ci, every) if one.drawn]


OLD = stored("Invoices go to Harbour.", created_at=NOON)
NEW = stored("Invoices go to Maple.", created_at=NOON + timedelta(days=1), verified=True)


def at(card: MemoryCard, **source: Any) -> MemoryCard:
    return replace(card, provenance=replace(card.provenance, **source))


PROMOTED = {"status": MemoryStatus.PROMOTED}
LATER = NOON + timedelta(days=3)


@pytest.mark.parametrize(
    ("old", "new", "first"),
    [
        (OLD, NEW, True),
        (OLD, replace(NEW, held=("evil.example",)), False),
        (OLD, replace(NEW, superseded_by="another"), False),
        (OLD, replace(NEW, status=MemoryStatus.ARCHIVED), False),
        (OLD, replace(NEW, trials=on("archived")), False),
        (OLD, replace(NEW, trials=on("benched")), False),
        (OLD, at(NEW, verified=False), False),
        (OLD, at(NEW, created_at=NOON - timedelta(days=1)), False),
        (OLD, at(NEW, created_at=NOON), True),  # a check says more than an opinion
        (at(OLD, verified=True), at(NEW, created_at=NOON), False),
        (at(OLD, verified=True), NEW, True),
        (replace(at(OLD, verified=True), taught_at=LATER), NEW, False),  # taught again since
        (replace(at(OLD, verified=True), taught_at=LATER), replace(NEW, taught_at=LATER), False),
        (replace(at(OLD, verified=True), taught_at=LATER), replace(NEW, taught_at=LATER + timedelta(days=1)), True),
        (replace(at(OLD, verified=True), taught_at=NOON), NEW, True),
        (OLD, replace(at(NEW, created_at=NOON - timedelta(days=1)), taught_at=LATER), True),
        (OLD, replace(at(NEW, verified=False), taught_at=LATER), True),  # by a check, in another wording
        (replace(at(OLD, verified=False), taught_at=LATER), NEW, False),
        (replace(at(OLD, created_at=LATER), taught_at=NOON), NEW, True),  # what an opinion said since says less
        (OLD, replace(NEW, evidence=(CardEvidence(model="m", layout=LAYOUT, lost=20),)), False),
        (replace(OLD, pinned=True), NEW, True),
        (replace(OLD, pinned=True, **PROMOTED), replace(NEW, **PROMOTED), False),
        (replace(OLD, **PROMOTED), replace(NEW, **PROMOTED), True),
        (replace(OLD, **PROMOTED), NEW, False),
        (replace(OLD, trials=(AHEAD,)), NEW, False),
        (replace(OLD, trials=(AHEAD,)), replace(NEW, **PROMOTED), True),
        (replace(OLD, trials=(replace(AHEAD, model="n"),)), NEW, True),
    ],
)
async def test_the_newer_rival_comes_first_unless_something_speaks_against_it(
    old: MemoryCard, new: MemoryCard, first: bool
) -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    old, new = replace(old, rivals=(new.id,)), replace(new, rivals=(old.id,))
    await ci.store.add_unscreened([old, new])
    every = await assigned(ci, [found(old)])
    barred = [(one.found.head.id, one.barred) for one in every if one.barred]
    if first:
        assert [one.found.head.id for one in every] == [new.id, old.id]
        assert every[0].found.hit.reasons == ("so", f"rival of card {old.id}")
        assert barred == [(old.id, f"its newer rival {new.id} is tried first")]
    else:
        assert [one.found.head.id for one in every] == [old.id]
        assert barred == []


@pytest.mark.parametrize(("across", "circle", "first"), [(False, "", True), (False, "OLD", False), (True, "OLD", True)])
async def test_a_rival_of_another_circle_stays_there(across: bool, circle: str, first: bool) -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN, across_circles=across)
    new = replace(at(NEW, owner="bo"), rivals=(OLD.id,))
    old = replace(OLD, rivals=(new.id,))
    assert old.circle != new.circle
    await ci.store.add_unscreened([old, new])
    every = await assigned(ci, [found(old)], circle=old.circle if circle else "")
    assert (len(every) == 2) is first


@pytest.mark.parametrize(
    ("trust", "status", "shown"),
    [
        ("replayed", MemoryStatus.QUARANTINED, ["old"]),
        ("replayed", MemoryStatus.PROMOTED, ["new"]),
        ("screened", MemoryStatus.QUARANTINED, ["new"]),
    ],
)
async def test_a_rival_takes_a_place_only_where_the_policy_lets_it_through(
    trust: Any, status: MemoryStatus, shown: list[str]
) -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN, trust=trust)
    # Promoted for another model: for this one neither is proven.
    proven = move(OLD, MemoryStatus.PROMOTED, note="helps", at=NOON, by="trial", evidence=pairs(9, 0, model="n"))
    old, new = replace(proven, id="old", rivals=("new",)), replace(NEW, id="new", rivals=("old",), status=status)
    await ci.store.add_unscreened([old, new])
    every = await assigned(ci, [found(old)])
    assert [one.found.head.id for one in every if not one.barred] == shown


async def test_of_several_newer_rivals_the_newest_comes_first() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    newest = at(stored("Invoices go to Cedar."), verified=True, created_at=NOON + timedelta(days=2))
    old = replace(OLD, rivals=(newest.id, NEW.id))
    await ci.store.add_unscreened([old, newest, NEW])
    every = await assigned(ci, [found(old)])
    assert [(one.found.head.id, one.barred) for one in every] == [(newest.id, ""), (old.id, behind(newest.id))]


async def test_of_several_newer_rivals_the_one_that_was_taught_last_comes_first() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    newest = at(stored("Invoices go to Cedar."), verified=True, created_at=NOON + timedelta(days=2))
    again = replace(NEW, taught_at=LATER)
    old = replace(OLD, rivals=(newest.id, NEW.id))
    await ci.store.add_unscreened([old, newest, again])
    every = await assigned(ci, [found(old)])
    assert [(one.found.head.id, one.barred) for one in every] == [(NEW.id, ""), (old.id, behind(NEW.id))]


async def test_what_was_learned_in_this_very_case_is_shown_beside_its_newer_rival() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    old = replace(OLD, rivals=(NEW.id,))
    new = replace(NEW, rivals=(OLD.id,), situation=Situation(prompt="Route ticket 7."))
    await ci.store.add_unscreened([old, new])
    newer, older = await assigned(ci, [found(old, agrees=True)])
    assert (newer.drawn, newer.barred, newer.beside) == (True, "", "")
    assert (older.drawn, older.barred, older.beside) == (False, "", new.id)
    refuted = replace(old, trials=on("benched"))
    _, older = await assigned(ci, [found(refuted, agrees=True)])
    assert (older.barred, older.beside) == (behind(new.id), "")


async def test_beside_a_newer_rival_that_is_held_out_the_older_one_is_left_out_too() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    old = replace(OLD, rivals=(NEW.id,))
    new = replace(NEW, rivals=(OLD.id,), situation=Situation(prompt="Route ticket 7."))
    await ci.store.add_unscreened([old, new])
    seen = set[tuple[bool, str]]()
    for number in range(12):
        newer, older = await drawing(ci, nonce=f"n{number}").with_draws([found(old, agrees=True)], first=True)
        seen.add((newer.injection.shown, older.barred))
    assert seen == {(True, ""), (False, f"its newer rival {new.id} is tried first")}


async def test_draws_are_of_the_runs_circle() -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN)
    new = replace(at(NEW, owner="bo"), rivals=(OLD.id,))
    old = replace(OLD, rivals=(new.id,))
    await ci.store.add_unscreened([old, new])
    for circle, ideas in ((old.circle, [old.id]), (new.circle, [new.id, old.id])):
        drawn = await replace(drawing(ci), circle=circle).with_draws([found(old)], first=True)
        assert [one.injection.idea for one in drawn] == ideas


def pairs(gained: int, lost: int, model: str = "m", layout: str = LAYOUT, terms: str = "") -> CardEvidence:
    return CardEvidence(model=model, layout=layout, gained=gained, lost=lost, terms=terms)


@pytest.mark.parametrize(
    ("card", "rule", "why"),
    [
        ({}, Rule(), ""),
        ({"trials": on("archived")}, Rule(), HURTS),
        ({"trials": on("benched")}, Rule(), "made no difference on trial"),
        ({"evidence": (pairs(0, 20),)}, Rule(), HURTS),
        ({"evidence": (pairs(0, 20),)}, Rule(archive_at=1e9), ""),
        ({"evidence": (pairs(0, 20),), "trials": on("on trial", number=1)}, Rule(), ""),
        ({"evidence": (pairs(0, 20),), "trials": on("promoted", number=1)}, Rule(), ""),
        ({"evidence": (pairs(0, 20, model="n"),)}, Rule(), ""),
        ({"evidence": (pairs(0, 20, layout="another"),)}, Rule(), ""),
        ({"evidence": (pairs(20, 0),)}, Rule(), ""),
        ({"trials": (replace(on("archived")[0], model="n"),)}, Rule(), ""),
    ],
)
async def test_what_the_evidence_speaks_against_is_not_shown(card: dict[str, Any], rule: Rule, why: str) -> None:
    ci = keeper(InMemoryVectorStore(), rule=COIN, trust="screened")
    ci.rule = rule
    one = found(replace(OLD, **card))
    assert await assigned(ci, [one]) == [
        Assignment(found=one, barred=why) if why else Assignment(found=one, propensity=0.9, drawn=True)
    ]


def test_replays_count_under_the_terms_with_the_most_pairs() -> None:
    every = (pairs(3, 0, terms="a"), pairs(2, 4, terms="b"), pairs(4, 1, terms="c"), pairs(9, 9, model="n"))
    card = replace(OLD, evidence=every)
    assert replayed(card, "m", LAYOUT) == (2, 4)
    assert replayed(card, "n", LAYOUT) == (9, 9)
    assert replayed(card, "m", "another") == (0, 0)


def test_what_a_person_promoted_is_in_the_round_that_it_was_in() -> None:
    """Else its next round would have the number of this one."""
    card = move(replace(OLD, trials=on("waiting", number=2, rounds=1)), MemoryStatus.PROMOTED, note="y", at=NOON)
    assert trial_of(card, "m", LAYOUT) == replace(card.trials[0], stage="promoted")
    again = move(replace(card, trials=(trial_of(card, "m", LAYOUT),)), MemoryStatus.QUARANTINED, note="z", at=NOON)
    assert (again.trials[0].rounds, again.trials[0].number) == (2, 0)


def test_what_evidence_for_a_model_promoted_is_on_trial_for_others() -> None:
    for evidence, stages in ((pairs(9, 0), ("promoted", "waiting", "waiting")), (None, ("promoted",) * 3)):
        card = move(OLD, MemoryStatus.PROMOTED, note="helps", at=NOON, by="trial", evidence=evidence)
        terms = (("m", LAYOUT), ("n", LAYOUT), ("m", "another"))
        assert tuple(trial_of(card, model, layout).stage for model, layout in terms) == stages


EARLY, LATE = (
    stored("Ask for the year.", created_at=NOON),
    stored("Read the receipt.", created_at=NOON + timedelta(days=1)),
)


@pytest.mark.parametrize(
    ("early", "late", "winner"),
    [
        (found(EARLY), found(LATE), LATE),
        (found(at(EARLY, verified=True)), found(LATE), EARLY),
        (found(EARLY, told=3), found(LATE), EARLY),
        (found(EARLY, relevance=0.95), found(LATE), EARLY),
        (found(EARLY, agrees=True), found(LATE, told=3), EARLY),
        (found(EARLY), found(LATE, told=3, contradicts=True), EARLY),
        (found(replace(EARLY, evidence=(pairs(5, 0),))), found(LATE), EARLY),
        (found(replace(EARLY, evidence=(pairs(5, 0, model="n"),))), found(LATE), LATE),
        (found(replace(EARLY, open_draws=(OpenDraw(model="m", layout=LAYOUT),))), found(LATE), EARLY),
        (found(replace(EARLY, evidence=(pairs(5, 0, layout="another"),))), found(LATE), LATE),
    ],
)
async def test_the_place_goes_to_what_promises_most(early: Found, late: Found, winner: MemoryCard) -> None:
    ci = keeper(InMemoryVectorStore(), rule=ONE_PLACE)
    assert await drawn(ci, [late, early]) == [winner.content]
    assert await drawn(ci, [early, late]) == [winner.content]
    assert {one.barred for one in await assigned(ci, [early, late])} == {"", WAITS}
    assert {one.barred for one in await assigned(ci, [early, late], first=False)} == {WAITS}


@pytest.mark.parametrize(("often", "winner"), [(9, NEW.content), (2, EARLY.content)])
async def test_a_newer_rival_is_worth_what_it_takes_the_place_of(often: int, winner: str) -> None:
    store = InMemoryVectorStore()
    ci = keeper(store, rule=ONE_PLACE)
    seldom = stored("Invoices go to Pier.", created_at=NOON, rivals=(NEW.id,))
    old, new = replace(OLD, rivals=(NEW.id,)), replace(NEW, rivals=(OLD.id, seldom.id))
    await store.add([seldom, old, new])
    every = [found(at(EARLY, verified=True), told=4), found(old, told=often), found(seldom), found(new)]
    assert await drawn(ci, every) == [winner]
    assert await drawn(ci, [*every[:1], every[2], every[1], every[3]]) == [winner]


@pytest.mark.parametrize(("good", "winner"), [(4, LATE), (30, EARLY)])
async def test_first_deliveries_count_against_how_often_runs_are_good_here(good: int, winner: MemoryCard) -> None:
    """Where runs seldom are good, two good ones of three promise more than one of one."""
    ci = keeper(InMemoryVectorStore(), rule=ONE_PLACE)
    seen = DrawCounts(propensity=0.5, shown=40, shown_good=good, held_out=40, held_out_good=good)
    far = found(stored("Call the gate twice.", trials=on("on trial", number=1, counts=(seen,))), 0.1)
    early = found(replace(EARLY, trials=on("waiting", first=1, first_good=1)))
    late = found(replace(LATE, trials=on("waiting", first=3, first_good=2)))
    assert await drawn(ci, [early, late, far]) == [winner.content]


async def test_what_is_only_in_a_neighbouring_situation_has_no_place_unless_it_is_a_report() -> None:
    ci = keeper(InMemoryVectorStore(), rule=replace(COIN, at_once=5))
    report = stored("Look at the status first.", kind=MemoryKind.REFLECTION, id="")
    near, far = stored("Read the receipt.", id=""), stored("Call the gate twice.", id="")
    every = [found(EARLY, 0.8), found(near, 0.4), found(far, 0.39), found(report, 0.1)]
    assert await drawn(ci, every) == [EARLY.content, near.content, report.content]


async def test_examples_and_reports_are_tried_beside_those_that_say_the_same() -> None:
    ci = keeper(InMemoryVectorStore(), rule=replace(COIN, at_once=5))
    for kind, both in ((MemoryKind.SKILL_CARD, True), (MemoryKind.REFLECTION, True), (MemoryKind.LESSON, False)):
        cards = [
            MemoryCard(
                kind=kind,
                content="Name the Harbour team for each invoice.",
                situation=Situation(prompt=f"{PROMPT} It is number {number}."),
                status=MemoryStatus.QUARANTINED,
                provenance=Provenance(run_id=str(number), agent="agent", verified=True),
            )
            for number in range(2)
        ]
        assert len(await drawn(ci, [found(card) for card in cards])) == 1 + both
