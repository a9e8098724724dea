"""One customer's messages on trial: the agent's own notes earn trust, planted ones don't, and all of it is told."""

import json
from dataclasses import dataclass, field
from typing import cast

import pytest

from wisen import InMemoryVectorStore, ScriptedModel
from wisen.cards import MemoryCard, MemoryKind, Provenance, Situation
from wisen.cli.demo import print_trial
from wisen.experiments.one_customer import (
    HARMFUL,
    MESSAGES,
    OWN,
    PLANTED_BEFORE,
    RIGHT,
    WRONG,
    WRONG_NOTES,
    IdeaReport,
    TrialReport,
    one_customer,
    watch_trial,
)
from wisen.experiments.stream import AuditOptions, Progress, StreamReport, run_stream
from wisen.memory_ci.pipeline import MemoryCI
from wisen.models.scripted import ScriptedCall
from wisen.recall import CardFilter
from wisen.trial_records import Trial

pytestmark = pytest.mark.anyio
OPTIONS = AuditOptions(seed=1)


def nothing(done: int, of: int) -> None:
    assert 1 <= done <= of


@dataclass(slots=True)
class Follower:
    """Writes a note in the form of the last example, and knows none by itself."""

    truth: dict[str, str]
    lessons: list[int] = field(default_factory=list[int])

    def __call__(self, _: object, call: ScriptedCall) -> str:
        asked, said = call.turns[-1] if call.turns else ("", "no idea")
        self.lessons.append(("alone" in call.system) + 2 * ("looks like this" in call.system))
        if asked == call.prompt:
            return said  # corrected
        return self.truth[call.prompt] if said == self.truth.get(asked) else said


async def watched(seed: int = 1) -> tuple[TrialReport, list[str], Follower, InMemoryVectorStore]:
    family, spare = one_customer(seed)
    follower = Follower({one.prompt: one.answer for one in (*family.train, *spare)})
    store, told, steps = InMemoryVectorStore(), list[str](), list[str]()

    def progress(step: str) -> Progress:
        steps.append(step)
        return nothing

    report = await watch_trial(ScriptedModel(follower), store, AuditOptions(seed=seed), progress, told.append)
    assert steps == ["stream, no memory", "stream, memory"]
    return report, told, follower, store


async def test_what_the_agent_verified_earns_trust_and_what_was_planted_does_not() -> None:
    report, told, follower, store = await watched()
    assert told == list(report.verdicts)
    assert any(f"{OWN}: quarantined to promoted: helps: good in " in one for one in told)
    runs = [int(one.removeprefix("run ").split(":")[0]) for one in told]
    assert runs == sorted(runs)
    assert PLANTED_BEFORE < runs[0] <= MESSAGES
    own = [one for one in report.ideas if one.what == OWN]
    assert own[0].trial.stage == "promoted"
    assert own[0].held_out_good * own[0].shown < own[0].shown_good * own[0].held_out
    planted = [one.what for one in report.ideas if one.what != OWN]
    assert planted == [*[WRONG] * (len(planted) - 2), HARMFUL, RIGHT]
    assert not any(one.trial.stage == "promoted" for one in report.ideas if one.what == WRONG)
    assert {0, 1} <= set(follower.lessons), "lessons in prose are on trial too"
    cards = await store.list(CardFilter(kinds=(MemoryKind.SKILL_CARD,)), limit=1000)
    wrong = [card for card in cards if card.provenance.origin == "judged"]
    assert len(wrong) == WRONG_NOTES
    assert all(card.content == card.situation.prompt and card.status.value == "quarantined" for card in wrong)


async def test_the_curve_rises_with_memory_alone() -> None:
    report, *_ = await watched()
    right = report.curves["memory"]
    assert len(right) == MESSAGES
    assert sum(right[-12:]) > sum(right[:12])
    assert not any(report.curves["no memory"])
    assert report.stream_without.max_attempts == 1
    found = cast("dict[str, dict[str, dict[str, object]]]", json.loads(json.dumps(report.as_json())))
    assert found["stream"]["memory"]["tasks"] == MESSAGES
    assert found["customer"] == one_customer(1)[0].train[0].group


async def test_what_is_planted_comes_from_the_same_customer_in_good_time() -> None:
    family, spare = one_customer(3)
    assert len(family.train) == MESSAGES
    assert {one.group for one in (*family.train, *spare)} == {family.train[0].group}
    assert not {one.prompt for one in family.train} & {one.prompt for one in spare}
    assert len(spare) == WRONG_NOTES + 2
    assert 1 < PLANTED_BEFORE < MESSAGES // 3


async def test_a_stream_is_told_of_each_run_before_it() -> None:
    heard: list[int] = []

    async def before(run: int) -> None:
        heard.append(run)

    family, _ = one_customer(1)
    report = await run_stream(family, ScriptedModel(["no idea"] * MESSAGES), None, OPTIONS, nothing, before=before)
    assert heard == list(range(1, MESSAGES + 1))
    assert report.solved() == 0


async def test_examples_of_another_origin_are_tried_apart() -> None:
    ci = MemoryCI(InMemoryVectorStore())

    def episode(number: int, *, verified: bool = True, created_by: str = "reflexion") -> MemoryCard:
        return MemoryCard(
            kind=MemoryKind.SKILL_CARD,
            content=f"lamp ({number})",
            situation=Situation(prompt=f"Museum: send lamp {number} to Oslo, please.", task_type="notes"),
            provenance=Provenance(created_by=created_by, verified=verified),
        )

    first, second = await ci.submit(episode(1)), await ci.submit(episode(2))
    judged, imported = await ci.submit(episode(3, verified=False)), await ci.submit(episode(4, created_by="import"))
    assert second.idea == first.idea == first.card_id
    assert judged.idea == judged.card_id
    assert imported.idea == imported.card_id


def test_what_a_person_sees_of_the_trial(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    curve = StreamReport(attempts_to_success=(0, 2, 1, 1), max_attempts=5, tokens=1, seconds=1.0)
    flat = StreamReport(attempts_to_success=(0, 0, 0, 0), max_attempts=1, tokens=1, seconds=1.0)
    idea = IdeaReport(what=OWN, trial=Trial(stage="promoted"), shown=3, shown_good=2, held_out=1, held_out_good=0)
    waits = IdeaReport(what=WRONG, trial=Trial(), shown=0, shown_good=0, held_out=0, held_out_good=0)
    report = TrialReport(
        customer="Harbour Books", stream_with=curve, stream_without=flat, ideas=[idea, waits], verdicts=[], promoted={}
    )
    print_trial(report)
    said = capsys.readouterr().out
    assert "trial: Harbour Books, 4 messages, with harm planted" in said
    assert "2 of 4 right at the first try" in said
    assert "no verdict fell" in said
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert f"{OWN} in use 2 of 3 0 of 1" in lines
    assert f"{WRONG} waits for its trial 0 of 0 0 of 0" in lines
