"""A model of pydantic-ai's kind that answers from a script."""

import asyncio
from typing import Any, Protocol

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings


class Replies(Protocol):
    """What is answered."""

    def to(self, system: str, /) -> str:
        """The reply to a request with this system prompt."""
        ...


class FakeModel(Model[Any]):
    """Answers after `seconds` of waiting."""

    def __init__(self, replies: Replies, seconds: float = 0.0) -> None:
        """Take the replies to give."""
        super().__init__()
        self._replies = replies
        self._seconds = seconds

    @property
    def model_name(self) -> str:
        """A name without a price."""
        return "fake"

    @property
    def system(self) -> str:
        """The provider."""
        return "fake"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,  # noqa: ARG002 - the model's interface
        model_request_parameters: ModelRequestParameters,  # noqa: ARG002 - the model's interface
    ) -> ModelResponse:
        """Give the next reply."""
        if self._seconds:
            await asyncio.sleep(self._seconds)
        return ModelResponse(parts=[TextPart(self._replies.to(str(messages[0].parts[0].content)))])
