"""Near-copies of tasks are one cluster, whatever came of them and in whatever order they come."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from replaying import prompt

from wisen import Task
from wisen.memory_ci.verdicts import Rule, replay_verdict
from wisen.replay.clusters import Clusters, Known, alike, fewest_clusters, marks_of, planned
from wisen.replay.log import Counts, Pair, Side, settled, task_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What does letter 3 to zone 2 cost?", "What does letter 11 to zone 4 cost?"),
        ("Refund order AB-1290 of yesterday, please.", "refund order XY-77 of yesterday please"),
        ("Route the ticket from Anna to the right desk.", "Route the ticket from Bertrand to the right desk."),
        ("Sort the list of ships by their age and name.", "By their age and name sort the list of ships."),
        (
            "Write a short note to the tenant about the broken lift today.",
            "Write a short note to the tenant about the lift.",
        ),
        ("明日の東京の天気を三行で教えてください", "明日の東京の天気を五行で教えてください"),
    ],
)
def test_tasks_that_differ_in_few_words_are_near_copies(one: str, other: str) -> None:
    assert alike(marks_of(one), marks_of(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What does letter 3 to zone 2 cost?", "When does the post office at zone 2 open?"),
        (prompt(1), prompt(2)),
        ("Schreibe einen Brief an den Kunden.", "Schreibe eine Mahnung an die Mieterin."),
        ("Refund the order.", "Refund the delivery fee."),
        ("明日の東京の天気を三行で教えてください", "この契約書の要点を三行で教えてください"),
    ],
)
def test_tasks_that_ask_for_something_else_are_not(one: str, other: str) -> None:
    assert not alike(marks_of(one), marks_of(other))


def test_what_others_join_is_one_cluster() -> None:
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    texts = [" ".join([*words, *(f"extra{chr(97 + n)}" for n in range(most))]) for most in range(0, 6, 2)]
    assert not alike(marks_of(texts[0]), marks_of(texts[2]))
    assert len(set(clusters(texts).values())) == 1
    assert len(set(clusters([texts[0], texts[2]]).values())) == 2


@given(st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6).map(" ".join), max_size=14), st.randoms())
def test_clusters_are_those_of_comparing_all_with_all_in_any_order(texts: list[str], random: Random) -> None:
    found = clusters(texts)
    shuffled = list(texts)
    random.shuffle(shuffled)
    assert clusters(shuffled) == found
    joined = {text: {text} for text in texts}
    for one in texts:
        for other in texts:
            if alike(marks_of(one), marks_of(other)) and joined[one] is not joined[other]:
                joined[one] |= joined[other]
                for text in joined[other]:
                    joined[text] = joined[one]
    assert {frozenset(group) for group in joined.values()} == {
        frozenset(text for text in texts if found[text] == name) for name in found.values()
    }


def test_a_cluster_that_was_bet_on_keeps_its_name_and_two_such_are_not_joined() -> None:
    letters = [f"What does letter {n} to zone 2 cost?" for n in range(3)]
    known = [Known(key=f"old {n}", cluster=f"mine {n}", marks=marks_of(letters[n])) for n in (1, 0)]
    found = Clusters.found({"new": Task(prompt=letters[2])}, known)
    assert found.of == {"new": "mine 1", "old 1": "mine 1", "old 0": "mine 0"}
    assert found.near("What does letter 9 to zone 7 cost?") == {"mine 0", "mine 1"}
    assert found.near("Where is the next letter box?") == frozenset()


def test_of_each_cluster_few_copies_are_planned_and_those_tried_count() -> None:
    tasks = [Task(prompt=f"What does letter {n} to zone 2 cost?") for n in range(5)]
    other = Task(prompt=prompt(1))
    found = Clusters.found({task_key(task): task for task in (*tasks, other)})

    def plan(tried: set[str]) -> list[tuple[Task, int]]:
        order = [tasks[0], other, *tasks[1:]]
        return [(one.task, one.of) for one in planned(order, task_key, found, copies=3, tried=tried)]

    assert plan(set()) == [(tasks[0], 3), (tasks[1], 3), (tasks[2], 3), (other, 1)]
    assert plan({task_key(tasks[3]), "elsewhere"}) == [(tasks[0], 3), (tasks[1], 3), (tasks[3], 3), (other, 1)]


@pytest.mark.parametrize(
    ("sides", "of", "expected"),
    [
        ("g", 1, "gained"),
        ("g", 3, None),
        ("gg", 3, "gained"),
        ("gt", 3, None),
        ("gtt", 3, "gained"),
        ("gtl", 3, "tie"),
        ("gll", 3, "lost"),
        ("ggl", 3, "gained"),
        ("ttt", 3, "tie"),
    ],
)
def test_a_cluster_counts_once_it_can_not_turn(sides: str, of: int, expected: Side | None) -> None:
    assert settled(pairs(sides, of=of)).get("c") == expected


def test_what_is_gained_stays_so_and_a_tie_may_change() -> None:
    later = pairs("lll", of=4, first=10)
    assert settled([*pairs("g", of=1), *later]) == {"c": "gained"}
    assert settled([*pairs("t", of=1), *later]) == {"c": "lost"}
    assert settled([*pairs("t", of=1), *pairs("g", of=1)]) == {"c": "gained"}, "a tie that was tried again"


def test_a_cluster_that_no_more_pairs_are_to_be_had_of_is_closed() -> None:
    closing = Pair(key="", side="tie", cluster="c", of=1)
    assert settled([*pairs("g", of=3), closing]) == {"c": "gained"}


def test_pairs_from_before_clusters_were_kept_count_once_where_their_tasks_are_known() -> None:
    old = [Pair(key=str(number), side="gained") for number in range(7)]
    assert Counts.of(settled(old).values()).gained == 7
    assert Counts.of(settled(old, {str(number): "c" for number in range(5)}).values()).gained == 3


def test_the_fewest_clusters_follow_from_the_rule() -> None:
    assert fewest_clusters(Rule()) == 7
    assert (replay_verdict(7, 0), replay_verdict(0, 7)) == ("helps", "hurts")
    assert replay_verdict(6, 0) == replay_verdict(0, 6) == "undecided"
    assert fewest_clusters(Rule(promote_at=100, archive_at=100)) == 9
    assert fewest_clusters(Rule(promote_at=100)) == 7


@pytest.mark.no_cover
@pytest.mark.parametrize("copies", [1, 3, 8])
def test_a_useless_card_that_changes_whole_clusters_is_seldom_promoted(copies: int) -> None:
    promoted = {
        together: sum(looked_at(Random(seed), copies, together=together) for seed in range(150))
        for together in (True, False)
    }
    assert promoted[True] <= 0.05 * 150
    assert copies == 1 or promoted[False] > 0.15 * 150, "which is what clusters are for"


def looked_at(random: Random, copies: int, *, together: bool) -> bool:
    """Whether a card that changes three clusters in ten, for better or worse, is ever said to help."""
    seen = list[Pair]()
    for cluster in range(40):
        side: Side = random.choices(("gained", "lost", "tie"), (15, 15, 70))[0]
        for copy in range(copies):
            name = str(cluster) if together else f"{cluster}/{copy}"
            seen.append(Pair(key=f"{cluster}/{copy}", side=side, cluster=name, of=copies if together else 1))
        counts = Counts.of(settled(seen).values())
        verdict = replay_verdict(counts.gained, counts.lost)
        if verdict != "undecided":
            return verdict == "helps"
    return False


def clusters(texts: list[str]) -> dict[str, str]:
    return dict(Clusters.found({text: Task(prompt=text) for text in texts}).of)


def pairs(sides: str, *, of: int, first: int = 0) -> list[Pair]:
    names: dict[str, Side] = {"g": "gained", "l": "lost", "t": "tie"}
    return [Pair(key=str(first + n), side=names[side], cluster="c", of=of) for n, side in enumerate(sides)]
