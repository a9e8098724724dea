from datetime import UTC, datetime

import pytest

from wisen import MemoryCard, MemoryKind, MemoryScope, MemoryStatus, Situation
from wisen.cards import Provenance, normalized
from wisen.errors import ConfigError
from wisen.memory_ci.status import MOVES, move

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def lesson(content: str, **more: str) -> MemoryCard:
    return MemoryCard(kind=MemoryKind.LESSON, content=content, situation=Situation(prompt=more.get("prompt", "")))


def test_id_follows_from_tenant_run_attempt_and_content() -> None:
    card = lesson("Count from zero.")
    assert card.id == lesson("Count from zero.").id
    others = [
        lesson("Count from one."),
        lesson("Count from zero.", prompt="Count."),
        MemoryCard(kind=MemoryKind.LESSON, content="Count from zero.", scope=MemoryScope(tenant="a")),
        MemoryCard(kind=MemoryKind.LESSON, content="Count from zero.", provenance=Provenance(attempt=2)),
        MemoryCard(kind=MemoryKind.PRINCIPLE, content="Count from zero."),
    ]
    assert len({card.id, *(other.id for other in others)}) == 6


def test_situation_key_looks_past_case_spacing_and_punctuation() -> None:
    assert Situation(prompt="Route  THIS ticket!").key == Situation(prompt="route this ticket").key
    assert Situation(prompt="Route this ticket").key != Situation(prompt="Route that ticket").key
    assert Situation().key == ""
    assert normalized("?!") == "?!"


def test_answers_that_differ_in_case_are_no_duplicates() -> None:
    assert lesson("ABC").duplicate_key != lesson("abc").duplicate_key
    assert lesson("a  b").duplicate_key == lesson("a b").duplicate_key


@pytest.mark.parametrize("kind", list(MemoryKind))
def test_reports_of_two_agents_are_no_duplicates(kind: MemoryKind) -> None:
    one, two = (MemoryCard(kind=kind, content="x", provenance=Provenance(agent=agent)) for agent in ("a", "b"))
    reports = (MemoryKind.REFLECTION, MemoryKind.PROCEDURE, MemoryKind.DECISION)
    assert (one.duplicate_key != two.duplicate_key) is (kind in reports)


def test_rejected_cards_keep_no_text_and_are_each_their_own() -> None:
    one, two = (move(lesson(text), MemoryStatus.REJECTED, note="screen", at=NOON) for text in ("bad one", "bad two"))
    assert (one.text, one.situation.text, one.status) == ("", "", MemoryStatus.REJECTED)
    assert one.duplicate_key != two.duplicate_key
    assert one.id == lesson("bad one").id


@pytest.mark.parametrize("start", list(MemoryStatus))
@pytest.mark.parametrize("end", list(MemoryStatus))
def test_only_moves_of_the_table_happen(start: MemoryStatus, end: MemoryStatus) -> None:
    card = MemoryCard(kind=MemoryKind.LESSON, content="x", status=start)
    if end in MOVES[start]:
        moved = move(card, end, note="why", at=NOON)
        assert (moved.status, moved.version, moved.note, moved.id) == (end, 2, "why", card.id)
    else:
        with pytest.raises(ConfigError, match="can't become"):
            move(card, end, note="why", at=NOON)
