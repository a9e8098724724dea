"""Give memory to an agent of your own, whatever it is made with: run me with `python examples/wrap_your_agent.py`.

The "agent" here is a plain async function. It takes the model that wisen lends it, so the lessons reach its calls; a
real one would be your LangGraph, CrewAI or home-made loop. The scripted model stands for a provider, so that this file
runs anywhere.
"""

import asyncio
import tempfile
from pathlib import Path

from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters

from wisen import Agent, Reflexion, ScriptedModel, SQLiteVectorStore


async def my_agent(prompt: str, *, model: Model) -> str:
    """Two model calls: a plan, and an answer that follows it."""
    plan = await say(model, f"Plan in one line: {prompt}")
    return await say(model, f"Follow this plan: {plan}\n\nTask: {prompt}")


async def say(model: Model, text: str) -> str:
    """One bare model call."""
    response = await model.request([ModelRequest(parts=[UserPromptPart(text)])], None, ModelRequestParameters())
    return response.text or ""


def has_units(output: str) -> tuple[bool, str]:
    """Accept answers that name their unit."""
    return "km" in output, "the distance has no unit"


async def main() -> None:
    """Run twice on one store; the second run is shown what the first one learned."""
    with tempfile.TemporaryDirectory() as folder:
        async with SQLiteVectorStore(Path(folder) / "lessons.db") as store:
            first = ScriptedModel(["look it up", "291", "Always state the unit of a distance.", "look it up", "291 km"])
            learner = Reflexion(base=my_agent, lesson_store=store)
            result = await Agent(model=first, architecture=learner, evaluator=has_units).run(
                "How far is it from A to B?"
            )
            print(result.output, "after", len(result.attempts), "attempts")

            second = ScriptedModel(["look it up", "105 km"])
            result = await Agent(model=second, architecture=learner, evaluator=has_units).run(
                "How far is it from A to C?"
            )
            print(result.output, "after", len(result.attempts), "attempt; shown:")
            for card in result.attempts[0].injections:
                print(
                    " -",
                    card.kind,
                    "because of",
                    "; ".join(card.reasons),
                    "" if card.shown else "(held out by the trial)",
                )


if __name__ == "__main__":
    asyncio.run(main())
