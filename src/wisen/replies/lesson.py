"""Reads the lesson out of what a reflector wrote: its sentence, and nothing of what stands around it.

A reply is taken apart into units: headings, items of lists, paragraphs, code. The lesson is the unit that a label or a
tag names, else the first one that neither leads on to something nor is a thought. Where all of it is called a thought,
the longest unit is the lesson, with its label.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile
from typing import Literal, cast

from wisen.replies.answer import answer_in, is_quoted
from wisen.replies.labels import closes, is_opener, label_of, leads_on, says_nothing, split_label, without_opener
from wisen.replies.reply_words import any_of, folded, in_order, words
from wisen.replies.structured_scores import json_in

LONGEST = 600
"""Characters of a lesson."""

_READ = 10_000
"""Characters at each end of an answer that are read; a lesson stands at one of them."""

Kind = Literal["heading", "item", "text", "code"]

_LIST_MARK = re.compile(r"\s{0,12}(?:[-*+•‣·\u2013]|\(?\d{1,2}[.)]|\(?[a-z]\))\s{1,4}(?=\S)")
_POINTER = re.compile(
    "[\u2190-\u21ff\u25b6\u25ba\u27a1\u27a4\u2705\u2714\u26a0\U0001f449\U0001f4a1\U0001f4cc\U0001f4dd\U0001f511]\ufe0f?\\s{1,3}"
)
_BOXED = re.compile(r"\$?\\boxed\{(?:\\text\{)?([^{}]{1,2000})\}{1,2}\$?$")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s{1,4}")
_RULE = re.compile(r"\s{0,3}(?:[-*_=~]\s{0,2}){3,200}$")
_TABLE_RULE = re.compile(r"\s{0,8}[|:\- ]{3,400}$")
_FENCE = re.compile(r"\s{0,8}(?:```|~~~)\s{0,3}(?P<language>[\w+#.-]{0,20})\s{0,3}$")
_INLINE_FENCE = re.compile(r"```\s{0,3}(?P<body>[^`\n]{1,2000}?)\s{0,3}```$")
_PROSE = frozenset({"", "text", "txt", "plaintext", "plain", "markdown", "md", "lesson", "advice", "json", "none"})
_ENDED = re.compile(r"[.!?:;\u3002\uff01\uff1f\u0964\u061f\u2026][\"'\u201d\u2019»」)*_`]{0,4}\s{0,3}$")
_WRAPPED = 50
"""Characters from which a line that doesn't end its sentence was broken by width alone."""
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef\u0e00-\u0e7f]")
_FIELD = re.compile(r"[^\W\d_'\u2019]{1,15}(?:['\u2019]t)?:\s{1,3}\S")
"""A line such as "When: …": of several, each with an own word in front, all belong together."""
_LONGEST_LEAD = 120
_IN_SENTENCE = re.compile(r",|\s{1,2}[^\W\d_A-Z]")
_MOST_LAYERS = 12
_MOST_IN_UNIT = 2 * LONGEST
_OTHER_JSON = re.compile(
    r'["\'](?P<key>[\w ]{1,30})["\']\s{0,3}:\s{0,3}'
    r'(?:"(?P<said>(?:[^"\\]|\\.){1,2000})|\'(?P<single>(?:[^\'\\]|\\.|\'(?=\w)){1,2000})|(?:None|null)\b)'
)
"""A member of JSON that was cut off, or of what Python prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    kind: Kind
    text: str
    fenced: bool = False


def lesson_in(reply: str) -> str:
    """The lesson that a reply holds, in one line of at most `LONGEST` characters; "" where there is none.

    Thoughts, words that lead to the lesson or follow it, labels, list marks, fences, quotes and emphasis around it
    are left out. Linear in the length of the reply.
    """
    text = _marked(answer_in(reply))
    if len(text) > 2 * _READ:
        text = f"{text[:_READ]}\n\n{text[-_READ:]}"
    said = _from_json(text)
    lesson = _chosen(list(_units(text))) if said is None else _clean(said)
    return "" if says_nothing(lesson) else lesson[:LONGEST].strip()


def _chosen(units: Sequence[_Unit]) -> str:
    plain = thought = ""
    found: dict[bool, str] = {}
    below: tuple[str, bool] = ("", False)
    for at, unit in enumerate(units):
        text = without_opener(_stripped(unit.text))
        kind, final, rest = split_label(text)
        if not rest or (units[at + 1 :] and label_of(text)):
            below = (kind or label_of(text), final)  # what it names stands below
            continue
        if kind == "answer" or (below[0] == "answer" and kind != "thought"):
            found.setdefault(final or below[1], _clean(rest))
        if kind == "thought" or below[0] == "thought":
            thought = max(thought, text if _says_something(rest) else "", key=len)
        elif re.search(r"\w", text) and not plain and not _passed_over(unit, text, units[at + 1 :]):
            plain = _clean(_with_items(unit, text, units[at + 1 :]))
        below = ("", False)
    return found.get(True) or found.get(False) or plain or _clean(thought)


def _says_something(text: str) -> bool:
    """Whether a text is more than one word or number, as behind "Score:" or "Confidence:"."""
    return len(text.split()) > 1 or _UNSPACED.search(text) is not None


def _passed_over(unit: _Unit, text: str, after: Sequence[_Unit]) -> bool:
    """Whether a unit isn't the lesson: a heading above others, an opening, or words that lead to what follows."""
    if unit.kind == "heading":
        return bool(after)
    if is_opener(text) or (closes(text) and not after):
        return True
    if not after or not text.rstrip("*_ ").endswith((":", "\uff1a")):
        return False
    if after[0].kind == "code":
        return bool(label_of(text))
    heads_list = len(after) > 1 and after[0].kind == after[1].kind == "item"
    return leads_on(text.rstrip("*_ :\uff1a")) or not heads_list


def _with_items(unit: _Unit, text: str, after: Sequence[_Unit]) -> str:
    """The text, with the list or the code that it heads, and what goes on behind code."""
    if unit.kind != "text" or unit.fenced:
        return text
    if _heads_code(text, after):
        return _through_code(text, after)
    if not text.endswith((":", "\uff1a")):
        return text
    below = list(takewhile(lambda each: each.kind == after[0].kind, after))
    items = [_stripped(each.text).rstrip(".;,") for each in below if each.kind == "item"]
    return f"{text} {'; '.join(items)}." if items else text


def _heads_code(text: str, after: Sequence[_Unit]) -> bool:
    """Whether a sentence isn't over where code begins: it ends with a colon, or goes on behind the code."""
    if not after or not _is_code(after[0]):
        return False
    if text.endswith((":", "\uff1a")):
        return after[0].kind == "code"
    behind = next((each for each in after if not _is_code(each)), None)
    return not _ENDED.search(text) and behind is not None and _goes_on(behind)


def _through_code(text: str, after: Sequence[_Unit]) -> str:
    parts = [text]
    for each in after:
        if not _is_code(each) and not _goes_on(each):
            break
        parts.append(each.text.strip())
        if not _is_code(each) and _ENDED.search(each.text):
            break
    return " ".join(parts)


def _is_code(unit: _Unit) -> bool:
    return unit.kind == "code" or unit.fenced


def _goes_on(unit: _Unit) -> bool:
    return unit.kind == "text" and _first_letter(unit.text).islower()


def _first_letter(text: str) -> str:
    return next((char for char in text if char.isalnum()), "")


def _units(text: str) -> Iterator[_Unit]:
    unit: _Unit | None = None
    language: str | None = None
    before = ""
    for line in _without_tables(text.splitlines()):
        bare = re.sub(r"^(?:\s{0,3}>\s?){1,5}", "", line)
        fence = _FENCE.match(bare)
        if fence or not bare.strip() or _RULE.match(bare):
            if unit is not None:
                before = unit.text
                yield unit
            unit = None
            if fence:
                language = None if language is not None else fence["language"].lower()
            continue
        indented = unit is None and bare.startswith("    ") and before.endswith((":", "\uff1a"))
        new = _unit_of(bare, in_code=indented or (language is not None and language not in _PROSE))
        new = replace(new, fenced=language is not None)
        if unit is not None and _continues(unit, new):
            if len(unit.text) < _MOST_IN_UNIT:
                unit = replace(unit, text=_joined(unit.text, new.text))
            continue
        if unit is not None:
            before = unit.text
            yield unit
        unit = new
    if unit is not None:
        yield unit


def _without_tables(lines: Sequence[str]) -> Iterator[str]:
    """The lines; of a table, the cells of the column that its head calls the lesson, or of the first one."""
    column = 0
    for line in lines:
        if not line.lstrip().startswith("|"):
            yield line
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        named = [at for at, cell in enumerate(cells) if label_of(_stripped(cell)) == "answer"]
        if named:
            column = named[0]
        elif not _TABLE_RULE.match(line):
            yield ""
            yield cells[min(column, len(cells) - 1)]


def _unit_of(line: str, *, in_code: bool) -> _Unit:
    if in_code:
        return _Unit(kind="code", text=line.rstrip())
    heading = _HEADING.match(line)
    if heading:
        return _Unit(kind="heading", text=line[heading.end() :].strip(" #"))
    item = _LIST_MARK.match(line)
    if item:
        return _Unit(kind="item", text=line[item.end() :].strip())
    inline = _INLINE_FENCE.match(line.strip())
    return _Unit(kind="text", text=inline["body"] if inline else line.strip())


def _continues(unit: _Unit, new: _Unit) -> bool:
    """Whether a line goes on with the sentence of the line before."""
    if new.kind != "text" or unit.kind not in ("text", "item"):
        return False
    first = _first_letter(new.text)
    if label_of(_stripped(unit.text)):
        return False
    if _FIELD.match(unit.text) and _FIELD.match(new.text) and not split_label(unit.text)[0]:
        return not split_label(new.text)[0]
    if unit.text.endswith((":", "\uff1a")):
        return first.islower() and split_label(new.text)[0] == ""
    if _ENDED.search(unit.text) or split_label(new.text)[0]:
        return False
    caseless = first.isalpha() and first.lower() == first.upper()
    return first.islower() or caseless or first.isdigit() or unit.text.endswith(",") or len(unit.text) >= _WRAPPED


def _joined(one: str, other: str) -> str:
    if _FIELD.match(other) and not _ENDED.search(one):
        return f"{one}; {other}"
    return f"{one}{other}" if _UNSPACED.match(one[-1:]) and _UNSPACED.match(other[:1]) else f"{one} {other}"


def _clean(text: str) -> str:
    """A lesson without what is left around it: labels, openings, marks, quotes, remarks at its end."""
    for _ in range(_MOST_LAYERS):
        before = text
        text = without_opener(_stripped(text))
        kind, _final, rest = split_label(text)
        if kind == "answer" and rest:
            text = rest
        if text == before:
            break
    return _without_remarks(" ".join(text.split()))


def _without_remarks(text: str) -> str:
    kept = re.split(r"(?<=[.!?\u3002\uff01])\s{1,3}", text)
    while len(kept) > 1 and closes(kept[-1]):
        kept.pop()
    return " ".join(kept) if len(kept) > 1 else kept[0]


def _stripped(text: str) -> str:
    """The text without a list mark, and without the marks that stand around all of it."""
    for _ in range(_MOST_LAYERS):
        before = text
        text = text.strip()
        for mark in (_LIST_MARK, _POINTER):
            found = mark.match(text)
            text = text[found.end() :] if found else text
        boxed = _BOXED.match(text)
        text = boxed[1] if boxed else text
        for opening, closing in _pairs():
            if not (text.startswith(opening) and text.endswith(closing)):
                continue
            inner = text[len(opening) : -len(closing)]
            if inner.strip() and not _breaks(inner, opening, closing):
                text = inner
        if text == before:
            return text
    return text


@cache
def _pairs() -> tuple[tuple[str, str], ...]:
    """The marks that can stand around a text: before it and after it."""
    return tuple(
        (pair[0], pair[1]) if len(pair) == 2 and pair[0] != pair[1] else (pair, pair)  # noqa: PLR2004 - two marks
        for pair in in_order("marks", "pairs")
    )


def _breaks(inner: str, opening: str, closing: str) -> bool:
    """Whether the marks at both ends belong to two pairs, as in `a` and `b`."""
    return opening in inner or closing in inner if opening != "'" else bool(re.search(r"(?<!\w)'|'(?!\w)", inner))


def _from_json(text: str) -> str | None:
    """The lesson of a reply that is JSON, "" where that holds none; `None` for any other reply."""
    before = text[: text.find("{") + 1][:200].rstrip("`{ \n\t").removesuffix("json")
    if "{" in text and not leads_on(before.rstrip("` \n\t:\uff1a")):
        return None  # it is an example in a sentence
    parsed = json_in(text)
    if parsed is not None:
        return _text_in(parsed)
    if "{" in text[:200]:
        for match in _OTHER_JSON.finditer(text[:5000]):
            if label_of(match["key"].replace("_", " ")) == "answer":
                said = match["said"] or match["single"] or ""
                return said.replace('\\"', '"').replace("\\'", "'").replace("\\n", " ")
    return None


def _text_in(parsed: object) -> str:
    """The text under a key that names the answer; else the only text there is."""
    if isinstance(parsed, str):
        return parsed
    if isinstance(parsed, list):
        return next((said for each in cast("list[object]", parsed) if (said := _text_in(each))), "")
    if not isinstance(parsed, dict):
        return ""
    members = {folded(str(key)).replace("_", " "): each for key, each in cast("dict[object, object]", parsed).items()}
    named = [each for key, each in members.items() if label_of(key) == "answer"]
    others = [each for key, each in members.items() if label_of(key) != "thought"]
    return next((said for each in (*named, *others) if (said := _text_in(each))), "")


def _marked(text: str) -> str:
    """What stands between the tags of an answer, of the last one if there are several; else all of it."""
    start = end = opened = -1
    for mark in _answer_marks().finditer(text):
        if is_quoted(text, mark):
            continue
        if not mark["close"]:
            opened = mark.end() if _opens_answer(text, mark.start()) else -1
            continue
        if opened >= 0 and text[opened : mark.start()].strip() and not _IN_SENTENCE.match(text, mark.end()):
            start, end = opened, mark.start()
        opened = -1
    if opened >= 0 and text[opened:].strip():
        start, end = opened, len(text)
    return text if start < 0 else text[start:end]


def _opens_answer(text: str, at: int) -> bool:
    """Whether a tag stands where an answer can begin: in a sentence, it is spoken about."""
    before = text[max(0, at - _LONGEST_LEAD) : at].rpartition("\n")[2].rstrip(" *_#>")
    return not before or _ENDED.search(before) is not None or label_of(before) == "answer"


@cache
def _answer_marks() -> re.Pattern[str]:
    return re.compile(rf"<(?P<close>/?)(?:{any_of(words('thoughts', 'answers'))})>", re.IGNORECASE)
