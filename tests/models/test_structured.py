"""Structured answers are read from whatever a model wraps around them, with one repair."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from pydantic import BaseModel, Field, TypeAdapter
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.profiles import ModelProfile
from typing_extensions import TypedDict

from wisen.errors import ModelError, UnreadableAnswerError
from wisen.models.local import LocalModel
from wisen.models.scripted import ScriptedModel
from wisen.models.structured import ask_for, constrained_settings, read_json

pytestmark = pytest.mark.anyio


class Verdict(BaseModel):
    """How good it is."""

    score: float = Field(ge=0, le=1)
    issues: list[str] = []


class Pair(TypedDict):
    left: int
    right: int


@dataclass
class Point:
    x: int


class Unconstrained(WrapperModel):
    """A model that can't be constrained to a schema."""

    @property
    def profile(self) -> ModelProfile:
        return ModelProfile(supports_json_schema_output=False)


async def test_a_model_that_can_be_constrained_gets_the_schema() -> None:
    model = ScriptedModel(['{"score": 0.5}'])
    assert await ask_for(model, Verdict, system="Judge.", prompt="p") == Verdict(score=0.5)
    (call,) = model.calls
    assert call.system == "Judge."
    assert call.parameters.output_mode == "native"
    assert call.parameters.output_object is not None
    assert call.parameters.output_object.name == "Verdict"


async def test_another_one_is_told_the_schema() -> None:
    model = ScriptedModel(['{"left": 1, "right": 2}', '{"x": 3}'])
    wrapped: Model = Unconstrained(model)
    assert await ask_for(wrapped, Pair, system="", prompt="p") == {"left": 1, "right": 2}
    assert await ask_for(FallbackModel(Unconstrained(model)), Point, system="Locate.", prompt="p") == Point(x=3)
    assert model.calls[1].system == snapshot("""\
Locate.

Reply with JSON of this schema, and nothing else:
{"properties": {"x": {"title": "X", "type": "integer"}}, "required": ["x"], "title": "Point", "type": "object"}\
""")


async def test_an_answer_that_does_not_fit_is_repaired_once() -> None:
    model = ScriptedModel(['{"score": 7}', '{"score": 0.7}'])
    assert await ask_for(model, Verdict, system="s", prompt="p") == Verdict(score=0.7)
    assert model.calls[1].turns == (("p", '{"score": 7}'),)
    assert model.calls[1].prompt == snapshot(
        "This can't be read: score: Input should be less than or equal to 1. "
        "Reply again, with the corrected JSON and nothing else."
    )


async def test_two_unreadable_answers_are_an_error_without_their_text() -> None:
    model = ScriptedModel(["SECRET thoughts", '{"score": "SECRET"}'])
    with pytest.raises(UnreadableAnswerError) as caught:
        await ask_for(model, Verdict, system="s", prompt="p")
    assert len(model.calls) == 2
    assert "SECRET" not in str(caught.value)
    assert "no answer could be read as Verdict, after one repair" in str(caught.value)


async def test_a_failed_call_is_a_model_error() -> None:
    with pytest.raises(ModelError) as caught:
        await ask_for(ScriptedModel([ModelHTTPError(500, "m")]), Verdict, system="s", prompt="p")
    assert not isinstance(caught.value, UnreadableAnswerError)


WRAPPED = [
    '{"score": 0.25}',
    '```json\n{"score": 0.25}\n```',
    'Sure! Here it is:\n{"score": 0.25}\nHope this helps {really}.',
    'For example {"score": 1.0} would be perfect, but mine is {"score": 0.25}.',
    'I think {hard} about [it]: {"score": 0.25, "issues": []}',
    "[" * 100 + '{"score": 0.25}',
]


async def test_json_in_thoughts_is_no_answer() -> None:
    model = ScriptedModel(['<think>{"score": 1.0}</think>', '{"score": 0.25}\n<think>{"score": 1.0}</think>'])
    assert await ask_for(model, Verdict, system="s", prompt="p") == Verdict(score=0.25)


@pytest.mark.parametrize("text", WRAPPED, ids=range(len(WRAPPED)))
def test_json_is_found_in_what_models_write(text: str) -> None:
    assert read_json(text, TypeAdapter(Verdict)) == Verdict(score=0.25)


@given(text=st.text(alphabet='{}[]":,01 ae\\\n', max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    adapter: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])
    with suppress(ValueError):
        assert isinstance(read_json(text, adapter), dict)


def test_choices_constrain_local_models_through_wrappers() -> None:
    local = WrapperModel(WrapperModel(LocalModel()))
    assert constrained_settings(local, ["a", "b"]) == {"local_choices": ("a", "b")}
    assert constrained_settings(local, []) is None
    assert constrained_settings(ScriptedModel([]), ["a"]) is None
