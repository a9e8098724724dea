"""What is hard to read is found where it stands, and what isn't prose is left alone."""

from pathlib import Path

import pytest
from readability import (
    NOT_USED,
    ROOT,
    Block,
    Page,
    blocks,
    docstrings,
    everything_in_files,
    help_pages,
    main,
    pages,
    problems,
    words_not_used,
)

LONG = "One " + "two " * 34 + "three."
"""36 words."""
AT_MOST = "One " + "two " * 33 + "three."


def said(markdown: str, average: int = 40) -> list[str]:
    page = Page(place="page.md", blocks=list(blocks(markdown)), average=average)
    return list(problems(page, words_not_used()))


def sentences(text: str) -> list[str]:
    return [str(sentence) for block in blocks(text) for sentence in block.sentences()]


def test_a_long_sentence_is_shown_with_the_line_on_which_it_begins() -> None:
    assert said(f"# A page\n\nIt begins\nwell. {LONG}\n") == [f"page.md:4: 36 words: {LONG}"]
    assert said(f"{AT_MOST}\n") == []


def test_a_sentence_over_several_lines_is_one() -> None:
    folded = LONG.replace("two two", "two\ntwo")
    assert said(f"- first\n- {folded}\n") == [f"page.md:2: 36 words: {LONG}"]


@pytest.mark.parametrize(
    "text",
    [
        "See `a. b. C` for it.",
        "It has 0.5 of 3.11, e.g. in docs/how-to/own-loop.md.",
        "Codex, Claude Code, etc. are there.",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_end_it(text: str) -> None:
    assert sentences(text) == [text]


def test_sentences_end_before_small_letters_brackets_and_code_too() -> None:
    text = "Run it. wisen keeps it. (So it does.) Then read `docs`. `make` explains itself! Is it so? It is."
    found = ["Run it.", "wisen keeps it.", "(So it does.)", "Then read `docs`.", "`make` explains itself!"]
    assert sentences(text) == [*found, "Is it so?", "It is."]


def test_code_is_one_word_and_no_sentence_of_ours() -> None:
    assert said(f"`{LONG} anew`\n\n```text\n{LONG} anew\n```\n\n    {LONG} anew\n") == []


def test_generated_tables_are_left_out_and_others_are_not() -> None:
    table = f"| a |\n|---|\n| {LONG} |\n"
    assert said(f"<!-- figures: run.py --write-docs -->\n\n{table}\n<!-- end of figures -->\n") == []
    assert len(said(table)) == 1
    after = f"<!-- figures: run.py -->\n\n{table}\n<!-- end of figures -->\n\n{table}"
    assert said(after) == [f"page.md:11: 36 words: {LONG}"]
    assert len(said(f"<!-- a remark -->\n\n{table}")) == 1


def test_a_page_has_short_sentences_on_average_where_they_are_prose() -> None:
    table = "# Short.\n\n| a |\n|---|\n| b. |\n\n"
    text = f"{table}A sentence of six words here.\n\nThis one has six of them: nine with these.\n"
    assert said(text, average=8) == []
    assert said(text, average=7) == ["page.md:1: 7.5 words a sentence, on average; 7 at most"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("It begins Anew.", "Anew"),
        ("The reason\nof each\ncard is kept.", "of each card"),
        ("What the base has had is kept.", "What the base has had"),
        ("| a |\n|---|\n| whoever |\n", "whoever"),
        ("# Whence it comes\n", "Whence"),
    ],
)
def test_a_word_that_we_do_not_use_is_found_with_its_replacement(text: str, word: str) -> None:
    (line,) = said(text)
    assert f"“{word}”; say " in line


def test_words_that_only_look_alike_are_fine() -> None:
    assert said("The thusly named hencefort of each other, canewed.") == []


def test_each_word_that_we_do_not_use_has_a_replacement_and_a_reason() -> None:
    lines = [line for line in NOT_USED.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    assert all(len([part for part in line.split(" | ") if part.strip()]) == 3 for line in lines)
    assert len(words_not_used()) == len(lines)


def test_the_help_of_every_command_is_read_with_its_options() -> None:
    read = {page.command: page for page in help_pages()}
    assert {"wisen --help", "wisen lessons --help", "wisen lessons add --help"} <= read.keys()
    add = read["wisen lessons add --help"]
    assert add.place == "src/wisen/cli/lessons_add.py"
    assert any("A task that it helps with" in block.text for block in add.blocks)


def test_an_average_for_help_names_the_command() -> None:
    page = Page(place="a.py", command="wisen a --help", average=2, blocks=[Block(line=7, text="One two three.")])
    assert list(problems(page, [])) == ["a.py:7: wisen a --help: 3.0 words a sentence, on average; 2 at most"]


MODULE = '"""First line."""\n\n\nclass A:\n    """A class.\n\n    {text}\n    """\n'


@pytest.mark.parametrize(
    "source",
    [
        '"""Begins here.\n\nIt begins anew.\n"""\n',
        'class A:\n    """It begins anew."""\n',
        'class A:\n    b: int = 1\n    """It begins anew."""\n',
        'async def a() -> None:\n    def b() -> None:\n        """It begins anew."""\n',
        'LIMIT = 1\n"""It begins anew."""\n',
    ],
    ids=["module", "class", "attribute", "nested function", "constant"],
)
def test_docstrings_are_read_wherever_they_stand(source: str, tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(source)
    (page,) = pages([module])
    (line,) = problems(page, words_not_used())
    at = next(number for number, text in enumerate(source.splitlines(), 1) if "anew" in text)
    assert line.startswith(f"{module}:{at}: “anew”; say ")


def test_code_comments_and_other_strings_are_no_docstrings() -> None:
    source = f'# {LONG} anew\nanew = "{LONG} anew"\nprint("anew")\n\n\ndef b() -> str:\n    return "It begins anew."\n'
    assert list(docstrings(source)) == []
    assert list(docstrings('"""`anew` is an option.\n\n```python\nanew = 1\n```\n"""\n')) == [
        Block(line=1, text="codespan0 is an option.", code=("anew",))
    ]


def test_docstrings_have_a_longest_sentence_and_no_average(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(MODULE.format(text=" ".join([AT_MOST] * 4)))
    assert [problem for page in pages([module]) for problem in problems(page, [])] == []
    module.write_text(MODULE.format(text=LONG))
    assert [problem for page in pages([module]) for problem in problems(page, [])] == [f"{module}:7: 36 words: {LONG}"]


def test_every_module_is_read_by_default() -> None:
    read = everything_in_files()
    assert {ROOT / "README.md", ROOT / "docs/index.md", ROOT / "src/wisen/agent.py"} <= set(read)
    assert {ROOT / "src/wisen/cli/main.py", ROOT / "src/wisen/stores/sqlite/store.py"} <= set(read)


def test_it_prints_what_is_wrong_and_exits_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("All is well.\n")
    with pytest.raises(SystemExit) as done:
        main([str(page)])
    assert (done.value.code, capsys.readouterr().out) == (False, "")
    page.write_text("It begins anew.\n")
    with pytest.raises(SystemExit) as done:
        main([str(page)])
    assert done.value.code
    assert capsys.readouterr().out.startswith(f"{page}:1: “anew”; say ")
