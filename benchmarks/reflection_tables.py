"""Turns what benchmarks/reflection_quality.py measured into tables."""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reflection_arms import (
    AS_WARM_CHAT,
    ITERATIONS,
    PERFECT,
    TEMPERATURE,
    VARIANTS,
    Loop,
    Outcome,
)
from reflection_calls import Cost
from reflection_judge import Consistency
from report import machine

from wisen.memory_ci.statistics import compare_pairs, wilson_interval

_SAME = 1e-9


@dataclass(frozen=True, kw_only=True)
class Arm:
    """What one way of spending tokens came to on one task."""

    score: float
    tokens: int


def markdown(results: Mapping[str, Any], command: str, seconds: float) -> str:
    """All tables."""
    outcomes: Sequence[Outcome] = results["outcomes"]
    judge: Mapping[str, Consistency] = results["judge"]
    machinery = machine()
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(one.kind for one in outcomes).items())
    setting = (
        f"{machinery['processor']}, {machinery['cores']} cores, {machinery['system']}, Python {machinery['python']}. "
        f'`LocalModel("smollm2", slots=1, context=2048)`, {len(outcomes)} tasks ({kinds}). '
        f"Command: `{command}`, {seconds / 60:.0f} minutes."
    )
    return "\n\n".join(
        [
            setting,
            _criteria(outcomes, judge),
            _arms(outcomes),
            _pairs(outcomes),
            _judge(judge),
            _calls(results["calls"], results["reflections"]),
        ]
    )


def _draft(one: Outcome) -> Arm:
    return Arm(score=one.draft_score, tokens=one.draft_tokens)


def _loop(one: Outcome) -> Arm:
    return _of_loop(one.loop)


def _variant(name: str) -> Callable[[Outcome], Arm]:
    return lambda one: _of_loop(one.variants[name])


def _of_loop(loop: Loop) -> Arm:
    return Arm(score=loop.final, tokens=loop.tokens)


def _drawn(allowed: Callable[[Outcome], int], *, best: bool) -> Callable[[Outcome], Arm]:
    """The draft and then draws, as many as fit into what is allowed; the best of them, or a perfect one or the last."""

    def arm(one: Outcome) -> Arm:
        scores, tokens = [one.draft_score], one.draft_tokens
        for draw in one.draws:
            if tokens + draw.tokens > allowed(one) or scores[-1] >= PERFECT:
                break
            scores.append(draw.score)
            tokens += draw.tokens
        return Arm(score=max(scores) if best else scores[-1], tokens=tokens)

    return arm


def _same_calls(one: Outcome) -> Arm:
    drawn = one.draws[: len(one.loop.scores) - 1]
    scores = [one.draft_score, *(draw.score for draw in drawn)]
    return Arm(score=max(scores), tokens=one.draft_tokens + sum(draw.tokens for draw in drawn))


_BEST_AS_CHAT = f"best of n, same tokens as the chat at {TEMPERATURE}"
_ARMS: Mapping[str, Callable[[Outcome], Arm]] = {
    "single draft": _draft,
    "ReflectionPattern": _loop,
    "blind retry, same tokens": _drawn(lambda one: one.loop.tokens, best=False),
    "best of n, same tokens": _drawn(lambda one: one.loop.tokens, best=True),
    "best of n, same number of calls": _same_calls,
    AS_WARM_CHAT: _variant(AS_WARM_CHAT),
    _BEST_AS_CHAT: _drawn(lambda one: one.variants[AS_WARM_CHAT].tokens, best=True),
}
_COMPARED = (
    ("ReflectionPattern", "blind retry, same tokens"),
    ("ReflectionPattern", "best of n, same tokens"),
    ("ReflectionPattern", "best of n, same number of calls"),
    (AS_WARM_CHAT, "ReflectionPattern"),
    (AS_WARM_CHAT, _BEST_AS_CHAT),
)


def _open(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [one for one in outcomes if one.draft_score < PERFECT]


def _arms(outcomes: Sequence[Outcome]) -> str:
    left = _open(outcomes)
    rows: list[list[str]] = []
    for name, arm in _ARMS.items():
        got = [arm(one) for one in left]
        better = sum(made.score > one.draft_score + _SAME for made, one in zip(got, left, strict=True))
        worse = sum(made.score < one.draft_score - _SAME for made, one in zip(got, left, strict=True))
        rows.append(
            [
                name,
                f"{statistics.mean(made.score for made in got):.3f}",
                f"{sum(made.score >= PERFECT for made in got)}",
                f"{better}",
                f"{worse}",
                f"{statistics.mean(made.tokens for made in got):,.0f}",
            ]
        )
    head = ("arm", "mean score", "perfect", "higher than the draft", "lower", "tokens a task")
    return f"**Arms, on the {len(left)} tasks whose first draft isn't perfect**\n\n{_table(head, rows)}"


def _pairs(outcomes: Sequence[Outcome]) -> str:
    left = _open(outcomes)
    rows: list[list[str]] = []
    for name, control in _COMPARED:
        got = [(_ARMS[name](one).score, _ARMS[control](one).score) for one in left]
        scores = compare_pairs([a > b + _SAME for a, b in got], [b > a + _SAME for a, b in got])
        solved = compare_pairs([a >= PERFECT for a, _ in got], [b >= PERFECT for _, b in got])
        rows.append(
            [
                f"{name} against {control}",
                f"{scores.gained}, {len(got) - scores.gained - scores.lost}, {scores.lost}",
                f"{scores.p_value:.2g}",
                f"{solved.gained}, {solved.lost}",
            ]
        )
    head = ("compared", "score higher, equal, lower", "p", "perfect: gained, lost")
    return f"**Paired, on the same {len(left)} tasks**\n\n{_table(head, rows)}"


def _criteria(outcomes: Sequence[Outcome], judge: Mapping[str, Consistency]) -> str:
    left = _open(outcomes)
    rows = [
        *_of_improvement(outcomes, left),
        _row("evaluation consistency: model judge, two scores of the same output within 0.1", *_close(judge["cold"])),
        _row(f"the same at a temperature of {TEMPERATURE}", *_close(judge["warm"])),
    ]
    head = ("criterion, of all runs", "goal", "measured", "95 % interval")
    return f"**Success criteria**\n\n{_table(head, rows)}"


def _close(found: Consistency) -> tuple[int, int, float]:
    return found.close, found.pairs, 1.0


def _of_improvement(outcomes: Sequence[Outcome], left: Sequence[Outcome]) -> Iterable[list[str]]:
    better = sum(one.loop.final > one.draft_score + _SAME for one in outcomes)
    yield _row("quality improvement: higher than the draft", better, len(outcomes), 0.8)
    kept = sum(one.loop.final >= one.draft_score - _SAME for one in outcomes)
    yield _row("not lower than the draft", kept, len(outcomes), 1.0)
    met = sum(one.loop.met_at is not None for one in outcomes)
    yield _row(f"convergence: all constraints kept within {ITERATIONS} iterations", met, len(outcomes), 0.7)
    resolved, found = _resolved([one.loop for one in left])
    yield _row("issue resolution: a version's issues gone in its revision", resolved, found, 0.85)
    tried = {name: _resolved([one.variants[name] for one in left]) for name in VARIANTS}
    best = max(tried, key=lambda name: tried[name][0] / max(1, tried[name][1]))
    yield _row(f"the same, best of {len(tried)} other ways to ask: {best}", *tried[best], 0.85)
    stopped = sum(_appropriate(one) for one in outcomes)
    yield _row("efficient termination: ended appropriately", stopped, len(outcomes), 0.9)


def _resolved(loops: Sequence[Loop]) -> tuple[int, int]:
    """Of how many issues none was left, and how many there were."""
    return sum(loop.resolved for loop in loops), sum(loop.found for loop in loops)


def _appropriate(one: Outcome) -> bool:
    """Perfect; or out of iterations; or ended by a rule where the iterations left would have gained nothing."""
    if one.loop.reason == "quality_met":
        return one.loop.met_at == len(one.loop.scores) - 1
    if one.open_end is None:
        return one.loop.reason == "max_iterations"
    return one.open_end.final <= one.loop.final + _SAME


def _judge(judge: Mapping[str, Consistency]) -> str:
    rows = [
        [
            name,
            f"{found.readable}/{found.answers}",
            f"{found.close}/{found.pairs}",
            f"{found.perfect}/{found.readable}",
            "none: all alike" if found.correlation is None else f"{found.correlation:.2f}",
        ]
        for name, found in (("temperature 0", judge["cold"]), (f"temperature {TEMPERATURE}", judge["warm"]))
    ]
    head = (
        "two rounds at",
        "readable answers",
        "within 0.1",
        "full score",
        "correlation with the checks",
    )
    return f"**The model as judge of the first drafts, four writing criteria in one call**\n\n{_table(head, rows)}"


def _calls(calls: Mapping[str, Mapping[str, Cost]], reflections: int) -> str:
    rows: list[list[str]] = []
    for what, where, each in (
        (f"a run of {ITERATIONS} cycles, scripted, in words", "scripted", 1),
        ("a reflection, bundled model, in tokens", "local", reflections),
    ):
        both = calls[where]["one"], calls[where]["two"]
        counts = [[getattr(cost, name) / each for cost in both] for name in ("calls", "input", "output")]
        ratio = f"{both[0].total / both[1].total:.2f}"
        rows.append([what, *(", ".join(f"{count:,.0f}" for count in pair) for pair in counts), ratio])
    head = ("in one call, in two", "calls", "input", "output", "ratio of all")
    return f"**Evaluate and critique: in one call, and in two**\n\n{_table(head, rows)}"


def _row(name: str, count: int, of: int, goal: float) -> list[str]:
    low, high = wilson_interval(count, of)
    wanted = "all" if goal >= 1.0 else f"{goal:.0%}"
    return [name, wanted, _share(count, of), f"{low:.0%} to {high:.0%}"]


def _share(count: int, of: int) -> str:
    return f"{count}/{of} = {count / of:.0%}" if of else "none"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
