"""One attempt: what it was shown, did and came to."""

from dataclasses import dataclass, field

from wisen.account.attempt_score import good_enough, one_line
from wisen.account.counts import Outcome
from wisen.records import Advice, AttemptRecord, ReflectionEvaluation, TokenUsage, Trace
from wisen.screening.redaction import redacted_together
from wisen.screening.taint import used_in
from wisen.trace_text import account_of

LONGEST_ERROR = 300
"""Characters of an error that a situation holds."""


def did_in(trace: Trace) -> str:
    """What the agent did in its last attempt, as `AttemptRecord.did` keeps it."""
    return account_of(trace, clean=redacted_together)


@dataclass(slots=True, kw_only=True)
class Account:
    """One attempt: what it was shown, did and came to."""

    attempt: int
    advice: Advice
    spent_before: TokenUsage
    began: float = 0.0
    carried: bool = False
    """Whether a model call has carried the advice. Where none did, the draw stays as it is."""
    failure: str = ""
    """Why it failed: it ran out of turns, or the error that ended it; "" where it gave an answer."""
    error_raised: Exception | None = None
    """The error that ended it."""
    fatal: bool = False
    """Whether that error ends the run, since no other attempt could do better."""
    over: bool = False
    """Whether no attempt comes after it."""
    stuck: bool = False
    """Whether none may come after it although it wasn't good enough."""
    met: bool = False
    """Whether it was good enough."""
    output: str = ""
    evaluation: ReflectionEvaluation | None = None
    tools: tuple[str, ...] = ()
    """The tools that it called, each once, in order."""
    used: tuple[str, ...] = ()
    """As `AttemptRecord.used` has it."""
    did: str = ""
    """As `AttemptRecord.did` has it."""
    error: str = ""
    """The last error that it met: of a tool, of its base, or of an answer that a check refused."""
    structured: object = None
    metadata: dict[str, object] = field(default_factory=dict[str, object])
    """What its base has to say of it beyond the record."""
    accepted: bool = False
    """Whether the user took its output for the answer, whatever the score."""
    lesson_ids: list[str] = field(default_factory=list[str])
    taught: bool = False
    """Whether a card of it has passed the screen."""
    settled: bool = False
    """Whether its outcome was counted."""
    uncounted: bool = False
    """Whether the store failed when it was to be counted."""

    @property
    def score(self) -> float | None:
        """The score, as far as it is known."""
        return self.evaluation.overall_score if self.evaluation else None

    @property
    def answered(self) -> bool:
        """Whether it has an output: a failed attempt may have left a part of one."""
        return bool(self.output) or not self.failure

    def acted(self, trace: Trace, *, since: int) -> None:
        """Note what it did, as the run's trace tells from its event number `since` on."""
        events = trace.events[since:]
        called = [str(one.data["name"]) for one in events if one.kind == "action" and "name" in one.data]
        errors = [str(one.data.get("text") or one.data.get("error") or "") for one in events if one.kind == "error"]
        self.tools = tuple(dict.fromkeys(called))
        self.used = used_in(events)
        self.did = did_in(trace)
        self.error = one_line(errors[-1], LONGEST_ERROR) if errors else ""

    def delivered(self) -> None:
        """Note that a model call carried the advice."""
        self.carried = True

    def outcome(self, threshold: float) -> Outcome:
        """What it counts for. What nobody came to judge has failed; what nobody could judge is unknown."""
        if self.evaluation is None:
            return Outcome(good=False)
        if self.score is None:
            return Outcome(good=None)
        good = good_enough(self.failure, self.evaluation, threshold)
        return Outcome(good=good, judged=not self.evaluation.verifiable)

    def recorded(self, *, spent: TokenUsage, seconds: float) -> AttemptRecord:
        """The attempt as far as it came, for the run record; `spent` and `seconds` are the run's until now."""
        return AttemptRecord(
            attempt=self.attempt,
            output=self.output,
            failure=self.failure,
            evaluation=self.evaluation,
            injections=self.advice.injections,
            blocked=self.advice.blocked,
            left_out=self.advice.left_out,
            advice_delivered=self.carried,
            counted=self.settled and any(one.draw for one in self.advice.injections),
            lesson_ids=tuple(self.lesson_ids),
            used=self.used,
            did=self.did,
            usage=spent.minus(self.spent_before),
            seconds=seconds - self.began,
        )
