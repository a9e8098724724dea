"""Gives each request of a model a seed, so that an attempt can be made again under the same draw.

It stands apart because a wrapper is one class, imported when a run needs it.
"""

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings, merge_model_settings

from wisen.models.relay import RelayModel, Request


class SeededModel(RelayModel):
    """Asks `wrapped` with a seed, which counts for models that take one.

    Args:
        wrapped: The model that answers.
        seed: What each request is sent with, in place of a seed of its own.
    """

    def __init__(self, wrapped: Model, seed: int) -> None:
        super().__init__(wrapped)
        self._seed = seed

    async def _sent(self, messages: list[ModelMessage], settings: ModelSettings | None) -> Request:
        return messages, merge_model_settings(settings, ModelSettings(seed=self._seed))
