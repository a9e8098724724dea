"""The learning curve of a stream: how often the first try was right, as it went on; for a terminal, and as SVG."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate, pairwise
from typing import Final

from wisen.experiments.charts import Axes, Series, chart, end_names, figure

_LEVELS: Final = " ▁▂▃▄▅▆▇█"
_WIDTH, _HEIGHT = 250, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 116, 44, 36
"""Around a panel: room for its numbers, its lines' names, its heading and its axis."""
_ROW: Final = 2


def sparkline(right: Sequence[bool], parts: int = 12) -> str:
    """One sign for each part of the stream: the higher, the more first tries were right; blank where none was."""
    parts = min(parts, len(right))
    cuts = [len(right) * part // parts for part in range(parts + 1)] if parts else []
    shares = [sum(right[a:b]) / (b - a) for a, b in pairwise(cuts)]
    return "".join(_LEVELS[-(-int(share * 1000) * (len(_LEVELS) - 1) // 1000)] for share in shares)


def curve_lines(curves: Mapping[str, Sequence[bool]]) -> list[str]:
    """A line for each stream, with its curve and how many first tries were right."""
    return [
        f"{name:>9} |{sparkline(right)}| {sum(right)} of {len(right)} right at the first try"
        for name, right in curves.items()
    ]


def svg(curves: Mapping[str, Mapping[str, Sequence[bool]]]) -> str:
    """A picture with a panel for each family: first tries that were right so far, a line for each stream.

    Args:
        curves: For each family the streams by name. A stream says, task by task, whether the first try was right. One
            whose name begins with "no " is drawn as the control.
    """
    wide, high = _LEFT + _WIDTH + _RIGHT, _TOP + _HEIGHT + _BOTTOM
    panels = "".join(
        _panel(at % _ROW * wide + _LEFT, at // _ROW * high + _TOP, family, streams)
        for at, (family, streams) in enumerate(curves.items())
    )
    size = (min(len(curves), _ROW) * wide, -(-len(curves) // _ROW) * high)
    totals = "; ".join(f"{family}: {_totals(streams)}" for family, streams in curves.items())
    return figure(panels, size=size, title=f"Tasks right at the first try, so far. {totals}", background=True)


def _totals(streams: Mapping[str, Sequence[bool]]) -> str:
    return ", ".join(f"{name} {sum(right)} of {len(right)}" for name, right in streams.items())


def _panel(left: int, top: int, family: str, streams: Mapping[str, Sequence[bool]]) -> str:
    tasks = max((len(right) for right in streams.values()), default=0)
    most = max((sum(right) for right in streams.values()), default=0)
    axes = Axes(
        width=_WIDTH,
        height=_HEIGHT,
        x=(0, max(tasks, 1)),
        y=(0, max(most, 1)),
        x_labels=((max(tasks, 1), f"{tasks} tasks"),),
        y_labels=[(height, str(height)) for height in sorted({0, most})],
    )
    lines = [
        Series(
            name=f"{name}: {sum(right)}",
            points=[*enumerate((0, *accumulate(map(int, right))))] if tasks else [],
            look=int(name.startswith("no ")),
        )
        for name, right in streams.items()
    ]
    heading = f'<text x="0" y="-18" font-weight="600">{escape(family)}: right at the first try, so far</text>'
    drawn = "\n".join((heading, chart(axes, lines), end_names(axes, lines)))
    return f'<g transform="translate({left} {top})">\n{drawn}\n</g>\n'
