"""One bare call of a model, for evaluators and reflectors, which need no agent run.

It stands apart from `dialogue` because it needs no agent of pydantic-ai's.
"""

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, SystemPromptPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from wisen.models.conversation import text_of
from wisen.models.failures import CallError, model_error

__all__ = ["ask", "ask_for_response", "text_of"]


async def ask(model: Model, *, system: str, prompt: str, settings: ModelSettings | None = None) -> str:
    """The text that `model` answers; "" if it answered with none. Raises `ModelError`."""
    return text_of(await ask_for_response(model, system=system, prompt=prompt, settings=settings))


async def ask_for_response(
    model: Model,
    *,
    system: str,
    prompt: str,
    settings: ModelSettings | None = None,
    parameters: ModelRequestParameters | None = None,
) -> ModelResponse:
    """The whole response of one call; an empty `system` is left out. Raises `ModelError`."""
    parts = [SystemPromptPart(system)] if system else []
    messages: list[ModelMessage] = [ModelRequest(parts=[*parts, UserPromptPart(prompt)])]
    try:
        return await model.request(messages, settings, parameters or ModelRequestParameters())
    except CallError as error:
        raise model_error(model.model_name, error) from error
