"""The moves of a card between statuses, its pin and its release: what is written down, and what is refused."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from trying import HARBOUR, NOON, lesson

from wisen import MemoryCard, MemoryStatus
from wisen.cards import CardEvidence, Move
from wisen.errors import ConfigError
from wisen.memory_ci.status import MOVES, move, pinned, released, tried_again
from wisen.trial_records import DrawCounts, OpenDraw, Trial

TRIAL = Trial(model="m", layout="l", number=3, stage="on trial", counts=(DrawCounts(shown=2, held_out=1),))
COUNTED: dict[str, Any] = {
    "evidence": (CardEvidence(model="m", gained=3),),
    "observed": ("0a1b2c3d",),
    "trials": (TRIAL,),
    "open_draws": (OpenDraw(id="d", model="m"),),
}
CARD = replace(lesson(HARBOUR), status=MemoryStatus.QUARANTINED, version=4, note="passed", **COUNTED)


def refusal(change: Callable[[], object]) -> str:
    with pytest.raises(ConfigError) as refused:
        change()
    return str(refused.value)


def done(before: MemoryStatus, after: MemoryStatus, why: str, by: str = "human") -> Move:
    return Move(at=NOON, before=before, after=after, why=why, by=by)


@pytest.mark.parametrize("status", [MemoryStatus.PROMOTED, MemoryStatus.ARCHIVED])
def test_a_move_keeps_the_counts_and_is_told_with_its_evidence(status: MemoryStatus) -> None:
    seen = CardEvidence(model="m", shown=2)
    moved = move(CARD, status, note="so it is", at=NOON, by="trial", evidence=seen)
    told = replace(done(CARD.status, status, "so it is", "trial"), evidence=seen)
    assert moved == replace(CARD, status=status, note="so it is", version=5, history=(told,))
    unsigned = move(CARD, status, note="so it is", at=NOON)
    assert unsigned.history == (done(CARD.status, status, "so it is", ""),)


def test_back_in_quarantine_all_counts_are_new() -> None:
    promoted = replace(CARD, status=MemoryStatus.PROMOTED)
    back = move(promoted, MemoryStatus.QUARANTINED, note="once more", at=NOON, by="human")
    told = done(MemoryStatus.PROMOTED, MemoryStatus.QUARANTINED, "once more")
    assert replace(back, trials=()) == replace(
        lesson(HARBOUR), status=MemoryStatus.QUARANTINED, version=5, note="once more", history=(told,)
    )
    assert [(one.model, one.stage, one.counts, one.before, one.rounds) for one in back.trials] == [
        ("m", "waiting", (), TRIAL.counts, 1)
    ]


@pytest.mark.parametrize("stage", ["benched", "archived"])
def test_what_a_trial_has_hidden_can_be_tried_again(stage: Any) -> None:
    hidden = replace(CARD, trials=(replace(TRIAL, stage=stage),))
    once_more = tried_again(hidden, why="another model", at=NOON)
    told = done(MemoryStatus.QUARANTINED, MemoryStatus.QUARANTINED, "tried again: another model")
    assert once_more == replace(
        hidden, version=5, history=(told,), evidence=(), observed=(), open_draws=(), trials=once_more.trials
    )
    assert [(one.stage, one.counts, one.rounds) for one in once_more.trials] == [("waiting", (), 1)]
    assert "without a reason" in refusal(lambda: tried_again(hidden, why=" ", at=NOON))
    assert "can't become 'quarantined'" in refusal(lambda: tried_again(CARD, why="so", at=NOON))
    archived = replace(CARD, status=MemoryStatus.ARCHIVED)
    assert tried_again(archived, why="so", at=NOON) == move(
        archived, MemoryStatus.QUARANTINED, note="so", at=NOON, by="human"
    )


def test_what_can_t_be_moved_is_told_in_one_line() -> None:
    def moving(card: MemoryCard, status: MemoryStatus, by: str = "trial", note: str = "x") -> Callable[[], object]:
        return lambda: move(card, status, note=note, at=NOON, by=by)

    rejected = replace(CARD, status=MemoryStatus.REJECTED)
    assert refusal(moving(rejected, MemoryStatus.PROMOTED)) == (
        f"card {CARD.id!r} is 'rejected' and can't become 'promoted'; possible: none, it is final"
    )
    assert refusal(moving(CARD, MemoryStatus.CANDIDATE)) == (
        f"card {CARD.id!r} is 'quarantined' and can't become 'candidate'; possible: archived, promoted, rejected"
    )
    assert refusal(moving(CARD, MemoryStatus.PROMOTED, "human", " ")) == (
        f"card {CARD.id!r} can't become 'promoted' without a reason; say why"
    )
    assert refusal(moving(replace(CARD, pinned=True), MemoryStatus.ARCHIVED)) == (
        f"card {CARD.id!r} is pinned as 'quarantined': only a person may move it"
    )


def test_nothing_leads_out_of_a_rejection_or_into_candidacy() -> None:
    assert MOVES[MemoryStatus.REJECTED] == frozenset()
    assert all(MemoryStatus.CANDIDATE not in possible for possible in MOVES.values())


def test_a_pin_is_told_and_changes_nothing_else() -> None:
    fast = pinned(CARD, on=True, why="we rely on it", at=NOON)
    told = done(CARD.status, CARD.status, "pinned: we rely on it")
    assert fast == replace(CARD, pinned=True, version=5, history=(told,))
    assert fast is not None
    loose = pinned(fast, on=False, why="enough", at=NOON)
    assert loose == replace(CARD, version=6, history=(told, done(CARD.status, CARD.status, "unpinned: enough")))
    assert pinned(CARD, on=False, why="enough", at=NOON) is None
    rejected = replace(CARD, status=MemoryStatus.REJECTED)
    for on, word in ((True, "pinned"), (False, "unpinned")):
        said = f"card {CARD.id!r} can't be {word} without a reason; say why"
        assert refusal(lambda on=on: pinned(CARD, on=on, why=" ", at=NOON)) == said
        said = f"card {CARD.id!r} is rejected, which is final: it can't be {word}"
        assert refusal(lambda on=on: pinned(rejected, on=on, why="x", at=NOON)) == said


@pytest.mark.parametrize(
    ("held", "named"), [((), ""), (("a.example",), " (held for: a.example)"), (("a", "b"), " (held for: a, b)")]
)
def test_a_release_is_told_with_what_the_card_was_held_for(held: tuple[str, ...], named: str) -> None:
    out = released(replace(CARD, held=held), why="that is ours", at=NOON)
    told = done(CARD.status, CARD.status, f"released: that is ours{named}")
    assert out == replace(CARD, released=True, version=5, history=(told,))
    assert out is not None
    assert released(out, why="again", at=NOON) is None


def test_only_what_is_in_quarantine_is_released_and_with_a_reason() -> None:
    assert refusal(lambda: released(CARD, why=" ", at=NOON)) == (
        f"card {CARD.id!r} can't be released without a reason; say why"
    )
    promoted = replace(CARD, status=MemoryStatus.PROMOTED)
    assert refusal(lambda: released(promoted, why="x", at=NOON)) == (
        f"card {CARD.id!r} is 'promoted'; only one in quarantine can be released"
    )
