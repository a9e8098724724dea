"""What a live trial keeps on a card: draws whose outcome isn't known yet, and counts of those that came in.

Nothing here decides. `memory_ci.trial` moves a trial from state to state, and `memory_ci.verdicts` reads its counts.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from wisen.records import NEVER

Family = Literal["", "examples"]
"""Examples are tried wherever an answer was accepted, and apart from all other ideas, whose bound they would spend."""
Cohort = tuple[Family, int]
"""A family, and which of its cohorts: see `memory_ci.sequence_numbers`."""
GRACE = timedelta(hours=24)
"""How long a draw waits for its outcome, unless its rule says otherwise."""
Stage = Literal["waiting", "on trial", "promoted", "recheck", "archived", "benched"]


REMEMBERED = 64
"""Draws of one idea that are remembered once their outcome has come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDraw:
    """That a run drew whether to show an idea. Its outcome isn't known yet."""

    id: str = ""
    """A nonce of this execution: an id of a run may come back, a nonce doesn't."""
    at: datetime = NEVER
    model: str = ""
    layout: str = ""
    shown: bool = True
    propensity: float = 1.0
    """The probability with which the idea was shown; 1 where nothing was held out, which is no evidence."""
    run_id: str = ""
    """By which a late outcome from outside finds the draw."""
    grace: timedelta | None = None
    """How long it may wait for its outcome, by the rule of the run that drew. Then it counts as not good. `None`, for
    `GRACE`, on draws of earlier versions."""
    unknown: bool = False
    """Whether the judge was down, so that the outcome may still come from outside: see `Trial.told_later`."""
    overtaken: bool = False
    """Whether the outcome of a later draw of the trial is known."""


def short_id(draw: str) -> str:
    """A draw's id as it is remembered once its outcome has come."""
    return draw[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawCounts:
    """What became of the runs that showed the idea with one probability, and held it out otherwise."""

    propensity: float = 0.5
    shown: int = 0
    shown_good: int = 0
    shown_unknown: int = 0
    """Of `shown`, those without a score; none of them is good."""
    held_out: int = 0
    held_out_good: int = 0
    held_out_unknown: int = 0
    """Of `held_out`, those without a score; none of them is good."""
    judged: int = 0
    """Of all these runs, those that a model's opinion decided. For reports: the coin doesn't depend on who judges."""

    @property
    def runs(self) -> int:
        """How many runs these are."""
        return self.shown + self.held_out

    @property
    def shown_bad(self) -> int:
        """Runs that showed the idea and weren't good."""
        return self.shown - self.shown_good

    @property
    def held_out_bad(self) -> int:
        """Runs that held the idea out and weren't good."""
        return self.held_out - self.held_out_good


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How far the trial of one idea has come, for one model and one layout of the prompt."""

    model: str = ""
    layout: str = ""
    number: int = 0
    """Which of its family's trials it is, in the order in which they began; 0 before it has begun."""
    family: Family = ""
    """Of which hypotheses it is one: false discoveries are bounded in each family by itself."""
    stage: Stage = "waiting"
    """"waiting" until the first run that may hold it out. "recheck": promoted once, and under suspicion."""
    first: int = 0
    """Deliveries without a hold-out before the trial began."""
    first_good: int = 0
    counts: tuple[DrawCounts, ...] = ()
    """The runs of this stage, one entry for each propensity."""
    before: tuple[DrawCounts, ...] = ()
    """The runs of earlier stages. They are kept for reports and ranking, and decide nothing any more."""
    expected: float = 0.0
    """Of a promoted idea: how often runs that show it are good, as known when it was promoted."""
    sagging: float = 0.0
    """Of a promoted idea: how far its last shown runs speak for a lower rate than `expected`, as a logarithm; 0 is not
    at all. It raises suspicion, and decides nothing.
    """
    harming: float = 0.0
    """Of a promoted idea: how far its last runs, shown and held out, speak for harm, as a logarithm. As `sagging`."""
    rechecks: int = 0
    """How often it was under suspicion."""
    told_later: bool = False
    """Whether an outcome that a judge had left unknown was told from outside. From then on, all such draws are open
    ones: else one could win by telling some sooner than others. Before, they aren't good, shown or held out."""
    rounds: int = 0
    """How often a person has put the idea on trial again. Each time is a hypothesis of its own, with a new number."""

    @property
    def runs(self) -> int:
        """How many runs of this stage may have held the idea out."""
        return sum(one.runs for one in self.counts)
