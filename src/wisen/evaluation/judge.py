"""Asks a model how good an output is, when no check can tell."""

from typing import TYPE_CHECKING

from wisen import models
from wisen.errors import ConfigError, EvaluationError
from wisen.evaluation.judge_model import AsksModel
from wisen.evaluation.quoting import to_grade
from wisen.records import ReflectionEvaluation, Task, Trace
from wisen.replies.remarks import remarks_in
from wisen.replies.score import score_in
from wisen.trace_text import account_of

if TYPE_CHECKING:
    from pydantic_ai.models import Model

DEFAULT_EVALUATOR_PROMPT = """\
You grade how well an agent's output does the task it was given.

Grade on a scale from 0.0 to 1.0, and use all of it:
- 1.0: everything that was asked is there, and nothing is wrong
- 0.7 to 0.9: right in what matters; small things are missing or wrong
- 0.4 to 0.6: partly right; something important is missing or wrong
- 0.0 to 0.3: wrong, empty, or beside the point

Begin your reply with one line of exactly this form:
score: <number from 0 to 1>

On the lines after it say in a few words why, one shortcoming per line. Nothing may come before the score line: a
program reads it."""
"""The judge's default system prompt."""


class JudgeEvaluator(AsksModel):
    """Lets a model score the output, and reads the score from its reply.

    The model sees the task, the output, and a bounded account of the agent's tool calls and their results.

    An unreadable reply gets one request to repair it; a second one is an `EvaluationError`, so the score is unknown.
    `ModelError` and `BudgetExceededError` pass through. The result is a model's opinion, so it isn't `verifiable`.

    Args:
        model: A pydantic-ai model or a name; `None` is the run's own model, or outside a run the default one.
        prompt: The system prompt; it should ask for a line `score: <number>`.
        name: The judge's name, as kept in evaluations.
        threshold: The score from which an output counts as satisfactory.
    """

    def __init__(
        self,
        *,
        model: "Model | str | None" = None,
        prompt: str | None = None,
        name: str = "judge",
        threshold: float = 0.8,
    ) -> None:
        if not 0.0 <= threshold <= 1.0:
            msg = f"JudgeEvaluator(threshold={threshold!r}): must be in [0, 1]"
            raise ConfigError(msg)
        self.model = model
        self.prompt = DEFAULT_EVALUATOR_PROMPT if prompt is None else prompt
        self.threshold = threshold
        self._name = name

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._name

    async def evaluate(self, task: Task, output: str, trace: Trace) -> ReflectionEvaluation:
        """Ask for a score, at most twice."""
        model = self.asked_model()
        prompt = to_grade(task.prompt, output, "Grade the output.", account=account_of(trace))
        reply = await models.ask(model, system=self.prompt, prompt=prompt.text)
        score = score_in(reply)
        if score is None:
            again = prompt.again(
                reply,
                problem="No score could be read in your first reply",
                wanted="The first line has to be `score: ` and one number from 0 to 1, nothing else.",
            )
            reply = await models.ask(model, system=self.prompt, prompt=again)
            score = score_in(reply)
        if score is None:
            msg = f"evaluator {self._name!r}: no score in [0, 1] could be read in two replies; see its prompt"
            raise EvaluationError(msg)
        return ReflectionEvaluation(
            overall_score=score,
            satisfactory=score >= self.threshold,
            issues=remarks_in(reply) if score < 1.0 else (),
            evaluator=self._name,
        )
