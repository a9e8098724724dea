"""Pictures as SVG, for files and for pages: line charts with axes, intervals and marks, and the labels of any drawing.

Colours and strokes are attributes, so that a file shows them anywhere. A file's own style and a page's style sheet set
others by class: `axis`, `label`, `mark`, and `series-1`, `band-1` and `dot-1` up to 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Told apart by readers who see colours otherwise (Okabe and Ito 2008)."""
_DASHES: Final = ("", "6 3", "2 3", "8 3 2 3")
"""And by those who see none."""
_NAME_HEIGHT: Final = 15
_STYLE: Final = """<style>
svg { --paper: #ffffff; --ink: #24292f; --faint: #6e7781; --one: #0067a5; --two: #b84a00; --three: #0a6e4f; }
@media (prefers-color-scheme: dark) {
svg { --paper: #1e2129; --ink: #e6e8eb; --faint: #9aa4af; --one: #6cb8ee; --two: #f0995a; --three: #56cfa4; }
}
.paper { fill: var(--paper); } text { fill: var(--ink); } text.label { fill: var(--faint); }
.axis, .mark { stroke: var(--faint); }
polyline.series-1 { stroke: var(--one); } text.series-1, .dot-1 { fill: var(--one); }
polyline.series-2 { stroke: var(--two); } text.series-2, .dot-2 { fill: var(--two); }
polyline.series-3 { stroke: var(--three); } text.series-3, .dot-3 { fill: var(--three); }
</style>
"""
"""A file's colours, by the reader's scheme; a page has a style sheet."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of a chart."""

    name: str
    points: Sequence[Point]
    """From left to right, in the units of the axes."""
    band: Sequence[tuple[float, float, float]] = ()
    """The intervals around it: x, the lower end and the upper one."""
    dots: bool = False
    """Whether each point is marked, as where there are few."""
    look: int | None = None
    """Which of the four colours and dashes it has, from 0; by default, its place among the chart's lines."""

    def number(self, place: int) -> int:
        """Its look, as the `place`-th line of a chart."""
        return (place if self.look is None else self.look) % len(COLOURS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """What a chart's sides stand for, and its size in pixels without labels."""

    width: int
    height: int
    x: tuple[float, float]
    y: tuple[float, float]
    x_labels: Sequence[tuple[float, str]] = ()
    y_labels: Sequence[tuple[float, str]] = ()
    marks: Sequence[tuple[float, str]] = ()
    """Heights with a dashed line across, and what they mean."""

    def at(self, point: Point) -> str:
        """Where a point is, kept within the chart."""
        x, y = self._place(point[0], self.x), 1.0 - self._place(point[1], self.y)
        return f"{x * self.width:.1f},{y * self.height:.1f}"

    @staticmethod
    def _place(value: float, ends: tuple[float, float]) -> float:
        low, high = ends
        return min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.0


def label(x: float, y: float, text: str, *, anchor: str = "start", look: int | None = None) -> str:
    """A line of text beside what is drawn; in the colour of a chart's line where it has its look."""
    shown, colour = ("label", "#444") if look is None else (f"series-{look + 1}", COLOURS[look])
    return f'<text class="{shown}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def chart(axes: Axes, lines: Sequence[Series]) -> str:
    """The chart as a group of SVG elements, whose origin is its upper left corner; labels stand outside of it."""
    drawn = [f'<path class="axis" d="M0 0V{axes.height}H{axes.width}" fill="none" stroke="#666"/>']
    for value, text in axes.marks:
        x, y = axes.at((axes.x[1], value)).split(",")
        drawn += [
            f'<path class="mark" d="M0 {y}H{x}" fill="none" stroke="#999" stroke-dasharray="4 4"/>',
            label(float(x) - 2, float(y) - 4, text, anchor="end"),
        ]
    for value, text in axes.y_labels:
        drawn.append(label(-6, float(axes.at((axes.x[0], value)).split(",")[1]) + 4, text, anchor="end"))
    for value, text in axes.x_labels:
        x = float(axes.at((value, axes.y[0])).split(",")[0])
        anchor = "start" if x < axes.width / 8 else "end" if x > axes.width * 7 / 8 else "middle"
        drawn.append(label(x, axes.height + 18, text, anchor=anchor))
    for place, line in enumerate(lines):
        drawn += _line(axes, line, line.number(place))
    return "\n".join(drawn)


def legend(lines: Sequence[Series], *, apart: int) -> str:
    """The lines' names beside each other above the chart, in their colours."""
    places = [(apart * place, -8.0) for place in range(len(lines))]
    return _names(lines, places)


def end_names(axes: Axes, lines: Sequence[Series]) -> str:
    """The lines' names beside their ends, in their colours; the upper ones higher where two ends meet."""
    ends = [float(axes.at(line.points[-1]).split(",")[1]) if line.points else float(axes.height) for line in lines]
    placed, below = list(ends), float("inf")
    for at in sorted(range(len(ends)), key=lambda one: (-ends[one], one)):
        placed[at] = below = min(ends[at], below - _NAME_HEIGHT)
    return _names(lines, [(axes.width + 8, height + 4) for height in placed])


def _names(lines: Sequence[Series], places: Sequence[Point]) -> str:
    numbers = [line.number(place) for place, line in enumerate(lines)]
    return "\n".join(
        f'<text class="series-{number + 1}" x="{x:g}" y="{y:.1f}"'
        f' fill="{COLOURS[number]}" stroke="none">{escape(line.name)}</text>'
        for line, number, (x, y) in zip(lines, numbers, places, strict=True)
    )


def figure(drawn: str, *, size: tuple[int, int], title: str, background: bool = False, described: str = "") -> str:
    """An SVG picture of this size, with its title for who can't see it; a file has a style and a `background`."""
    sheet = f'{_STYLE}<rect class="paper" width="100%" height="100%" rx="8" fill="white"/>\n' if background else ""
    said = f"<desc>{escape(described)}</desc>\n" if described else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="12">\n'
        f"<title>{escape(title)}</title>\n{said}{sheet}{drawn}</svg>\n"
    )


def _line(axes: Axes, line: Series, number: int) -> list[str]:
    colour, dash = COLOURS[number], f' stroke-dasharray="{_DASHES[number]}"' if _DASHES[number] else ""
    found: list[str] = []
    if line.band:
        round_it = [(x, high) for x, _, high in line.band] + [(x, low) for x, low, _ in reversed(line.band)]
        corners = " ".join(map(axes.at, round_it))
        found.append(f'<polygon class="band-{number + 1}" points="{corners}" fill="{colour}" fill-opacity="0.15"/>')
    if line.points:
        points = " ".join(map(axes.at, line.points))
        found.append(
            f'<polyline class="series-{number + 1}" points="{points}" fill="none" stroke="{colour}"'
            f' stroke-width="2"{dash}/>'
        )
    for point in line.points if line.dots else ():
        x, y = axes.at(point).split(",")
        found.append(f'<circle class="dot-{number + 1}" cx="{x}" cy="{y}" r="2.5" fill="{colour}"/>')
    return found
