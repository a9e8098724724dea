"""Every error that wisen raises on purpose, so that a caller can catch exactly what it can handle.

```text
WisenError
├── ConfigError (also a ValueError)   an option or a file that can't be used
│   ├── InputFileError                path, line and field of a file that can't be read
│   │   ├── TasksFileError
│   │   └── TracesFileError
│   ├── RunMismatchError              a run's id was used before, for another task
│   ├── ReportError                   a report lacks a mandatory field, or its Markdown can't be read
│   └── MissingExtraError             an optional package isn't installed
├── ModelError                        a model call failed; `model` says which
│   ├── UnreachableModelError         it can't be asked at all: a wrong key, a provider that is down
│   │   ├── UnknownModelError         the name means no model
│   │   ├── WeightsError              weights are missing or aren't the expected ones
│   │   └── UnknownCallError          a cassette has no answer for this call
│   ├── PromptTooLongError            the prompt is longer than the model's context
│   └── UnreadableAnswerError         a structured answer can't be read, also after a request to repair it
├── EvaluationError                   no judgement could be read: the score is unknown
├── ReflectionError                   no lesson could be read
│   └── ReflectionRequiredError       an agent owes a report, and may not begin another task
├── EmbedderError                     an embedder can't be loaded or gave no vectors
├── SandboxError                      a sandboxed check could not be started
├── NotRepeatableError                a tool that isn't repeatable was begun before, and isn't called again
├── BudgetExceededError               a limit of the run's budget was reached
│   └── DeadlineError                 the run's time was up while a part worked; `part` says which
├── PartError                         someone else's part failed in a way that its own errors don't tell
│   ├── PartTimeoutError              it took longer than it may
│   └── PartCancelledError            it raised `CancelledError`, and nobody had cancelled it
├── RecallBlockedError                text that failed the screen was about to reach a prompt
├── QueueError                        a queue of tasks refused or failed
│   ├── QueueFullError                too many of its tasks wait
│   └── BatchNotFoundError
└── StoreError                        a store refused or failed
    ├── CardNotFoundError
    ├── RunNotFoundError
    ├── StoreReadOnlyError
    ├── ForeignDatabaseError          the file is another program's, or a newer wisen's
    │   └── OutdatedStoreError        it is an older wisen's, and was opened for reading
    └── EmbedderMismatchError         the store holds vectors of another embedder
```

Messages say what happened, show the offending value, and say what to do. None holds the text of a lesson or a prompt.
"""

from collections.abc import Sequence


class WisenError(Exception):
    """The root of all errors that wisen raises on purpose."""


class ConfigError(WisenError, ValueError):
    """An option, a setting or a file that can't be used as it is."""


class InputFileError(ConfigError):
    """A file that is read has an error; says where."""

    def __init__(self, path: str, problem: str, *, line: int | None = None, field: str | None = None) -> None:
        """Name the place: `path`, 1-based `line` and the `field` (dotted) where they are known."""
        where = path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {problem}" if field is None else f"{where}: field {field!r}: {problem}")
        self.path = path
        self.problem = problem
        self.line = line
        self.field = field


class TasksFileError(InputFileError):
    """A tasks file has an error; says where."""


class TracesFileError(InputFileError):
    """A file of traces has an error; says where."""


class ReportError(ConfigError):
    """A report lacks a required field, or its Markdown can't be read."""

    def __init__(self, problem: str, *, line: int | None = None) -> None:
        """`line` is the 1-based line of the Markdown, where it is known."""
        super().__init__(problem if line is None else f"line {line}: {problem}")
        self.problem = problem
        self.line = line


class MissingExtraError(ConfigError):
    """Something needs a package that isn't installed."""

    def __init__(self, needed_for: str, install: str) -> None:
        """Say what it is `needed_for` and the shell command that installs it."""
        super().__init__(f"{needed_for} needs a package that isn't installed; run: {install}")
        self.needed_for = needed_for
        self.install = install


class ModelError(WisenError):
    """A model call failed."""

    def __init__(self, model: str, problem: str) -> None:
        """`model` is the model's name; `problem` says what happened and what to do."""
        super().__init__(f"model {model!r}: {problem}")
        self.model = model


class UnreachableModelError(ModelError):
    """A model can't be reached: its key is refused, or its provider is down. It ends a run; no retry helps."""


class UnknownModelError(UnreachableModelError, ConfigError):
    """A name that means no model."""


class WeightsError(UnreachableModelError):
    """Model weights are missing, unreadable, or not the ones whose checksum is known."""


class UnknownCallError(UnreachableModelError):
    """A cassette was asked for a call that it doesn't hold."""


class PromptTooLongError(ModelError):
    """The prompt is longer than the model's context; a shorter one may pass."""


class UnreadableAnswerError(ModelError):
    """A model was asked for structured output, and neither its answer nor its repair could be read."""


class EvaluationError(WisenError):
    """No judgement could be read. The score is unknown, which is not 0."""


class ReflectionError(WisenError):
    """No lesson could be read from the reflector's answer."""


class ReflectionRequiredError(ReflectionError):
    """An agent tried to begin a task while it owes the report of an earlier one that failed or was done in part."""

    def __init__(self, agent: str, owed: Sequence[str]) -> None:
        """`owed` are the ids of the tasks whose reports are missing."""
        said = ", ".join(map(repr, owed))
        super().__init__(f"agent {agent!r} owes a report of {said}; call finish() to write it before the next task")
        self.agent = agent
        self.owed = tuple(owed)


class EmbedderError(WisenError):
    """An embedder can't be loaded, or didn't give one vector per text."""


class SandboxError(WisenError):
    """A sandboxed check could not be started; says nothing about the output under test."""


class NotRepeatableError(WisenError):
    """A resumed run came to a tool that isn't repeatable, which was begun before and hasn't returned."""

    def __init__(self, tool: str) -> None:
        """`tool` is its name."""
        super().__init__(
            f"tool {tool!r} isn't repeatable: it was called before this run was cut off or failed, and its result is "
            "unknown; check what it did"
        )
        self.tool = tool


class BudgetExceededError(WisenError):
    """A limit of the run's budget is reached: the next model call may not be made."""

    def __init__(self, limit: str, allowed: float, spent: float) -> None:
        """`limit` is the budget's field ("requests", "tokens", "cost_usd", "seconds")."""
        super().__init__(f"budget for {limit} is used up: {spent:g} of {allowed:g}; raise Budget({limit}=…) to go on")
        self.limit = limit
        self.allowed = allowed
        self.spent = spent


class DeadlineError(BudgetExceededError):
    """The run's time was up while a part worked, or before it could begin."""

    def __init__(self, part: str, allowed: float, spent: float) -> None:
        """`part` says what was being waited for, such as "tool 'search'"."""
        super().__init__("seconds", allowed, spent)
        self.args = (f"{part} hadn't answered when Budget(seconds={allowed:g}) was used up; raise it to wait longer",)
        self.part = part


class ReplayBudgetExceededError(BudgetExceededError):
    """What a replay test may use is used up: the next attempt isn't made."""

    def __init__(self, limit: str, allowed: float, spent: float) -> None:
        """`limit` is the field of the `ReplayBudget`, of which `allowed` may be a share."""
        super().__init__(limit, allowed, spent)
        self.args = (f"the replays' budget for {limit} is used up; raise ReplayBudget({limit}=…) to try more at once",)


class PartError(WisenError):
    """Third-party code in a run failed in a way that its own errors don't cover."""

    def __init__(self, part: str, problem: str) -> None:
        """`part` names it; `problem` says what happened and what to do."""
        super().__init__(f"{part} {problem}")
        self.part = part


class PartTimeoutError(PartError):
    """A part took longer than it may."""

    def __init__(self, part: str, seconds: float) -> None:
        """`seconds` is how long it may take."""
        super().__init__(part, f"didn't answer within {seconds:g} s; Budget(step_seconds=…) gives it more")
        self.seconds = seconds


class PartCancelledError(PartError):
    """A part raised `CancelledError` although nobody had cancelled the run."""

    def __init__(self, part: str) -> None:
        super().__init__(part, "cancelled itself; the run goes on without it")


class RecallBlockedError(WisenError):
    """A card that may not reach a prompt was about to be compiled into one."""


class QueueError(WisenError):
    """A queue of tasks refused or failed."""


class QueueFullError(QueueError):
    """More tasks would wait in a queue than may."""

    def __init__(self, queue: str, waiting: int, more: int, most: int) -> None:
        """`waiting` tasks are there, `more` were to come, and `most` may wait."""
        super().__init__(
            f"queue {queue!r} is full: {waiting} tasks wait, and with {more} more there would be over {most}; "
            "submit fewer, or wait (--wait) until workers have taken some"
        )
        self.queue = queue
        self.waiting = waiting
        self.more = more
        self.most = most


class IncapableWorkerError(QueueError):
    """A worker lacks what a task needs, such as a provider's key; another worker may have it."""


UnfitError = IncapableWorkerError
"""Its former name."""


class BatchNotFoundError(QueueError):
    """No batch has this id."""

    def __init__(self, batch_id: str) -> None:
        """`batch_id` is the id that was asked for."""
        super().__init__(f"no batch {batch_id!r}; `wisen batch list` shows what was submitted")
        self.batch_id = batch_id


class StoreError(WisenError):
    """A store refused or failed."""


class CardNotFoundError(StoreError):
    """No card has this id."""

    def __init__(self, card_id: str) -> None:
        """`card_id` is the id that was asked for."""
        super().__init__(f"no memory card {card_id!r}; `wisen lessons list` shows what is stored")
        self.card_id = card_id


class RunMismatchError(ConfigError):
    """A run can only be resumed with the task that it was begun with."""

    def __init__(self, run_id: str) -> None:
        """`run_id` is the run's id."""
        super().__init__(f"run {run_id!r} was begun with another task; pass that task, or another run_id")
        self.run_id = run_id


class RunNotFoundError(StoreError):
    """No recorded run has this id."""

    def __init__(self, run_id: str, why: str = "") -> None:
        """`run_id` is the requested id; `why` says why it isn't there, if that is known."""
        super().__init__(f"no run {run_id!r}{f': {why}' if why else '; `wisen runs list` shows what is recorded'}")
        self.run_id = run_id


class StoreReadOnlyError(StoreError):
    """The store can be read but not written."""

    def __init__(self, path: str) -> None:
        """`path` is the store's file."""
        super().__init__(f"store {path!r} is read-only; make it writable or pass another path")
        self.path = path


class ForeignDatabaseError(StoreError):
    """The file isn't a wisen store of a version this wisen can open."""

    def __init__(self, path: str, problem: str) -> None:
        """`path` is the file; `problem` says what it is instead."""
        super().__init__(f"{path!r} is not a store this wisen can open ({problem}); pass another path")
        self.path = path


class OutdatedStoreError(ForeignDatabaseError):
    """The store is of an older version, and was opened for reading alone."""

    def __init__(self, path: str, schema: int) -> None:
        """`path` is the file or the server; `schema` is that of its version."""
        StoreError.__init__(
            self,
            f"store {path!r} has schema {schema} of an older wisen; open it once for writing to bring it up to date",
        )
        self.path = path


class EmbedderMismatchError(StoreError):
    """The store's vectors come from another embedder than the one it was opened with."""

    def __init__(self, path: str, stored: str, given: str) -> None:
        """`stored` and `given` name embedders as `name/dimension`."""
        super().__init__(
            f"store {path!r} holds vectors of embedder {stored!r}, opened with {given!r}; "
            f"open it with the stored one, or call reindex() to embed all cards again"
        )
        self.path = path
        self.stored = stored
        self.given = given
