"""Overhears the model calls of one run: how many there were, and whether a model couldn't be reached.

A run may go on without a judge or a worker whose model is gone, and then its outcome tells of the outage alone.
"""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings

from wisen.models.failures import CallError, ends_run, model_error
from wisen.models.relay import RelayModel, Request


@dataclass(slots=True, kw_only=True)
class Overheard:
    """What was heard in one run."""

    calls: int = 0
    """Those that failed among them."""
    gone: Exception | None = None
    """The first error that no other attempt could escape; see `ends_run`."""

    @contextmanager
    def telling(self) -> "Generator[None]":
        """Raise that error at the end of the run, where the run itself hasn't."""
        try:
            yield
        except Exception as error:
            if self.gone is not None and not ends_run(error):
                raise self.gone from error
            raise
        if self.gone is not None:
            raise self.gone


class OverheardModel(RelayModel):
    """Passes each request on, and notes in `heard` what became of it."""

    def __init__(self, wrapped: Model, heard: Overheard) -> None:
        super().__init__(wrapped)
        self._heard = heard

    async def _request(
        self, messages: list[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> ModelResponse:
        with self._listening():
            return await super()._request(messages, settings, parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """As a request that isn't streamed."""
        request = super().request_stream(messages, model_settings, model_request_parameters, run_context)
        with self._listening():
            async with request as stream:
                yield stream

    async def _sent(self, messages: list[ModelMessage], settings: ModelSettings | None) -> Request:
        self._heard.calls += 1
        return messages, settings

    @contextmanager
    def _listening(self) -> "Generator[None]":
        try:
            yield
        except Exception as error:
            failed = model_error(self.model_name, error) if isinstance(error, CallError) else error
            if self._heard.gone is None and ends_run(failed):
                self._heard.gone = failed
            raise
