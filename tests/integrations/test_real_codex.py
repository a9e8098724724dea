"""The real Codex with wisen's hooks, and a provider on the loopback: what reaches the model, and what is counted."""

import json
import os
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from secrets import choice

import pytest
from coding_desk import PROMPT, Desk, desk_in
from responses_server import ResponsesServer, responses_server

CODEX = os.environ.get("WISEN_CODEX", "")
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not CODEX, reason="the real Codex isn't named in WISEN_CODEX; make test-codex"),
]
FAILS = "sh report.sh 2026"
ALIKE = "sh report.sh 2025"
_FIRST = 3
"""Deliveries of a new lesson that aren't held out."""


@pytest.fixture
def provider() -> Iterator[ResponsesServer]:
    with responses_server() as serving:
        yield serving


@pytest.fixture
def word() -> str:
    """What the command needs in order to pass: no text of this file's, so what tells it is memory."""
    return "".join(choice("bdfgklmnprst") + choice("aeiou") for _ in range(4))


@pytest.fixture
def desk(tmp_path: Path, provider: ResponsesServer, word: str) -> Iterator[Desk]:
    made = desk_in(tmp_path)
    subprocess.run(["git", "init", "-q", str(made.repository)], check=True)  # noqa: S607 - whichever git there is
    script = f'[ "$1" = {word} ] && echo printed && exit 0\necho "the year is kept under a word" >&2\nexit 3\n'
    (made.repository / "report.sh").write_text(script)
    (made.home / ".codex").mkdir()
    (made.home / ".codex" / "config.toml").write_text(
        'model = "probe"\nmodel_provider = "loop"\napproval_policy = "never"\n[model_providers.loop]\nname = "loop"\n'
        f'base_url = "http://127.0.0.1:{provider.port}/v1"\nwire_api = "responses"\n'
    )
    assert made.wisen("install", "codex").returncode == 0
    yield made
    made.wisen("hooks", "stop")


def session(desk: Desk, provider: ResponsesServer, *commands: str, **environ: str) -> None:
    """A whole session of Codex's, in which the model has it run these commands."""
    provider.begin(commands)
    asked = [CODEX, "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", PROMPT]
    done = subprocess.run(
        asked,
        cwd=desk.repository,
        env={**desk.environ, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(provider.requests) == len(commands) + 1


def learned(desk: Desk) -> list[Path]:
    return [*(desk.repository / ".wisen" / "cards").glob("*/*.md")]


def counted(desk: Desk) -> str:
    """What was counted on the repository's cards, as its store keeps it beside them."""
    counts = desk.repository / ".wisen" / ".wisen" / "counts.jsonl"
    return counts.read_text().replace(" ", "") if counts.exists() else ""


def taught(desk: Desk, provider: ResponsesServer, word: str) -> None:
    """The first session: a command fails, and passes in another form."""
    session(desk, provider, FAILS, f"sh report.sh {word} 2026")
    assert provider.holding("sh report.sh " + word) == [3], "only as the call that it made"
    desk.wait_for(lambda: learned(desk))


async def test_the_second_session_is_told_what_the_first_has_learned(
    desk: Desk, provider: ResponsesServer, word: str
) -> None:
    taught(desk, provider, word)
    desk.until_alive()  # the first session has started it
    session(desk, provider, ALIKE, FAILS)
    assert provider.holding(f"What passed instead: `sh report.sh {word} 2026`") == [2, 3]
    texts = json.dumps(provider.requests[1]["input"])
    assert texts.count("What passed instead") == 1
    assert FAILS not in texts.replace(f"`{FAILS}` failed with exit code 3", ""), "the call is yet to be made"
    desk.wait_for(lambda: '"first":1' in counted(desk))
    (card,) = await desk.cards()
    (trial,) = card.trials
    assert (trial.model, trial.first, trial.first_good, card.open_draws) == ("probe", 1, 0, ())
    session(desk, provider, f"sh report.sh {word} 2025")
    desk.wait_for(lambda: '"first":2' in counted(desk))
    (card,) = await desk.cards()
    assert (card.trials[0].first, card.trials[0].first_good) == (2, 1), "the outcome is the command's exit code"


async def test_a_folder_of_sessions_teaches_what_the_hooks_teach(
    desk: Desk, provider: ResponsesServer, word: str
) -> None:
    """Without hooks first: `wisen learn` reads the transcript, and the hook tells it. Then the hooks add nothing."""
    desk.wisen("uninstall", "codex")
    session(desk, provider, FAILS, f"sh report.sh {word} 2026")
    assert not learned(desk)
    done = desk.wisen(
        "learn", str(desk.home / ".codex" / "sessions"), "--store", "markdown:.wisen", "--embedder", "hash"
    )
    assert done.returncode == 0, done.stderr
    (card,) = await desk.cards()
    assert card.provenance.created_by == "template"
    desk.wisen("install", "codex")
    session(desk, provider, ALIKE)
    desk.until_alive()
    session(desk, provider, ALIKE, f"sh report.sh {word} 2025")
    assert provider.holding(card.text.splitlines()[1]) == [2, 3]
    desk.wait_for(lambda: '"first":1' in counted(desk))
    desk.wait_for(lambda: len(learned(desk)) > 1)
    by_hooks = [one for one in await desk.cards() if one.id != card.id]
    assert [one.situation.prompt for one in by_hooks] == [ALIKE]
    again = desk.wisen(
        "learn", str(desk.home / ".codex" / "sessions"), "--store", "markdown:.wisen", "--json", "--again"
    )
    totals = json.loads(again.stdout)["totals"]
    assert (totals["new"], totals["known"], totals["duplicates"]) == (0, 2, 0)


async def test_by_lot_a_session_goes_without_the_lesson(
    desk: Desk, provider: ResponsesServer, word: str, tmp_path: Path
) -> None:
    taught(desk, provider, word)
    desk.wisen("hooks", "stop")
    seeds = dict[bool, int]()
    for seed in count():
        rehearsal = desk.copied(tmp_path / f"rehearsal {seed}")
        with rehearsal.resident("--seed", str(seed)):
            told = rehearsed(rehearsal, _FIRST + 1)
        assert all(told[:_FIRST])
        seeds.setdefault(bool(told[_FIRST]), seed)
        if len(seeds) == 2:
            break
    for shown, seed in seeds.items():
        again = desk.copied(tmp_path / f"shown {shown}")
        with again.resident("--seed", str(seed)):
            rehearsed(again, _FIRST)
            session(again, provider, FAILS)
            assert bool(provider.holding("What passed instead")) is shown
        (card,) = await again.cards()
        counts = card.trials[0].counts[0]
        assert (counts.shown, counts.held_out) == (int(shown), int(not shown))


def rehearsed(desk: Desk, sessions: int) -> list[str]:
    """What sessions are told that do what Codex does, without Codex."""
    told = list[str]()
    for number in range(sessions):
        name = f"rehearsal {number}"
        desk.hook("SessionStart", session_id=name)
        desk.hook("UserPromptSubmit", session_id=name, prompt=PROMPT)
        told.append(desk.calls(FAILS, session=name))
    return told


@pytest.mark.parametrize("how", ["repository", "person", "environment"])
def test_off_means_off(desk: Desk, provider: ResponsesServer, word: str, how: str) -> None:
    taught(desk, provider, word)
    desk.until_alive()
    before = learned(desk)[0].read_text(), counted(desk)
    environ = {"WISEN_HOOKS": "off"} if how == "environment" else {}
    if how == "repository":
        (desk.repository / ".wisen" / "off").touch()
    if how == "person":
        desk.wisen("hooks", "off")
    session(desk, provider, ALIKE, FAILS, f"sh report.sh {word} 2026", **environ)
    assert provider.holding("What passed instead") == []
    desk.wisen("hooks", "stop")
    assert [(path.read_text(), counted(desk)) for path in learned(desk)] == [before]


def test_the_users_own_hooks_go_on(desk: Desk, provider: ResponsesServer, tmp_path: Path) -> None:
    desk.wisen("uninstall", "codex")
    own = tmp_path / "own"
    path = desk.home / ".codex" / "hooks.json"
    hook = {"type": "command", "command": f"echo ran >> '{own}'"}
    text = json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}, indent=4)
    path.write_text(text)
    desk.wisen("install", "codex")
    session(desk, provider, ALIKE)
    assert own.read_text() == "ran\n"
    desk.until_alive()
    desk.wisen("uninstall", "codex")
    desk.wisen("hooks", "stop")
    assert path.read_text() == text
    session(desk, provider, ALIKE)
    assert own.read_text() == "ran\nran\n"
    assert json.loads(desk.wisen("status", "--json").stdout)["process"] is None
