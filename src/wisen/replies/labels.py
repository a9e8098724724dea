"""Knows the words around an answer: labels, lines that lead to it, and remarks that close a reply.

A label is known by its words: all of them are words of labels, and one at least names what follows. So "Lesson
learned:" is one, and "When a table has merged cells:" isn't. Labels of thoughts are known whole.
"""

import re
from functools import cache
from typing import Literal

from wisen.replies.reply_words import any_of, folded, words

Label = Literal["answer", "thought", ""]

_LABEL = re.compile(r"(?P<label>[^:\n]{1,120}?)\s{0,2}[*_]{0,3}:[*_]{0,3}\s{0,3}(?P<rest>\S.{0,5000}|)$", re.DOTALL)
_DASHED = re.compile(r"(?P<label>[^:\n]{1,60}?)\s[-\u2013\u2014]\s{1,3}(?P<rest>\S.{0,5000})$", re.DOTALL)
_SPACED = re.compile(r"[\s\u00a0]+")
_FIRST_SENTENCE = re.compile(
    r"(?P<said>[^.!?\u3002\uff01\uff1f\n]{1,60})(?:[.!?\u3002\uff01]{1,3}(?:\s{1,3}|$|(?<=[\u3002\uff01]))|\s[\u2013\u2014-]\s)(?P<rest>.*)",
    re.DOTALL,
)
_COMMA = re.compile(r"\s?[,;\u3001]\s?")
_MOST_OPENERS = 4
_LONGEST = 200
"""Characters of a label, or of a line that leads on, at most."""
_DECORATION = re.compile("[\u2600-\u27bf\u2b50\U0001f000-\U0001faff\ufe0f\u200d]")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uff66-\uff9f]")


def split_label(text: str) -> tuple[Label, bool, str]:
    """What a label at the head of a text says of it, whether it is called final, and the text after it."""
    for pattern in (_LABEL, _DASHED):
        match = pattern.match(text.replace("\uff1a", ":", 1))
        if match is None:
            continue
        kind = label_of(match["label"])
        if kind:
            return kind, _is_final(match["label"]), match["rest"]
    return "", False, text


def label_of(text: str) -> Label:
    """What a text says that is a label and nothing else; "" for any other text."""
    plain = _bare(text) if len(text) <= _LONGEST else ""
    if not plain:
        return ""
    if plain in words("thoughts", "labels"):
        return "thought"
    return "answer" if _all_known(plain) and _names_answer(plain) else ""


def leads_on(text: str) -> bool:
    """Whether a text only leads to what follows: it is of label words, opens a reply, or speaks of itself."""
    plain = _bare(text[:_LONGEST])
    return not plain or _all_known(plain) or _names_answer(plain) or is_opener(plain)


def is_opener(text: str) -> bool:
    """Whether a text says nothing but "Sure!" and the like, or several of them."""
    plain = _bare(text[:_LONGEST])
    several = all(_bare(part) in words("lesson", "openers") for part in _COMMA.split(plain))
    return several or plain in words("lesson", "openers") or plain.startswith(tuple(words("lesson", "openings")))


def without_opener(text: str) -> str:
    """The text without sentences such as "Of course!" at its head."""
    for _ in range(_MOST_OPENERS):
        match = _FIRST_SENTENCE.match(text)
        if match is None or not match["rest"].strip() or not is_opener(match["said"]):
            break
        text = match["rest"].lstrip()
    return text


def closes(text: str) -> bool:
    """Whether a sentence or paragraph is a remark at the end of a reply."""
    return folded(text).lstrip("*_ ").startswith(tuple(words("lesson", "closers")))


def says_nothing(text: str) -> bool:
    """Whether a text says that there is no answer, or that the writer can't give one."""
    plain = folded(text).strip(" .!\"'*_`()[]<>\u3002")
    if plain in words("lesson", "nothing") or not any(map(str.isalnum, plain)):
        return True
    if len(plain) > _LONGEST:
        return False
    none = _none().match(plain)
    has_none = none is not None and (not none["rest"] or _all_known(_bare(none["rest"])))
    return has_none or _refusal().match(plain) is not None


def _bare(text: str) -> str:
    plain = _DECORATION.sub(" ", folded(text))
    return _SPACED.sub(" ", plain).strip(" .,!?*_#:;()[]\"'`\u3002\uff01\u3001-\u2013\u2014\u201c\u201d")


def _is_final(text: str) -> bool:
    return any(word in folded(text) for word in ("final", "revised", "improved", "corrected", "最终", "最終", "최종"))


@cache
def _known() -> re.Pattern[str]:
    known = words("lesson", "nouns") | words("lesson", "fillers") | words("lesson", "openers")
    return re.compile(
        rf"(?:(?:{any_of(known)})(?=[\s,.!:;()'\u3001\u3002\u2019-]|$)[\s,.!:;()'\u3001\u3002-]{{0,4}}){{1,30}}+$"
    )


@cache
def _known_unspaced() -> re.Pattern[str]:
    known = words("lesson", "nouns") | words("lesson", "fillers") | words("lesson", "openers")
    return re.compile(rf"(?:(?:{any_of(word for word in known if _UNSPACED.search(word))})[\s,.!、。]{{0,3}}){{1,20}}$")


@cache
def _nouns() -> re.Pattern[str]:
    spaced = [word for word in words("lesson", "nouns") if not _UNSPACED.search(word)]
    unspaced = [word for word in words("lesson", "nouns") if _UNSPACED.search(word)]
    return re.compile(rf"(?<![^\W_])(?:{any_of(spaced)})(?![^\W_])|{any_of(unspaced)}")


@cache
def _none() -> re.Pattern[str]:
    return re.compile(rf"(?:{any_of(words('lesson', 'none'))})(?![^\W_])\s?(?P<rest>.*)", re.DOTALL)


@cache
def _refusal() -> re.Pattern[str]:
    """A sentence, without a second clause, of one who can't answer; an excuse may come before it."""
    excuses, unable, answering = (any_of(words("lesson", name)) for name in ("excuses", "unable", "answering"))
    return re.compile(rf"(?:(?:{excuses})[,.]?\s(?:but\s)?){{0,2}}(?:{unable})(?:\s(?:{answering})\b[^.,;:!\n]*)?$")


def _all_known(plain: str) -> bool:
    return (_known_unspaced() if _UNSPACED.search(plain) else _known()).match(plain) is not None


def _names_answer(plain: str) -> bool:
    return _nouns().search(plain) is not None
