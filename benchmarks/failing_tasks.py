"""Tasks whose first attempt runs out of turns or raises, and a scripted model that does what it is told about them."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from pydantic_ai import ModelRetry
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart

from wisen import (
    Agent,
    InMemoryVectorStore,
    LearningOptions,
    MemoryCard,
    MemoryKind,
    ReAct,
    ReferenceEvaluator,
    Reflexion,
    ScriptedModel,
)
from wisen.models.scripted import Reply, ScriptedCall, ToolCall
from wisen.protocols import ModelBinder, Reflector
from wisen.records import AttemptRecord, ReflectionEvaluation, Task, Trace
from wisen.reflection.silent import NoReflection

Arm = Literal["lesson", "blind retry", "wrong lesson"]
ARMS: tuple[Arm, ...] = ("lesson", "blind retry", "wrong lesson")
MAX_TURNS = 4
_TOLD = re.compile(r"Call (\w+) with (\w+)=(\w+)")
_SIZES = ("10", "5", "20", "100")
_CURRENCIES = ("euro", "eur", "Euro", "EUR")
_UNITS = ("pounds", "stones", "ounces", "kilograms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One way to fail: a tool that works with one value of an argument only."""

    name: str
    fails_by: str
    tool: str
    argument: str
    values: tuple[str, ...]
    """The first is what a model tries that was told nothing; the last is the one that works."""
    asks: str

    @property
    def lesson(self) -> str:
        """What to do differently."""
        return f"Call {self.tool} with {self.argument}={self.values[-1]}."

    @property
    def wrong_lesson(self) -> str:
        """What doesn't help."""
        return f"Call {self.tool} with {self.argument}={self.values[1]}."


KINDS = (
    Kind(
        name="paging",
        fails_by="runs out of turns",
        tool="orders",
        argument="size",
        values=_SIZES,
        asks="How many orders has customer {name}? Answer with the number alone.",
    ),
    Kind(
        name="currency",
        fails_by="tool raises",
        tool="price",
        argument="currency",
        values=_CURRENCIES,
        asks="What does article {name} cost in euros? Answer with the number alone.",
    ),
    Kind(
        name="unit",
        fails_by="tool refuses past its retries",
        tool="weight",
        argument="unit",
        values=_UNITS,
        asks="How much does article {name} weigh? Answer with the number alone.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingTask:
    """A task, and how it fails."""

    kind: Kind
    task: Task
    tools: tuple[Any, ...]


def failing_tasks(each: int, seed: int = 1) -> list[FailingTask]:
    """So many tasks of each kind."""
    draws = Random(seed)
    return [_task(kind, number, draws.randint(41, 99)) for number in range(each) for kind in KINDS]


def _task(kind: Kind, number: int, answer: int) -> FailingTask:
    async def orders(customer: str, size: int, page: int = 1) -> str:
        """List a customer's orders.

        Args:
            customer: The customer's name.
            size: Orders on a page.
            page: Which page, from 1.
        """
        before = (page - 1) * size
        shown = max(min(size, answer - before), 0)
        more = f"; more on page {page + 1}" if before + shown < answer else f"; that is all: {answer} orders"
        return f"{customer}: orders {before + 1} to {before + shown}{more}"

    async def price(article: str, currency: str) -> str:
        """The price of an article in a currency."""
        if currency != _CURRENCIES[-1]:
            raise ValueError(f"no prices in {currency!r}; currencies are three capitals, such as EUR or USD")
        return f"{article}: {answer} {currency}"

    async def weight(article: str, unit: str) -> str:
        """The weight of an article in a unit."""
        if unit != _UNITS[-1]:
            raise ModelRetry(f"{unit!r} isn't a unit here; the scales show kilograms")
        return f"{article}: {answer} {unit}"

    tools = {"orders": orders, "price": price, "weight": weight}
    name = f"{kind.name[:1].upper()}{number + 100}"
    task = Task(prompt=kind.asks.format(name=name), id=name, type=kind.name, reference=str(answer))
    return FailingTask(kind=kind, task=task, tools=(tools[kind.tool],))


class Saying:
    """A reflector that always gives the same lesson."""

    def __init__(self, lesson: str) -> None:
        self._lesson = lesson

    def bound(self, bind: ModelBinder) -> "Saying":
        """Itself: it calls no model."""
        del bind
        return self

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> list[MemoryCard]:
        """The lesson."""
        del task, output, evaluation, trace
        return [MemoryCard(kind=MemoryKind.LESSON, content=self._lesson)]


def reflexion(one: FailingTask, arm: Arm, reflector: Reflector | None = None) -> Reflexion:
    """Two attempts at a task; `reflector` writes the lessons of the arm that has right ones, by default the model."""
    reflectors: dict[Arm, Reflector | None] = {
        "lesson": reflector,
        "blind retry": NoReflection(),
        "wrong lesson": Saying(one.kind.wrong_lesson),
    }
    return Reflexion(
        base=ReAct(max_turns=MAX_TURNS),
        max_attempts=2,
        threshold=1.0,
        evaluator=ReferenceEvaluator(),
        reflector=reflectors[arm],
        options=LearningOptions(exclude_rejected=False),
    )


async def attempts_at(
    one: FailingTask, arm: Arm, model: Any, reflector: Reflector | None = None
) -> tuple[AttemptRecord, ...]:
    """The attempts of a run under an arm, as its record keeps them, whether or not it came to an answer."""
    store = InMemoryVectorStore()
    agent = Agent(
        "Answer with the help of the tool.",
        model=model,
        tools=one.tools,
        architecture=reflexion(one, arm, reflector),
        memory=store,
    )
    with suppress(Exception):  # what the first attempt raised, where no attempt gave an answer
        await agent.run(one.task)
    (record,) = await store.runs()
    return record.attempts


def obedient_model(one: FailingTask, seed: int = 1) -> ScriptedModel:
    """A model that does what it is told, and guesses where it was told nothing and has failed before.

    As a reflector it reads what the failure says, and nothing else.
    """
    draws, chosen = Random(f"{seed} {one.task.id}"), list[str]()

    def reply(messages: list[ModelMessage], call: ScriptedCall) -> Reply:
        if "You write the lesson" in call.system:
            return _lesson_from(call.prompt)
        returned = _returned(messages)
        if not any(returned) and len(messages) == 1:
            told = _TOLD.search(call.system + call.prompt)
            guess = draws.choice(one.kind.values) if chosen else one.kind.values[0]
            chosen.append(told.group(3) if told else guess)
        return _next_step(one, chosen[-1], returned)

    return ScriptedModel(reply)


def _next_step(one: FailingTask, value: str, returned: Sequence[str]) -> Reply:
    number = re.search(r"(?:all: |: )(\d+)(?: orders| EUR| kilograms)", returned[-1]) if returned else None
    if number is not None:
        return number.group(1)
    name = one.task.id
    if one.kind.tool == "orders":
        return ToolCall("orders", customer=name, size=int(value), page=len(returned) + 1)
    return ToolCall(one.kind.tool, article=name, **{one.kind.argument: value})


def _lesson_from(prompt: str) -> str:
    """What the findings and the account of an attempt say to somebody who reads them."""
    if "max_turns" in prompt and "more on page" in prompt:
        return KINDS[0].lesson
    if "three capitals" in prompt:
        return KINDS[1].lesson
    if "the scales show kilograms" in prompt:
        return KINDS[2].lesson
    return "Try something else."


def _returned(messages: Sequence[ModelMessage]) -> list[str]:
    return [
        part.model_response_str()
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
