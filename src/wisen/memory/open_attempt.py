"""Defines `Attempt`: one try at a task by your code, from its advice to its outcome."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from wisen.account.attempt import Account
from wisen.account.attempt_score import failure_of
from wisen.answer_text import output_text
from wisen.cards import MemoryCard, MemoryKind
from wisen.memory.told import UNKNOWN, ToldOutcome, evaluation_of
from wisen.records import Advice, RunRecord, RunStatus, Task
from wisen.reflexion.learner import Learner
from wisen.session import AgentSession
from wisen.watchers import Watchers

_Result = TypeVar("_Result")


@dataclass(slots=True, kw_only=True, eq=False)
class Attempt:
    """One try at a task. What you report here counts when it ends; no method waits for the store."""

    session: AgentSession
    learner: Learner
    account: Account
    watchers: Watchers
    told: ToldOutcome
    threshold: float
    agent: str
    model: str
    started_at: datetime
    lessons: list[MemoryCard] = field(default_factory=list[MemoryCard])
    ended: bool = False

    @property
    def id(self) -> str:
        """Its id in `Memory.outcome` and `wisen runs`."""
        return self.session.id

    @property
    def task(self) -> Task:
        """What is tried."""
        return self.session.task

    @property
    def advice(self) -> Advice:
        """Memory's advice; its `text` is "" if nothing fits. Reading it marks it as delivered."""
        if self.account.advice:
            self.account.delivered()
        return self.account.advice

    @property
    def degradations(self) -> tuple[str, ...]:
        """The stages that memory skipped, each as `stage: error`."""
        return tuple(self.watchers.degradations)

    def outcome(
        self,
        score: float | None = None,
        *,
        feedback: str = "",
        expected: str = "",
        output: str | None = None,
        verified: bool = False,
    ) -> None:
        """Report the outcome. If you report again, the last one counts.

        Args:
            score: From 0 to 1; `None` if it is unknown, which counts for nothing and teaches nothing.
            feedback: What was wrong, or what to do instead; lessons are made from it.
            expected: What would have been right, where that is known.
            output: The answer, if it isn't reported elsewhere.
            verified: Whether a check decided, rather than an opinion. Only then is a good output kept as an example.

        Raises:
            ConfigError: If the score isn't in [0, 1].
        """
        self.told.told = evaluation_of(score, feedback, expected=expected, verified=verified, threshold=self.threshold)
        if output is not None:
            self.session.output = output

    def answered(self, output: str) -> None:
        """Report the answer; a memory with an evaluator judges it at the end."""
        self.session.output = output

    def called(self, tool: str, arguments: object = None, *, result: object = None, error: str = "") -> None:
        """Note a tool call, with its result or error.

        The attempt's lessons are recalled when the same tool is available. A tool's result is others' text: a later
        lesson that names a new address or command is held for a person.
        """
        recorder = self.session.recorder
        recorder.next_step()
        recorder.add("action", name=tool, params=arguments)
        self.session.offered.add(tool)
        if result is not None:
            recorder.add("observation", name=tool, content=str(result))
        if error:
            recorder.add("error", name=tool, error=error)

    def lesson(self, text: str, *, kind: MemoryKind = MemoryKind.LESSON) -> None:
        """Keep a lesson of your own wording, whatever the outcome; it passes the screen when the attempt ends."""
        self.lessons.append(MemoryCard(kind=kind, content=text))

    def failed(self, error: BaseException) -> None:
        """Report that it ended with an error; leaving `with` by one does this."""
        self.account.failure = self.session.failure = failure_of(error)

    def given(self, wanted: Collection[str]) -> dict[str, object]:
        """The arguments for a function that takes these of the attempt."""
        return {name: self.advice.text if name == "advice" else self for name in wanted}

    def returned(self, answer: _Result) -> _Result:
        """Take what a function returned for the answer, unless it has said another.

        What holds no text, such as an open stream, no evaluator judges: the outcome is unknown, unless it was told.
        """
        if not self.session.output and answer is not None:
            self.answered(output_text(answer))
            unreadable = not (self.session.output or isinstance(answer, str))
            if unreadable and self.told.known and self.told.told is None:
                self.told.told = UNKNOWN
        return answer

    def record(self) -> RunRecord:
        """The attempt so far."""
        session, account = self.session, self.account
        status: RunStatus = "unevaluated"
        if account.score is not None:
            status = "satisfied" if account.met else "unsatisfied"
        return RunRecord(
            run_id=session.id,
            task=session.task,
            agent=self.agent,
            architecture="memory",
            model=self.model,
            status=status,
            output=session.output,
            score=account.score,
            attempts=(self.learner.record(account),),
            usage=session.meter.spent,
            started_at=self.started_at,
            seconds=session.meter.seconds,
            degradations=self.degradations,
        )
