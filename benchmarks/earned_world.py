"""The world of earned_trust.py: a scripted agent that lessons make better or worse, its reflector and its evaluator.

The agent looks in its own prompt for wordings that this world knows. wisen knows none of them, and the evaluator sees
nothing but the output, which carries a check digit.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from earned_faults import Fault
from earned_material import Idea, Material
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart

from wisen.cards import MemoryCard, MemoryKind
from wisen.evaluation.function import FunctionEvaluator
from wisen.evaluation.judge import JudgeEvaluator
from wisen.models.scripted import Reply, ScriptedCall, ScriptedModel
from wisen.records import ReflectionEvaluation, Task, Trace

PLAIN = 0.35
_CHECK = 7
_LOWEST, _HIGHEST = 0.03, 0.97
_ANSWER = re.compile(r"case (\d+)-(\d|x)")


@dataclass(frozen=True, kw_only=True)
class Effects:
    """What it changes that an idea stands in the prompt: in points, or as log-odds of what it would do to 50 %.

    Of several, effects add up. With `worst`, a harmful one wins over whatever else is shown.
    """

    of: Mapping[Idea, float]
    base: float = PLAIN
    in_points: bool = True
    worst: bool = False

    def chance(self, shown: frozenset[Idea]) -> float:
        """How often the agent is right with these ideas in its prompt."""
        changes = [self.of[idea] for idea in shown if self.of.get(idea)]
        if not changes:
            return self.base
        if self.worst and min(changes) < 0:
            changes = [min(changes)]
        if self.in_points:
            return min(_HIGHEST, max(_LOWEST, self.base + sum(changes)))
        odds = math.log(self.base / (1 - self.base)) + sum(math.log((0.5 + one) / (0.5 - one)) for one in changes)
        return 1 / (1 + math.exp(-odds))


Write = Callable[[int, Random], Idea | None]
"""Which lesson a failed attempt at a situation leads to."""


def nothing(situation: int, draw: Random) -> Idea | None:
    """A reflector that has nothing to say."""
    del situation, draw


@dataclass(kw_only=True)
class World:
    """Everything outside wisen, for one process."""

    material: Material
    effects: Effects
    seed: str
    fault: Fault = field(default_factory=Fault)
    write: Write = nothing
    wording: int | None = None
    """Which wording lessons are written in; `None`: any."""
    tasks: int = 0
    """How many tasks of each situation there are before they come again, the same in all worlds; 0: no end of them."""
    situation: int = 0
    number: int = 0
    """Of the run."""
    attempts: int = 0
    """Of the run so far, over all tries of it."""
    right: bool | None = None
    """Whether the run's first attempt was right; `None` before it has answered."""

    def __post_init__(self) -> None:
        """Sort the wordings that matter by situation."""
        self._asked: dict[str, int] = {}
        self._wordings: dict[int, list[tuple[str, Idea]]] = {}
        for idea in self.effects.of:
            texts = self._wordings.setdefault(idea.situation, [])
            texts += [(text, idea) for text in self.material.wordings(idea)]

    def begin(self, number: int, situation: int) -> Task:
        """The next run's task."""
        self.number, self.situation, self.attempts, self.right = number, situation, 0, None
        task = Task(prompt=self.material.task(situation, self._again("task")))
        self._asked[task.prompt] = situation
        return task

    def luck(self, attempt: int = 1) -> float:
        """What decides an attempt; a run without memory has the same."""
        return self._draw(f"attempt {attempt}").random()

    def model(self, *, with_tools: bool = False) -> ScriptedModel:
        """The scripted agent; with tools, it calls both of them before it answers."""

        async def calls_first(messages: list[ModelMessage], call: ScriptedCall) -> Reply:
            if any(isinstance(part, ToolReturnPart) for message in messages for part in message.parts):
                return await self._reply(messages, call)
            return ModelResponse(parts=[ToolCallPart("open_ledger", {}), ToolCallPart("read_mail", {})])

        return ScriptedModel(calls_first if with_tools else self._reply)

    def judge(self) -> JudgeEvaluator:
        """A model that judges: it knows a right answer from a wrong one, and its word is an opinion."""

        def score(messages: list[ModelMessage], call: ScriptedCall) -> str:
            del messages
            (said,) = _ANSWER.findall(call.prompt)[-1:]
            return f"Score: {float(int(said[0]) % _CHECK == int(said[1]))}"

        return JudgeEvaluator(model=ScriptedModel(score))

    async def _reply(self, messages: list[ModelMessage], call: ScriptedCall) -> Reply:
        del messages
        self.attempts += 1
        asked, situation = call.system, self._asked.get(call.prompt, self.situation)  # a replay asks an earlier task
        shown = frozenset(idea for text, idea in self._wordings.get(situation, ()) if text in asked)
        good = self.luck(self.attempts) < self.effects.chance(shown)
        self.right = good if self.right is None else self.right
        caused = not good and bool(shown)
        await self.fault.strike(caused)
        case = self._again(f"answer {self.attempts}").randint(10_000, 99_999)
        digit = str(case % _CHECK if good else (case + 1) % _CHECK)
        if self.fault.silent(good=good, caused=caused, luck=self._draw(f"score {self.attempts}").random()):
            digit = "x"
        return f"It is settled as case {case}-{digit}."

    async def reflect(
        self, task: Task, output: str, evaluation: ReflectionEvaluation, trace: Trace
    ) -> Sequence[MemoryCard]:
        """See `Reflector.reflect`: a lesson in one of its wordings, or none."""
        del task, output, evaluation, trace
        draw = self._draw(f"lesson {self.attempts}")
        idea = self.write(self.situation, draw)
        if idea is None:
            return []
        texts = self.material.wordings(idea)
        text = draw.choice(texts) if self.wording is None else texts[self.wording]
        return [MemoryCard(kind=MemoryKind.LESSON, content=text)]

    def evaluator(self, *, verifiable: bool = True) -> FunctionEvaluator:
        """What judges outputs."""
        return FunctionEvaluator(check_digit, verifiable=verifiable, inline=True)

    def _again(self, what: str) -> Random:
        """The same in all worlds, for tasks that come again: what is embedded once is known."""
        if not self.tasks:
            return self._draw(what)
        return Random(f"{self.situation} {self.number % self.tasks} {what}")

    def _draw(self, what: str) -> Random:
        return Random(f"{self.seed} run {self.number} {what}")


async def open_ledger() -> str:
    """Look the case up in the ledger."""
    return "The ledger has an entry for it."


async def read_mail() -> str:
    """Read the customer's last mail."""
    return "The customer asks how it stands."


def check_digit(output: str) -> bool | None:
    """Whether the digit fits; `None`, which is no score, where there is none."""
    found = _ANSWER.search(output)
    if found is None or found[2] == "x":
        return None
    return int(found[1]) % _CHECK == int(found[2])
