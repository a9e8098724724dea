"""What a task under the protocol is told at its beginning, and what its end says of the ideas drawn for it.

It stands apart from `guard`, which keeps the protocol: advice is the trial's matter.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from wisen.account.already_told import told_by
from wisen.account.counts import Outcome
from wisen.account.draws import Draws
from wisen.advice.compiler import OwnRun
from wisen.cards import MemoryCard, Situation, circle_key
from wisen.memory_ci.pipeline import MemoryCI
from wisen.recall import CardFilter
from wisen.records import Advice, ReflectionEvaluation, Task
from wisen.reflexion.attempt_cards import chain
from wisen.report_protocol.protocol import report_compiler

_GOOD_FROM = 0.8
Now = Callable[[], datetime]


def situation_of(task: Task) -> Situation:
    """When what is learned of the task applies."""
    return Situation(prompt=task.prompt, task_type=task.type, tools=task.tools)


def draws_of(ci: MemoryCI, task: Task, agent: str, *, model: str, chain_id: str, nonce: str, now: Now) -> Draws:
    """The draws of one task; `model` is "" where nobody has said who works on it."""
    circle = circle_key(task.tenant, agent, task.owner)
    layout = report_compiler().layout
    return Draws(ci=ci, model=model, layout=layout, run_id=chain_id, nonce=nonce, now=now, circle=circle)


async def advice_for(
    draws: Draws, task: Task, agent: str, *, first: bool, told: Sequence[MemoryCard], last: int
) -> Advice:
    """The agent's standing rules and the `last` reports that fit, beside `told`, what earlier tries have reported.

    The `first` try of a chain draws, and that is written down.
    """
    where = CardFilter.of_task(task, agent_role=agent, circle=draws.circle)
    known = await told_by(draws.ci.store, {card.id for card in told})
    rules = await known.rules(draws, where)
    others = known.and_shown(one.injection for one in rules)
    found = await draws.ci.recall(situation_of(task), where, run_id=draws.run_id, k=last + len(others.cards))
    recalled = known.marked([*rules, *await others.drawn(draws, found, first=first)])
    advice = report_compiler().compile(recalled, own=OwnRun(lessons=chain(told)), most=last)
    return await draws.write(advice) if first else advice


def outcome_of(finished: str, evaluation: ReflectionEvaluation | None) -> Outcome:
    """What a task counts for: its score where it was judged, and else how it was finished."""
    if evaluation is None:
        return Outcome(good=finished == "success")
    score = evaluation.overall_score
    return Outcome(good=None if score is None else score >= _GOOD_FROM, judged=not evaluation.verifiable)
