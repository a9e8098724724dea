"""What a worker's model call passes through last: it waits for its moment, and a worker held for dead makes none.

It stands apart because it imports pydantic-ai: `rates` and `leases`, which it asks, work without.
"""

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from wisen.models.relay import RelayModel, Request
from wisen.queue.leases import Lease
from wisen.queue.rates import Rates


class GatedModel(RelayModel):
    """Makes a call only while the lease holds and the rate allows it.

    The lease is looked at again before an answer is given out: where the worker was paused meanwhile, someone else may
    have the task, and nothing is to be done with the answer.
    """

    def __init__(self, wrapped: Model, lease: Lease, rates: Rates) -> None:
        super().__init__(wrapped)
        self._lease = lease
        self._rates = rates

    async def _sent(self, messages: list[ModelMessage], settings: ModelSettings | None) -> Request:
        await self._rates.wait(self.wrapped.model_name, self.wrapped.system)
        await self._lease.held()
        return messages, settings

    async def _ended(self) -> None:
        await self._lease.held()
