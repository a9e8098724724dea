"""Which calls are of one form."""

import pytest

from wisen.retroformer.shell_words import in_like_form


@pytest.mark.parametrize(
    ("one", "other", "like"),
    [
        ("pytest -q tests/a.py", "pytest tests/b.py::test_b", True),
        ("pytest -q tests/a.py", "pytest tests/b.rs", False),
        ("sh build.sh all", "cd app && sh build.sh all", True),
        ("make test", "make test DB=memory", True),
        ("make test", "make package", False),
        ("git commit -m a", "git status", False),
        ("cat notes.txt", "pytest notes.txt", False),
        ("", "make", False),
    ],
)
def test_files_of_one_kind_are_one_word_and_programs_are_not(one: str, other: str, *, like: bool) -> None:
    assert in_like_form(one, other) is like
    assert in_like_form(other, one) is like
