"""What other frameworks' agents return, read by its shape: the answer, and what their own models used."""

from collections.abc import Mapping, Sequence
from typing import cast

from wisen.records import TokenUsage

_TEXTS = ("output_text", "output", "final_output", "content", "text")
_OBJECTS = ("output", "final_output")


def answer_of(result: object) -> object:
    """The answer: a text, or the object that a structured output is. `None` where there is neither.

    It is read from a string, from a conversation's last message, from the message of a chat completion, or from the
    first of `.output_text`, `.output`, `.final_output`, `.content` and `.text`.
    """
    structured = _fields(result).get("structured_response")
    if structured is not None:
        return structured
    said = _message(result)
    if isinstance(said, str):
        return said
    for name in _TEXTS:
        value: object = getattr(said, name, None)
        if isinstance(value, str):
            return value
    return next((value for name in _OBJECTS if (value := getattr(said, name, None)) is not None), None)


def usage_of(result: object, prompt: str) -> TokenUsage | None:
    """What the models used, as the result tells it; `None` where it doesn't.

    It is read from `.usage`, from `.context_wrapper.usage`, or from the `usage_metadata` of the messages that follow
    the prompt: those before it belong to earlier calls.
    """
    holder: object = getattr(result, "context_wrapper", None) or result
    reports = [getattr(one, "usage_metadata", None) for one in _since(_messages(result), prompt)]
    counted = [_counts(report) for report in (getattr(holder, "usage", None), *reports) if report is not None]
    known = [usage for usage in counted if usage is not None]
    return sum(known, TokenUsage()) if known else None


def _message(result: object) -> object:
    """What of a result holds its answer."""
    choices: object = getattr(result, "choices", None)
    if isinstance(choices, list) and choices:
        return getattr(cast("list[object]", choices)[0], "message", None)
    messages = _messages(result)
    return messages[-1] if messages else result


def _messages(result: object) -> Sequence[object]:
    """The conversation that a result is; a result that is one message is it alone."""
    messages = _fields(result).get("messages", [result])
    return cast("list[object]", messages) if isinstance(messages, list) else ()


def _since(messages: Sequence[object], prompt: str) -> Sequence[object]:
    asked = (place for place, one in enumerate(messages) if getattr(one, "content", None) == prompt)
    return messages[max(asked, default=-1) + 1 :]


def _counts(report: object) -> TokenUsage | None:
    given = _number(report, "input_tokens", "prompt_tokens")
    made = _number(report, "output_tokens", "completion_tokens")
    if given is None and made is None:
        return None
    requests = _number(report, "requests")
    return TokenUsage(requests=1 if requests is None else requests, input_tokens=given or 0, output_tokens=made or 0)


def _number(report: object, *names: str) -> int | None:
    fields = _fields(report)
    values = (fields.get(name, getattr(report, name, None)) for name in names)
    return next((value for value in values if isinstance(value, int)), None)


def _fields(result: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", result) if isinstance(result, Mapping) else {}
