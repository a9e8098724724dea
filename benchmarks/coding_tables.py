"""How the figures of coding_sessions.py are written, and which verdicts were right."""

from collections.abc import Mapping, Sequence
from typing import Literal

from coding_agent import Session
from coding_arms import ArmName, Came
from coding_world import Kind
from earned_tables import rate, table

from wisen.cards import MemoryCard

Truth = Literal["right", "harmful", "useless"]
Verdict = Literal["in use", "withdrawn", "no verdict"]
_NAMES: Mapping[ArmName, str] = {
    "without": "without wisen",
    "wisen": "wisen, all defaults",
    "all": "all lessons at the prompt",
}
_PARTS = 6
_LONGEST = 60


def failures(came: Mapping[ArmName, Came]) -> str:
    """Repeated failures by arm, with their interval, and beside the arm without wisen."""
    rows = list[list[str]]()
    for arm, one in came.items():
        again = repeated(one.sessions)
        failed = sum(session.failures > 0 for session in again)
        told = sum(session.right for session in again if session.plan.kind.cure)
        rows.append(
            [
                _NAMES[arm],
                f"{sum(session.failures for session in again):,}",
                rate(failed, len(again)),
                rate(told, sum(bool(session.plan.kind.cure) for session in again)),
                *_paired(repeated(came["without"].sessions), again),
            ]
        )
    head = ["arm", "repeated failures", "sessions that failed again", "had the right lesson in time", "fewer", "more"]
    return table("Repeated failures: calls of a kind that had failed before, by arm", head, rows)


def over_time(came: Mapping[ArmName, Came]) -> str:
    """Repeated failures by part of the stream."""
    rows = list[list[str]]()
    for arm, one in came.items():
        size = -(-len(one.sessions) // _PARTS)
        parts = [one.sessions[at : at + size] for at in range(0, len(one.sessions), size)]
        rows.append([_NAMES[arm], *(f"{sum(bool(of.failures) for of in part) / len(part):.0%}" for part in parts)])
    head = ["sessions that fail", *(f"part {number}" for number in range(1, len(rows[0])))]
    return table(f"Over time: the stream in {_PARTS} parts", head, rows)


def by_kind(came: Mapping[ArmName, Came], kinds: Sequence[Kind]) -> str:
    """Failing sessions by kind."""
    rows = list[list[str]]()
    for kind in kinds:
        counted = list[str]()
        for one in came.values():
            of_kind = [session for session in one.sessions if session.plan.kind == kind]
            counted.append(f"{sum(bool(session.failures) for session in of_kind)} of {len(of_kind)}")
        rows.append([f"{kind.name}{' (harmful lesson)' if kind.harmful else ''}", *counted])
    return table("Sessions that failed, by kind", ["kind", *(_NAMES[arm] for arm in came)], rows)


def verdicts(came: Came, kinds: Sequence[Kind]) -> str:
    """How many lessons of each truth are in use, withdrawn, or without a verdict at the end."""
    truths: Sequence[Truth] = ("right", "useless", "harmful")
    found = [(truth_of(card, kinds), verdict_of(card)) for card in came.cards]
    rows = [
        [truth, *(str(found.count((truth, verdict))) for verdict in ("in use", "withdrawn", "no verdict"))]
        for truth in truths
    ]
    return table("Verdicts at the end", ["lessons that are", "in use", "withdrawn", "no verdict"], rows)


def lessons(came: Came, kinds: Sequence[Kind]) -> str:
    """Each lesson, its truth and its verdict."""
    rows = list[list[str]]()
    for card in sorted(came.cards, key=lambda one: (truth_of(one, kinds), one.content)):
        trial = card.trials[-1] if card.trials else None
        counts = [*trial.before, *trial.counts] if trial else []
        shown, held = sum(one.shown for one in counts), sum(one.held_out for one in counts)
        shown_good, held_good = sum(one.shown_good for one in counts), sum(one.held_out_good for one in counts)
        stage = trial.stage if trial else str(card.status)
        rows.append(
            [
                _short(card.content),
                truth_of(card, kinds),
                stage,
                f"{shown_good} of {shown}",
                f"{held_good} of {held}",
                _rightness(truth_of(card, kinds), verdict_of(card)),
            ]
        )
    head = ["lesson", "it is", "its trial", "good, shown", "good, held out", "right?"]
    return table("Each lesson", head, rows)


def costs(came: Mapping[ArmName, Came]) -> str:
    """What hooks added to the context, and what they cost."""
    rows = list[list[str]]()
    for arm, one in came.items():
        if arm == "without":
            continue
        cells = list[str]()
        for event in ("UserPromptSubmit", "PreToolUse"):
            added = [tokens for session in one.sessions for tokens in session.tokens.get(event, ())]
            said = sum(tokens > 0 for tokens in added)
            cells.append(f"{sum(added) / len(added):.1f} ({said:,} of {len(added):,})" if added else "-")
        whole = [sum(map(sum, session.tokens.values())) for session in one.sessions]
        cells += [f"{sum(whole) / len(whole):.0f}", f"{max(whole)}", f"{1000 * one.seconds / len(one.sessions):.0f}"]
        rows.append([_NAMES[arm], *cells])
    head = ["tokens added, on average (and at how many)", "at a prompt", "at a call", "a session", "at most"]
    return table("What it costs", [*head, "processor time a session, ms"], rows)


def repeated(sessions: Sequence[Session]) -> list[Session]:
    """The sessions of a kind that had failed before."""
    failed, found = set[str](), list[Session]()
    for session in sessions:
        name = session.plan.kind.name
        if name in failed:
            found.append(session)
        elif session.failures:
            failed.add(name)
    return found


def truth_of(card: MemoryCard, kinds: Sequence[Kind]) -> Truth:
    """What a lesson does, by what it says."""
    if any(kind.harm and kind.harm in card.content for kind in kinds):
        return "harmful"
    return "right" if any(kind.cure and kind.cure in card.content for kind in kinds) else "useless"


def verdict_of(card: MemoryCard) -> Verdict:
    """What became of it."""
    stage = card.trials[-1].stage if card.trials else ""
    if stage in ("archived", "benched") or card.status == "archived":
        return "withdrawn"
    return "in use" if card.status == "promoted" and stage in ("", "promoted") else "no verdict"


def _rightness(truth: Truth, verdict: Verdict) -> str:
    if verdict == "no verdict":
        return "open"
    return "yes" if (truth == "right") is (verdict == "in use") else "**no**"


def _paired(without: Sequence[Session], arm: Sequence[Session]) -> list[str]:
    """In how many sessions the arm failed less often and more often than the same session without wisen."""
    before = {session.plan.number: session.failures for session in without}
    both = [(before[one.plan.number], one.failures) for one in arm if one.plan.number in before]
    return [str(sum(new < old for old, new in both)), str(sum(new > old for old, new in both))]


def _short(text: str) -> str:
    said = text.splitlines()[-1].replace("|", "\\|")
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
