"""What coding agents are told, by whose store, and what their sessions count for."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from random import Random

import pytest
from coding_desk import PROMPT, Desk, desk_in
from session_files import Ran, claude, rollout

from wisen import CardFilter, Clockwork, MarkdownStore, MemoryCard, MemoryKind, MemoryStatus, Situation
from wisen.cards import Provenance
from wisen.errors import StoreError
from wisen.integrations.coding_memory import CodingMemory
from wisen.integrations.hook_payload import HookPayload
from wisen.memory_ci.pipeline import MemoryCI
from wisen.stores.sqlite.store import SQLiteVectorStore
from wisen.trace_import.coding_agents import ROLE

pytestmark = pytest.mark.anyio
FAILS, PASSES = "sh report.sh 2026", "sh report.sh --closed 2026"
TAUGHT: Sequence[Ran] = [(FAILS, 3, "the year is closed"), (PASSES, 0, "printed")]
SAID = f"`{FAILS}` failed with exit code 3: the year is closed\n    What passed instead: `{PASSES}`"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = desk_in(tmp_path)
    made.state.mkdir(parents=True)
    return made


@pytest.fixture
async def memory(desk: Desk) -> AsyncIterator[CodingMemory]:
    made = coding(desk)
    yield made
    await made.close()


def coding(desk: Desk, seed: int = 1) -> CodingMemory:
    ids = Random(seed)
    clockwork = Clockwork(new_id=lambda: f"{ids.getrandbits(128):032x}")
    return CodingMemory(desk.state, clockwork=clockwork, log=lambda _: None)


class Session:
    """A session of an agent's, event by event."""

    def __init__(self, memory: CodingMemory, desk: Desk, name: str, model: str = "probe") -> None:
        self._memory = memory
        self._path = desk.home / f"{name}.jsonl"
        self._given = {"session_id": name, "cwd": str(desk.repository), "model": model}
        self.turns: list[tuple[str, Sequence[Ran]]] = []

    async def starts(self) -> str:
        return await self._memory.answer("SessionStart", self._payload())

    async def asks(self, prompt: str) -> str:
        self.turns.append((prompt, ()))
        return await self._memory.answer("UserPromptSubmit", self._payload(prompt=prompt))

    async def calls(self, command: str, call: str = "c1") -> str:
        given = self._payload(tool_name="Bash", tool_input={"command": command}, tool_use_id=call)
        return await self._memory.answer("PreToolUse", given)

    async def ends(self, *ran: Ran, transcript: Path | None = None) -> None:
        self.turns[-1] = self.turns[-1][0], ran
        path = transcript or rollout(self._path, *self.turns, session=self._path.stem)
        await self._memory.learn(self._payload(transcript_path=str(path)))

    def _payload(self, **given: object) -> HookPayload:
        return HookPayload(**{**self._given, **given})  # pyright: ignore[reportArgumentType] - as an agent's JSON


async def learned(memory: CodingMemory, desk: Desk) -> None:
    first = Session(memory, desk, "first")
    await first.asks(PROMPT)
    await first.ends(*TAUGHT)


async def rule(desk: Desk, text: str) -> None:
    async with MarkdownStore(desk.repository / ".wisen") as store:
        ci = MemoryCI(store)
        source = Provenance(created_by="human", agent=ROLE)
        kept = await ci.submit(MemoryCard(kind=MemoryKind.PRINCIPLE, content=text, provenance=source))
        await ci.promote(kept.card_id, "house style")


async def test_a_failure_is_told_at_the_call_and_its_exit_code_counts(desk: Desk, memory: CodingMemory) -> None:
    await learned(memory, desk)
    (card,) = await desk.cards()
    assert (card.kind, card.status, card.held) == (MemoryKind.FAILURE_PATTERN, MemoryStatus.QUARANTINED, ())
    assert (card.provenance.run_id, card.provenance.source) == ("first", "first.jsonl:3")
    assert card.provenance.verified
    assert card.provenance.tainted
    second = Session(memory, desk, "second")
    assert SAID not in await second.asks(PROMPT)
    assert SAID in await second.calls("sh report.sh 2025")
    await second.ends(("sh report.sh 2025", 0, "printed"))
    (card,) = await desk.cards()
    assert (card.trials[0].first, card.trials[0].first_good, card.open_draws) == (1, 1, ())


async def test_what_the_project_has_run_with_success_is_no_new_sink(desk: Desk, memory: CodingMemory) -> None:
    first = Session(memory, desk, "first")
    await first.asks(PROMPT)
    await first.ends(("pytest -q", 1, "no"), ("uv run --with numpy==2.1 pytest -q", 0, ""))
    (card,) = await desk.cards()
    assert card.held == ()


async def test_an_idea_is_drawn_once_in_a_session(desk: Desk, memory: CodingMemory) -> None:
    await learned(memory, desk)
    second = Session(memory, desk, "second")
    await second.asks(PROMPT)
    assert await second.calls(FAILS)
    assert await second.calls(FAILS, "c2") == ""
    await second.ends((FAILS, 3, "no"), (FAILS, 0, "yes"))
    (card,) = await desk.cards()
    assert (card.trials[0].first, card.trials[0].first_good) == (1, 1)
    assert await Session(memory, desk, "third").calls(FAILS)


@pytest.mark.parametrize(
    ("ran", "good"),
    [
        ([(FAILS, 3, "no"), (PASSES, 0, "yes")], 1),
        ([("sh report.sh 2025", 0, "yes"), (FAILS, 3, "no"), (PASSES, 0, "yes")], 0),
        ([(FAILS, 3, "no"), ("ls -l", 0, ""), ("cat report.sh", 0, "")], 0),
        ([("sh report.sh 2025", 0, "yes"), ("git diff", 1, "no")], 1),
    ],
)
async def test_what_counts_is_the_next_call_of_the_like_which_the_agent_makes_when_told(
    desk: Desk, memory: CodingMemory, ran: Sequence[Ran], good: int
) -> None:
    await learned(memory, desk)
    second = Session(memory, desk, "second")
    await second.asks(PROMPT)
    assert SAID in await second.calls(ran[0][0])
    await second.ends(*ran)
    (card,) = [one for one in await desk.cards() if one.trials]
    assert (card.trials[0].first, card.trials[0].first_good) == (1, good)


async def test_a_failure_is_told_at_calls_like_it_alone(desk: Desk, memory: CodingMemory) -> None:
    first = Session(memory, desk, "first")
    await first.asks(PROMPT)
    await first.ends(("make test", 2, "no database is named"), ("make test DB=memory", 0, ""))
    told = {
        command: bool(await Session(memory, desk, command).calls(command))
        for command in ("make package", "make -n test", "make -j 4 test")
    }
    assert told == {"make package": False, "make -n test": True, "make -j 4 test": True}


async def test_what_codex_met_claude_code_is_told(desk: Desk, memory: CodingMemory) -> None:
    await learned(memory, desk)
    second = Session(memory, desk, "second", model="claude-opus")
    await second.asks(PROMPT)
    assert SAID in await second.calls(FAILS, "toolu_1")
    await second.ends(transcript=claude(desk.home / "c.jsonl", PROMPT, "toolu_1", FAILS, 3))
    (card,) = await desk.cards()
    (trial,) = card.trials
    assert (trial.model, trial.first, trial.first_good, card.open_draws) == ("claude-opus", 1, 0, ())


async def test_a_lesson_is_for_its_program(desk: Desk, memory: CodingMemory) -> None:
    await learned(memory, desk)
    assert await Session(memory, desk, "second").calls("bash report.sh 2026") == ""
    assert await Session(memory, desk, "third").calls("cat report.sh 2026") == ""


async def test_what_a_session_taught_is_kept_once(desk: Desk, memory: CodingMemory) -> None:
    await learned(memory, desk)
    await learned(coding(desk), desk)
    (card,) = await desk.cards()
    assert card.duplicates == 0


async def test_what_a_store_could_not_take_is_kept_at_the_next_turn(desk: Desk, memory: CodingMemory) -> None:
    (desk.repository / ".wisen").write_text("a file")
    first = Session(memory, desk, "first")
    await first.asks(PROMPT)
    with pytest.raises(StoreError):
        await first.ends(*TAUGHT)
    (desk.repository / ".wisen").unlink()
    await first.asks("thanks")
    await first.ends()
    assert [card.content.splitlines()[-1] for card in await desk.cards()] == [f"What passed instead: `{PASSES}`"]


async def test_a_lesson_that_may_not_be_kept_costs_no_other(desk: Desk, memory: CodingMemory) -> None:
    """A session whose id is a secret: its lessons name no run that may be kept."""
    first = Session(memory, desk, "first")
    await first.asks(PROMPT)
    secret = rollout(desk.home / "s.jsonl", (PROMPT, TAUGHT), session="ghp_" + "a1B2c3D4e5F6" * 3)
    await first.ends(transcript=secret)
    assert not (desk.repository / ".wisen" / "cards").exists()
    await learned(memory, desk)
    assert len(await desk.cards()) == 1


async def test_by_lot_some_sessions_go_without(desk: Desk, memory: CodingMemory) -> None:
    await learned(memory, desk)
    told = list[bool]()
    for number in range(12):
        session = Session(memory, desk, f"s {number}")
        await session.asks(PROMPT)
        told.append(bool(await session.calls(FAILS)))
        await session.ends((FAILS, 0, ""))
    assert all(told[:3])
    (card,) = await desk.cards()
    counted = [(one.shown, one.held_out) for one in card.trials[0].counts]
    assert counted == [(sum(told[3:]), 9 - sum(told[3:]))]
    assert False in told


async def test_standing_rules_are_the_same_bytes_and_come_once(desk: Desk, memory: CodingMemory) -> None:
    await rule(desk, "Write dates as YYYY-MM-DD.")
    texts = [await Session(memory, desk, f"s {number}").starts() for number in range(3)]
    assert "YYYY-MM-DD" in texts[0]
    assert len({*texts}) == 1
    session = Session(memory, desk, "late")
    assert texts[0] in await session.asks(PROMPT), "where nobody answered at the start"
    assert await session.asks("something else") == ""


async def test_a_correction_is_a_lesson_for_like_prompts(desk: Desk, memory: CodingMemory) -> None:
    first = Session(memory, desk, "first")
    await first.asks("print the report of the customers")
    await first.ends(("sh report.sh", 0, ""))
    await first.asks("No, sort them by country first")
    await first.ends(("sh report.sh", 0, ""))
    (card,) = await desk.cards()
    assert "sort them by country first" in card.content
    assert (card.provenance.verified, card.provenance.tainted) == (False, False)
    assert "sort them by country" in await Session(memory, desk, "second").asks("print the report of the customers")
    assert await Session(memory, desk, "third").asks("why is the sky blue") == ""


@pytest.mark.parametrize(
    ("ran", "following", "good"),
    [
        ([("pytest", 0, "")], "", 1),
        ([("pytest", 1, "no")], "", 0),
        ([("pytest", 1, "no")], "now the page", 0),
        ([("ls", 0, "")], "now the page", 1),
        ([("ls", 0, "")], "no, the other one", 0),
        ([("ls", 0, "")], "print the report of the customers", 0),
    ],
)
async def test_a_prompts_outcome_counts(
    desk: Desk, memory: CodingMemory, ran: Sequence[Ran], following: str, good: int
) -> None:
    await test_a_correction_is_a_lesson_for_like_prompts(desk, coding(desk))
    before = (await desk.cards())[0].trials[0]
    session = Session(memory, desk, "later")
    assert await session.asks("print the report of the customers")
    await session.ends(*ran)
    if following:
        await session.asks(following)
        await session.ends(("ls", 0, ""))
    (card,) = [one for one in await desk.cards() if "by country" in one.content]
    counted = card.trials[0]
    assert (counted.first - before.first, counted.first_good - before.first_good) == (1, good)


async def test_what_the_next_turn_takes_back_was_not_good(desk: Desk, memory: CodingMemory) -> None:
    await test_a_correction_is_a_lesson_for_like_prompts(desk, coding(desk))
    session = Session(memory, desk, "later")
    await session.asks("print the report of the customers")
    await session.ends(("ls", 0, ""))
    await session.asks("now the page")
    await session.ends(("git restore report.sh", 0, ""))
    (card,) = [one for one in await desk.cards() if "by country" in one.content]
    assert card.trials[0].first_good == 0


async def test_off_shows_and_learns_nothing(desk: Desk, memory: CodingMemory) -> None:
    await learned(memory, desk)
    (desk.repository / ".wisen" / "off").touch()
    second = Session(memory, desk, "second")
    assert await second.calls(FAILS) == ""
    await second.asks(PROMPT)
    await second.ends(("sh a.sh", 1, "no"), ("sh a.sh --b", 0, ""))
    (desk.repository / ".wisen" / "off").unlink()
    (card,) = await desk.cards()
    assert (card.trials, card.open_draws) == ((), ())


async def test_outside_of_a_repository_the_person_learns(desk: Desk, memory: CodingMemory) -> None:
    (desk.repository / ".git").rmdir()
    await learned(memory, desk)
    assert not (desk.repository / ".wisen").exists()
    assert SAID in await Session(memory, desk, "second").calls(FAILS)
    async with SQLiteVectorStore(desk.state / "person.db") as store:
        assert await store.count(CardFilter()) == 1


async def test_a_persons_lesson_is_told_in_every_repository(desk: Desk, memory: CodingMemory) -> None:
    async with SQLiteVectorStore(desk.state / "person.db") as store:
        card = MemoryCard(
            kind=MemoryKind.LESSON,
            content="Answer in French.",
            situation=Situation(prompt=PROMPT),
            provenance=Provenance(created_by="human"),
        )
        ci = MemoryCI(store)
        await ci.promote((await ci.submit(card)).card_id, "mine")
    assert "Answer in French." in await Session(memory, desk, "first").asks(PROMPT)


async def test_a_visit_leaves_no_store_behind(desk: Desk, memory: CodingMemory) -> None:
    session = Session(memory, desk, "first")
    await session.starts()
    await session.asks(PROMPT)
    await session.calls("ls")
    await session.ends(("ls", 0, "a"))
    assert not (desk.repository / ".wisen").exists()
    assert not (desk.state / "person.db").exists()
