"""How often replays promote a useless card where tasks are near-copies: each pair a bet, or each cluster of them.

A useless card changes a few clusters by chance, half of them for better and half for worse. Its effect on a cluster is
the same for all copies of it. Prints a table in Markdown: `python benchmarks/card_clusters.py`.
"""

import argparse
from collections.abc import Callable, Iterable
from random import Random

from wisen.memory_ci.verdicts import Rule, replay_verdict
from wisen.replay.log import Counts, Pair, Side, settled

RULE = Rule()
CLUSTERS = 60
COPIES = (1, 3, 10)
TOUCHED = 0.3
"""The share of clusters that a card changes at all."""
RATES = (0.35, 0.65)
"""Of a useful card: how often a task is solved without it and with it."""


def stream(random: Random, copies: int, effect: Callable[[], tuple[float, float]], most: int) -> Iterable[Pair]:
    """Pairs cluster by cluster, as a test buys them; `most` copies of each are planned."""
    for cluster in range(CLUSTERS):
        gained, lost = effect()
        for copy in range(min(copies, most)):
            drawn = random.random()
            side: Side = "gained" if drawn < gained else "lost" if drawn < gained + lost else "tie"
            yield Pair(key=f"{cluster}/{copy}", side=side, cluster=str(cluster), of=min(copies, most))


def promoted(pairs: Iterable[Pair], *, together: bool) -> tuple[bool, int]:
    """Whether the rule promotes the card, looking after each pair, and how many pairs that takes."""
    seen, sides = list[Pair](), dict[str, Side]()
    for pair in pairs:
        if together and sides.get(pair.cluster, "tie") != "tie":
            continue
        seen.append(pair)
        if together:
            sides = settled(seen)
        else:
            sides[pair.key] = pair.side
        counts = Counts.of(sides.values())
        verdict = replay_verdict(counts.gained, counts.lost, RULE)
        if verdict != "undecided":
            return verdict == "helps", len(seen)
    return False, len(seen)


def useless(random: Random) -> Callable[[], tuple[float, float]]:
    """The same side for all copies of a cluster."""

    def effect() -> tuple[float, float]:
        drawn = random.random()
        return (1.0, 0.0) if drawn < TOUCHED / 2 else (0.0, 1.0) if drawn < TOUCHED else (0.0, 0.0)

    return effect


def useful(_: Random) -> Callable[[], tuple[float, float]]:
    """Every task is solved at these rates, with luck of its own on both sides."""
    without, with_ = RATES
    return lambda: (with_ * (1 - without), without * (1 - with_))


def share(effect: Callable[[Random], Callable[[], tuple[float, float]]], copies: int, cards: int, **how: int) -> str:
    """The share promoted of so many cards, and the mean number of pairs."""
    random, found, pairs = Random(f"{copies}/{how}"), 0, 0
    for _ in range(cards):
        yes, cost = promoted(stream(random, copies, effect(random), how["most"]), together=bool(how["together"]))
        found, pairs = found + yes, pairs + cost
    return f"{100 * found / cards:.1f} % ({pairs / cards:.0f})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", type=int, default=2_000)
    cards: int = parser.parse_args().cards
    print(f"Promoted of {cards} cards, and mean pairs bought; {CLUSTERS} clusters, e ≥ {RULE.promote_at:g}.\n")
    print("| copies | useless, each pair bets | useless, each cluster | useful, each cluster |")
    print("|---|---|---|---|")
    for copies in COPIES:
        row = [
            share(effect, copies, cards, most=3 if together else copies, together=together)
            for effect, together in ((useless, 0), (useless, 1), (useful, 1))
        ]
        print(f"| {copies} | {' | '.join(row)} |")


if __name__ == "__main__":
    main()
