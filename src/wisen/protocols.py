"""Defines the verbs: what an embedder, evaluator, store or architecture has to do.

Each protocol's docstring is its contract. Optional abilities are small protocols of their own (`BoundToRun`, `RunLog`,
`CallLog`); ask with `isinstance`, never with a method that raises `NotImplementedError`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, runtime_checkable

from wisen.cards import MemoryCard
from wisen.moved import lent
from wisen.recall import CardFilter, RecallHit, RecallQuery, Written
from wisen.records import ReflectionEvaluation, RunMark, RunRecord, Task, Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pydantic_ai.models import Model


class Embedder(Protocol):
    """Turns texts into vectors whose cosine says how alike they are."""

    @property
    def name(self) -> str:
        """Names the embedder and its version; stores keep it beside the vectors and refuse another one."""
        ...

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        ...

    @property
    def floor(self) -> float:
        """The cosine below which two texts have nothing to do with each other, for this embedder."""
        ...

    async def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One row per text, in order: shape `(len(texts), dimension)`, each row of length 1 (or 0 for an empty text).

        Doesn't block the event loop. Raises `EmbedderError`.
        """
        ...


@runtime_checkable
class KnowsMeaning(Protocol):
    """Added by an embedder whose vectors follow meaning; ask with `embedders.meaning.meaning_of`."""

    @property
    def same_meaning(self) -> float | None:
        """The cosine from which two texts whose content agrees say the same; `None` if it wasn't measured."""
        ...

    def knows(self, text: str) -> bool:
        """Whether its vector says anything: not for a text mostly of characters that it never learned."""
        ...


class Evaluator(Protocol):
    """Says how good an output is."""

    @property
    def name(self) -> str:
        """Who judges; kept in the evaluation and in the provenance of cards."""
        ...

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        """Judge without changing anything.

        Raises `EvaluationError` if no judgement could be read; never returns a score of 0 for "unknown".
        """
        ...


class ModelBinder(Protocol):
    """Gives out models that are metered and traced for one run."""

    def __call__(self, model: "Model | str | None", purpose: str) -> "Model":
        """The run's own model for `None`, otherwise the named one.

        `purpose` labels its calls: "evaluate", "reflect" …
        """
        ...


@runtime_checkable
class BoundToRun(Protocol):
    """Added by an evaluator or reflector that calls models: the run lends it models."""

    def bound(self, bind: ModelBinder) -> "Evaluator":
        """The same evaluator, calling models through `bind`, so that the run's budget counts them."""
        ...


class Reflector(Protocol):
    """Says what a finished attempt teaches."""

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> Sequence[MemoryCard]:
        """Candidate cards, possibly none.

        Sets content, kind, pattern and the like; the caller sets situation, tenant and provenance. Raises
        `ReflectionError` if the model's answer can't be used; `ModelError` passes through.
        """
        ...


@runtime_checkable
class CountsTokens(Protocol):
    """Added by a model that has its tokenizer; models that wrap it pass the ability on."""

    async def token_counter(self) -> Callable[[str], int] | None:
        """A function that counts a text's tokens, always the same for the same text; `None` if there is none after all.

        It may block, and is called in a thread. Raises `ModelError`.
        """
        ...


@runtime_checkable
class Reports(Protocol):
    """Added by a reflector that reports on every outcome, and owes a report on every failure.

    Its `reflect` gives at least one card, even if no model answers; only `BudgetExceededError` passes through.
    """

    async def on_success(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> Sequence[MemoryCard]:
        """Cards for an attempt that was good enough: the strategy and why it worked; none if there is little to say.

        Raises as `reflect` does.
        """
        ...

    def plain(self, task: Task, evaluation: ReflectionEvaluation, trace: Trace) -> Sequence[MemoryCard]:
        """Reports written without a model, the fullest first; the last one holds no text from outside.

        They are for a report that the screen rejected.
        """
        ...

    def telling(self, tell: Callable[[Exception, str], None]) -> "Reflector":
        """The same reflector, which calls `tell(error, skipped)` when it goes on with less."""
        ...


_Bindable = TypeVar("_Bindable")


def lent_models(one: _Bindable, bind: ModelBinder) -> _Bindable:
    """The evaluator or reflector with the run's models, if it calls any, that is, has a method `bound(bind)`."""
    bound: Callable[[ModelBinder], _Bindable] | None = getattr(one, "bound", None)
    return one if bound is None else bound(bind)


def bound_to_run(evaluator: _Bindable, bind: ModelBinder) -> _Bindable:
    """The evaluator with the run's models, if it calls any.

    One that calls none has its judgements kept where the run keeps its steps: it may ask a person.
    """
    return lent_models(evaluator, bind) if hasattr(evaluator, "bound") else kept_by(bind, evaluator)


def kept_by(bind: ModelBinder, evaluator: _Bindable) -> _Bindable:
    """The evaluator with its earlier judgements, if `bind` belongs to a run that keeps its steps."""
    keeping: Callable[[_Bindable], _Bindable] | None = getattr(bind, "keeping", None)
    return evaluator if keeping is None else keeping(evaluator)


@runtime_checkable
class KeepsLessons(Protocol):
    """Added by an architecture that writes lessons to a store."""

    @property
    def lesson_store(self) -> "VectorStore | None":
        """The store, or `None` if lessons go to a memory block."""
        ...


FindingFamily = Literal["secret", "personal", "infrastructure", "injection", "hidden", "form", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a rule found, and where; never the text that it found."""

    rule: str
    """The rule's name: "aws-access-key", "overrides-instructions"."""
    family: FindingFamily
    start: int
    """Where it begins in the original text, in characters."""
    end: int
    label: str = ""
    """What may replace it, in words: "API key", "host"."""
    field: str = ""
    """The card's field: "content", "steps[2]", "situation.prompt"; "" for a text of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenVerdict:
    """A screen's verdict on a card."""

    outcome: Literal["pass", "redacted", "rejected"]
    card: MemoryCard | None
    """The card as it may be kept; `None` if it was rejected."""
    findings: tuple[Finding, ...] = ()


class Screen(Protocol):
    """Decides what may enter memory."""

    @property
    def name(self) -> str:
        """Names the screen in verdicts and records."""
        ...

    def check(self, card: MemoryCard) -> ScreenVerdict:
        """Judge one card. Pure, bounded in time, and never raises for any text."""
        ...


class VectorStore(Protocol):
    """Keeps memory cards and finds those that fit a situation.

    Every method is safe to call from concurrent tasks. A write is durable once its method has returned. Raises
    `StoreError`s, and `EmbedderError` if a text can't be embedded.
    """

    async def add(self, cards: Sequence[MemoryCard]) -> list[Written]:
        """Store, as `add_unscreened` does, what the store's screen keeps of the cards: see `screening.admission`."""
        ...

    async def add_unscreened(self, cards: Sequence[MemoryCard]) -> list[Written]:
        """Store screened cards as they are, all or none; one `Written` per card, in order.

        A card whose id is stored already is left as it is ("unchanged"). One whose `duplicate_key` equals that of a
        stored or earlier card is counted on that card's `duplicates` and not stored ("duplicate").
        """
        ...

    async def get(self, card_ids: Sequence[str]) -> list[MemoryCard]:
        """The cards with these ids, in order; raises `CardNotFoundError` for the first that isn't there."""
        ...

    async def search(self, query: RecallQuery) -> list[RecallHit]:
        """Find at most `query.k` cards, best first, none below the floor; ties by newer, then by id.

        The filter applies before the top k are taken: `k` fitting cards are found if they exist. Superseded cards are
        left out unless `query.superseded`. A card whose situation's `key` equals the query's comes first, with
        relevance 1.
        """
        ...

    async def update(self, card: MemoryCard) -> None:
        """Replace the stored card of the same id; `card.version` must be the stored one plus 1, else `StoreError`."""
        ...

    async def delete(self, card_ids: Sequence[str]) -> int:
        """Remove cards for good; says how many there were. Unknown ids are passed over."""
        ...

    async def list(self, where: CardFilter, *, limit: int = 100, offset: int = 0) -> list[MemoryCard]:
        """Cards that `where` accepts, oldest first, ties by id."""
        ...

    async def count(self, where: CardFilter) -> int:
        """How many cards `where` accepts."""
        ...

    async def close(self) -> None:
        """Release files and connections. Closing twice is fine; anything else on a closed store raises `StoreError`."""
        ...


@runtime_checkable
class Scrubs(Protocol):
    """Added by a store that keeps old content for a while after a change, such as in a log beside its file."""

    async def scrub(self) -> None:
        """Erase all texts that no card has any more: nothing of a withdrawn card is left in the store's files.

        Raises `StoreError` if it can't, such as while another process reads; it can be called again.
        """
        ...


class Ranker(Protocol):
    """Decides which of a store's cards answer a query, and in which order."""

    @property
    def name(self) -> str:
        """A short lower-case name, such as "task-type"."""
        ...

    async def hits(self, store: VectorStore, query: RecallQuery) -> list[RecallHit]:
        """At most `query.k` hits, best first, each with its reasons.

        `query.filter` applies before anything is ranked; archived, rejected and superseded cards are never among them,
        whatever it says. Raises what the store raises.
        """
        ...


@runtime_checkable
class Blocks(Protocol):
    """Named blocks of text that agents share, bounded in size."""

    async def append_block(self, name: str, line: str, *, tenant: str = "") -> None:
        """Add a line at the end, atomically: no concurrent append is lost. Past the bound, the oldest lines go."""
        ...

    async def block(self, name: str, *, tenant: str = "") -> str:
        """The block's text, lines joined by newlines; "" for a block that was never written."""
        ...

    async def update_block(self, name: str, text: str, *, tenant: str = "") -> None:
        """Replace the block."""
        ...


@runtime_checkable
class RunLog(Protocol):
    """Keeps records of finished runs."""

    async def save_run(self, record: RunRecord) -> None:
        """Write a record; one with the same `run_id` is replaced."""
        ...

    async def run(self, run_id: str) -> RunRecord:
        """The record of this run; raises `RunNotFoundError`."""
        ...

    async def runs(self, *, tenant: str | None = None, limit: int = 50, offset: int = 0) -> "list[RunRecord]":
        """Records, newest first; `tenant=None` means all tenants."""
        ...


@runtime_checkable
class SurveysRuns(Protocol):
    """Added by a log of runs that answers for many of them at once, without reading each."""

    async def run_marks(self, *, tenant: str | None = None) -> "Sequence[RunMark]":
        """The `mark` of each judged run, oldest first; `tenant=None` means all tenants."""
        ...

    async def runs_with(self, card_id: str, *, tenant: str | None = None, limit: int = 50) -> "Sequence[RunRecord]":
        """Records of at most `limit` runs that concern a card (`RunRecord.concerns`), newest first."""
        ...


@runtime_checkable
class CallLog(Protocol):
    """Keeps recorded model calls, so that a run can be resumed."""

    async def save_call(self, scope: str, key: str, ordinal: int, response: bytes) -> None:
        """Keep the `ordinal`-th response (from 0) to the request with hash `key`, under `scope` (a cassette or run)."""
        ...

    async def call(self, scope: str, key: str, ordinal: int) -> bytes | None:
        """The stored response, or `None`."""
        ...


@runtime_checkable
class KeepsFirst(Protocol):
    """Added by a call log that settles which of two writers was first, in whatever processes they are."""

    async def keep_call(self, scope: str, key: str, ordinal: int, response: bytes) -> bytes:
        """Keep a response unless there is one already, atomically; returns the one that is then kept."""
        ...


@runtime_checkable
class KeepsWhile(Protocol):
    """Added by a call log that keeps a response only while another one of its scope is kept."""

    async def keep_call_while(self, scope: str, key: str, ordinal: int, response: bytes, *, head: str) -> bytes | None:
        """As `KeepsFirst.keep_call`, in one write; `None`, and nothing is kept, if call 0 of `head` is gone."""
        ...


@runtime_checkable
class SettlesFirst(CallLog, KeepsFirst, Protocol):
    """A call log that settles who was first."""


# Where it stood before; it can't be imported from here, since sessions know these protocols.
__getattr__ = lent(__name__, Architecture="wisen.session")
