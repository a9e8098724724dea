import asyncio
import json
from collections.abc import Callable

import pytest
from reflecting import Scores

from wisen import (
    Agent,
    ReAct,
    ReflectionEvaluation,
    ReflectionPattern,
    SafeguardOptions,
    ScriptedModel,
    Task,
    Wrapped,
)
from wisen.errors import ConfigError

pytestmark = pytest.mark.anyio


async def test_history_is_that_of_the_last_run_or_of_the_one_given() -> None:
    pattern = ReflectionPattern(evaluator=Scores(0.9))
    with pytest.raises(ConfigError, match="no run"):
        pattern.get_history()
    agent = Agent(model=ScriptedModel(["a", "b"]), architecture=pattern)
    first, _ = await agent.run("Write."), await agent.run("Write.")
    assert pattern.get_best_version().output == "b"
    assert pattern.get_history(first).best_version.output == "a"
    assert pattern.get_history(first).total_iterations == 0


async def test_one_object_serves_concurrent_runs() -> None:
    async def base(prompt: str) -> str:
        await asyncio.sleep(0)
        return prompt.split("[end current", maxsplit=1)[0][-1:] + "!" if "current version" in prompt else prompt

    pattern = ReflectionPattern(base=Wrapped(base), evaluator=lambda output: output.endswith("!"))
    agent = Agent(model=ScriptedModel([]), architecture=pattern)
    runs = await asyncio.gather(*(agent.run(f"Write {number}.") for number in range(20)))
    for number, run in enumerate(runs):
        assert run.reflection.history.versions[0].output == f"Write {number}."
        assert run.reflection.iterations_used == 1


async def test_execute_runs_an_agent_with_the_pattern() -> None:
    pattern = ReflectionPattern(evaluator=Scores(0.5, 0.9))
    model = ScriptedModel(["a", "b"])
    agent = Agent("Be short.", model=model)
    result = await pattern.execute(agent, "Write.")
    assert (result.best_output, result.success) == ("b", True)
    assert model.calls[1].system == "Be short."
    assert agent.architecture.name == "react"
    assert pattern.get_best_version().output == "b"


async def test_execute_keeps_the_agents_architecture_as_base() -> None:
    async def base(prompt: str) -> str:
        return prompt.upper()

    result = await ReflectionPattern(evaluator=Scores(0.9)).execute(Agent(architecture=base), "Write.")
    assert result.best_output == "WRITE."
    pattern = ReflectionPattern(evaluator=Scores(0.9))
    agent = Agent(model=ScriptedModel(["a"]), architecture=pattern)
    assert (await pattern.execute(agent, "Write.")).best_output == "a"


async def test_reflect_outside_of_a_run() -> None:
    answer = {"issues": ["dull"], "suggestions": [], "confidence": 0.5, "scores": {"wit": 0.25}}
    model = ScriptedModel([json.dumps(answer)] * 2)
    evaluation = await ReflectionPattern(reflection_model=model).reflect("Ha.", ["wit"], task="Be funny.")
    assert (evaluation.overall_score, evaluation.issues) == (0.25, ("dull",))
    assert "Be funny." in model.calls[0].prompt
    own = ReflectionPattern(quality_criteria=["wit"])
    assert (await own.reflect("Ha.", task=Task(prompt="Be funny."), model=model)).overall_score == 0.25
    assert (await ReflectionPattern(evaluator=str.isdigit).reflect("12")).satisfactory


async def test_revise_outside_of_a_run() -> None:
    evaluation = ReflectionEvaluation(overall_score=0.6, issues=("typo",))
    edits = json.dumps({"edits": [{"find": "teh", "replace": "the", "improves": "typo"}]})
    pattern = ReflectionPattern(revision_strategy="targeted_edit", reflection_model=ScriptedModel([edits]))
    assert await pattern.revise("teh end", evaluation) == "the end"
    model = ScriptedModel(["{}", "the end"])
    assert await pattern.revise("teh end", evaluation, task=Task(prompt="End it."), model=model) == "the end"
    assert "End it." in model.calls[1].prompt


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ReflectionPattern(max_iterations=0), "max_iterations"),
        (lambda: ReflectionPattern(quality_threshold=1.1), "quality_threshold"),
        (lambda: ReflectionPattern(revision_strategy="guess"), "revision_strategy"),  # pyright: ignore[reportArgumentType] - what a typo gives
        (lambda: ReflectionPattern(best_version_selection="worst"), "best_version_selection"),  # pyright: ignore[reportArgumentType] - as above
        (lambda: ReflectionPattern(evaluator=str.isdigit, quality_criteria=["wit"]), "in place of"),
        (lambda: ReflectionPattern(quality_criteria=[]), "at least one"),
        (lambda: SafeguardOptions(lowered_threshold=2), "lowered_threshold"),
        (lambda: SafeguardOptions(undercritical_after=0), "undercritical_after"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        make()


def test_declared_workers_are_those_of_the_base() -> None:
    assert ReflectionPattern().declared_workers() == {}
    assert ReflectionPattern(base=ReAct()).declared_workers() == {}
    assert (ReflectionPattern().threshold, ReflectionPattern().max_iterations) == (0.8, 3)
