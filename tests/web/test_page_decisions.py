"""What a person decides on the page, on every store, with its reason, and how the last decision is taken back."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from page_client import Reply, Visitor, visiting

from wisen.cards import MemoryCard, MemoryKind, MemoryScope, MemoryStatus
from wisen.memory_ci.pipeline import MemoryCI
from wisen.memory_ci.status import move
from wisen.stores.connect import connect
from wisen.stores.whole_store import Store
from wisen.testing.material import NOON, card
from wisen.trial_records import DrawCounts, OpenDraw, Trial
from wisen.web.application import PageAccess, page_application

pytestmark = pytest.mark.anyio
WHY = "The team agreed on it."


@pytest.fixture(params=["sqlite", "markdown", "memory", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store of each sort."""
    names = {"sqlite": f"{tmp_path}/lessons.db", "markdown": f"markdown:{tmp_path}/lessons", "memory": "memory:"}
    url: str = names.get(request.param) or request.getfixturevalue("postgres_url")
    async with connect(url) as opened:
        yield opened


class Clock:
    """Seconds, as the test says."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def at(store: Store, clock: Clock) -> AsyncIterator[Visitor]:
    """A browser at the page of the store."""
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(visiting(page_application(store, PageAccess(), monotonic=clock)))


TRIAL = Trial(
    model="m", layout="chat", number=1, stage="on trial", counts=(DrawCounts(shown=9, shown_good=8, held_out=7),)
)


def waiting(text: str = "Count the chairs by rows.", **changed: object) -> MemoryCard:
    lesson = card(text, prompt="Count the chairs.", status=MemoryStatus.QUARANTINED)
    return replace(lesson, trials=(TRIAL,), **changed)


async def decided(at: Visitor, card_id: str, act: str, **fields: str) -> Reply:
    """Fill the form on the lesson's page in, and send it."""
    page = (await at.get(f"/lessons/{card_id}")).page
    form = next(form for form in page.forms if form["action"] == f"/lessons/{card_id}")
    own = {name: form.get(name, "") for name in ("form_token", "seen")}
    return await at.post(f"/lessons/{card_id}", {**own, "act": act, "why": WHY, **fields})


async def undone(at: Visitor) -> Reply:
    page = (await at.get("/")).page
    form = next(form for form in page.forms if form["action"] == "/undo")
    return await at.post("/undo", {name: form[name] for name in ("form_token", "decision")})


async def one(store: Store, card_id: str) -> MemoryCard:
    return (await store.get([card_id]))[0]


def but_told(kept: MemoryCard, now: MemoryCard) -> MemoryCard:
    """The card as it was, with the version and the history that it has now."""
    return replace(kept, version=now.version, history=now.history)


BEGINS = {
    "promote": waiting(),
    "archive": waiting(),
    "reject": waiting(),
    "pin": waiting(),
    "unpin": waiting(pinned=True),
    "release": waiting(held=("chairs@example.com",)),
    "quarantine": replace(waiting(), status=MemoryStatus.PROMOTED),
}
ENDS = {
    "promote": MemoryStatus.PROMOTED,
    "archive": MemoryStatus.ARCHIVED,
    "reject": MemoryStatus.REJECTED,
}


@pytest.mark.parametrize("act", BEGINS)
async def test_a_decision_is_made_with_its_reason_and_can_be_undone(store: Store, at: Visitor, act: str) -> None:
    lesson = BEGINS[act]
    await store.add_unscreened([lesson])
    reply = await decided(at, lesson.id, act)
    assert (reply.status, reply.header("location")) == (303, f"/lessons/{lesson.id}")
    after = await one(store, lesson.id)
    assert after.status is ENDS.get(act, MemoryStatus.QUARANTINED)
    assert (after.history[-1].by, WHY in after.history[-1].why) == ("human", True)
    match act:
        case "pin" | "unpin":
            assert after.pinned is (act == "pin")
        case "release":
            assert (after.released, after.held) == (True, ())
        case "reject":
            assert after.text == ""
        case "quarantine":
            assert after.trials[0].runs == 0
        case _:
            assert after.trials == lesson.trials
    assert (await undone(at)).status == 303
    back = await one(store, lesson.id)
    assert back == but_told(lesson, back)
    assert [move.why for move in back.history[-1:]] == [f"undone: {after.history[-1].why}"]
    assert "Undo" not in (await at.get("/")).page.text


async def test_all_wordings_follow_a_decision_and_its_undoing(store: Store, at: Visitor) -> None:
    head = waiting()
    wording = replace(card("By rows, count the chairs.", status=MemoryStatus.QUARANTINED), idea=head.id)
    await store.add_unscreened([head, wording])
    await decided(at, wording.id, "reject")
    assert [each.text for each in await store.get([head.id, wording.id])] == ["", ""]
    await undone(at)
    for kept in (head, wording):
        back = await one(store, kept.id)
        assert back == but_told(kept, back)


async def test_what_made_no_difference_is_tried_again(store: Store, at: Visitor) -> None:
    hidden, tried = replace(waiting(), trials=(replace(TRIAL, stage="benched"),)), waiting("Count the tables.")
    await store.add_unscreened([hidden, tried])
    offers = ["It goes on trial again" in (await at.get(f"/lessons/{each.id}")).page.text for each in (hidden, tried)]
    assert offers == [True, False]
    assert (await decided(at, hidden.id, "quarantine")).status == 303
    after = await one(store, hidden.id)
    assert (after.trials[0].stage, after.history[-1].why) == ("waiting", f"tried again: {WHY}")
    assert "on trial again" in (await at.get("/")).page.text


async def test_a_wording_is_taken_out_of_its_idea_until_it_is_undone(store: Store, at: Visitor) -> None:
    head = waiting()
    wording = replace(card("Never count the chairs.", status=MemoryStatus.QUARANTINED), idea=head.id)
    await store.add_unscreened([head, wording])
    assert "The other wordings say something else" in (await at.get(f"/lessons/{head.id}")).page.text
    assert "This wording says something else" in (await at.get(f"/lessons/{wording.id}")).page.text
    assert (await decided(at, wording.id, "split")).status == 303
    after = await one(store, wording.id)
    assert (after.idea, after.history[-1].why) == ("", f"split from {head.id}: {WHY}")
    assert "says something else" not in (await at.get(f"/lessons/{wording.id}")).page.text
    await undone(at)
    for kept in (head, wording):
        back = await one(store, kept.id)
        assert back == but_told(kept, back)


async def test_a_correction_takes_the_place_of_a_lesson_until_it_is_undone(store: Store, at: Visitor) -> None:
    lesson = waiting()
    await store.add_unscreened([lesson])
    reply = await decided(at, lesson.id, "correct", content="Count the chairs by columns.")
    assert reply.status == 303
    old = await one(store, lesson.id)
    new = await one(store, old.superseded_by)
    assert (new.content, new.supersedes, new.provenance.created_by) == (
        "Count the chairs by columns.",
        lesson.id,
        "human",
    )
    assert (new.situation, new.scope, new.kind) == (lesson.situation, lesson.scope, lesson.kind)
    await undone(at)
    back = await one(store, lesson.id)
    assert back == but_told(lesson, back)
    assert not await store.ids_beginning("card", new.id)


async def test_a_lesson_that_a_correction_was_before_stays_where_it_is_undone(store: Store, at: Visitor) -> None:
    lessons = [waiting(), waiting("Count the tables.")]
    await store.add_unscreened(lessons)
    await decided(at, lessons[0].id, "correct", content="Count by columns.")
    new = await one(store, (await one(store, lessons[0].id)).superseded_by)
    await decided(at, lessons[1].id, "correct", content="Count by columns.")
    assert (await one(store, lessons[1].id)).superseded_by == new.id
    await undone(at)
    first, second, known = await store.get([*(each.id for each in lessons), new.id])
    assert (first.superseded_by, second.superseded_by, known) == (new.id, "", but_told(new, known))


async def test_a_correction_that_somebody_has_promoted_since_stays(store: Store, at: Visitor) -> None:
    lesson = waiting()
    await store.add_unscreened([lesson])
    await decided(at, lesson.id, "correct", content="Count by columns.")
    new = (await one(store, lesson.id)).superseded_by
    await MemoryCI(store).promote(new, "checked")
    reply = await undone(at)
    assert (reply.status, "has been moved since" in reply.page.text) == (400, True)
    assert (await one(store, new)).status is MemoryStatus.PROMOTED


async def test_undoing_the_rejection_of_a_correction_lets_it_hold_again(store: Store, at: Visitor) -> None:
    lesson = waiting()
    await store.add_unscreened([lesson])
    await decided(at, lesson.id, "correct", content="Count the chairs by columns.")
    new = (await one(store, lesson.id)).superseded_by
    await decided(at, new, "reject")
    assert (await one(store, lesson.id)).superseded_by == ""
    await undone(at)
    assert (await one(store, lesson.id)).superseded_by == new
    assert (await one(store, new)).content == "Count the chairs by columns."


async def test_what_runs_counted_since_stays_counted(store: Store, at: Visitor) -> None:
    lesson = waiting()
    await store.add_unscreened([lesson])
    await decided(at, lesson.id, "promote")
    now = await one(store, lesson.id)
    counts = DrawCounts(shown=10, shown_good=9, held_out=7)
    draw = OpenDraw(id="d", at=NOON, model="m", layout="chat")
    await store.update(
        replace(now, trials=(replace(TRIAL, counts=(counts,)),), open_draws=(draw,), version=now.version + 1)
    )
    await undone(at)
    back = await one(store, lesson.id)
    assert (back.status, back.trials[0].counts, back.open_draws) == (MemoryStatus.QUARANTINED, (counts,), (draw,))


@pytest.mark.parametrize("by", ["trial", "human"])
async def test_what_somebody_has_moved_since_is_left_alone(store: Store, at: Visitor, by: str) -> None:
    lesson = waiting()
    await store.add_unscreened([lesson])
    await decided(at, lesson.id, "promote")
    moved = move(await one(store, lesson.id), MemoryStatus.ARCHIVED, note="it hurts", at=NOON, by=by)
    await store.update(moved)
    reply = await undone(at)
    assert (reply.status, "has been moved since" in reply.page.text) == (400, True)
    assert await one(store, lesson.id) == moved


async def test_a_promotion_that_made_a_standing_rule_is_undone(store: Store, at: Visitor) -> None:
    rule = replace(waiting("Count by rows."), kind=MemoryKind.PRINCIPLE, id="")
    await store.add_unscreened([rule])
    await decided(at, rule.id, "promote")
    ci = MemoryCI(store)
    assert rule.id in (await ci.standing.current("", "agent")).cards
    await undone(at)
    assert (await one(store, rule.id)).status is MemoryStatus.QUARANTINED


async def test_a_decision_can_be_undone_for_a_quarter_of_an_hour(store: Store, at: Visitor, clock: Clock) -> None:
    lesson = waiting()
    await store.add_unscreened([lesson])
    await decided(at, lesson.id, "reject")
    clock.now = 15 * 60.0 - 1.0
    page = (await at.get("/")).page
    form = next(form for form in page.forms if form["action"] == "/undo")
    clock.now += 1.0
    assert "Undo" not in (await at.get("/")).page.text
    reply = await at.post("/undo", {"form_token": form["form_token"]})
    assert (reply.status, "nothing to undo" in reply.page.text) == (400, True)
    assert (await one(store, lesson.id)).text == ""


@pytest.mark.parametrize(
    ("act", "fields", "said"),
    [
        ("promote", {"why": "  "}, "the reason is empty"),
        ("delete", {}, "there is no decision"),
        ("release", {}, "is 'archived'"),
        ("correct", {"content": ""}, "the correction is empty"),
        ("correct", {"content": "Count the chairs by rows."}, "says what the card says"),
    ],
)
async def test_what_cannot_be_decided_changes_nothing_and_keeps_what_was_written(
    store: Store, at: Visitor, act: str, fields: dict[str, str], said: str
) -> None:
    lesson = replace(waiting(), status=MemoryStatus.ARCHIVED)
    await store.add_unscreened([lesson])
    reply = await decided(at, lesson.id, act, **fields)
    assert (reply.status, said in reply.page.text) == (400, True)
    assert await one(store, lesson.id) == lesson
    if fields.get("why") != "  " and act != "delete":
        assert WHY in reply.body.decode()


async def test_a_rejected_lesson_has_no_decision_left(store: Store, at: Visitor) -> None:
    gone = card("Gone.", status=MemoryStatus.REJECTED).without_text()
    await store.add_unscreened([gone])
    page = (await at.get(f"/lessons/{gone.id}")).page
    assert "It is rejected, which is final." in page.text
    assert [form["action"] for form in page.forms] == []


async def test_another_tenants_lesson_is_not_there(store: Store, at: Visitor) -> None:
    theirs = replace(waiting(), scope=MemoryScope(tenant="north"), id="")
    mine = waiting("Count the tables.")
    await store.add_unscreened([theirs, mine])
    token = (await at.get(f"/lessons/{mine.id}")).page.forms[0]["form_token"]
    reply = await at.post(f"/lessons/{theirs.id}", {"form_token": token, "act": "reject", "why": WHY})
    assert reply.status == 404
    assert await one(store, theirs.id) == theirs
