"""When a loop that improves one output should end: pure functions over what its iterations gave.

They see the past only: scores in [0, 1] (`None` where unknown), outputs and issues, one per iteration, oldest first.
`converged` asks them in order; each can be asked alone.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import pairwise

from wisen.errors import ConfigError

_EPSILON = 1e-9
"""Differences of scores below it come from rounding."""
_SHARE_OF_BUDGET = 0.6
_LEAST_PATIENCE = 2
_WORD = re.compile(r"\w+")


class ConvergenceReason(StrEnum):
    """Why a loop ended."""

    QUALITY_MET = "quality_met"
    """The threshold was reached."""
    MAX_ITERATIONS = "max_iterations"
    PLATEAU = "plateau"
    """No gain at all for some iterations."""
    OSCILLATION = "oscillation"
    """Up and down without a trend."""
    DIMINISHING_RETURNS = "diminishing"
    """Gains, but too small ones."""
    USER_ACCEPTED = "user_accepted"
    """A callback accepted the output."""
    TOKEN_BUDGET = "token_budget"  # noqa: S105 - no password
    """A limit of the run's budget was reached."""
    SEMANTIC_STABILITY = "semantic_stability"
    """The output no longer changes, or an earlier one came back."""
    REPEATED_ISSUES = "repeated_issues"
    """The same issues are found again and again."""
    UNKNOWN_QUALITY = "unknown_quality"
    """The evaluator gave no score, so nothing can steer a further iteration."""
    INTERRUPTED = "interrupted"
    """A callback stopped the loop, or the run was cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvergenceOptions:
    """When `converged` ends a loop. `docs/measured/stopping.md` has the figures behind the defaults."""

    plateau_iterations: int | None = None
    """So many iterations in a row that don't improve on the best score end the loop. `None`: as many as the loop's
    budget suggests, see `patience`; 2 for loops of up to four versions."""
    improvement_threshold: float = 0.05
    """The least gain on the best score before that is an improvement. 0: any is. Smaller ones go on nevertheless as
    long as as much again would reach the threshold. Half of it, on average over `plateau_iterations`, is the least
    gain of them together."""
    pass_fail_iterations: int = 4
    """Stands in for a smaller `plateau_iterations` and `repeated_issues` while all scores are 0 or 1: such scores show
    no progress before the last step, so that they say little about what comes."""
    detect_oscillation: bool = True
    semantic_similarity: float | None = 0.98
    """From this share of equal words on, two outputs count as alike; 1: only if all are. `None`: outputs don't end a
    loop."""
    repeated_issues: int | None = 2
    """So many times in a row all issues must come back to end the loop. `None`: they don't end it."""
    unknown_iterations: int = 2
    """So many unknown scores in a row end the loop."""

    def __post_init__(self) -> None:
        """Refuse values out of range with `ConfigError`."""
        for name in ("plateau_iterations", "pass_fail_iterations", "repeated_issues", "unknown_iterations"):
            count: int | None = getattr(self, name)
            if count is not None and count < 1:
                raise ConfigError(f"ConvergenceOptions({name}={count!r}): must be 1 or more")
        for name in ("improvement_threshold", "semantic_similarity"):
            share: float | None = getattr(self, name)
            if share is not None and not 0.0 <= share <= 1.0:
                raise ConfigError(f"ConvergenceOptions({name}={share!r}): must be in [0, 1]")

    def patience(self, budget: int | None = None) -> int:
        """How many iterations without improvement a loop is granted that makes at most `budget`, its first included.

        `plateau_iterations` if that was given; else 60 % of the budget, rounded, and at least 2, also if the budget
        isn't known.
        """
        if self.plateau_iterations is not None:
            return self.plateau_iterations
        return max(_LEAST_PATIENCE, round(_SHARE_OF_BUDGET * (budget or 0)))


def converged(
    scores: Sequence[float | None],
    outputs: Sequence[str],
    issues: Sequence[Sequence[str]],
    options: ConvergenceOptions,
    *,
    threshold: float | None,
    goal: float | None = None,
    budget: int | None = None,
) -> ConvergenceReason | None:
    """Why the loop should end after its last iteration; `None` if it should go on.

    Outputs and issues may be empty if there are none to look at. They end a loop only if the score hasn't risen
    meanwhile: a small edit that helps isn't a standstill.

    Args:
        scores: Unknown ones (`None`) count as neither gain nor standstill.
        outputs: The text after each iteration.
        issues: The evaluator's complaints after each iteration.
        options: When to end.
        threshold: The last score that reaches it ends the loop. `None`: the caller decides that itself.
        goal: The score that the loop works towards, if the caller decides whether it has arrived.
        budget: How many iterations the loop may make in all, its first included. `None`: unknown. Decides how patient
            the options are where they leave it open; the caller ends the loop at it.
    """
    known = [score for score in scores if score is not None]
    last = scores[-1] if scores else None
    if threshold is not None and last is not None and last >= threshold - _EPSILON:
        return ConvergenceReason.QUALITY_MET
    if len(scores) >= options.unknown_iterations and not any(
        score is not None for score in scores[-options.unknown_iterations :]
    ):
        return ConvergenceReason.UNKNOWN_QUALITY
    own = replace(options, plateau_iterations=options.patience(budget))
    return _standstill(known, outputs, issues, own) or _no_progress(
        known, own, goal if threshold is None else threshold
    )


def _standstill(
    known: Sequence[float], outputs: Sequence[str], issues: Sequence[Sequence[str]], options: ConvergenceOptions
) -> ConvergenceReason | None:
    least = options.improvement_threshold
    if (
        options.semantic_similarity is not None
        and not _gained(known, 1, least)
        and semantic_stability(outputs, similarity=options.semantic_similarity, iterations=options.patience())
    ):
        return ConvergenceReason.SEMANTIC_STABILITY
    if options.repeated_issues is not None:
        times = _patience(known, options.repeated_issues, options)
        if not _gained(known, times, least) and repeated_issues(issues, times=times):
            return ConvergenceReason.REPEATED_ISSUES
    return None


def _no_progress(known: Sequence[float], options: ConvergenceOptions, goal: float | None) -> ConvergenceReason | None:
    least = options.improvement_threshold
    if options.detect_oscillation and oscillation(known, improvement=least):
        return ConvergenceReason.OSCILLATION
    iterations = _patience(known, options.patience(), options)
    if plateau(known, iterations=iterations):
        return ConvergenceReason.PLATEAU
    if diminishing_returns(known, iterations=iterations, improvement=least, goal=goal):
        return ConvergenceReason.DIMINISHING_RETURNS
    return None


def _patience(known: Sequence[float], iterations: int, options: ConvergenceOptions) -> int:
    return max(iterations, options.pass_fail_iterations) if pass_fail(known) else iterations


def _gain(known: Sequence[float], iterations: int) -> float:
    """What the last iterations added to the best score before them; without any before, 0 (nothing is known)."""
    if len(known) <= iterations:
        return 0.0
    return max(known[-iterations:]) - max(known[:-iterations])


def _gained(known: Sequence[float], iterations: int, least: float) -> bool:
    return _gain(known, iterations) >= max(least - _EPSILON, _EPSILON)


def pass_fail(scores: Sequence[float]) -> bool:
    """Whether the scores come from a check that only passes or fails, as far as can be seen: all are 0 or 1."""
    return all(score in (0.0, 1.0) for score in scores)


def plateau(scores: Sequence[float], *, iterations: int = 2) -> bool:
    """Whether none of the last `iterations` scores is above the best one before them."""
    return len(scores) > iterations and _gain(scores, iterations) <= _EPSILON


def diminishing_returns(
    scores: Sequence[float], *, iterations: int = 2, improvement: float = 0.05, goal: float | None = None
) -> bool:
    """Whether the last `iterations` scores gained something, but too little.

    That is: none of them gained `improvement` on the best before it, or all together less than half of that for each,
    so that one lucky score doesn't keep a long standstill going. Not so if as much again would reach `goal`: small
    steps are worth making while it is near.
    """
    gain = _gain(scores, iterations)
    if len(scores) <= iterations or gain <= _EPSILON:
        return False
    made = len(scores)
    one_did = any(_gained(scores[:end], 1, improvement) for end in range(made - iterations + 1, made + 1))
    if one_did and gain >= improvement * iterations / 2 - _EPSILON:
        return False
    best = max(scores)
    return goal is None or not best < goal - _EPSILON <= best + gain


def oscillation(scores: Sequence[float], *, improvement: float = 0.05, swings: int = 3) -> bool:
    """Whether the last `swings` changes alternate in direction and lead nowhere.

    Each must be at least `improvement`, since smaller ones are a plateau with noise. The best of the later half must
    not be that much above the best of the earlier half, since that is a trend.
    """
    recent = scores[-swings - 1 :]
    if len(recent) <= swings or swings < 2:  # noqa: PLR2004 - one change can't alternate
        return False
    changes = [after - before for before, after in pairwise(recent)]
    least = max(improvement, _EPSILON) - _EPSILON
    if any(abs(change) < least for change in changes):
        return False
    if any((one > 0) == (two > 0) for one, two in pairwise(changes)):
        return False
    half = math.ceil(len(recent) / 2)
    return max(recent[half:]) - max(recent[:half]) < least


def semantic_stability(outputs: Sequence[str], *, similarity: float = 0.98, iterations: int = 2) -> bool:
    """Whether the output no longer changes in a way that matters; told by its words, without a model.

    It doesn't if the last output has been there before, white space aside, even with others between: the loop then goes
    in circles. Nor does it if each of the last `iterations` outputs is like the one before it. One small change alone
    isn't enough: it may be half of a repair.
    """
    if not outputs:
        return False
    words = outputs[-1].split()
    if any(words == earlier.split() for earlier in outputs[:-1]):
        return True
    recent = outputs[-iterations - 1 :]
    return len(recent) > iterations and all(alike(before, after) >= similarity for before, after in pairwise(recent))


def alike(one: str, other: str) -> float:
    """The share of equal words in equal order, in [0, 1]; 1 if all are. White space doesn't count."""
    return _ratio(one.split(), other.split())


def _ratio(one: Sequence[str], other: Sequence[str]) -> float:
    total = len(one) + len(other)
    if not total:
        return 1.0
    # What long texts share at both ends is most of them after an edit, and is found in linear time.
    shortest = min(len(one), len(other))
    start = next((place for place in range(shortest) if one[place] != other[place]), shortest)
    rest = shortest - start
    end = next((place for place in range(rest) if one[-1 - place] != other[-1 - place]), rest)
    middle = SequenceMatcher(None, one[start : len(one) - end], other[start : len(other) - end])
    return 2 * (start + end + sum(block.size for block in middle.get_matching_blocks())) / total


def repeated_issues(issues: Sequence[Sequence[str]], *, times: int = 2, similarity: float = 0.9) -> bool:
    """Whether all issues of one iteration came back in each of the `times` iterations after it, the last included.

    Issues are compared by their words, whatever their case, order in the list and punctuation; words may differ a
    little, as `similarity` says. New issues beside the old ones change nothing.
    """
    recent = [[_WORD.findall(issue.casefold()) for issue in found] for found in issues[-times - 1 :]]
    if len(recent) <= times or not recent[0]:
        return False
    return all(
        any(issue == other or _ratio(issue, other) >= similarity for other in later)
        for issue in recent[0]
        for later in recent[1:]
    )
