"""What a worker's model call passes through last: it waits for its moment, and a worker held for dead makes none."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings

from wisen.durable.leases import Lease
from wisen.durable.rates import Rates
from wisen.models.relay import Relay


class GuardedModel(Relay):
    """Makes a call only while the lease holds and the rate allows it.

    The lease is looked at again before an answer is given out: where the worker was paused meanwhile, someone else may
    have the task, and nothing is to be done with the answer.
    """

    def __init__(self, wrapped: Model, lease: Lease, rates: Rates) -> None:
        super().__init__(wrapped)
        self._lease = lease
        self._rates = rates

    async def _request(
        self, messages: list[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> ModelResponse:
        await self._admitted()
        response = await self.wrapped.request(messages, settings, parameters)
        await self._lease.held()
        return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Send the request when it may be made, and stream the answer."""
        await self._admitted()
        async with self.wrapped.request_stream(
            messages, model_settings, model_request_parameters, run_context
        ) as stream:
            yield stream
        await self._lease.held()

    async def _admitted(self) -> None:
        await self._rates.turn(self.wrapped.model_name, self.wrapped.system)
        await self._lease.held()
