"""Reads what a model says of an output under several criteria at once: scores, problems, and how sure it is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

from wisen import models
from wisen.errors import UnreadableAnswerError
from wisen.evaluation.criteria_json import fitted, label
from wisen.evaluation.criteria_lines import CONFIDENCE, read_lines
from wisen.evaluation.judge_model import closed
from wisen.evaluation.quoting import Quotation
from wisen.replies.answer import answer_in
from wisen.replies.structured_scores import json_in

if TYPE_CHECKING:
    from pydantic_ai.models import Model

HALF_SURE = 0.5
"""The confidence of a model that doesn't say how sure it is."""

RESERVED = frozenset({"issue", "issues", "suggestion", "suggestions", "confidence"})
"""What a review says beside its scores; no criterion can have one of these names."""

_MOST_REMARKS = 20
_ASKED_REMARKS = 5
_ASKED_CHARACTERS = 240
_MARKUP = " \t-*•>#|`"
_NOTHING = frozenset({"", "none", "no", "nothing", "n/a", "-", "no issues", "no suggestions"})

_FORM = """\
Reply with lines of these forms and nothing else. First the problems, one a line, if there are any; then the scores:
issue: <what is wrong, and where>
suggestion: <the change that would mend it>
{scores}
confidence: <number from 0 to 1>"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a model said of an output."""

    scores: Mapping[str, float]
    """Each in [0, 1], one for every criterion that was asked for."""
    issues: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    confidence: float = HALF_SURE


async def structured_review(model: "Model", names: Sequence[str], *, system: str, prompt: Quotation) -> Review | None:
    """Ask for one JSON answer with a score under each name; `None` if it can't be read, also after one repair.

    Issues come before scores, so that a model that writes from left to right looks before it grades.
    """
    try:
        answer = await models.ask_for(model, _answer_type(names), system=system, prompt=prompt.text)
    except UnreadableAnswerError:
        return None
    return _review_of(answer)


async def written_review(model: "Model", names: Sequence[str], *, system: str, prompt: Quotation) -> Review | None:
    """Ask for plain lines, such as "clarity: 0.7"; `None` if they can't be read, also after one repair."""
    reply = await models.ask(model, system=system, prompt=prompt.text)
    review = read_review(reply, names)
    if review is None:
        again = prompt.again(
            reply,
            problem="Not every score could be read in your first reply",
            wanted=f"Give each of these one number from 0 to 1, on a line of its own: {', '.join(names)}.",
        )
        review = read_review(await models.ask(model, system=system, prompt=again), names)
    return review


def written_form(names: Sequence[str]) -> str:
    """What to ask of a model for `read_review`."""
    return _FORM.format(scores="\n".join(f"{name}: <number from 0 to 1>" for name in names))


def read_review(reply: str, names: Sequence[str]) -> Review | None:
    """Read a reply in lines or in JSON; `None` unless each name has one score in [0, 1], or several that agree.

    Bullets, numbers of lists, tables, bold type, "7/10" and "70 %" are understood, and lists under a line such as
    "Issues:".
    """
    text = answer_in(reply)
    parsed = json_in(text)
    if parsed is not None:
        return _review_in_json(parsed, names)
    written = read_lines(text, names)
    read = {name: score for name in names if (score := written.scores.get(label(name))) is not None}
    if len(read) < len(names):
        return None
    confidence = written.scores.get(CONFIDENCE)
    return Review(
        scores=read,
        issues=_remarks(written.remarks["issue"]),
        suggestions=_remarks(written.remarks["suggestion"]),
        confidence=HALF_SURE if confidence is None else confidence,
    )


def _review_in_json(parsed: object, names: Sequence[str]) -> Review | None:
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - keeps pydantic out of plain imports

    try:
        return _review_of(TypeAdapter(_answer_type(names)).validate_python(parsed))
    except ValidationError:
        return None


def _review_of(answer: Any) -> Review:  # noqa: ANN401 - a type that is made for the criteria
    return Review(
        scores=dict(answer.scores),
        issues=_remarks(answer.issues),
        suggestions=_remarks(answer.suggestions),
        confidence=float(answer.confidence),
    )


def _remarks(texts: Iterable[str]) -> tuple[str, ...]:
    """Remarks without markup, repetitions and those that say there is none."""
    plain = (" ".join(text.strip(_MARKUP).split()) for text in texts)
    return tuple(dict.fromkeys(text for text in plain if text.casefold().rstrip(".") not in _NOTHING))[:_MOST_REMARKS]


def _answer_type(names: Sequence[str]) -> type[Any]:
    """A pydantic model of the answer, read more leniently than its schema asks: only the scores have to be there.

    What it is made of is `fitted` first. The bounds of the schema keep a constrained model from writing for ever.
    """
    from pydantic import ConfigDict, Field, create_model, model_validator  # noqa: PLC0415 - keeps pydantic out of plain imports
    from typing_extensions import TypedDict  # noqa: PLC0415 - comes with pydantic, which takes no other before 3.12

    config = ConfigDict(json_schema_extra=closed)
    share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    remark: Any = {"type": "string", "maxLength": _ASKED_CHARACTERS}
    texts = Annotated[list[str], Field(json_schema_extra={"maxItems": _ASKED_REMARKS, "items": remark})]
    scores = cast("Any", TypedDict)("Scores", dict.fromkeys(names, share))
    scores.__pydantic_config__ = config

    def fit(cls: type[Any], answer: object) -> object:  # noqa: ARG001 - what pydantic calls
        return fitted(answer, names)

    return create_model(
        "Review",
        __config__=config,
        __validators__={"fit": cast("Any", model_validator(mode="before")(cast("Any", fit)))},
        issues=(texts, Field([], description="What is wrong, and where; empty if nothing is")),
        suggestions=(texts, Field([], description="The change that would mend each issue")),
        scores=(scores, Field(description="Under each criterion, from 0 to 1")),
        confidence=(share, Field(HALF_SURE, description="How sure you are of the scores, from 0 to 1")),
    )
