"""The finer choices of a replay test."""

from dataclasses import dataclass
from typing import Literal

from wisen.errors import ConfigError
from wisen.replay.attempts import Condition
from wisen.replay.tested_card import Control


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """Finer choices of a replay test."""

    top_k: int = 5
    """How many cards an attempt is shown at most; what the agent uses."""
    neighbours: int = 3
    """How many solved neighbours are tried first."""
    repetitions: int = 1
    """How many attempts, each with another seed, a task's score averages over. A task still counts once."""
    nearest: int = 100
    """On how many related tasks a card is tested in each round, the most similar ones."""
    copies: int = 3
    """On how many of them at most that are near-copies of each other; together they count once."""
    tries: int = 3
    """"With the trial": how often a pair is made at most, each time with another seed, while it makes no difference."""
    rounds: int = 2
    """After a round that promoted cards, undecided ones are tested beside these, in so many rounds at most."""
    control: Control = "nothing"
    """What stands in the card's place on the side without: nothing, or an empty lesson of equal length."""
    order: Literal["in stages", "with the trial"] = "in stages"
    """"in stages": own task, neighbours, and card by card to its verdict. "with the trial": cluster by cluster the idea
    that promises most, those on trial first. Then the live trial's rule decides, on its runs and the replays together;
    no release is tested."""
    threshold: float = 0.8
    """Score in [0, 1] from which an attempt is good enough."""
    condition: Condition | None = None
    """Under what evidence is kept; by default, what the `Attempt` says."""

    @property
    def terms(self) -> str:
        """What tells pairs apart besides the condition."""
        return f"score {self.threshold:g} against {self.control}"

    def __post_init__(self) -> None:
        """Refuse what can't be meant with `ConfigError`."""
        for name in ("top_k", "neighbours", "repetitions", "nearest", "copies", "tries", "rounds"):
            least = 0 if name == "neighbours" else 1
            if getattr(self, name) < least:
                raise ConfigError(f"ReplayOptions({name}={getattr(self, name)!r}): must be {least} or more")
        if not 0.0 < self.threshold <= 1.0:
            raise ConfigError(f"ReplayOptions(threshold={self.threshold!r}): must be in (0, 1]")
