"""`wisen ci` tests cards on a file of tasks, and says where they stand and how they came there."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from dirty_equals import IsFloat, IsInt
from replaying import WORDS

from wisen.cards import CardEvidence, MemoryCard, MemoryKind, MemoryStatus, Provenance, Situation
from wisen.embedders.hashing import HashEmbedder
from wisen.memory_ci.sequence_numbers import Promotions, SequenceNumbers
from wisen.stores.sqlite.store import SQLiteVectorStore
from wisen.trial_records import DrawCounts, OpenDraw, Trial

Wisen = Callable[..., CompletedProcess[str]]
Script = Callable[..., str]

CARDS = [
    MemoryCard(
        kind=MemoryKind.LESSON,
        content=f"Answer in the {word} way.",
        situation=Situation(prompt="Is there room for ship 99 in the harbour?"),
        status=MemoryStatus.QUARANTINED,
        provenance=Provenance(run_id=word, created_by="reflexion"),
    )
    for word in ("first", "second")
]


@pytest.fixture
def card(store: Path) -> str:
    """The id of the only card in the store."""
    return stored(store, CARDS[:1])[0]


def stored(store: Path, cards: list[MemoryCard]) -> list[str]:
    async def write() -> list[str]:
        store.parent.mkdir(parents=True, exist_ok=True)
        async with SQLiteVectorStore(store, embedder=HashEmbedder()) as opened:
            return [one.card_id for one in await opened.add(cards)]

    return asyncio.run(write())


@pytest.fixture
def harbour(tasks: Callable[..., Path]) -> Path:
    """Nine tasks about ships in a harbour."""
    return tasks(
        *(
            {
                "id": f"ship {n}",
                "prompt": f"Is there room for ship {n} in the harbour, with {WORDS[n]} for {WORDS[-n - 1]}?",
                "reference": "yes",
                "evaluator": "exact",
            }
            for n in range(9)
        )
    )


def test_a_card_that_helps_is_promoted_and_its_evidence_shown(
    wisen: Wisen, script: Script, harbour: Path, card: str
) -> None:
    done = wisen("ci", "run", harbour, "--model", script(*["no", "yes"] * 9))
    assert (done.returncode, done.stderr) == (0, "")
    heading, row, summary, release = done.stdout.splitlines()
    assert heading.split()[:6] == ["card", "result", "tasks", "clusters", "gained", "lost"]
    assert row.split()[:9] == [card, "promoted", "9", "9", "7", "0", "0", "31.9", "0.125"]
    assert summary.startswith("cards tested: 1; 1 promoted, 0 archived, 0 undecided; ")
    assert release.startswith("release 1: 1 card: 7 gained, 0 lost, 0 ties, helps")

    status = wisen("ci", "status")
    assert status.stdout.splitlines()[1].split()[:6] == [card, "promoted", "scripted", "7/0/0", "31.9", "0.125"]
    assert status.stderr == (
        "replays: gained/lost/ties, of clusters of like tasks; shown, held out: good/all (without a score); "
        "e: 20 is convincing\n1 promoted\n"
    )
    found: dict[str, Any] = json.loads(wisen("ci", "status", "--json").stdout)
    assert found["counts"]["promoted"] == 1
    assert found["cards"][0]["text"] == CARDS[0].text
    evidence = found["cards"][0]["evidence"][0]
    assert (evidence["gained"], evidence["e_trial"]) == (7, None)
    assert evidence["e_replays"] == {"helps": IsFloat(gt=31, lt=32), "hurts": 0.125}

    history = wisen("ci", "history", card[:6]).stdout
    assert "release 1: helps: 7 clusters of like tasks replayed, 7 gained, 0 lost, e = 31.9 that it" in history
    told: dict[str, Any] = json.loads(wisen("ci", "history", "--json").stdout)
    assert [(one["card"], one["after"], one["by"]) for one in told["moves"]] == [(card, "promoted", "replay")]
    assert [one["cards"] for one in told["releases"]] == [[card]]


TRIAL = Trial(
    model="m",
    layout="turns",
    number=1,
    stage="on trial",
    first=3,
    counts=(DrawCounts(propensity=0.6, shown=20, shown_good=15, held_out=14, held_out_good=5, held_out_unknown=2),),
)


def test_ideas_are_listed_with_how_far_their_trials_are(wisen: Wisen, store: Path) -> None:
    late = OpenDraw(id="draw", model="m", layout="turns", propensity=0.6)
    replays = CardEvidence(model="m", layout="turns", gained=2, ties=1)
    other = replace(TRIAL, model="other", number=2, stage="benched", counts=(), before=TRIAL.counts)
    head, waits = stored(
        store, [replace(CARDS[0], trials=(TRIAL, other), evidence=(replays,), open_draws=(late,)), CARDS[1]]
    )
    (wording,) = stored(store, [replace(CARDS[0], id="", content="In the first way, answer.", idea=head)])
    shown = wisen("ci", "status")
    rows = [re.split(r"  +", row) for row in shown.stdout.splitlines()]
    assert [row[:7] for row in rows if row[0] == head] == [
        [head, "quarantined", "on trial, 37 of about 45 runs, ahead", "2", "m", "2/0/1", "14.3"],
        [head, "quarantined", "made no difference", "2", "other", "15/20", "5/14 (2)"],
    ]
    assert rows[0][7:10] == ["e hurts", "shown", "held out"]
    assert rows[1][8:10] == ["15/20", "5/14 (2)"]
    assert [row[:3] for row in rows if row[0] == waits] == [[waits, "quarantined", "waits for its trial"]]
    assert shown.stderr.endswith("2 quarantined\n")
    found: dict[str, Any] = json.loads(wisen("ci", "status", "--json").stdout)
    idea = next(one for one in found["cards"] if one["id"] == head)
    assert idea["wordings"] == [head, wording]
    assert [one["said"] for one in idea["trials"]] == ["on trial, 37 of about 45 runs, ahead", "made no difference"]
    assert [one["open_draws"] for one in idea["trials"]] == [1, 0]
    assert [one["e"] for one in idea["trials"]] == [{"helps": IsFloat(gt=9), "hurts": IsFloat(lt=1)}, None]
    said = wisen("lessons", "why", wording).stdout
    assert "trial           on trial, 37 of about 45 runs, ahead (m, turns)\n" in said
    assert "shown 20 times, 15 good; left out 14 times, 5 good, 2 without a score\n" in said
    assert "made no difference, and is shown no more (other, turns)\n" in said


def test_promotions_before_lower_what_a_trial_needs(wisen: Wisen, store: Path) -> None:
    tenth = replace(TRIAL, number=10)
    stored(store, [replace(CARDS[0], trials=(tenth,))])
    alone = json.loads(wisen("ci", "status", "--json").stdout)["cards"][0]["trials"][0]["said"]

    async def promote() -> None:
        async with SQLiteVectorStore(store, embedder=HashEmbedder()) as opened:
            for number in range(10):
                await SequenceNumbers(opened, "trials").of(f"trial {number}")
            for name in ("one", "two"):
                await Promotions(opened).in_cohort_of(10).of(name)

    asyncio.run(promote())
    after = json.loads(wisen("ci", "status", "--json").stdout)["cards"][0]["trials"][0]["said"]
    assert [int(said.split()[5]) for said in (alone, after)] == [IsInt(gt=115), IsInt(lt=115)]


def test_what_an_earlier_version_counted_is_still_told(wisen: Wisen, store: Path) -> None:
    counted = CardEvidence(
        model="m", propensity=0.85, shown=41, shown_successes=33, held_out=8, held_out_successes=1, held_out_unknown=3
    )
    (card,) = stored(store, [replace(CARDS[0], evidence=(counted,))])
    row = re.split(r"  +", wisen("ci", "status").stdout.splitlines()[1])
    assert row[:8] == [card, "quarantined", "counted by an earlier version", "m", "117", "0.0102", "33/41", "1/8 (3)"]
    evidence = json.loads(wisen("ci", "status", "--json").stdout)["cards"][0]["evidence"][0]
    assert evidence["e_replays"] is None
    assert evidence["e_trial"] == {"helps": IsFloat(gt=20), "hurts": IsFloat(lt=1)}


def test_a_card_that_hurts_is_archived(wisen: Wisen, script: Script, harbour: Path, card: str) -> None:
    done = wisen("ci", "run", harbour, "--model", script(*["yes", "no"] * 9), "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == 0
    assert [(one["card_id"], one["result"]) for one in found["cards"]] == [(card, "archived")]
    assert "hurts: 7 clusters of like tasks replayed, 0 gained, 7 lost" in wisen("ci", "history").stdout


def test_too_few_clusters_of_like_tasks_are_said(
    wisen: Wisen, script: Script, tasks: Callable[..., Path], card: str
) -> None:
    copies = tasks(
        *(
            {"prompt": f"Has ship {n} a room in {WORDS[of]}, {WORDS[-of]}?", "reference": "yes", "evaluator": "exact"}
            for n in range(5)
            for of in (1, 2)
        )
    )
    done = wisen("ci", "run", copies, "--model", script(*["no", "yes"] * 10))
    assert "too few for a verdict: 2 clusters of like tasks in all: at least 7 are needed (cards: 1)" in done.stdout
    row = done.stdout.splitlines()[1].split()
    assert row[:6] == [card, "undecided", "6", "2", "2", "0"]
    said = "replayed on fewer than 7 clusters of like tasks, too few for a verdict: 1 card"
    assert said in wisen("ci", "status").stderr.splitlines()


def test_a_budget_that_ends_is_told_and_the_next_run_goes_on(
    wisen: Wisen, script: Script, harbour: Path, card: str
) -> None:
    done = wisen("ci", "run", harbour, "--model", script(*["no", "yes"] * 9), "--budget", "6")
    assert done.returncode == 1
    assert "stopped early: the replays' budget for attempts is used up" in done.stdout
    assert re.split(r"  +", wisen("ci", "status").stdout.splitlines()[1])[:5] == [
        card,
        "quarantined",
        "waits for its trial",
        "scripted",
        "3/0/0",
    ]
    again = wisen("ci", "run", harbour, "--model", script(*["no", "yes"] * 9), "--json")
    found: dict[str, Any] = json.loads(again.stdout)
    assert found["cards"][0]["result"] == "promoted"
    assert found["attempts"] == 10 or found["attempts"] == 12


def test_only_the_cards_that_are_named_are_tested(wisen: Wisen, script: Script, harbour: Path, store: Path) -> None:
    first, second = stored(store, CARDS)
    done = wisen("ci", "run", harbour, "--model", script(*["yes"] * 40), "--cards", second[:8])
    assert done.returncode == 0
    assert second in done.stdout
    assert first not in done.stdout


def test_a_card_that_is_not_tested_is_told_with_the_reason(
    wisen: Wisen, script: Script, harbour: Path, card: str
) -> None:
    for command, said in (("pin", "it is pinned"), ("promote", "it is promoted; put it back into quarantine")):
        assert wisen("lessons", command, card, "--why", "known").returncode == 0
        done = wisen("ci", "run", harbour, "--model", script("yes"), "--cards", card)
        assert (done.returncode, said in done.stderr) == (2, True)
        assert len(done.stderr.splitlines()) == 1
        wisen("lessons", "unpin", card, "--why", "known")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--cards", "nothing"), "no memory card 'nothing'"),
        (("--parallel", "0"), "parallel"),
        (("--budget", "0"), "'--budget'"),
        (("--top-k", "0"), "'--top-k'"),
        (("--threshold", "nan"), "--threshold nan: must be in (0, 1]"),
        (("--budget-seconds", "-1"), "--budget-seconds -1.0: must be 0 or more"),
    ],
)
def test_bad_input_is_a_line_and_exit_code_2(
    wisen: Wisen, script: Script, harbour: Path, card: str, args: tuple[str, ...], said: str
) -> None:
    del card
    done = wisen("ci", "run", harbour, "--model", script("yes"), *args)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_a_store_there_is_nothing_to_test(wisen: Wisen, script: Script, harbour: Path) -> None:
    for args in (("run", harbour, "--model", script("yes")), ("status",), ("history",)):
        done = wisen("ci", *args)
        assert done.returncode == 2
        assert "no store at" in done.stderr


def test_the_demo_refuses_a_file_and_unknown_families(wisen: Wisen, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "is a file" in wisen("ci", "demo", "--store", tmp_path / "file").stderr
    assert "isn't empty; give a new folder" in wisen("ci", "demo", "--store", tmp_path).stderr
    assert "no such task family" in wisen("ci", "demo", "--family", "poems").stderr


@pytest.mark.no_cover
@pytest.mark.local_model
def test_the_demo_runs_on_the_bundled_model(wisen: Wisen, tmp_path: Path) -> None:
    args = ("ci", "demo", "--family", "tickets", "--quick", "--embedder", "hash", "--json", "--store", tmp_path / "new")
    done = wisen(*args)
    assert done.returncode in (0, 1)
    found: dict[str, Any] = json.loads(done.stdout)
    assert "isn't empty" in wisen(*args).stderr
    (family,) = found["families"].values()
    assert set(family["planted"].values()) >= {"kept", "wrong answer"}
    assert len(family["cards"]) == len(family["planted"])
