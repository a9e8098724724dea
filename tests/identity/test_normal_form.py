"""Texts are the same up to form, case, space, quotes and closing punctuation, and up to nothing else."""

# ruff: noqa: RUF001 - signs that look alike are what is tested here
import unicodedata
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wisen.identity import same_form

SAME = [
    ("Use tax code A17.", "use  tax code\u00a0“A17”"),
    ("Use tax code A17", "USE TAX CODE A17"),
    ("Don’t guess.", "don't guess"),
    ("naïve", "nai\u0308ve"),
    ("ﬁle ＡＢＣ", "file abc"),
    ("well\u2010known", "well\u2011known"),
    ("8\u22122", "8-2"),
    ("co\u00adoperate", "cooperate"),
    ("zero\u200bwidth", "zerowidth"),
    ("He said “stop.”", "He said stop"),
    ("Say 'yes please'.", 'Say "yes please"'),
    ("Say „ja bitte“", "Say «ja bitte»"),
    ("请用「发票」模板。", "请用发票模板"),
    ("wait…", "wait"),
    ("wait...", "Wait"),
    ("Stop!", "Stop"),
    ("Really?!", "really"),
    ("What is the capital", "What is the capital?"),
    ("Use 25%.", "Use 25%"),
    ("Use C++.", "Use C++"),
    ("“5”", "'5'"),
    ("Use `tax_code`", "Use tax_code"),
    ("print(“a”)", "print('a')"),
    ("ΟΔΟΣ", "οδος"),
    ("यह करो।", "यह करो"),
    ("\u2764\ufe0f", "\u2764"),
]
OTHER = [
    ("8+2", "8-2"),
    ("C++", "C#"),
    ("$5", "€5"),
    ("10²", "102"),
    ("x₂", "x2"),
    ("5'", '5"'),
    ("cd ..", "cd ."),
    ("1..", "1"),
    ("n!", "n"),
    ("5!", "5"),
    ("a?", "a"),
    ("Maße", "Masse"),
    ("-5", "5"),
    ("don't", "dont"),
    ('Write "5"', "Write 5"),
    ('Write "null"', "Write null"),
    ('print("a")', "print(a)"),
    ('use ""', "use"),
    ("use `save!`", "use save"),
    ("--force", "-force"),
    ("a.b", "ab"),
    ("1.5", "15"),
    ("Do not. Stop", "Do not stop"),
    ("🇩🇪", "🇫🇷"),
    ("👨\u200d👩", "👨👩"),
    ("می\u200cخواهم", "میخواهم"),
    ("①", "1"),
    ("*.py", "*py"),
    ("src/.", "src/"),
    ("x = 5;", "x = 5"),
    ("résumé", "resume"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_form_does_not_count(one: str, other: str):
    assert same_form(one) == same_form(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_content_counts(one: str, other: str):
    assert same_form(one) != same_form(other)


MARKS = "\"'`“”’«「」.!?…。()-—/=%#+か字eİΣß🇩🇪ﬁＡ²½n5 \n\u3099\u0301\u200d\u200b\u00ad\ud800"
PIECES = st.sampled_from([*MARKS, "word", "..", "true", "5,"])


@given(st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=40))
@example('か"\u3099x"')
@example("'5 \"a' b\"")
@example('"a".')
@example("!'. \".'")
def test_the_form_of_a_form_is_itself(text: str):
    assert same_form(same_form(text)) == same_form(text)


@given(st.lists(PIECES, max_size=12).map("".join), st.sampled_from(["NFC", "NFD"]))
def test_canonical_forms_are_one(text: str, form: Literal["NFC", "NFD"]):
    assert same_form(unicodedata.normalize(form, text)) == same_form(text)


@given(st.lists(st.sampled_from(["use", "tax", "A17", "no", "500", "€", "can't", "C++"]), min_size=1, max_size=8))
def test_spacing_case_and_full_stop_do_not_count(words: list[str]):
    plain = " ".join(words)
    dressed = f" \t{plain.replace(' ', chr(10)).upper()}. "

    assert same_form(dressed) == same_form(plain)
    assert same_form(f"“{plain} or so”") == same_form(f"{plain} or so")


@pytest.mark.no_cover
@pytest.mark.parametrize("piece", ['"', "'\" ", 'a"', '"a', "!", ".", "`a`", "“a ", "\u0301", "a " * 3, "('"])
def test_long_texts_are_no_trouble(piece: str):
    text = piece * (200_000 // len(piece))

    assert same_form(same_form(text)) == same_form(text)
