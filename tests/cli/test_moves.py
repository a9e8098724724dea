"""People decide on cards with a reason, and ask why a card, or a run's advice, is as it is."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from inline_snapshot import snapshot
from trying import Meaning

from wisen import CardFilter, HashEmbedder, MemoryCard, MemoryCI, MemoryKind, MemoryStatus, Situation, SQLiteVectorStore
from wisen.cards import CardEvidence
from wisen.embedders.local import LocalEmbedder
from wisen.memory_ci.changes import change_card
from wisen.protocols import Embedder
from wisen.records import Blocked, Injection, LeftOut
from wisen.trial_records import DrawCounts, Trial

Wisen = Callable[..., CompletedProcess[str]]

CAPITAL = {"id": "france", "prompt": "What is the capital of France?", "reference": "Paris", "evaluator": "normalised"}
AGAIN = {**CAPITAL, "id": "again"}


@pytest.fixture
def learned(wisen: Wisen, script: Callable[..., str], tasks: Callable[..., Path]) -> Wisen:
    """The command, over a store with a run that failed once, and one that was shown what it taught."""
    model = script("Lyon", "Name the seat of government.", "Paris", "Paris")
    args = ("--model", model, "--seed", "1", "--embedder", "hash")
    assert wisen("run", tasks(CAPITAL, AGAIN), *args).returncode == 0
    return wisen


def listed(wisen: Wisen, *args: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(wisen("lessons", "list", "--json", *args).stdout)["lessons"]
    return found


def runs(wisen: Wisen) -> list[str]:
    """Ids, the run that was first at the beginning."""
    return [one["run_id"] for one in json.loads(wisen("runs", "list", "--json").stdout)][::-1]


def test_a_person_moves_a_card_and_the_reason_stays(learned: Wisen) -> None:
    card = listed(learned)[0]["id"]
    said = learned("lessons", "promote", card[:8], "--why", "helped in production")
    assert (said.returncode, said.stdout) == (0, f"card {card}: quarantined to promoted\n")
    assert learned("lessons", "pin", card, "--why", "we rely on it").stdout.endswith(": pinned\n")
    assert learned("lessons", "pin", card, "--why", "again").stdout.endswith("promoted, pinned as before\n")
    assert learned("lessons", "unpin", card, "--why", "a new model").stdout.endswith(": unpinned\n")
    assert learned("lessons", "archive", card, "--why", "outdated").stdout.endswith("promoted to archived\n")
    assert learned("lessons", "quarantine", card, "--why", "or not").stdout.endswith("archived to quarantined\n")
    told = json.loads(learned("lessons", "why", card, "--json").stdout)
    assert [(one["before"], one["after"], one["by"], one["why"]) for one in told["history"]] == snapshot(
        [
            ("candidate", "quarantined", "screen", "passed screen default"),
            ("quarantined", "promoted", "human", "helped in production"),
            ("promoted", "promoted", "human", "pinned: we rely on it"),
            ("promoted", "promoted", "human", "unpinned: a new model"),
            ("promoted", "archived", "human", "outdated"),
            ("archived", "quarantined", "human", "or not"),
        ]
    )
    rejected = json.loads(learned("lessons", "reject", card, "--why", "names a person", "--json").stdout)
    assert (rejected["status"], rejected["content"], rejected["note"]) == ("rejected", "", "names a person")
    assert "quarantined to rejected, by human: names a person" in learned("lessons", "why", card).stdout


def test_a_promotion_names_the_rivals_that_it_archives(wisen: Wisen, store: Path) -> None:
    async def taught() -> list[str]:
        store.parent.mkdir()
        async with SQLiteVectorStore(store, embedder=HashEmbedder()) as opened:
            ci, where = MemoryCI(opened), Situation(prompt="Which VAT applies to the bill?")
            cards = [
                await ci.submit(MemoryCard(kind=MemoryKind.LESSON, content=f"VAT is {rate} percent.", situation=where))
                for rate in (12, 25, 19)
            ]
            first, second, third = [one.card_id for one in cards]
            await change_card(opened, second, lambda card: replace(card, status=MemoryStatus.ARCHIVED, history=()))
            return [first, second, third]

    first, _, third = asyncio.run(taught())
    said = wisen("lessons", "promote", third, "--why", "it is the law").stdout
    assert said == f"card {third}: quarantined to promoted; archived its rivals: {first}\n"
    again = wisen("lessons", "promote", third, "--why", "it is still the law")
    assert "rivals" not in again.stdout
    assert wisen("lessons", "pin", third, "--why", "we rely on it").stdout == f"card {third}: pinned\n"


def test_a_reason_is_kept_without_secrets(learned: Wisen) -> None:
    card, secret = listed(learned)[0]["id"], "ghp_" + "Ab3" * 12
    learned("lessons", "promote", card, "--why", f"asked by anna.meier@web.de, with {secret}")
    learned("lessons", "reject", card, "--why", f"it held {secret}")
    told = learned("lessons", "show", card, "--json").stdout
    assert "it held" in told
    assert secret not in told
    assert "anna.meier" not in told
    other = listed(learned)[1]["id"]
    done = learned("lessons", "pin", other, "--why", secret)
    assert (done.returncode, secret in done.stderr, "say why in other words" in done.stderr) == (2, False, True)


@pytest.mark.parametrize("first", [False, True])
def test_a_person_takes_a_wording_out_of_its_idea(learned: Wisen, store: Path, *, first: bool) -> None:
    async def one_idea() -> list[str]:
        async with SQLiteVectorStore(store, embedder=HashEmbedder()) as opened:
            head = (await opened.list(CardFilter()))[0]
            (added,) = await opened.add_unscreened(
                [replace(head, id="", content=f"Never: {head.content}", idea=head.id, version=1, history=())]
            )
            return [head.id, added.card_id]

    head, wording = asyncio.run(one_idea())
    named = head if first else wording
    done = learned("lessons", "split", named, "--why", "it says the opposite")
    changed = "its other wordings are another idea, on trial" if first else "an idea of its own, on trial"
    assert (done.returncode, done.stdout) == (0, f"card {named}: {changed}\n")
    assert f"split from {head}: it says the opposite" in learned("lessons", "why", wording).stdout
    done = learned("lessons", "split", wording, "--why", "again")
    said = f"wisen: card '{wording}' is the only wording of its idea: there is nothing to split\n"
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("promote", "ID", "--why", " "), "say why"),
        (("promote", "ID"), "--why"),
        (("unpin", "nothing", "--why", "x"), "no memory card"),
        (("archive", "", "--why", "x"), "no memory card"),
    ],
)
def test_bad_input_is_one_line_and_changes_nothing(learned: Wisen, args: tuple[str, ...], said: str) -> None:
    before = listed(learned)
    done = learned("lessons", *(before[0]["id"] if one == "ID" else one for one in args))
    assert (done.returncode, said in done.stderr, done.stderr.count("\n")) == (2, True, 1)
    assert listed(learned) == before


def test_only_the_table_s_moves_can_be_asked_for(learned: Wisen) -> None:
    card = listed(learned)[0]["id"]
    learned("lessons", "archive", card, "--why", "wrong")
    done = learned("lessons", "promote", card, "--why", "right")
    assert (done.returncode, done.stderr) == (
        2,
        f"wisen: card '{card}' is 'archived' and can't become 'promoted'; possible: quarantined, rejected\n",
    )


def test_a_card_says_why_it_is_as_it_is(learned: Wisen, store: Path) -> None:
    card = listed(learned, "--kind", "skill_card")[0]["id"]
    counts = (
        CardEvidence(
            model="m",
            layout="l",
            propensity=0.85,
            judged=True,
            shown=9,
            shown_successes=5,
            shown_unknown=3,
            held_out=1,
        ),
        CardEvidence(model="m", layout="l", gained=5, lost=1, ties=3),
    )

    async def count() -> None:
        async with SQLiteVectorStore(store) as opened:
            await change_card(opened, card, lambda one: replace(one, evidence=counts))

    asyncio.run(count())
    shown = learned("lessons", "why", card).stdout
    assert (
        "m, l, as a model judged: shown 9 times, 5 good, 3 without a score; left out 1 time, 0 good "
        "(shown with probability 0.85)" in shown
    )
    assert "m, l: of 9 replays 5 gained, 1 lost" in shown
    assert "candidate to quarantined, by screen: passed screen default" in shown
    assert "reference normalised (check)" in shown or "(check)" in shown
    assert "shown 9 times" in learned("lessons", "show", card).stdout


def test_a_run_says_why_it_was_told_what_it_was_told(learned: Wisen) -> None:
    first, second = runs(learned)
    said = learned("why", second[:12]).stdout
    assert "attempt 1: " in said
    assert f"from           run {first}, attempt 2, by reflexion" in said
    assert "for this task  relevance 1.00: same prompt" in said
    assert "attempt 1      shown\n" in said
    assert "trial          shown to 1 of its first 3 runs (scripted, episodes-as-turns)\n" in said
    assert "(check)" in said
    assert "attempts 1\N{EN DASH}2: nothing was recalled" in learned("why", first).stdout
    unknown = learned("why", "nothing")
    assert (unknown.returncode, "no run 'nothing'" in unknown.stderr) == (2, True)


def test_a_run_says_how_far_trials_are_and_who_waits(learned: Wisen, store: Path) -> None:
    run_id = runs(learned)[1]
    counts = DrawCounts(propensity=0.6, shown=20, shown_good=15, held_out=14, held_out_good=5)

    async def change() -> list[str]:
        async with SQLiteVectorStore(store) as opened:
            head, wording = [card.id for card in await opened.list(CardFilter())][:2]
            trial = Trial(model="m", layout="l", number=1, stage="on trial", first=3, counts=(counts,))
            await change_card(opened, head, lambda one: replace(one, trials=(trial,)))
            await change_card(opened, wording, lambda one: replace(one, idea=head))
            record = await opened.run(run_id)
            left_out = (LeftOut(card_id=wording, why="waits for a place on trial"),)
            attempt = replace(record.attempts[0], injections=(), left_out=left_out, lesson_ids=())
            await opened.save_run(replace(record, attempts=(attempt,)))
            return [head, wording]

    head, wording = asyncio.run(change())
    said = learned("why", run_id).stdout
    assert "  attempt 1   left out: waits for a place on trial\n" in said
    assert f"  idea of     {head}\n" in said
    assert "  trial       on trial, 37 of about 63 runs, ahead (m, l)\n" in said
    assert "shown 20 times, 15 good; left out 14 times, 5 good\n" in said
    told = json.loads(learned("why", run_id, "--json").stdout)["attempts"][0]["cards"][0]
    assert (told["card_id"], told["idea"], told["because"]) == (wording, head, "waits for a place on trial")
    assert told["trial"][0] == "on trial, 37 of about 63 runs, ahead (m, l)"


def test_a_card_is_told_once_for_all_attempts_and_the_run_s_own_lessons_too(
    wisen: Wisen, script: Callable[..., str], tasks: Callable[..., Path]
) -> None:
    model = script("Lyon", "Name the seat of government.", "Paris", "Nice", "Look north.", "Brest", "Go east.", "Paris")
    args = ("--model", model, "--seed", "1", "--embedder", "hash", "--trust", "screened")
    assert wisen("run", tasks(CAPITAL, AGAIN), *args).returncode == 0
    run_id = runs(wisen)[1]
    said = wisen("why", run_id).stdout
    assert said.count("Name the seat of government.") == 1
    assert "attempts 1\N{EN DASH}3: 2 shown\n" in said
    assert said.count("  attempts 1\N{EN DASH}3   shown\n") == 2
    own = said[said.index("own lesson") :]
    assert [line.split("  ", 1)[1].strip() for line in own.splitlines() if line.lstrip().startswith("used")] == [
        "used        told to attempts 2\N{EN DASH}3, as far as there was room",
        "used        told to attempt 3, as far as there was room",
        "used        told to no later attempt",
    ]
    assert "in attempt 3, which says what a card says that was there" in own
    told = json.loads(wisen("why", run_id, "--json").stdout)
    assert [(one["attempt"], one["told"]) for one in told["own_lessons"]] == [(1, [2, 3]), (2, [3]), (3, [])]
    assert told["own_lessons"][0]["card"]["content"] == "Look north."
    assert [len(one["cards"]) for one in told["attempts"]] == [2, 2, 2]


def test_what_was_held_back_is_told_too(learned: Wisen, store: Path) -> None:
    run_id = runs(learned)[1]

    async def change() -> list[str]:
        async with SQLiteVectorStore(store) as opened:
            record = await opened.run(run_id)
            ids = [card.id for card in await opened.list(CardFilter())]
            held = Injection(
                card_id=ids[0], kind="lesson", reasons=("same prompt",), score=1.0, shown=False, propensity=0.85
            )
            attempt = replace(
                record.attempts[0],
                injections=(held,),
                blocked=(Blocked(card_id=ids[1], rules=("obeys",)),),
                left_out=(LeftOut(card_id=ids[0], why="held out by the trial"), LeftOut(card_id="gone", why="no room")),
            )
            await opened.save_run(replace(record, attempts=(attempt,)))
            return ids

    ids = asyncio.run(change())
    told = json.loads(learned("why", run_id, "--json").stdout)["attempts"][0]["cards"]
    assert [(one["card_id"], one["fate"], one["because"], one["card"] is not None) for one in told] == [
        (ids[0], "held out", "", True),
        (ids[1], "blocked", "the screen's rules obeys", True),
        ("gone", "left out", "no room", False),
    ]
    said = learned("why", run_id).stdout
    assert "attempt 1: 1 left out by the trial's draw, 1 blocked, 1 left out for other reasons" in said
    assert "left out by the trial's draw (probability 0.15), to see how the run goes without it\n" in said
    assert "blocked: the screen's rules obeys\n" in said
    assert "is no longer stored" in said


class TestWhatJoinsWordings:
    """`lessons why` tells it of the embedder that the store's vectors come from."""

    def told(self, wisen: Wisen, store: Path, embedder: Embedder) -> str:
        async def fill() -> str:
            async with SQLiteVectorStore(store, embedder=embedder) as opened:
                return (await MemoryCI(opened).submit(MemoryCard(kind=MemoryKind.LESSON, content="Ask."))).card_id

        store.parent.mkdir(parents=True, exist_ok=True)
        done = wisen("lessons", "why", asyncio.run(fill()))
        assert done.returncode == 0, done.stderr
        (line,) = [line for line in done.stdout.splitlines() if line.startswith("joined by")]
        return line.removeprefix("joined by").strip()

    @pytest.mark.parametrize("dimension", [384, 512])
    def test_one_that_compares_words(self, wisen: Wisen, store: Path, dimension: int) -> None:
        said = f"equal words only: hash-{dimension}-v1 compares words, and doesn't know meaning"
        assert self.told(wisen, store, HashEmbedder(dimension)) == said

    @pytest.mark.local_model
    def test_one_that_knows_meaning(self, wisen: Wisen, store: Path) -> None:
        local = LocalEmbedder()
        assert self.told(wisen, store, local) == f"meaning ({local.name})"

    def test_one_that_the_command_cannot_have(self, wisen: Wisen, store: Path) -> None:
        said = "what meaning says of them, which isn't to be had here"
        assert self.told(wisen, store, Meaning(("invoice",))) == said
