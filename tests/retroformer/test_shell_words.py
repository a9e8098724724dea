"""What a command line runs, and which two are tries at the same thing."""

import pytest

from wisen.retroformer.shell_words import alike, program_of


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("pytest -q", "pytest"),
        ("cd src && CI=1 ./run.sh a | tail -3", "run.sh"),
        ("/usr/bin/make test; ", "make"),
        ("", ""),
        ("A=1", ""),
        ("a |", "a"),
    ],
)
def test_the_program_of_a_command(command: str, program: str) -> None:
    assert program_of(command) == program


@pytest.mark.parametrize(
    ("failed", "passed", "same"),
    [
        ("make a b", "make a c", True),
        ("make a b", "make c d", False),
        ("make a", "make b", False),
        ("make a b", "just a b", False),
        ("pytest -q", "uv run pytest -q", True),
        ("pytest", "python -m pytest", True),
        ("python run.py", "python3 run.py", True),
        ("python3.11 -m pip list", "/usr/bin/python3 -m pip list", True),
        ("git push", "git push --set-upstream origin main", True),
        ("git push", "git status", False),
        ("cat a.txt", "cat b.txt", False),
        ("base64 a", "base a b", True),
        ("7 a", "8 a", False),
    ],
)
def test_commands_are_alike_by_their_program_and_more_than_half_of_their_words(
    failed: str, passed: str, same: bool
) -> None:
    assert alike(failed, passed) is same


def test_a_tools_arguments_are_words() -> None:
    first = 'book {"seat": "1A", "class": "economy"}'
    assert alike(first, 'book {"class": "economy", "seat": "1B"}', "book")
    assert not alike(first, 'book {"train": "7", "on": "monday"}', "book")
