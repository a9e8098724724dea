"""How a turn of a coding session came out, as its transcript tells, and how far that can be trusted.

| kind | score | verified |
|---|---|---|
| `checked`: tests, builds and linters ran, and the last run of each | 1 where all passed, else 0 | yes |
| `corrected`: the user's next prompt says that it was wrong | 0 | no |
| `reverted`: the next turn takes it back with git | 0 | no |
| `again`: the user's next prompt asks for the same | 0 | no |
| `went_on`: the user's next prompt asks for something else | 1 | no |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from wisen.data_files import read_table
from wisen.identity import same_form
from wisen.retroformer.shell_words import alike, program_of, words_of_command
from wisen.trace_import.session_turns import SessionCall, SessionTurn

OutcomeKind = Literal["checked", "corrected", "reverted", "again", "went_on"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOutcome:
    """What a turn came to."""

    kind: OutcomeKind
    score: float

    @property
    def verified(self) -> bool:
        """Whether a check decided, and not somebody's words or silence."""
        return self.kind == "checked"


def outcome_by_checks(turn: SessionTurn) -> TurnOutcome | None:
    """What the turn's own tests, builds and linters say; `None` where none of them ran to its end."""
    last = {program: call.exit_code for call in turn.calls if (program := _listed("checks", call))}
    codes = [code for code in last.values() if code is not None]
    return TurnOutcome(kind="checked", score=float(not any(codes))) if codes else None


def code_after(calls: Sequence[SessionCall]) -> int | None:
    """What came of being told something at the first of these calls: the exit code of the next one like it.

    An agent's model sees what it is told at a call together with that call's result. So it can heed it in the next
    one. Where none came, the code of the first call counts.
    """
    first, *later = calls
    codes = [one.exit_code for one in later if one.exit_code is not None and alike(first.command, one.command)]
    return codes[0] if codes else first.exit_code


def outcome_by_next(prompt: str, following: str) -> TurnOutcome:
    """What the user's next prompt says of the one before."""
    if is_correction(following):
        return TurnOutcome(kind="corrected", score=0.0)
    if same_form(prompt) == same_form(following):
        return TurnOutcome(kind="again", score=0.0)
    return TurnOutcome(kind="went_on", score=1.0)


def outcome_by_revert(following: SessionTurn) -> TurnOutcome | None:
    """Whether the next turn took the work back."""
    undone = any(call.exit_code == 0 and _listed("reverts", call) for call in following.calls)
    return TurnOutcome(kind="reverted", score=0.0) if undone else None


def is_correction(prompt: str) -> bool:
    """Whether a prompt begins as a correction does."""
    openings: list[str] = _words()["corrections"]["openings"]
    return prompt.strip().lower().replace("\u2019", "'").startswith(tuple(openings))


def _listed(table: str, call: SessionCall) -> str:
    """The program of that table which a call ran, also by way of another (`uv run pytest`); "" for none."""
    listed: dict[str, list[str]] = _words()[table]
    words = [PurePath(word).name for word in words_of_command(call.command)]
    if program_of(call.command) == "" or not words:
        return ""
    for place, word in enumerate(words):
        needed, rest = listed.get(word), " ".join(words[place + 1 :])
        if needed is not None and (not needed or f"{rest} ".startswith(tuple(f"{one} " for one in needed))):
            return word
    return ""


def _words() -> dict[str, Any]:
    return read_table("wisen.integrations", "outcome_words.toml")
