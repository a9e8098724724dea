"""What a check has rejected: named to the next attempt, unless a constraint keeps it away, or the options say no."""

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from wisen import Agent, LearningOptions, ReflectionPattern, Reflexion, ScriptedModel, Task
from wisen.models.local import LocalModel

pytestmark = pytest.mark.anyio


def is_forty_two(output: str) -> bool:
    return output == "42"


class Constrained(LocalModel):
    """A model that can be held to some answers, without its weights."""

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self.script = ScriptedModel(answers)
        self.told: list[tuple[str, object]] = []

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        response = await self.script.request(messages, model_settings, model_request_parameters)
        self.told.append((self.script.calls[-1].system, dict(model_settings or {}).get("local_choices")))
        return response


@pytest.mark.parametrize(("choices", "named"), [(("40", "42"), False), ((), True)])
async def test_a_model_that_is_held_to_the_open_choices_is_not_told_the_rejected_one(
    choices: tuple[str, ...], named: bool
) -> None:
    model = Constrained("40", "Think.", "42")
    agent = Agent(model=model, architecture=Reflexion(), evaluator=is_forty_two)
    await agent.run(Task(prompt="Count.", choices=choices))
    system, held_to = model.told[2]
    assert ("40" in system, held_to) == (named, ("42",) if choices else None)


@pytest.mark.parametrize(
    ("choices", "exclude", "named"), [((), True, True), (("40", "42"), True, True), ((), False, False)]
)
async def test_a_rejected_answer_is_named_unless_the_options_say_no(
    choices: tuple[str, ...], exclude: bool, named: bool
) -> None:
    model = ScriptedModel(["40", "Think.", "42"])
    learner = Reflexion(options=LearningOptions(exclude_rejected=exclude))
    agent = Agent(model=model, architecture=learner, evaluator=is_forty_two)
    await agent.run(Task(prompt="Count.", choices=choices))
    assert ("40" in model.calls[2].system) is named


@pytest.mark.parametrize("exclude", [True, False])
async def test_so_is_one_that_its_base_has_rejected(exclude: bool) -> None:
    model = ScriptedModel(["39", "40", "Think.", "42"])
    base = ReflectionPattern(evaluator=is_forty_two, max_iterations=1, revision_strategy="full_rewrite")
    learner = Reflexion(base=base, options=LearningOptions(exclude_rejected=exclude))
    await Agent(model=model, architecture=learner, evaluator=is_forty_two).run("Count.")
    assert ("39" in model.calls[-1].system) is exclude
