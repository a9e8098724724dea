"""What models that wrap others have in common: a request passes through them at no more cost than a call."""

from types import CoroutineType
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings


class Relay(WrapperModel):
    """A `WrapperModel` whose kinds override `_request` and `request_stream`.

    pydantic-ai wraps each coroutine method that is called `request` twice, and the wrapped model's is so already; this
    one isn't a coroutine method: it only gives out the coroutine.
    """

    def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> "CoroutineType[Any, Any, ModelResponse]":
        """Pass the request on."""
        return self._request(messages, model_settings, model_request_parameters)

    async def _request(
        self, messages: list[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> ModelResponse:
        return await self.wrapped.request(messages, settings, parameters)
