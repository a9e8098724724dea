"""What a task under the protocol is told at its beginning, and what its end says of the cards drawn for it."""

from collections.abc import Sequence
from datetime import datetime

from wisen.architectures.protocol import report_compiler
from wisen.architectures.turn import as_recalled, chain, hurts
from wisen.cards import MemoryCard, Situation
from wisen.events import CardMoved
from wisen.memory.compiler import OwnRun
from wisen.memory_ci.observed import observe
from wisen.memory_ci.pipeline import MemoryCI
from wisen.recall import CardFilter
from wisen.records import Advice, AttemptRecord, ReflectionEvaluation, RunRecord, Task


def situation_of(task: Task) -> Situation:
    """When what is learned of the task applies."""
    return Situation(prompt=task.prompt, task_type=task.type, tools=task.tools)


async def advice_for(
    ci: MemoryCI, task: Task, agent: str, *, run_id: str, model: str, told: Sequence[MemoryCard], last: int
) -> Advice:
    """The `last` reports that fit, beside `told`, what earlier tries of the same chain have reported.

    With the name of a `model`, what is recalled depends on the evidence for it; with "" it can't.
    """
    where = CardFilter(tenant=task.tenant, agent_role=agent, task_type=task.type, tools=task.tools)
    compiler = report_compiler()
    layout = compiler.layout
    drawn = await ci.recall(
        situation_of(task), where, run_id=run_id, k=last + len(told), model=model or None, layout=layout
    )
    known = {card.id for card in told}
    others = [one for one in drawn if one.hit.card.id not in known][:last]
    harmful = {
        one.hit.card.id for one in others if model and hurts(one.hit.card, model=model, layout=layout, rule=ci.rule)
    }
    recalled = [as_recalled(one, barred="hurts (evidence)" if one.hit.card.id in harmful else "") for one in others]
    return compiler.compile(recalled, own=OwnRun(lessons=chain(told)))


async def weigh(
    ci: MemoryCI,
    task: Task,
    advice: Advice,
    evaluation: ReflectionEvaluation,
    *,
    run_id: str,
    model: str,
    at: datetime,
) -> Sequence[CardMoved]:
    """Count how a first try came out on the cards that were drawn for it; says which of them has moved.

    Raises what the store raises.
    """
    first = AttemptRecord(attempt=1, output="", evaluation=evaluation, injections=advice.injections)
    record = RunRecord(run_id=run_id, task=task, model=model, attempts=(first,))
    return await observe(ci, record, layout=report_compiler().layout, at=at)
