"""The one table of moves between a card's statuses, and the one function that makes and records them."""

from dataclasses import replace
from datetime import datetime

from wisen.cards import CardEvidence, MemoryCard, MemoryStatus, Move
from wisen.errors import ConfigError
from wisen.memory_ci.trial import again

MOVES: dict[MemoryStatus, frozenset[MemoryStatus]] = {
    MemoryStatus.CANDIDATE: frozenset({MemoryStatus.QUARANTINED, MemoryStatus.REJECTED}),
    MemoryStatus.QUARANTINED: frozenset({MemoryStatus.PROMOTED, MemoryStatus.ARCHIVED, MemoryStatus.REJECTED}),
    MemoryStatus.PROMOTED: frozenset({MemoryStatus.QUARANTINED, MemoryStatus.ARCHIVED, MemoryStatus.REJECTED}),
    MemoryStatus.ARCHIVED: frozenset({MemoryStatus.QUARANTINED, MemoryStatus.REJECTED}),
    MemoryStatus.REJECTED: frozenset(),
}
"""From each status, those that a card may be moved to."""

HUMAN = "human"
_PEOPLE = (HUMAN, "rollback")
"""Who may move a pinned card: a rollback, too, is a person's command."""
_LASTING = (HUMAN, "trial", "replay")
"""Whose rejection is of what a card says. The screen knows a text again by itself, and a rollback is of its origin."""

_AGAIN = "tried again: "


def move(
    card: MemoryCard,
    status: MemoryStatus,
    *,
    note: str,
    at: datetime,
    by: str = "",
    evidence: CardEvidence | None = None,
) -> MemoryCard:
    """The card one version later in `status`, with the move in its history.

    `note` says why, `by` who or what decided, `evidence` on which counts. A rejected card keeps its id (a hash), scope,
    provenance, links and history, and none of its text. If a person or a test rejected it, it also keeps a hash of what
    it said. A card that goes back into quarantine is on trial again, with new counts.

    Raises `ConfigError` for a move that isn't in the table, for a person's move without a reason, and for a pinned card
    that a person doesn't move.
    """
    if status not in MOVES[card.status]:
        allowed = ", ".join(sorted(MOVES[card.status])) or "none, it is final"
        msg = f"card {card.id!r} is {card.status.value!r} and can't become {status.value!r}; possible: {allowed}"
        raise ConfigError(msg)
    if by == HUMAN and not note.strip():
        raise ConfigError(f"card {card.id!r} can't become {status.value!r} without a reason; say why")
    if card.pinned and by not in _PEOPLE:
        raise ConfigError(f"card {card.id!r} is pinned as {card.status.value!r}: only a person may move it")
    done = Move(at=at, before=card.status, after=status, why=note, by=by, evidence=evidence)
    moved = replace(card, status=status, note=note, version=card.version + 1, history=(*card.history, done))
    match status:
        case MemoryStatus.REJECTED:
            return moved.without_text(refused=moved.refusal_key if by in _LASTING else "")
        case MemoryStatus.QUARANTINED:
            return _afresh(moved)
        case _:
            return moved


def is_benched(card: MemoryCard) -> bool:
    """Whether a card in quarantine is hidden, since its trial has ended for some model."""
    ended = any(trial.stage in ("benched", "archived") for trial in card.trials)
    return card.status is MemoryStatus.QUARANTINED and ended


def tried_again(card: MemoryCard, *, why: str, at: datetime) -> MemoryCard:
    """The card on trial again, with new counts, by a person's decision. Raises `ConfigError` as `move` does."""
    if not is_benched(card):
        return move(card, MemoryStatus.QUARANTINED, note=why, at=at, by=HUMAN)
    if not why.strip():
        raise ConfigError(f"card {card.id!r} can't be tried again without a reason; say why")
    done = Move(at=at, before=card.status, after=card.status, why=f"{_AGAIN}{why}", by=HUMAN)
    return _afresh(replace(card, version=card.version + 1, history=(*card.history, done)))


def begins_trial(done: Move) -> bool:
    """Whether a card's counts begin with this entry of its history: it came into quarantine, or is tried again."""
    stayed = done.before is MemoryStatus.QUARANTINED and not done.why.startswith(_AGAIN)
    return done.after is MemoryStatus.QUARANTINED and not stayed


def _afresh(card: MemoryCard) -> MemoryCard:
    return replace(card, evidence=(), observed=(), trials=tuple(map(again, card.trials)), open_draws=())


def split_off(card: MemoryCard, *, idea: str, why: str, at: datetime) -> MemoryCard:
    """A wording that a person took out of its idea, on trial as a wording of `idea`, or as one of its own.

    Raises `ConfigError` for a rejected card.
    """
    note = f"split from {card.idea}: {why}"
    if card.status is MemoryStatus.QUARANTINED:
        done = Move(at=at, before=card.status, after=card.status, why=note, by=HUMAN)
        moved = replace(card, version=card.version + 1, history=(*card.history, done))
    else:
        moved = move(card, MemoryStatus.QUARANTINED, note=note, at=at, by=HUMAN)
    return replace(moved, idea=idea)


def pinned(card: MemoryCard, *, on: bool, why: str, at: datetime) -> MemoryCard | None:
    """The card pinned or let go by a person, with that in its history; `None` where it is so already.

    Raises `ConfigError` for a rejected card, and without a reason.
    """
    word = "pinned" if on else "unpinned"
    if not why.strip():
        raise ConfigError(f"card {card.id!r} can't be {word} without a reason; say why")
    if card.status is MemoryStatus.REJECTED:
        raise ConfigError(f"card {card.id!r} is rejected, which is final: it can't be {word}")
    if card.pinned is on:
        return None
    done = Move(at=at, before=card.status, after=card.status, why=f"{word}: {why}", by=HUMAN)
    return replace(card, pinned=on, version=card.version + 1, history=(*card.history, done))


def released(card: MemoryCard, *, why: str, at: datetime) -> MemoryCard | None:
    """The card as all runs of its tenant may try it, with that in its history; `None` where they may already.

    Raises `ConfigError` for a card that isn't in quarantine, and without a reason.
    """
    if not why.strip():
        raise ConfigError(f"card {card.id!r} can't be released without a reason; say why")
    if card.status is not MemoryStatus.QUARANTINED:
        raise ConfigError(f"card {card.id!r} is {card.status.value!r}; only one in quarantine can be released")
    if card.released:
        return None
    named = f" (held for: {', '.join(card.held)})" if card.held else ""
    done = Move(at=at, before=card.status, after=card.status, why=f"released: {why}{named}", by=HUMAN)
    return replace(card, held=(), released=True, version=card.version + 1, history=(*card.history, done))
