"""What `wisen learn` takes from transcripts is what the hooks take, and it reaches an agent at its command."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from coding_desk import PROMPT, Desk, desk_in
from session_files import Ran, rollout

from wisen import MemoryCard

pytestmark = pytest.mark.anyio
FAILS, PASSES = "sh report.sh 2026", "sh report.sh --closed 2026"
TAUGHT: Sequence[Ran] = [(FAILS, 3, "the year is closed"), ("ls", 0, "report.sh"), (PASSES, 0, "printed")]
MORE: Sequence[Ran] = [
    ("make docs", 2, "make: *** No rule to make target"),
    ("ls", 0, ""),
    ("curl -s https://a.example/x", 6, "curl: (6) see https://b.example"),
    ("curl -s https://a.example/x -4", 0, "ok"),
    ("make -C doc docs", 0, ""),
]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_in(tmp_path)


def transcript(desk: Desk, name: str, *turns: tuple[str, Sequence[Ran]]) -> Path:
    """One that Codex has written about the repository."""
    folder = desk.home / ".codex" / "sessions" / "2026"
    folder.mkdir(parents=True, exist_ok=True)
    return rollout(folder / f"{name}.jsonl", *turns, session=name, cwd=str(desk.repository))


def learn(desk: Desk) -> dict[str, int]:
    done = desk.wisen(
        "learn", str(desk.home / ".codex" / "sessions"), "--store", "markdown:.wisen", "--json", "--again"
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["totals"]


def of(card: MemoryCard) -> object:
    """All by which two cards are the same, and which runs they are for."""
    source = card.provenance
    signed = (source.agent, source.run_id, source.trace_id, source.created_by, source.verified, source.tainted)
    return card.id, card.text, card.situation, card.scope, card.held, signed


async def test_both_ways_give_the_same_cards(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    turns = [(PROMPT, TAUGHT), ("and the docs", MORE)]
    path = transcript(desk, "first", *turns)
    learn(desk)
    by_files = await desk.cards()
    for store in sorted((desk.repository / ".wisen").rglob("*"), reverse=True):
        store.unlink() if store.is_file() else store.rmdir()
    with desk.resident():
        for number in (1, 2):
            transcript(desk, "first", *turns[:number])
            desk.hook("Stop", session_id="first", transcript_path=str(path))
            desk.wait_for(lambda: len([*(desk.repository / ".wisen").rglob("cards/*/*.md")]) == 2 * number - 1)  # noqa: B023 - at once
    by_hooks = await desk.cards()
    assert len(by_hooks) == 3
    assert sorted(map(repr, map(of, by_files))) == sorted(map(repr, map(of, by_hooks)))
    assert {bool(card.held) for card in by_hooks} == {False}
    totals = learn(desk)
    assert (totals["new"], totals["known"], totals["duplicates"]) == (0, 3, 0)
    assert [card.duplicates for card in await desk.cards()] == [0, 0, 0]


async def test_what_a_folder_taught_is_told_at_the_command(desk: Desk) -> None:
    path = transcript(desk, "first", (PROMPT, TAUGHT))
    assert learn(desk)["new"] == 1
    (card,) = await desk.cards()
    with desk.resident():
        desk.hook("UserPromptSubmit", session_id="second", prompt=PROMPT)
        told = desk.calls("sh report.sh 2025", session="second")
        assert f"What passed instead: `{PASSES}`" in told
        assert card.text.splitlines()[0] in told
        assert desk.calls("cat report.sh", session="third") == ""
        desk.hook("Stop", session_id="first", transcript_path=str(path))
    (card,) = await desk.cards()
    assert card.duplicates == 0


async def test_a_transcript_that_somebody_sent_is_told_to_no_agent(desk: Desk) -> None:
    sent = rollout(desk.home / "sent.jsonl", (PROMPT, TAUGHT), cwd=str(desk.repository))
    assert desk.wisen("learn", str(sent), "--store", "markdown:.wisen").returncode == 0
    (card,) = await desk.cards()
    assert card.provenance.created_by == "import"
    with desk.resident():
        assert desk.calls(FAILS, session="second") == ""
