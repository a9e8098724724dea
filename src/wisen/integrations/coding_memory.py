"""What a coding agent is told at its events, and what its sessions count for and teach."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wisen.advice.compiler import PromptCompiler
from wisen.advice.rankers import BySimilarity
from wisen.cards import MemoryCard, MemoryKind, MemoryScope, Provenance, Situation, circle_key
from wisen.errors import ConfigError
from wisen.events import Degraded, Event
from wisen.integrations.hook_payload import HookPayload
from wisen.integrations.lesson_stores import LessonStores
from wisen.integrations.session_outcomes import (
    TurnOutcome,
    code_after,
    is_correction,
    outcome_by_checks,
    outcome_by_next,
    outcome_by_revert,
)
from wisen.integrations.session_reflection import SessionReflection
from wisen.integrations.transcript_marks import FAILED_TURNS, SessionNews, TranscriptMarks
from wisen.memory.asynchronous import AsyncMemory
from wisen.memory.open_attempt import Attempt
from wisen.memory_ci.pipeline import MemoryCI
from wisen.recall import CardFilter, RecallHit, RecallQuery
from wisen.records import Clockwork, Task
from wisen.reflection.traced import TracedRun
from wisen.reflexion.options import LearningOptions
from wisen.retroformer.repairs import COMMAND
from wisen.retroformer.shell_words import in_like_form, program_of
from wisen.trace_import.coding_agents import ROLE
from wisen.trace_import.session_turns import SessionTurn

PROMPT = "prompt"
"""The type of a task that a person asks for."""
_TOKENS = 300
_LESSONS = 3
_SESSIONS = 200
_LONGEST_CORRECTION = 400
_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OncePerSession(BySimilarity):
    """Similar situations first, but for ideas that the session has drawn: what was seen once is known.

    So each idea has one draw and one outcome in a session. Failures are found at commands like the one that failed, and
    not at any of the same program: there they would say nothing, and their effect wouldn't show.
    """

    seen: set[str]

    def gives(self, hit: RecallHit, query: RecallQuery) -> bool:
        """See `BySimilarity.gives`."""
        command = query.situation.prompt if query.situation.task_type == COMMAND else ""
        new = (hit.card.idea or hit.card.id) not in self.seen and not (command and _of_another(hit.card, command))
        return new and BySimilarity.gives(self, hit, query)


_Begun = tuple[AsyncMemory, Attempt]


@dataclass(slots=True, kw_only=True)
class _Session:
    """What is known of a session while it goes on."""

    ranker: OncePerSession = field(default_factory=lambda: OncePerSession(seen=set()))
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    told: bool = False
    """Whether it was told the standing rules."""
    prompt: str = ""
    asked: list[_Begun] = field(default_factory=list[_Begun])
    """Attempts at the last prompt."""
    before: tuple[list[_Begun], TurnOutcome] | None = None
    """Those at the prompt before it, and what they come to, unless the turn under way takes them back."""
    calls: dict[str, list[_Begun]] = field(default_factory=dict[str, list[_Begun]])
    """Attempts at commands, by the call's id."""
    corrections: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Prompts, and how the person corrected what came of them."""


class CodingMemory:
    """Memory for the sessions of one person's coding agents.

    Args:
        folder: The state folder.
        clockwork: Clock, ids and randomness.
        log: Told of what memory had to do without.
    """

    def __init__(self, folder: Path, *, clockwork: Clockwork, log: Callable[[str], None]) -> None:
        self.stores = LessonStores(folder)
        self._clockwork = clockwork
        self._log = log
        self._compiler = PromptCompiler(max_tokens=_TOKENS, rule_tokens=0, episodes="section")
        self._rules = PromptCompiler(episodes="section")
        self._sessions: dict[str, _Session] = {}
        self._transcripts = TranscriptMarks(folder)
        self._reflection = SessionReflection(folder, log=log)

    async def answer(self, event: str, payload: HookPayload) -> str:
        """What the agent is told at an event; "" for nothing. Raises what the stores raise."""
        if self.stores.is_off(payload):
            return ""
        session = await self._session(payload)
        async with session.lock:
            match event:
                case "SessionStart":
                    return await self._standing(session, payload)
                case "UserPromptSubmit":
                    rules = "" if session.told else await self._standing(session, payload)
                    return "\n\n".join(text for text in (rules, await self._asked(session, payload)) if text)
                case "PreToolUse" if payload.command.strip():
                    task = Task(prompt=payload.command, type=COMMAND, tools=(program_of(payload.command),))
                    begun, text = await self._begun(session, payload, task)
                    if begun:
                        session.calls[payload.tool_use_id] = begun
                    return text
                case _:
                    return ""

    async def learn(self, payload: HookPayload) -> Sequence[TracedRun]:
        """Count what a session's last turn came to, and keep what it taught. Raises as stores and transcripts do.

        Gives the turns with a failed command that are new, for `look_back`.
        """
        if self.stores.is_off(payload) or not payload.transcript_path:
            return ()
        session, path = await self._session(payload), Path(payload.transcript_path)
        failed, whole = list[TracedRun](), False
        async with session.lock:
            while not whole:
                news = await asyncio.to_thread(self._transcripts.read, path, set(session.calls))
                for call_id, calls in news.calls.items():
                    code = code_after(calls)
                    await _end(session.calls.pop(call_id), None if code is None else float(code == 0), verified=True)
                if news.turn is not None and news.whole:
                    await self._judge(session, news.turn)
                await self._keep(session, news, payload)
                await asyncio.to_thread(self._transcripts.keep, path, news.mark)
                failed, whole = [*failed, *news.failed][-FAILED_TURNS:], news.whole
        return failed

    async def look_back(self, runs: Sequence[TracedRun], payload: HookPayload) -> None:
        """Have the model that the settings name look back at turns, if they name one. Raises what the stores raise."""
        await self._reflection.look_back(runs, self.stores.home(payload))

    async def close(self) -> None:
        """Count what is open as far as it is known, and close the stores."""
        while self._sessions:
            await self._forget(next(iter(self._sessions)))
        await self.stores.close()

    async def _session(self, payload: HookPayload) -> _Session:
        if payload.session_id not in self._sessions:
            self._sessions[payload.session_id] = _Session()
            if len(self._sessions) > _SESSIONS:
                await self._forget(next(iter(self._sessions)))
        return self._sessions[payload.session_id]

    async def _forget(self, session_id: str) -> None:
        session = self._sessions.pop(session_id)
        if session.before is not None:
            begun, outcome = session.before
            await _end(begun, outcome.score, verified=outcome.verified)
        for begun in (session.asked, *session.calls.values()):
            await _end(begun, None, verified=False)

    async def _standing(self, session: _Session, payload: HookPayload) -> str:
        """The standing rules of both circles: the same bytes as long as the rules are the same."""
        session.told = True
        where = CardFilter.of_task(Task(prompt=PROMPT), agent_role=ROLE, circle=circle_key("", ROLE, ""))
        texts = list[str]()
        for ci in self.stores.there(payload):
            rules = await ci.standing.rules(where, model=payload.model or "", layout=self._rules.layout)
            texts.append(self._rules.compile(rules, model=payload.model or "").text)
        return "\n\n".join(text for text in texts if text)

    async def _asked(self, session: _Session, payload: HookPayload) -> str:
        """Begin attempts at a prompt, which says something of the one before."""
        if session.prompt:
            outcome = outcome_by_next(session.prompt, payload.prompt)
            if session.asked:
                session.before = session.asked, outcome
            if is_correction(payload.prompt):
                session.corrections.append((session.prompt, payload.prompt))
        session.prompt = payload.prompt
        session.asked, text = [], ""
        if payload.prompt.strip():
            session.asked, text = await self._begun(session, payload, Task(prompt=payload.prompt, type=PROMPT))
        return text

    async def _begun(self, session: _Session, payload: HookPayload, task: Task) -> tuple[list[_Begun], str]:
        """Attempts at a task, one in each circle that has something to say or to hold out, and what they are told."""
        begun, texts = list[_Begun](), list[str]()
        for ci in self.stores.there(payload):
            memory = self._memory(ci, session, payload)
            attempt = await memory.begin(task)
            drawn = [one for one in attempt.account.advice.injections if one.draw or one.shown]
            if drawn:
                session.ranker.seen.update(one.idea or one.card_id for one in drawn)
                begun.append((memory, attempt))
                texts.append(attempt.advice.text)
        return begun, "\n\n".join(text for text in texts if text)

    def _memory(self, ci: MemoryCI, session: _Session, payload: HookPayload) -> AsyncMemory:
        return AsyncMemory(
            MemoryCI(ci.store, screen=ci.screen, ranker=session.ranker),
            agent=ROLE,
            model=payload.model or "",
            top_k=_LESSONS,
            options=LearningOptions(keep_successes="none", compiler=self._compiler),
            timeout=_SECONDS,
            watch=self._watch,
            clockwork=self._clockwork,
        )

    def _watch(self, event: Event) -> None:
        if isinstance(event, Degraded):
            self._log(f"{event.stage}: {event.error}; without {event.skipped}")

    async def _judge(self, session: _Session, turn: SessionTurn) -> None:
        """Count what the last prompts came to, as far as it is known by now."""
        if session.before is not None:
            begun, outcome = session.before
            session.before, outcome = None, outcome_by_revert(turn) or outcome
            await _end(begun, outcome.score, verified=outcome.verified)
        if session.asked and (checked := outcome_by_checks(turn)):
            begun, session.asked = session.asked, []
            await _end(begun, checked.score, verified=checked.verified)

    async def _keep(self, session: _Session, news: SessionNews, payload: HookPayload) -> None:
        """Keep what the session taught since the last time."""
        now = self._clockwork.now()
        cards = [(one.card(at=now), one.used) for one in news.repairs]
        cards += [(self._correction(prompt, said, payload), "") for prompt, said in session.corrections]
        for card, used in cards:
            try:
                kept = await self.stores.home(payload).submit(card, at=now, known=used)
                self._log(f"lesson {kept.card_id}: {kept.outcome}{', held' if kept.held else ''}")
            except ConfigError as error:  # which quotes nothing; the other lessons are kept
                self._log(f"a lesson was left out: {error}")
        session.corrections = []

    def _correction(self, prompt: str, said: str, payload: HookPayload) -> MemoryCard:
        return MemoryCard(
            kind=MemoryKind.LESSON,
            content=f"The person corrected what came of this: {said[:_LONGEST_CORRECTION]}",
            situation=Situation(prompt=prompt, task_type=PROMPT),
            scope=MemoryScope(task_types=(PROMPT,)),
            provenance=Provenance(
                run_id=payload.session_id,
                created_by="coding session",
                model=payload.model or "",
                evaluator="correction",
                created_at=self._clockwork.now(),
                agent=ROLE,
            ),
        )


def _of_another(card: MemoryCard, command: str) -> bool:
    """Whether a card tells how a command failed that isn't like this one."""
    failed = card.situation
    told = card.kind is MemoryKind.FAILURE_PATTERN and failed.task_type == COMMAND
    return told and not in_like_form(failed.prompt, command)


async def _end(begun: Sequence[_Begun], score: float | None, *, verified: bool) -> None:
    for memory, attempt in begun:
        attempt.outcome(score, verified=verified)
        await memory.end(attempt)
