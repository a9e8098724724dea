"""What a replay test repeats: one attempt at a task with exactly these cards as advice, on the real agent."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from wisen import models
from wisen.advice.compiler import PromptCompiler, Recalled
from wisen.advice.placebo import FILLER_ANSWER, filler
from wisen.agent import Agent
from wisen.cards import MemoryCard, MemoryKind
from wisen.errors import QueueError
from wisen.evaluation.build import EvaluatorLike, as_evaluator
from wisen.protocols import BoundToRun, Evaluator
from wisen.records import Advice, Injection, Task, TokenUsage
from wisen.replay.descriptions import described

if TYPE_CHECKING:
    from pydantic_ai.models import Model

Attempt = Callable[[Task, Sequence[MemoryCard], int], Awaitable[float | None]]
"""Makes one attempt: the task, the cards to show (best first), and the number of the repetition, from 0.

Gives the score in [0, 1], or `None` where it isn't known. The same repetition has the same seed, whatever is shown.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Under what evidence is gathered; scores and evidence of different conditions are never mixed."""

    model: str = ""
    layout: str = ""
    """The layout of the prompt, as the compiler names it."""
    setup: str = ""
    """Tells agents with one model apart: what else an attempt depends on, as a text or a hash of it."""
    role: str = ""
    """The agent's name, for cards that are scoped to agents."""
    judged: bool = False
    """Whether a model's opinion, and not a check, gives the scores."""


@runtime_checkable
class Conditioned(Protocol):
    """What an `Attempt` adds that knows its condition, and what it has used so far."""

    @property
    def condition(self) -> Condition:
        """Under what it makes attempts."""
        ...

    @property
    def spent(self) -> TokenUsage:
        """What all attempts together have used, also those that raised, as far as it is known."""
        ...


@runtime_checkable
class Fitting(Protocol):
    """What an `Attempt` adds that shows cards to a model, and knows who judges a task."""

    async def __call__(self, task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
        """See `Attempt`."""
        ...

    def fits(self, cards: Sequence[MemoryCard]) -> bool:
        """Whether all of these cards would be shown."""
        ...

    def judged_by(self, task: Task) -> str:
        """Equal for tasks that the same evaluator judges, configured alike."""
        ...


PLACEBO = "placebo-"
"""How the ids of empty lessons begin."""
RULE = "rule-"
"""How the ids of cards begin that are shown as standing rules: the same card as a note is another attempt."""


class AgentAttempt:
    """Attempts of one agent; implements `Attempt` and `Conditioned`. See `agent_attempt`."""

    def __init__(
        self,
        agent: Agent,
        evaluator: EvaluatorLike | None,
        *,
        evaluator_of: Callable[[Task], Evaluator | None] | None,
        compiler: PromptCompiler | None,
        setup: str,
        judged: bool | None,
        seed: int,
    ) -> None:
        own: PromptCompiler | None = getattr(agent.architecture, "compiler", None)
        self._compiler = compiler or own or PromptCompiler()
        self._agent = agent.without_memory()
        self._evaluator = self._agent.evaluator if evaluator is None else as_evaluator(evaluator)
        self._evaluator_of = evaluator_of
        self._model = models.resolve_model(agent.model)
        self._seed = seed
        self.spent = TokenUsage()
        own_compiler = described(self._compiler)
        parts = (self._agent.instructions, self._agent.architecture.name, own_compiler, setup, str(seed))
        self.condition = Condition(
            model=self._model.model_name,
            layout=self._compiler.layout,
            setup=sha256("\x1f".join(parts).encode()).hexdigest()[:16],
            role=agent.name,
            judged=isinstance(self._evaluator, BoundToRun) if judged is None else judged,
        )

    def fits(self, cards: Sequence[MemoryCard]) -> bool:
        """See `Fitting`: none is too long, or kept out by the screen. Of rules, those stand that find room."""
        return self._advice(cards) is not None

    def judged_by(self, task: Task) -> str:
        """See `Fitting`."""
        return described(self.judge(task))

    def judge(self, task: Task) -> Evaluator | None:
        """What judges an attempt at this task; `None` where nothing does."""
        own = self._evaluator_of(task) if self._evaluator_of else None
        return own or self._evaluator

    async def __call__(self, task: Task, cards: Sequence[MemoryCard], repetition: int) -> float | None:
        """See `Attempt`. Unknown, too, where a card couldn't be shown: it was too long, or the screen kept it out.

        Where a model can't be reached it raises, even if the run went on without it: as one goes on without a judge.
        """
        advice = self._advice(cards)
        if advice is None:
            return None
        carried: list[bool] = []
        seed = self._seed + repetition
        model: Model = models.SeededModel(self._model, seed) if seed else self._model
        if advice:
            model = models.AdvisedModel(model, advice, lambda: carried.append(True))
        heard = models.Overheard()
        with heard.telling():
            score = await self._run(task, model, heard)
        return score if carried or not advice else None

    async def _run(self, task: Task, model: "Model", heard: "models.Overheard") -> float | None:
        """The score of a run, whose calls are booked whatever comes of it: one that raised has made one at least."""
        wiring = self._agent.wiring
        guard = wiring.guard

        def overheard(one: "Model") -> "Model":
            return models.OverheardModel(one if guard is None else guard(one), heard)

        agent = self._agent.rewired(replace(wiring, guard=overheard))
        used = None
        try:
            result = await agent.run(task, model=model, evaluator=self.judge(task))
            used = result.usage
        finally:
            self.spent = self.spent + (used or TokenUsage(requests=max(1, heard.calls)))
        return result.score

    def _advice(self, cards: Sequence[MemoryCard]) -> Advice | None:
        """The advice of these cards; `None` where it can't be made of all of them."""
        recalled = [_recalled(card) for card in cards]
        advice = self._compiler.compile(recalled)
        notes = sum(not one.injection.rule for one in recalled)
        return advice if sum(not one.rule for one in advice.injections) == notes else None


def agent_attempt(
    agent: Agent,
    evaluator: EvaluatorLike | None = None,
    *,
    evaluator_of: Callable[[Task], Evaluator | None] | None = None,
    compiler: PromptCompiler | None = None,
    setup: str = "",
    judged: bool | None = None,
    seed: int = 0,
) -> AgentAttempt:
    """Attempts through the agent's own architecture and evaluator, with nothing recalled and nothing learned.

    Of an architecture that keeps lessons, such as `Reflexion`, its base makes one attempt, and its compiler the advice.

    Args:
        agent: Whose attempts they are. Its watchers, budget and tools apply.
        evaluator: Judges; by default what judges the agent's own runs.
        evaluator_of: Gives the evaluator of a task, or `None` for the other one.
        compiler: Makes advice of the cards; by default the architecture's.
        setup: Names what scores depend on besides instructions, architecture, model, layout and evaluator: sampling
            settings, tools, their version, the data behind them. Attempts of another setup aren't reused, and those of
            the same one only for hours: see `SAME_TIME` of `wisen.replay.log`.
        judged: Whether a model's opinion gives the scores, which the evidence then says; by default, whether
            `evaluator` calls models.
        seed: From where the repetitions' seeds count; the first has none of its own if it is 0.

    Raises `ConfigError` where the agent's memory can't be taken off.
    """
    return AgentAttempt(
        agent, evaluator, evaluator_of=evaluator_of, compiler=compiler, setup=setup, judged=judged, seed=seed
    )


def not_made(error: Exception) -> bool:
    """Whether it kept an attempt from being made, and so says nothing of the cards: no model or no worker was there."""
    return models.ends_run(error) or isinstance(error, QueueError)


def placebo(card: MemoryCard, task: Task) -> MemoryCard:
    """An empty lesson as long as the card.

    Where answers are free, a model repeats the answer of an empty turn: there even an episode's placebo is a note.
    """
    if card.is_episode and task.choices:
        situation = replace(card.situation, prompt=filler(len(card.situation.prompt)))
        return replace(card, situation=situation, content=FILLER_ANSWER, id=f"{PLACEBO}{card.id}")
    text = filler(len(card.text) + (len(card.situation.prompt) if card.is_episode else 0))
    bare = replace(card, kind=MemoryKind.LESSON, content=text, pattern="", strategy="", steps=())
    return replace(bare, id=f"{PLACEBO}{card.id}")


def as_rule(card: MemoryCard) -> MemoryCard:
    """The card as an `Attempt` is to show it as a standing rule."""
    return replace(card, id=f"{RULE}{card.id}")


def as_stored(card: MemoryCard) -> MemoryCard:
    """The card of the store that an `Attempt` is given, or given as a rule."""
    return replace(card, id=card.id.removeprefix(RULE))


def _recalled(card: MemoryCard) -> Recalled:
    stored = as_stored(card)
    why, rule = ("replay test",), int(stored.id != card.id)
    injection = Injection(card_id=stored.id, kind=card.kind.value, reasons=why, score=1.0, rule=rule)
    return Recalled(card=stored, injection=injection)
