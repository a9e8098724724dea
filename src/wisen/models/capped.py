"""Holds a model's calls to a number of tokens that they may write together.

It stands apart because a wrapper is one class, imported when a run needs it.
"""

from collections.abc import Callable

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings, merge_model_settings

from wisen.errors import BudgetExceededError
from wisen.models.relay import RelayModel, Request


class CappedModel(RelayModel):
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

    async def _sent(self, messages: list[ModelMessage], settings: ModelSettings | None) -> Request:
        left, allowed = self._left()
        if left < 1:
            raise BudgetExceededError(self._limit, allowed, allowed - left)
        own = settings["max_tokens"] if settings and "max_tokens" in settings else None
        most = ModelSettings(max_tokens=left if own is None else min(own, left))
        return messages, merge_model_settings(settings, most)

    def _received(self, response: ModelResponse) -> None:
        self._wrote(response.usage.output_tokens)
