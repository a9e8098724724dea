"""What travels through a queue: jobs, the options of their batch, and what became of each, all as JSON."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from wisen.errors import ConfigError, QueueError
from wisen.records import Budget, RunStatus, Task
from wisen.tasks.files import EvaluatorSpec

Trust = Literal["replayed", "trial", "screened"]
TaskState = Literal["waiting", "running", "done", "dead", "cancelled"]
DEFAULT_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """That a job is one attempt of a replay test, and not a run: nothing is recalled, learned or recorded."""

    cards: tuple[str, ...]
    """The cards to show, best first, as JSON."""
    repetition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One task with what judges it."""

    task: Task
    evaluator: EvaluatorSpec | None = None
    """As a tasks file names it; `None` is the agent's own. A "function" must be importable by the workers."""
    replay: Replay | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    """How workers without an agent of their own make the runs of a batch, with the meanings of `wisen run`."""

    model: str | None = None
    """A model's name; keys are the workers' own. `None` is the bundled local model."""
    instructions: str = ""
    max_attempts: int = 3
    threshold: float = 0.8
    trust: Trust = "trial"
    budget: Budget = field(default_factory=Budget)
    judge_model: str | None = None
    seed: int | None = None
    embedder: str | None = None
    """The embedder's name; `None` is the one that the store's vectors come from, else "auto"."""

    def __post_init__(self) -> None:
        """Refuse what can't be."""
        if self.max_attempts < 1:
            raise ConfigError(f"max_attempts {self.max_attempts}: must be 1 or more")
        if not 0.0 <= self.threshold <= 1.0:
            raise ConfigError(f"threshold {self.threshold:g}: must be in [0, 1]")
        for name in filter(None, (self.model, self.judge_model)):
            if _holds_secret(name):
                raise ConfigError("a batch's model: no user, password or query in its address; keys are workers' own")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """What a task came to."""

    run_id: str = ""
    status: RunStatus = "failed"
    output: str = ""
    score: float | None = None
    verified: bool | None = None
    """Whether an exact check gave the score; `None` without a score."""
    attempts: int = 0
    lessons: int = 0
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    error: str = ""
    """Why there is no answer, where there is none though the run ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """Where one task of a batch stands."""

    place: int
    """Its place in the batch, from 0."""
    task: Task
    state: TaskState
    outcome: JobOutcome | None = None
    """What it came to; `None` before, and for a task that was given up or cancelled."""
    reason: str = ""
    """Of a dead letter: why it was given up; otherwise the last thing that went wrong, if anything did."""
    tries: int = 0
    """How often it failed, or was lost together with its worker."""
    worker: str = ""
    """Who does it, or did it last."""

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return self.outcome is not None and not self.outcome.error


def _holds_secret(model: str) -> bool:
    """Whether a model's name has a place in it for a secret, which would be stored, and shown."""
    address = urlsplit(model.partition(":")[2].rpartition("#")[0])
    return bool(address.netloc) and ("@" in address.netloc or bool(address.query))


def as_job(given: "Job | Task | str") -> Job:
    """A prompt or a task as a job."""
    if isinstance(given, Job):
        return given
    return Job(task=given if isinstance(given, Task) else Task(prompt=given))


def fingerprint(bodies: Sequence[str], options: str) -> str:
    """Equal for the same jobs with the same options."""
    told = hashlib.sha256(options.encode())
    for body in bodies:
        told.update(hashlib.sha256(body.encode()).digest())
    return told.hexdigest()


@cache
def _form(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def to_json(value: Job | BatchOptions | JobOutcome) -> str:
    """The value as JSON; raises `ConfigError` where a task's metadata can't be written so."""
    try:
        plain = _form(type(value)).dump_python(value, mode="json", fallback=_plain, warnings=False)
        text = json.dumps(plain, allow_nan=False, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        # Half of a character can't be read again. A model's answer may end in one; a task is refused.
        return text.encode(errors="replace" if isinstance(value, JobOutcome) else "strict").decode()
    except ValueError as error:
        raise ConfigError(f"a task's metadata or evaluator can't be written as JSON ({type(error).__name__})") from None


def job_from_json(text: str) -> Job:
    """The reverse of `to_json`."""
    return cast("Job", _read(Job, text))


def options_from_json(text: str) -> BatchOptions:
    """The reverse of `to_json`."""
    return cast("BatchOptions", _read(BatchOptions, text))


def outcome_from_json(text: str) -> JobOutcome:
    """The reverse of `to_json`."""
    return cast("JobOutcome", _read(JobOutcome, text))


def _read(kind: type[Any], text: str) -> object:
    try:
        return _form(kind).validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise QueueError(f"a stored {kind.__name__} can't be read: {where}: {first['type']}") from None


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    raise ValueError(type(value).__name__)
