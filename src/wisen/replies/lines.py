"""Reads a reply in lines, without Markdown, and knows which of them are quoted: examples, code, another's words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wisen.replies.numbers import NUMBER, OF, number_in, value
from wisen.replies.reply_words import any_of, words

ALONE = re.compile(rf"{value(OF)}[.!]?$")
"""A line, or a quotation, that is nothing but a number."""

EXAMPLE = re.compile(
    r"\be\.g\b|\bexamples?\b|\bfor instance\b|\bsuch as\b|\bformat\b|\btemplate\b|\bplaceholder\b|\bwould look\b"
)
"""After these words, a score is an example."""

_JSON_KEY = re.compile(r'["\']([\w ]{1,40})["\']\s{0,3}:')
_ALOUD = re.compile(rf"[*_#\s-]{{0,6}}(?:{any_of(words('thoughts', 'aloud'))})[*_\s]{{0,4}}:")
_TAG = re.compile(r"<(/?)([a-z_]{1,30})>")
_BOXED = re.compile(r"\\boxed\{([^{}\n]{1,40})\}")
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_QUOTED = re.compile(
    r'"[^"\n]{1,500}"|`[^`\n]{1,500}`|“[^”\n]{1,500}”|«[^»\n]{1,500}»|「[^」\n]{1,500}」|„[^“”\n]{1,500}[“”]'
    r"|(?<!\w)\'[^\'\n]{1,200}\'(?!\w)|\u2018[^\u2019\n]{1,200}\u2019(?!\w)"
)
_BRACKETED = re.compile(r"(?<=[:=])\s{0,3}[<\[({]{1,2}\s?([^<>()\[\]{}\n]{1,20}?)\s?[>\])}]{1,2}")
"""A value in brackets, as it is where the form was copied with its marks."""
_FULL = any_of(words("score", "full"))
_SCALE = re.compile(
    rf"\b(?:on\s)?an?\s(?:[\d.]{{1,4}}\s?(?:-|\u2013)\s?(?P<to>{NUMBER})\s)?scale"
    rf"(?:\s(?:of|from)\s[\d.]{{1,4}}\s?(?:to|-|\u2013)\s?(?P<top>{NUMBER})|\sof\s(?P<of>{NUMBER}))?"
    rf"|(?:{_FULL})\s?[:是为為]?\s?(?P<full>\d{{1,4}})(?:分|点|點|점)?"
    rf"|(?P<marks>\d{{1,4}})\s?(?:分|点|點|점)?\s?(?:{_FULL})[中에で]?"
)
_EDGES = "|[]{}<>$ "
_BULLET = re.compile(r"[-+•]\s{1,4}")
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SPELLED = re.compile(rf"\b({'|'.join(_WORDS)})\s(?:out\s)?of\s({'|'.join(_WORDS[1:])})\b")
_MARKUP = str.maketrans({"*": None, "#": None, "_": " ", "\t": " ", "\u2019": "'"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a reply."""

    plain: str
    """Without markup; quotations other than quoted values are an ellipsis."""
    at_edge: bool
    """Whether it is the first or the last one."""
    scale: float = 0.0
    """The highest score that the line announces in words, such as "on a scale of 1 to 10"; 0 for none."""
    below: bool = False
    """Whether it stands below the line that states the score, so that it is a shortcoming."""
    quoted: bool
    """Whether all of it is quoted, as code, a block quote or between quotation marks, or is thinking aloud."""


def lines_of(text: str) -> Iterator[Line]:
    """The lines with text, but for those of quoted examples. `text` is lower-case, with western digits."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    fenced = example = False
    for index, line in enumerate(lines):
        if line.startswith(("```", "~~~")):
            fenced = not fenced
            continue
        bare = _unquoted_whole(line.lstrip("> "))
        quoted = fenced or line.startswith(">") or bare != line.lstrip("> ") or _ALOUD.match(line) is not None
        if quoted and example:
            continue
        example = example or EXAMPLE.search(line) is not None
        plain, scale = _without_scale(_plain(bare))
        yield Line(plain=plain, scale=scale, at_edge=index in (0, len(lines) - 1), quoted=quoted)


def plain_value(text: str) -> str:
    """A value without markup around it."""
    return _plain(text)


def _without_scale(line: str) -> tuple[str, float]:
    """The line without the words that announce a scale, and the highest number on that."""
    for found in _SCALE.finditer(line):
        top = found["to"] or found["top"] or found["of"] or found["full"] or found["marks"]
        if top:
            rest = f"{line[: found.start()]}{line[found.end() :]}".replace("()", "")
            return rest.strip(" ,:"), number_in(top)
    return line, 0.0


def _unquoted_whole(line: str) -> str:
    """Drop the quotation marks of a line that is one quotation from end to end."""
    stripped = line.strip("*_ ")
    match = _QUOTED.fullmatch(stripped)
    return stripped[1:-1] if match else line


def _plain(line: str) -> str:
    line = _JSON_KEY.sub(r"\1:", _STRUCK.sub(" ", line))
    line = _TAG.sub(lambda tag: " " if tag[1] else f"{tag[2]}: ", line)
    line = _BOXED.sub(r"score: \1", line).translate(_MARKUP)
    line = _QUOTED.sub(_keep_values, line)
    line = _BRACKETED.sub(lambda inner: f" {inner[1]}" if ALONE.match(inner[1]) else inner[0], line)
    line = _SPELLED.sub(lambda spelled: f"{_WORDS.index(spelled[1])} out of {_WORDS.index(spelled[2])}", line)
    line = line.strip(_EDGES)
    bullet = _BULLET.match(line)
    return line[bullet.end() :].strip(_EDGES) if bullet else line


def _keep_values(quotation: re.Match[str]) -> str:
    inner = quotation[0][1:-1].strip()
    return inner if ALONE.match(inner) or inner.isalpha() else " … "
