"""Words in lower case are read by a shorter way, which gives the same."""

from collections.abc import Iterator
from random import Random

from wisen.claims import lexer
from wisen.claims.lexer import Token, tokens
from wisen.claims.normal_form import folded

PIECES = (
    *(
        "sum",
        "a",
        "of",
        "kg",
        "dd",
        "hh",
        "yyyy",
        "mm",
        "ddmm",
        "don't",
        "x",
        "naïve",
        "i.e.",
        "twenty",
        "ß",
        "e\u0301",
    ),
    *(
        "Nordic",
        "VAT",
        "X-Rate",
        "camelCase",
        "snake_case",
        "a.b",
        "f()",
        "5",
        "5kg",
        "3rd",
        "b2",
        "x-5",
        "12:30",
        "c++",
    ),
    *(
        '"',
        "'",
        "`",
        "-",
        "--",
        "->",
        "::",
        ".",
        "..",
        "/",
        "!",
        "?",
        "(",
        ")",
        "[",
        "#",
        "@",
        "$",
        "€",
        "%",
        "\n",
        "\t",
    ),
    *("🇵🇹", "№", "中文", "_", "\\", "~", "3/4", "2026-01-02", "-v", "--all", "https://a.b/c", "~/.x"),
)


def the_long_way(text: str) -> Iterator[Token]:
    text = lexer._ABBREVIATIONS.sub(lambda match: match[0].replace(".", "") + " ", folded(text))
    begins, place = True, 0
    while (match := lexer._TOKEN.search(text, place)) is not None:
        token, place = lexer._read(text, match, begins=begins)
        yield token
        begins = (token.kind == "stop" and token.value in lexer._SENTENCE_STOPS) or (begins and token.kind == "sign")


def test_a_text_has_the_same_tokens_the_short_way_and_the_long_way() -> None:
    draws = Random(1)
    for _ in range(8_000):
        joint = draws.choice((" ", " ", " ", "", "  "))
        text = joint.join(draws.choices(PIECES, k=draws.randint(1, 9)))
        assert [*tokens(text)] == [*the_long_way(text)], text
    assert [*tokens("Say dd mm yyyy of")] == [*the_long_way("Say dd mm yyyy of")]
