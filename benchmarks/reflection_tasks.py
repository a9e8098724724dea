"""Makes short writing tasks whose constraints functions can check: material for benchmarks/reflection_quality.py."""

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wisen.evaluation.criteria import QualityCriterion
from wisen.records import Task

_TOPICS = (
    ("a rainy morning", "umbrella", "wet"),
    ("a bakery", "bread", "delicious"),
    ("a night train", "window", "dark"),
    ("a public library", "book", "quiet"),
    ("a mountain lake", "water", "beautiful"),
    ("a bicycle shop", "wheel", "fast"),
    ("a lighthouse", "sea", "tall"),
    ("a school garden", "soil", "green"),
    ("a street market", "fruit", "busy"),
    ("a winter evening", "snow", "cold"),
    ("a small museum", "painting", "old"),
    ("a bus stop", "people", "late"),
)
"""What is written about, a word to use, and an obvious one to avoid."""
_NAMES = ("Anna", "Omar", "Lena", "David", "Maria", "Tom")
_DAYS = ("Monday", "Tuesday", "Thursday", "Friday", "Sunday")
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_ITEM = re.compile(r"^\s*(\d+)[.)]\s+(.*\S)", re.MULTILINE)
_FENCE = re.compile(r"^```[a-z]*\n|\n?```$")

Verdict = tuple[bool, str]


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """Something that a task asks for, in words and as a function that gives a reason where it is missed."""

    name: str
    asks: str
    check: Callable[[str], Verdict]


@dataclass(frozen=True, kw_only=True)
class WritingTask:
    """A task and what its outputs are judged by."""

    kind: str
    task: Task
    criteria: tuple[QualityCriterion, ...]
    """One for each constraint, so that the score is the share of those that are kept."""


def writing_tasks(count: int, seed: int) -> list[WritingTask]:
    """So many tasks, of all kinds in turn; the same ones for the same seed."""
    rng = random.Random(seed)
    kinds: list[tuple[str, Callable[[random.Random], tuple[str, list[Constraint]]]]] = [
        ("sentence", _sentence),
        ("list", _numbered_list),
        ("JSON", _json_object),
        ("paragraph", _paragraph),
        ("note", _note),
        ("title", _title),
    ]
    made: list[WritingTask] = []
    while len(made) < count:
        kind, make = kinds[len(made) % len(kinds)]
        head, constraints = make(rng)
        prompt = "\n".join([head, *(f"- {each.asks}" for each in constraints), "Reply with the text alone."])
        if all(prompt != one.task.prompt for one in made):
            criteria = tuple(_criterion(each) for each in constraints)
            made.append(WritingTask(kind=kind, task=Task(prompt=prompt, type="writing"), criteria=criteria))
    return made


def _criterion(constraint: Constraint) -> QualityCriterion:
    return QualityCriterion(
        name=constraint.name,
        description=constraint.asks,
        evaluator="function",
        evaluator_config={"function": constraint.check, "inline": True},
    )


def _sentence(rng: random.Random) -> tuple[str, list[Constraint]]:
    topic, word, avoided = rng.choice(_TOPICS)
    end, said = rng.choice((("?", "a question mark"), ("!", "an exclamation mark"), (".", "a full stop")))
    return f"Write one sentence about {topic}.", [
        _at_most(rng.choice((10, 12, 15))),
        _uses(word),
        _avoids(avoided),
        _ends_with(end, said),
    ]


def _numbered_list(rng: random.Random) -> tuple[str, list[Constraint]]:
    topic, word, _ = rng.choice(_TOPICS)
    return f"Write a numbered list of things that one sees in {topic}.", [
        _items(rng.choice((3, 4, 5, 6))),
        _short_items(rng.choice((3, 4, 5))),
        _uses(word),
        _only_items(),
    ]


def _json_object(rng: random.Random) -> tuple[str, list[Constraint]]:
    topic, word, _ = rng.choice(_TOPICS)
    keys = rng.sample(("title", "place", "mood", "weather", "season", "sound"), rng.choice((2, 3, 4)))
    return f"Describe {topic} as a JSON object.", [_is_json(), _has_keys(keys), _uses(word), _at_most(30)]


def _paragraph(rng: random.Random) -> tuple[str, list[Constraint]]:
    topic, word, avoided = rng.choice(_TOPICS)
    least = rng.choice((20, 30, 40))
    return f"Write a paragraph about {topic}.", [
        _at_least(least),
        _at_most(least + 20),
        _uses(word),
        _avoids(avoided),
        _no_digits(),
    ]


def _note(rng: random.Random) -> tuple[str, list[Constraint]]:
    topic, _, avoided = rng.choice(_TOPICS)
    to, sender = rng.sample(_NAMES, 2)
    return f"Write a short note to {to} that proposes to meet at {topic}.", [
        _begins_with(f"Dear {to},"),
        _uses(rng.choice(_DAYS)),
        _at_most(rng.choice((30, 40, 50))),
        _avoids(avoided),
        _ends_with(sender, f"the name {sender}"),
    ]


def _title(rng: random.Random) -> tuple[str, list[Constraint]]:
    topic, word, _ = rng.choice(_TOPICS)
    return f"Write a title for a story about {topic}.", [
        _at_most(rng.choice((4, 5, 6))),
        _uses(word),
        _one_line(),
        _lower_case() if rng.random() < 0.5 else _without(rng.choice(('"', ":", ",")), "title"),  # noqa: PLR2004
    ]


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _at_most(count: int) -> Constraint:
    def check(output: str) -> Verdict:
        found = len(_words(output))
        return found <= count, f"it has {found} words, but at most {count} are allowed: leave out {found - count}"

    return Constraint(name="at most", asks=f"Use at most {count} words.", check=check)


def _at_least(count: int) -> Constraint:
    def check(output: str) -> Verdict:
        found = len(_words(output))
        return found >= count, f"it has {found} words, but at least {count} are needed: add {count - found}"

    return Constraint(name="at least", asks=f"Use at least {count} words.", check=check)


def _uses(word: str) -> Constraint:
    def check(output: str) -> Verdict:
        return word.lower() in output.lower(), f'the word "{word}" is missing: use it'

    return Constraint(name="uses", asks=f'Use the word "{word}".', check=check)


def _avoids(word: str) -> Constraint:
    def check(output: str) -> Verdict:
        found = word.lower() in (one.lower() for one in _words(output))
        return not found, f'the word "{word}" occurs: leave it out, or say it in another way'

    return Constraint(name="avoids", asks=f'Do not use the word "{word}".', check=check)


def _begins_with(start: str) -> Constraint:
    def check(output: str) -> Verdict:
        return output.strip().startswith(start), f'it doesn\'t begin with "{start}"'

    return Constraint(name="begins", asks=f'Begin with "{start}".', check=check)


def _ends_with(end: str, said: str) -> Constraint:
    def check(output: str) -> Verdict:
        return output.strip().endswith(end), f"the very last thing in it isn't {said}"

    return Constraint(name="ends", asks=f"End with {said}.", check=check)


def _without(mark: str, what: str) -> Constraint:
    def check(output: str) -> Verdict:
        return mark not in output, f"there is a {mark} in the {what}: leave it out"

    return Constraint(name="without", asks=f"Do not use {mark} in the {what}.", check=check)


def _no_digits() -> Constraint:
    def check(output: str) -> Verdict:
        return not re.search(r"\d", output), "there are digits in it: write numbers as words"

    return Constraint(name="no digits", asks="Do not use digits.", check=check)


def _lower_case() -> Constraint:
    def check(output: str) -> Verdict:
        return output == output.lower(), "there are capital letters in it: use small letters alone"

    return Constraint(name="lower case", asks="Use small letters only.", check=check)


def _one_line() -> Constraint:
    def check(output: str) -> Verdict:
        found = len(output.strip().splitlines())
        return found == 1, f"it has {found} lines: write one line"

    return Constraint(name="one line", asks="Write one line.", check=check)


def _items(count: int) -> Constraint:
    def check(output: str) -> Verdict:
        found = [int(number) for number, _ in _ITEM.findall(output)]
        reason = f"it has {len(found)} numbered items; write exactly {count}, numbered from 1. to {count}."
        return found == list(range(1, count + 1)), reason

    return Constraint(name="items", asks=f"Write exactly {count} items.", check=check)


def _short_items(most: int) -> Constraint:
    def check(output: str) -> Verdict:
        items = [text for _, text in _ITEM.findall(output)]
        long = [number for number, text in enumerate(items, 1) if len(_words(text)) > most]
        if not items:
            return False, "there are no numbered items in it"
        return not long, f"items {', '.join(map(str, long))} have more than {most} words: shorten them"

    return Constraint(name="short items", asks=f"Write at most {most} words in each item.", check=check)


def _only_items() -> Constraint:
    def check(output: str) -> Verdict:
        lines = [line for line in output.splitlines() if line.strip()]
        others = sum(not _ITEM.match(line) for line in lines)
        return not others, f"{others} lines are no numbered items: leave them out"

    return Constraint(name="only items", asks="Write nothing but the items.", check=check)


def _object(output: str) -> object:
    try:
        return json.loads(_FENCE.sub("", output.strip()))
    except ValueError:
        return None


def _is_json() -> Constraint:
    def check(output: str) -> Verdict:
        return isinstance(_object(output), dict), "it can't be read as a JSON object"

    return Constraint(name="JSON", asks="It must be valid JSON.", check=check)


def _has_keys(keys: Sequence[str]) -> Constraint:
    named = ", ".join(f'"{key}"' for key in keys)

    def check(output: str) -> Verdict:
        found = _object(output)
        has = list(found) if isinstance(found, dict) else []
        missing = ", ".join(f'"{key}"' for key in keys if key not in has) or "none"
        return sorted(has) == sorted(keys), f"its keys must be exactly {named}; missing: {missing}"

    return Constraint(name="keys", asks=f"Its keys are exactly {named}.", check=check)
