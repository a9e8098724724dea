"""How the figures of earned_trust.py are written."""

import math
import statistics
from collections.abc import Sequence

from wisen.memory_ci.statistics import wilson_interval


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table under a title."""
    lines = [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)]
    return "\n".join([f"**{title}**", "", *lines])


def share(value: float) -> str:
    """In percent."""
    return f"{value:.1%}"


def rate(hits: int, among: int) -> str:
    """A share with its 95 % interval."""
    if not among:
        return "-"
    low, high = wilson_interval(hits, among)
    return f"{hits / among:.1%} ({low:.1%} to {high:.1%})"


def median(values: Sequence[float]) -> str:
    """The median; "-" of nothing."""
    return f"{statistics.median(values):.0f}" if values else "-"


def quantiles(values: Sequence[float | None]) -> str:
    """Median, and the values that a tenth stays below and above; `None` is later than all others."""
    if not values:
        return "-"
    ordered = sorted(math.inf if value is None else value for value in values)
    low, middle, high = (ordered[len(ordered) * tenths // 10] for tenths in (1, 5, 9))
    said = ["more" if math.isinf(value) else f"{value:.0f}" for value in (low, middle, high)]
    return f"{said[1]} ({said[0]} to {said[2]})"
