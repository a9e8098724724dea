"""Holds a model's calls to a number of tokens that they may write together."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings, merge_model_settings

from wisen.errors import BudgetExceededError
from wisen.models.relay import Relay


class CappedModel(Relay):
    """Tells each call how many tokens it may write, and refuses calls where none are left.

    Args:
        wrapped: The model that answers.
        left: Gives the tokens left, and of how many.
        wrote: Called with what each call wrote.
        limit: What the limit is called in the `BudgetExceededError` that ends a call where nothing is left.
    """

    def __init__(
        self,
        wrapped: Model,
        *,
        left: Callable[[], tuple[int, int]],
        wrote: Callable[[int], None],
        limit: str = "max_revision_tokens",
    ) -> None:
        super().__init__(wrapped)
        self._left = left
        self._wrote = wrote
        self._limit = limit

    async def _request(
        self, messages: list[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> ModelResponse:
        response = await self.wrapped.request(messages, self._capped(settings), parameters)
        self._wrote(response.usage.output_tokens)
        return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Send the request with the limit and stream the answer."""
        settings = self._capped(model_settings)
        async with self.wrapped.request_stream(messages, settings, model_request_parameters, run_context) as stream:
            try:
                yield stream
            finally:
                self._wrote(stream.get().usage.output_tokens)

    def _capped(self, settings: ModelSettings | None) -> ModelSettings | None:
        left, allowed = self._left()
        if left < 1:
            raise BudgetExceededError(self._limit, allowed, allowed - left)
        own = settings["max_tokens"] if settings and "max_tokens" in settings else None
        return merge_model_settings(settings, ModelSettings(max_tokens=left if own is None else min(own, left)))
