"""A transcript is read on from where it was read to before, and what it tells is the same as if it were read whole."""

import json
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from session_files import Ran, rollout

from wisen.integrations.transcript_marks import SessionNews, TranscriptMarks
from wisen.retroformer.repairs import Repairs
from wisen.trace_import.session_runs import session_runs
from wisen.trace_import.session_turns import MOST_CALLS

FAILS: Ran = ("pytest -q", 127, "no such module")
PASSES: Ran = ("uv run pytest -q", 0, "ok")
LINT_FAILS: Ran = ("ruf check .", 127, "ruf: not found")
LINT_PASSES: Ran = ("uvx ruf check .", 0, "")
Turn = tuple[str, Sequence[Ran]]
TURNS: list[Turn] = [
    ("mend it", [FAILS, ("ls", 0, "a")]),
    ("no, with uv", [PASSES, LINT_FAILS]),
    ("now the linter", [("ls", 0, "a"), LINT_PASSES]),
    ("thanks", [("git status", 0, "")]),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "r.jsonl"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


def read(state: Path, path: Path, *calls: str) -> SessionNews:
    """As at the end of a turn, each time by another process."""
    marks = TranscriptMarks(state)
    news = marks.read(path, calls)
    marks.keep(path, news.mark)
    return news


def offset(news: SessionNews) -> int:
    return 0 if news.mark.stream is None else news.mark.stream.offset


def told(path: Path) -> list[str]:
    """What the whole file teaches at once, as `wisen learn` reads it."""
    repairs = Repairs()
    return [one.text for run in session_runs(path, on_skip=print) for one in repairs.found(run)]


def test_each_end_of_a_turn_reads_what_is_new(state: Path, path: Path) -> None:
    news = [read(state, rollout(path, *TURNS[:number])) for number in range(1, 5)]
    assert [len(one.repairs) for one in news] == [0, 1, 1, 0]
    assert [one.text for each in news for one in each.repairs] == told(path)
    assert [one.turn.prompt for one in news if one.turn] == [prompt for prompt, _ in TURNS]
    lines = path.read_bytes().splitlines(keepends=True)
    ends = [sum(map(len, lines[:number])) for number, line in enumerate(lines, 1) if b"user_message" in line]
    assert [offset(one) for one in news] == [0, *ends[1:]], "behind the prompt of the turn that may go on"
    assert (news[1].repairs[0].failed.place, news[2].repairs[0].failed.place) == ("r.jsonl:3", "r.jsonl:10")


def test_what_lies_before_the_mark_is_not_read(state: Path, path: Path) -> None:
    assert offset(read(state, rollout(path, *TURNS[:2])))
    data = path.read_bytes()
    middle = data.index(b"no such module")
    # Beyond what is compared of the file; here it is all compared, so that the file counts as another one.
    path.write_bytes(data[:middle] + b"xx" + data[middle + 2 :])
    assert len(read(state, path).repairs) == 1
    filler: Turn = ("fill", [("echo", 0, "x" * 5_000)] * 3)
    news = read(state, rollout(path, filler, *TURNS[:1], filler, ("on", [("ls", 0, "")])))
    assert offset(news)
    data = path.read_bytes()
    middle = data.index(b"pytest -q")
    path.write_bytes(data[:middle] + b"PYTEST -q" + data[middle + 9 :] + b"")
    later = TranscriptMarks(state).read(path, ())
    assert [one.call.command for one in later.mark.repairs.waiting] == ["pytest -q"]


def test_a_turn_that_goes_on_teaches_what_is_new(state: Path, path: Path) -> None:
    first = read(state, rollout(path, ("mend it", [FAILS])), "c1", "c2")
    again = read(state, rollout(path, ("mend it", [FAILS, PASSES])), "c2")
    third = read(state, rollout(path, ("mend it", [FAILS, PASSES, FAILS, PASSES])), "c2")
    assert [len(one.repairs) for one in (first, again, third)] == [0, 1, 0]
    codes = [{key: [call.exit_code for call in calls] for key, calls in one.calls.items()} for one in (first, third)]
    assert codes == [{"c1": [127]}, {"c2": [0, 127, 0]}]


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_half_written_line_is_read_once_it_is_whole(state: Path, path: Path, cut: int) -> None:
    whole = rollout(path, *TURNS[:2]).read_bytes()
    path.write_bytes(whole[:-cut])
    before = read(state, path)
    path.write_bytes(whole)
    after = read(state, path)
    assert [one.text for each in (before, after) for one in each.repairs] == told(path)
    assert after.mark.repairs == TranscriptMarks(state.parent / "none").read(path, ()).mark.repairs


def test_a_line_without_its_end_is_one_line(state: Path, path: Path) -> None:
    whole = rollout(path, *TURNS[:3]).read_bytes()
    path.write_bytes(whole[: whole.index(b"\n", whole.index(b"no, with uv"))])
    read(state, path)
    path.write_bytes(whole)
    assert [one.failed.place for one in read(state, path).repairs] == ["r.jsonl:3", "r.jsonl:10"]


def test_a_mark_within_a_long_turn_knows_its_open_call(state: Path, path: Path) -> None:
    calls = [("ls", 0, "a")] * MOST_CALLS
    assert not read(state, rollout(path, ("go", [*calls, FAILS]))).repairs
    news = read(state, rollout(path, ("go", [*calls, FAILS, PASSES])))
    assert [one.text for one in news.repairs] == told(path)
    assert len(news.repairs) == 1


def test_every_cut_gives_the_same_in_the_end(state: Path, path: Path) -> None:
    whole = rollout(path, *TURNS).read_bytes()
    found = list[str]()
    for end in range(200, len(whole) + 97, 97):
        path.write_bytes(whole[:end])
        found += [one.text for one in read(state, path).repairs]
    assert found == told(path)


def test_another_file_under_the_same_name_is_read_whole(state: Path, path: Path) -> None:
    read(state, rollout(path, *TURNS[:3]))
    news = read(state, rollout(path, *TURNS[:2], session="s-2"))
    assert [one.text for one in news.repairs] == told(path)
    assert news.repairs[0].run.session == "s-2"


def test_a_file_that_was_cut_off_is_read_whole(state: Path, path: Path) -> None:
    read(state, rollout(path, *TURNS[:3]))
    assert [one.text for one in read(state, rollout(path, *TURNS[:2])).repairs] == told(path)


@pytest.mark.parametrize("bad", [b"", b"no", b'{"beginning": 1}'])
def test_a_mark_that_is_none_costs_nothing_but_a_reading(state: Path, path: Path, bad: bytes) -> None:
    read(state, rollout(path, *TURNS[:2]))
    (mark,) = (state / "transcripts").glob("*")
    mark.write_bytes(bad)
    assert len(read(state, path).repairs) == 1


def test_claude_codes_transcripts_have_marks(state: Path, path: Path) -> None:
    def line(kind: str, content: object) -> str:
        envelope = {"type": kind, "uuid": "u", "sessionId": "c-1", "message": {"role": kind, "content": content}}
        return json.dumps(envelope) + "\n"

    def ran(call: str, command: str, code: int) -> str:
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        text = f"Exit code {code}\nno module" if code else "ok"
        result = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": bool(code)}
        return line("assistant", [use]) + line("user", [result])

    path.write_text(line("user", "mend it") + ran("t1", "pytest -q", 1))
    assert not read(state, path).repairs
    with path.open("a") as out:
        out.write(line("user", "with uv") + ran("t2", "uv run pytest -q", 0))
    news = read(state, path)
    assert (len(news.repairs), bool(offset(news))) == (1, True)


def test_turns_with_a_failed_command_are_looked_back_at_once(state: Path, path: Path) -> None:
    looked = [
        [run.asked.prompt for run in read(state, rollout(path, *turns)).failed]
        for turns in (TURNS[:1], TURNS[:1], TURNS[:2], TURNS[:3], TURNS)
    ]
    assert looked == [["mend it"], [], ["no, with uv"], [], []]


def test_marks_do_not_pile_up(state: Path, tmp_path: Path) -> None:
    for number in range(510):
        read(state, rollout(tmp_path / f"{number}.jsonl", ("hi", [])))
    assert len([*(state / "transcripts").iterdir()]) == 500


def test_many_lessons_are_given_in_several_readings(state: Path, path: Path) -> None:
    rollout(path, *[(f"turn {n}", [(f"cat {n} {m}", m % 2, "no") for m in range(20)]) for n in range(40)])
    news = [read(state, path)]
    while not news[-1].whole:
        news.append(read(state, path))
    assert [one.text for each in news for one in each.repairs] == told(path)
    assert max(len(one.repairs) for one in news) < 120
    assert len(news) > 2


def test_memory_is_flat_in_the_length_of_a_session(state: Path, path: Path) -> None:
    def peak(turns: int) -> int:
        text = "y" * 4_000
        rollout(path, *[(f"turn {n}", [(f"p{n}.{m} a", m % 2, text) for m in range(20)]) for n in range(turns)])
        tracemalloc.start()
        news = TranscriptMarks(state / str(turns)).read(path, ())
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert news.mark.stream is not None
        return size

    peak(2)
    assert peak(80) < 1.5 * peak(20)
