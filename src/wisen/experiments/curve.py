"""The learning curve of a stream: how often the first try was right, as it went on; for a terminal, and as SVG."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate, pairwise
from typing import Final

_LEVELS: Final = " ▁▂▃▄▅▆▇█"
_WIDTH, _HEIGHT = 250, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 116, 44, 36
"""Around a panel: room for its numbers, its lines' names, its heading and its axis."""
_ROW: Final = 2
_NAME_HEIGHT: Final = 15
_STYLE: Final = """<style>
svg { --paper: #ffffff; --ink: #24292f; --faint: #6e7781; --with: #0a6e4f; --without: #b3400f; }
@media (prefers-color-scheme: dark) {
svg { --paper: #1e2129; --ink: #e6e8eb; --faint: #9aa4af; --with: #56cfa4; --without: #ff9d66; }
}
.paper { fill: var(--paper); } text { fill: var(--ink); } text.faint { fill: var(--faint); }
.axis { stroke: var(--faint); fill: none; } .line { fill: none; stroke-width: 2; }
.with.line { stroke: var(--with); } .without.line { stroke: var(--without); stroke-dasharray: 5 3; }
text.with { fill: var(--with); } text.without { fill: var(--without); }
</style>"""
"""The reader's colour scheme, and lines that are told apart without colours, too."""


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
    wide, high = _LEFT + _WIDTH + _RIGHT, _TOP + _HEIGHT + _BOTTOM
    panels = "".join(
        _panel(at % _ROW * wide + _LEFT, at // _ROW * high + _TOP, family, streams)
        for at, (family, streams) in enumerate(curves.items())
    )
    width, height = min(len(curves), _ROW) * wide, -(-len(curves) // _ROW) * high
    totals = "; ".join(f"{family}: {_totals(streams)}" for family, streams in curves.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="13">\n'
        f"<title>Tasks right at the first try, so far. {escape(totals)}</title>\n{_STYLE}\n"
        f'<rect class="paper" width="100%" height="100%" rx="8"/>\n{panels}</svg>\n'
    )


def _totals(streams: Mapping[str, Sequence[bool]]) -> str:
    return ", ".join(f"{name} {sum(right)} of {len(right)}" for name, right in streams.items())


def _panel(left: int, top: int, family: str, streams: Mapping[str, Sequence[bool]]) -> str:
    tasks = max((len(right) for right in streams.values()), default=0)
    most = max((sum(right) for right in streams.values()), default=0)
    lines = [
        f'<g transform="translate({left} {top})">',
        f'<text x="0" y="-18" font-weight="600">{escape(family)}: right at the first try, so far</text>',
        f'<path class="axis" d="M0 0V{_HEIGHT}H{_WIDTH}"/>',
        f'<text class="faint" x="-8" y="5" text-anchor="end">{most}</text>' if most else "",
        f'<text class="faint" x="-8" y="{_HEIGHT + 4}" text-anchor="end">0</text>',
        f'<text class="faint" x="{_WIDTH}" y="{_HEIGHT + 20}" text-anchor="end">{tasks} tasks</text>',
    ]
    heights = [_HEIGHT - _HEIGHT * sum(right) / max(most, 1) for right in streams.values()]
    for (name, right), named in zip(streams.items(), _apart(heights), strict=True):
        kind = "without" if name.startswith("no ") else "with"
        points = " ".join(
            f"{_WIDTH * done / max(tasks, 1):.1f},{_HEIGHT - _HEIGHT * sum_ / max(most, 1):.1f}"
            for done, sum_ in enumerate((0, *accumulate(map(int, right))))
        )
        lines += [
            f'<polyline class="{kind} line" points="{points}"/>' if tasks else "",
            f'<text class="{kind}" x="{_WIDTH + 8}" y="{named + 4:.1f}">{escape(name)}: {sum(right)}</text>',
        ]
    return "\n".join(filter(None, (*lines, "</g>\n")))


def _apart(heights: Sequence[float]) -> list[float]:
    """Where the lines' names stand: beside their ends, the upper ones higher where two ends meet."""
    placed = list(heights)
    below = float("inf")
    for at in sorted(range(len(heights)), key=lambda one: (-heights[one], one)):
        placed[at] = below = min(heights[at], below - _NAME_HEIGHT)
    return placed
