"""One try at a task by code of yours, from the advice that it is given to what it came to."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from wisen.account.attempt import Account
from wisen.account.attempt_score import failure_of
from wisen.cards import MemoryCard, MemoryKind
from wisen.memory.told import ToldOutcome, evaluation_of
from wisen.records import Advice, RunRecord, RunStatus, Task
from wisen.reflexion.learner import Learner
from wisen.session import AgentSession, output_text
from wisen.watchers import Watchers

_Result = TypeVar("_Result")


@dataclass(slots=True, kw_only=True, eq=False)
class Attempt:
    """One try at a task. What is said of it here counts when it ends; nothing here waits for the store."""

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
        """Names it in `Memory.outcome`, and in `wisen runs`."""
        return self.session.id

    @property
    def task(self) -> Task:
        """What is tried."""
        return self.session.task

    @property
    def advice(self) -> Advice:
        """What memory has to say; its `text` is "" where nothing fits. Asking for what there is notes its delivery."""
        if self.account.advice:
            self.account.delivered()
        return self.account.advice

    @property
    def degradations(self) -> tuple[str, ...]:
        """What memory had to do without, each as `stage: error`."""
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
        """Say what it came to; said again, the last word counts.

        Args:
            score: From 0 to 1; `None` where nobody can tell, which counts for nothing and teaches nothing.
            feedback: What was wrong, or what to do instead: what lessons are made of.
            expected: What would have been right, where that is known.
            output: The answer, where it isn't said elsewhere.
            verified: Whether a check decided, and not an opinion. Only then is a good output kept as an example.

        Raises:
            ConfigError: If the score isn't in [0, 1].
        """
        self.told.told = evaluation_of(score, feedback, expected=expected, verified=verified, threshold=self.threshold)
        if output is not None:
            self.session.output = output

    def answered(self, output: str) -> None:
        """Say what the answer is; a memory with an evaluator judges it at the end."""
        self.session.output = output

    def called(self, tool: str, arguments: object = None, *, result: object = None, error: str = "") -> None:
        """Note that a tool was called, and what it gave or which error it met.

        Lessons of the attempt are recalled where the same tool is at hand. What a tool gave is others' text: a lesson
        that names a new address or command after it is held for a person.
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
        """Say that it ended by an error; leaving `with` by one does this."""
        self.account.failure = self.session.failure = failure_of(error)

    def given(self, wanted: Collection[str]) -> dict[str, object]:
        """The arguments for a function that takes these of the attempt."""
        return {name: self.advice.text if name == "advice" else self for name in wanted}

    def returned(self, answer: _Result) -> _Result:
        """Take what a function returned for the answer, unless it has said another."""
        if not self.session.output and answer is not None:
            self.answered(output_text(answer))
        return answer

    def record(self) -> RunRecord:
        """It, as far as it came."""
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
