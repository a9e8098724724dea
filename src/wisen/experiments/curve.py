"""The learning curve of a stream: how often the first try was right, as it went on; for a terminal, and as SVG."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate, pairwise
from typing import Final

from wisen.experiments.charts import Axes, Series, chart, figure, legend

_LEVELS: Final = " ▁▂▃▄▅▆▇█"
_WIDTH, _HEIGHT, _GAP = 280, 180, 70


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
        curves: For each family the streams by name; a stream says of each task in order whether its first try was
            right.
    """
    width = _GAP + len(curves) * (_WIDTH + _GAP)
    panels = "".join(_panel(at, family, streams) for at, (family, streams) in enumerate(curves.items()))
    return figure(panels, size=(width, _HEIGHT + 2 * _GAP), title="Tasks right at the first try", background=True)


def _panel(at: int, family: str, streams: Mapping[str, Sequence[bool]]) -> str:
    tasks = max((len(right) for right in streams.values()), default=0)
    most = max((sum(right) for right in streams.values()), default=0)
    axes = Axes(
        width=_WIDTH,
        height=_HEIGHT,
        x=(0, max(tasks, 1)),
        y=(0, max(most, 1)),
        x_labels=((max(tasks, 1), f"{tasks} tasks"),),
        y_labels=((max(most, 1), str(most)), (0, "0")),
    )
    lines = [
        Series(name=f"{name}: {sum(right)}", points=[*enumerate((0, *accumulate(map(int, right))))] if tasks else [])
        for name, right in streams.items()
    ]
    title = f'<text x="0" y="-24" font-weight="bold">{escape(family)}: right at the first try, so far</text>'
    drawn = "\n".join((title, legend(lines, apart=110), chart(axes, lines)))
    return f'<g transform="translate({_GAP + at * (_WIDTH + _GAP)} {_GAP})">\n{drawn}\n</g>\n'
