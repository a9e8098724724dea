"""Holds the nouns of a run: what is asked, what happened, how good it was, and what it cost.

All records are frozen; a change is a `dataclasses.replace`. Nothing here imports more than the standard library.
"""

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import Random
from typing import Literal, NamedTuple, cast

from wisen.errors import ConfigError
from wisen.json_values import ReadOnly, kind_of, plain_problem, share_problem, shortened, text_problem

NEVER = datetime.min.replace(tzinfo=UTC)
"""Stands for an unknown time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """What model calls used. Adds up with `+`."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    """US dollars; 0 if the model's price is unknown."""

    @property
    def total_tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        """Sum field by field."""
        return TokenUsage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=self.cost_usd + other.cost_usd,
        )

    def minus(self, earlier: "TokenUsage") -> "TokenUsage":
        """What was used since `earlier`."""
        return TokenUsage(
            requests=self.requests - earlier.requests,
            input_tokens=self.input_tokens - earlier.input_tokens,
            output_tokens=self.output_tokens - earlier.output_tokens,
            cost_usd=self.cost_usd - earlier.cost_usd,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of one run. `None` means no limit."""

    requests: int | None = None
    """Model calls; checked, as tokens and dollars are, before each of them."""
    tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    """The run's deadline, in seconds from its start: work that is still under way then is cut off."""
    step_seconds: float | None = 30.0
    """The limit for each step around the attempts: recall, judging, reflecting, screening, keeping, watching. Time
    spent waiting for a model doesn't count: models and tools only have the run's deadline."""

    def __post_init__(self) -> None:
        """Refuse a negative limit with `ConfigError`."""
        for name in ("requests", "tokens", "cost_usd", "seconds", "step_seconds"):
            value: object = getattr(self, name)
            kinds = int if name in ("requests", "tokens") else int | float
            if value is not None and not (isinstance(value, kinds) and value >= 0):
                raise ConfigError(f"Budget({name}={value!r}): must be a number, 0 or more, or None for no limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task for an agent."""

    prompt: str
    id: str = ""
    """The caller's name for the task; recall doesn't use it."""
    type: str = ""
    """Task type, such as "web scraping"; lessons can be scoped by it."""
    tools: tuple[str, ...] = ()
    """Names of the tools it may use; empty means all of the agent's."""
    tenant: str = ""
    owner: str = ""
    """The person or project that asks. Lessons from their tasks are tried on their tasks, and shown for others' only
    once promoted. Within a tenant, that keeps one person's pages and mails out of another's prompts."""
    choices: tuple[str, ...] = ()
    """The known possible answers. A model that can be constrained answers with one of these and nothing else."""
    reference: str | None = None
    """The right answer, if known; only evaluators see it, never a prompt."""
    metadata: Mapping[str, object] = field(default_factory=ReadOnly[str, object])
    """For your own evaluators; whatever JSON can hold."""

    def __post_init__(self) -> None:
        """Refuse fields and `metadata` of a wrong type, or that can't be stored, with `ConfigError`.

        Lists of texts become tuples.
        """
        for name in ("prompt", "id", "type", "tenant", "owner", "reference"):
            value: object = getattr(self, name)
            if not (name == "reference" and value is None):
                _refuse(name, value, text_problem(value))
        for name in ("tools", "choices"):
            several: object = getattr(self, name)
            if not isinstance(several, list | tuple):
                hint = f", such as ({several!r},)" if isinstance(several, str) else f", not {kind_of(several)}"
                raise ConfigError(f"Task({name}={shortened(several)}): must be several texts{hint}")
            texts = tuple(cast("Sequence[object]", several))
            for number, text in enumerate(texts):
                _refuse(f"{name}[{number}]", text, text_problem(text))
            object.__setattr__(self, name, texts)
        told: object = self.metadata
        problem = "" if isinstance(cast("object", told), Mapping) else f"must be a mapping, not {kind_of(told)}"
        _refuse("metadata", told, problem or plain_problem(self.metadata))

    def owned_by(self, tenant: str, owner: str) -> "Task":
        """The task with this tenant and owner filled in, if it names none."""
        mine = tenant and not self.tenant, owner and not self.owner
        return replace(self, tenant=self.tenant or tenant, owner=self.owner or owner) if any(mine) else self


def _refuse(name: str, value: object, problem: str) -> None:
    """Show the value only if its type is wrong: others may hold what must not get into a log."""
    if problem:
        raise ConfigError(f"Task({name}={'…' if isinstance(value, str | Mapping) else shortened(value)}): {problem}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation with a model, as traces and scripted models keep it."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
    """One thing that happened in a run."""

    kind: Literal["action", "observation", "model_call", "output", "score", "error", "note"]
    step: int
    """Counts from 1 within the run; events of one step belong together."""
    at: float
    """Seconds since the run began."""
    data: Mapping[str, object] = field(default_factory=ReadOnly[str, object])
    """JSON-compatible details, such as `name` and `params` of an action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The complete record of a run up to now. Append-only: `Recorder` adds events, nothing removes one."""

    trace_id: str
    purpose: str
    """The task's prompt."""
    events: tuple[TraceEvent, ...] = ()
    run_mode: str = "live"
    """"live", or "replay" if recorded calls answered."""
    duration_s: float = 0.0

    @property
    def step_count(self) -> int:
        """The number of the last step, 0 for an empty trace."""
        return max((event.step for event in self.events), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionEvaluation:
    """How good an output is.

    `overall_score` is `None` when it is *unknown*: the evaluator failed or its answer could not be read. It isn't 0.
    """

    overall_score: float | None
    satisfactory: bool = False
    criteria_scores: Mapping[str, float] = field(default_factory=ReadOnly[str, float])
    issues: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    expected: str = ""
    """What would have been right, if the checker says so, as a customer who corrects a note does; "" if unknown."""
    confidence: float = 1.0
    """How sure the evaluator is of the score, in [0, 1]."""
    verifiable: bool = False
    """Whether execution or an exact check decided, rather than a model's opinion."""
    isolation: tuple[str, ...] | None = None
    """What the kernel kept from programs run for the verdict ("processes", "network", "files", "calls"); empty if
    nothing. `None` if no program was run."""
    evaluator: str = ""
    """The evaluator's name."""

    def __post_init__(self) -> None:
        """Refuse scores and confidences outside [0, 1] with `ConfigError`."""
        for name, value in (("overall_score", self.overall_score), ("confidence", self.confidence)):
            if value is not None and (problem := share_problem(value)):
                raise ConfigError(f"ReflectionEvaluation({name}={value!r}): {problem}, or None for an unknown score")

    @property
    def known(self) -> bool:
        """Whether there is a score."""
        return self.overall_score is not None


def shared_isolation(verdicts: Iterable[ReflectionEvaluation]) -> tuple[str, ...] | None:
    """The isolation that held for every program run for these verdicts; `None` if none was run."""
    held = [verdict.isolation for verdict in verdicts if verdict.isolation is not None]
    return tuple(part for part in held[0] if all(part in each for each in held)) if held else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """Records that a card was part of an attempt's advice, or by chance was held out, and why."""

    card_id: str
    kind: str
    reasons: tuple[str, ...]
    """Why it was recalled for this task, in words."""
    score: float
    """Relevance in [0, 1]; 0 for a standing rule, which isn't recalled."""
    shown: bool = True
    """False: it was eligible and was held out by the live trial's draw."""
    propensity: float = 1.0
    """The probability with which the draw would show it."""
    idea: str = ""
    """The card that stands for the idea; "" in records of earlier versions."""
    draw: str = ""
    """The draw that the run's outcome counts for; "" if it counts for none."""
    tainted: bool = False
    """Whether the card comes from text that a run had read (`Provenance.tainted`); so then does what it teaches."""
    rule: int = 0
    """The version of the agent's standing rules that put the card there; 0 if it was recalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """Records that a card was recalled, and that the screen kept it out of the prompt."""

    card_id: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Records that a card was recalled and left out of the prompt, for a reason other than the screen's."""

    card_id: str
    why: str
    """In words: "no room", "says the same as card …", "superseded by card …", "held out by the trial" …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The prompt compiler's output for the cards recalled for one attempt; `models.advised` delivers it."""

    section: str = ""
    """Text for the system prompt, already framed as quoted data; may be empty."""
    turns: tuple[tuple[str, str], ...] = ()
    """Worked examples as (user, assistant) turns, the most relevant last."""
    injections: tuple[Injection, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    """Cards that the screen kept out."""
    left_out: tuple[LeftOut, ...] = ()
    """Cards that were recalled and left out for another reason; those held out are among the injections too."""

    @property
    def text(self) -> str:
        """The section, for code that builds its own prompts; "" if nothing fits."""
        return self.section

    def __bool__(self) -> bool:
        """Whether there is anything to deliver."""
        return bool(self.section or self.turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRecord:
    """One attempt of a run, as the run record keeps it."""

    attempt: int
    output: str
    failure: str = ""
    """Why it failed, in one line: it ran out of turns, or the error that ended it. "" if it gave an answer."""
    evaluation: ReflectionEvaluation | None = None
    injections: tuple[Injection, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    """Cards that the screen kept out of its advice."""
    left_out: tuple[LeftOut, ...] = ()
    """Cards that its advice left out, and why."""
    advice_delivered: bool = False
    """Whether a model call carried the advice."""
    counted: bool = False
    """Whether its outcome was counted on the ideas that it drew: without an `evaluation`, as not good."""
    lesson_ids: tuple[str, ...] = ()
    """Cards that came from this attempt's reflection or success."""
    used: tuple[str, ...] = ()
    """Tools that it called, and the hosts, accounts, paths, commands and packages in their arguments."""
    did: str = ""
    """Its tool calls with their arguments, what they returned, and errors, in order; without secrets and personal data,
    and bounded as in `trace_text.account_of`. "" if it called no tool."""
    usage: TokenUsage = TokenUsage()
    seconds: float = 0.0

    @property
    def answered(self) -> bool:
        """Whether it has an output. A failed attempt may have left part of one."""
        return bool(self.output) or not self.failure


RunStatus = Literal[
    "satisfied", "unsatisfied", "escalated", "unevaluated", "budget_exhausted", "failed", "cancelled", "unfinished"
]
"""How a run ended. "unfinished" means that a run with its own id hasn't ended: it is under way, or was cut off."""
ENDED: tuple[RunStatus, ...] = ("satisfied", "unsatisfied", "escalated", "unevaluated", "budget_exhausted")
"""The ends of runs that have a result; the others can be resumed."""


class RunMark(NamedTuple):
    """A judged run, as surveys of runs count it."""

    started_at: datetime
    advised: bool
    """Whether its first attempt had lessons, that is, a model call carried its advice."""
    good: bool
    """Whether its first attempt was good enough, as trials count it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """The stored record of a run, from which it is listed and explained."""

    run_id: str
    task: Task
    agent: str = ""
    architecture: str = ""
    model: str = ""
    status: RunStatus = "unevaluated"
    output: str = ""
    score: float | None = None
    attempts: tuple[AttemptRecord, ...] = ()
    usage: TokenUsage = TokenUsage()
    turns: int = 0
    started_at: datetime = NEVER
    seconds: float = 0.0
    degradations: tuple[str, ...] = ()
    """Skipped stages, each as `stage: error`; for errors that aren't wisen's own, the type alone."""

    @property
    def mark(self) -> RunMark | None:
        """The run as surveys count it; `None` if it hasn't ended or wasn't judged."""
        if self.status in ("unfinished", "unevaluated"):
            return None
        advised = bool(self.attempts) and self.attempts[0].advice_delivered
        good = self.status == "satisfied" and len(self.attempts) == 1
        return RunMark(started_at=self.started_at, advised=advised, good=good)

    def concerns(self, card_id: str) -> bool:
        """Whether an attempt's advice had this card or a wording of its idea, shown or held out, or taught it."""
        return any(
            card_id in one.lesson_ids or any(card_id in (each.card_id, each.idea) for each in one.injections)
            for one in self.attempts
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Clockwork:
    """A run's clock, ids and randomness. Pass `Clockwork.seeded(n)` to make a run repeatable."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    monotonic: Callable[[], float] = time.perf_counter
    new_id: Callable[[], str] = lambda: uuid.uuid4().hex
    random: Random = field(default_factory=Random)

    @classmethod
    def seeded(cls, seed: int, *, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> "Clockwork":
        """Ids and draws that follow from `seed`, and a clock that stands still at `start`."""
        draws = Random(seed)
        ids = Random(seed ^ 0x5DEECE66D)
        return cls(
            now=lambda: start, monotonic=lambda: 0.0, new_id=lambda: f"{ids.getrandbits(128):032x}", random=draws
        )
