"""Reads the score out of what a judge wrote, or says that there is none to read.

The asked line is read first, `score: 0.7` and nothing else. Where it stands, the lines below it are shortcomings, and
no number in them is a score. JSON and tables are read next, and prose only where none of these is there. All that is
said of the score has to agree. What stands in quotation marks, code or a block quote is an example and not the
judgement. A verdict, such as PASS, is a score where there is no number, and has to agree with the number where there
is one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from wisen.replies.answer import answer_in
from wisen.replies.asked_line import NOUN, asked_scores, is_asked_line, opens_with_score
from wisen.replies.lines import ALONE, Line, lines_of
from wisen.replies.numbers import western
from wisen.replies.prose_scores import WHOLE, StatedScore, candidates_in, taken_back_in
from wisen.replies.reply_words import any_of, folded, words
from wisen.replies.structured_scores import score_in_json, score_in_tables
from wisen.replies.verdict import Verdict, verdict_of, verdicts_in

_BARE_LABEL = re.compile(
    rf"(?:my\s|the\s)?(?:(?:(?:overall|final|total)\s)?{NOUN}"
    rf"|{any_of(words('score', 'nouns'))}|{any_of(words('score', 'overall'))})\s?:?$"
)
_ASKED_FOR = re.compile(r"\s*[Ss]core: (0(?:\.\d{1,6})?|1(?:\.0{1,6})?)\s*")
"""Exactly the line that the default prompt asks for, and nothing else; everything else takes the longer way."""
_HALF = 0.5


def score_in(reply: str) -> float | None:
    """The score in [0, 1] that a reply states.

    `None` when it states none, one outside, or several that contradict each other.

    Reads a decimal (also `.9` and `0,85`), a percentage, `8/10` and `8 out of 10`, stars, JSON, Markdown and sentences,
    in the digits of any script. A whole number above 1 needs its scale. A verdict alone or after a label is 1 or 0;
    beside a number it has to agree: PASS with a half or more, FAIL with a half or less. Thoughts don't count. Pure;
    linear in the length of the reply.
    """
    plain = _ASKED_FOR.fullmatch(reply)
    if plain is not None:
        return float(plain[1])
    text = western(answer_in(reply)).strip()
    found, score = score_in_json(text)
    if found:
        return score
    text = folded(text)
    tables = list(_in_tables(text))
    if tables:
        text = "\n".join(line for line in text.splitlines() if "|" not in line)
    lines = list(_with_values(lines_of(text)))
    asked = _asked_candidates(lines)
    if asked:
        return _agreed(*asked, opening=None)
    return _agreed([*candidates_in(lines), *tables], list(verdicts_in(lines)), opening=lines[0] if lines else None)


def _asked_candidates(lines: Sequence[Line]) -> tuple[list[StatedScore], list[Verdict]] | None:
    """What the asked line says, and what below it takes that back; `None` where there is no asked line.

    The asked line may give a reason where it is the first one.
    """
    at, scores = asked_scores(lines)
    if at < 0 and lines and opens_with_score(lines[0]):
        at = 0
        scores += [candidate.score for candidate in candidates_in(lines[:1]) if candidate.rank == WHOLE]
    if at < 0:
        return None
    below = [replace(line, below=True) for line in lines[at + 1 :]]
    scores += [score for line in below if not line.quoted for score in taken_back_in(line)]
    return [StatedScore(rank=WHOLE, score=score) for score in scores], list(verdicts_in([*lines[: at + 1], *below]))


def _agreed(candidates: Sequence[StatedScore], verdicts: Sequence[Verdict], *, opening: Line | None) -> float | None:
    stated = [candidate for candidate in candidates if not candidate.quoted] or candidates
    if opening is not None and opening.quoted and is_asked_line(opening):
        stated = candidates  # the asked line, in code: it may be the judgement, or be spoken about
    numbers = [*stated, *(StatedScore(rank=WHOLE, score=each) for one in verdicts for each in one.beside)]
    verdict, contradicted = verdict_of(verdicts, beside_number=bool(numbers))
    if not numbers or contradicted:
        return None if contradicted else verdict
    top = max(candidate.rank for candidate in numbers)
    score = _one_of({candidate.score for candidate in numbers if candidate.rank == top})
    if score is None or verdict is None:
        return score
    return score if (score >= _HALF if verdict else score <= _HALF) else None


def _one_of(scores: set[float | None]) -> float | None:
    """The score that all of them are; 0.85 and 85 % are one."""
    known = [score for score in scores if score is not None]
    return known[0] if known and len(known) == len(scores) and max(known) - min(known) < 1e-9 else None  # noqa: PLR2004 - rounding


def _in_tables(text: str) -> Iterator[StatedScore]:
    for score in score_in_tables(text):
        yield StatedScore(rank=WHOLE, score=score)


def _with_values(lines: Iterator[Line]) -> Iterator[Line]:
    """The lines, each with the label that stands alone above it."""
    label = ""
    for line in lines:
        labelled = bool(label) and ALONE.match(line.plain) is not None
        whole = replace(line, plain=f"{label.rstrip(' :')}: {line.plain}") if labelled else line
        label = whole.plain if _BARE_LABEL.match(whole.plain) else ""
        yield whole
