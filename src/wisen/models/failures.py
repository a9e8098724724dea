"""Turns what providers raise into `ModelError`: one line that says what to do, without any text of the prompt."""

from collections.abc import Iterator

from pydantic_ai.exceptions import (
    ContentFilterError,
    FallbackExceptionGroup,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

from wisen.errors import ConfigError, ModelError, PromptTooLongError, UnreachableModelError

ProviderError = (ModelAPIError, UnexpectedModelBehavior, UserError, FallbackExceptionGroup)
"""What pydantic-ai's models raise when a call fails."""
CallError = (*ProviderError, OSError)
"""What any model raises then: one that talks to a server by itself may let an error of the network through."""

_ADVICE: tuple[tuple[type[Exception], str], ...] = (
    (ModelAuthenticationError, "the provider refused the API key; check the key and its rights"),
    (ModelNotFoundError, "the provider doesn't know this model; check the name"),
    (
        ModelContextWindowExceededError,
        "the prompt is longer than the model's context; shorten it or take another model",
    ),
    (ModelQuotaExceededError, "the account's quota or credit is used up; check the provider's billing page"),
    (ModelRateLimitError, "the provider's rate limit is reached; wait, or lower the concurrency"),
    (ModelUnavailableError, "the provider is overloaded or down; try again later"),
    (ModelServerError, "the provider failed; try again later"),
    (ModelTimeoutError, "the provider didn't answer in time; try again, or raise the timeout"),
    (ModelConnectionError, "the provider can't be reached; check the network and the address"),
    (ContentFilterError, "the provider's content filter stopped the answer; reword the task"),
)


_OF_THE_ATTEMPT = (ModelContextWindowExceededError, ContentFilterError)
"""What depends on the words that were sent or answered: the same task may pass with others."""

_CATEGORIES: dict[int, type[ModelAPIError]] = {
    401: ModelAuthenticationError,
    402: ModelQuotaExceededError,
    403: ModelAuthenticationError,
    404: ModelNotFoundError,
    408: ModelTimeoutError,
    429: ModelRateLimitError,
    503: ModelUnavailableError,
    529: ModelUnavailableError,
}
"""What an HTTP status means where the provider's adapter didn't say it."""

_SERVER_FAILED = 500
_KEY_REFUSED = 401
_MOST_CHAINED = 20
"""An error may be its own cause."""


def model_error(name: str, error: Exception) -> ModelError:
    """What to raise `from error` for a failed call of the model `name`."""
    category, status = type(error), ""
    if isinstance(error, OSError):
        category = ModelTimeoutError if isinstance(error, TimeoutError) else ModelConnectionError
    if isinstance(error, ModelHTTPError):
        status = f" (HTTP {error.status_code})"
        if category is ModelHTTPError:
            otherwise = ModelServerError if error.status_code >= _SERVER_FAILED else ModelAPIError
            category = _CATEGORIES.get(error.status_code, otherwise)
    for kind, advice in _ADVICE:
        if issubclass(category, kind):
            raised = ModelError if kind in _OF_THE_ATTEMPT else UnreachableModelError
            raised = PromptTooLongError if kind is ModelContextWindowExceededError else raised
            return raised(name, advice + status)
    if isinstance(error, UserError):
        # These are about the program's own settings, such as a missing key, and hold no conversation.
        return UnreachableModelError(name, " ".join(error.message.split()))
    if isinstance(error, ModelAPIError):
        return ModelError(name, f"the provider refused the call{status}; the cause of this error has its answer")
    if isinstance(error, FallbackExceptionGroup):
        raised = UnreachableModelError if all(map(ends_run, error.exceptions)) else ModelError
        return raised(name, "every model of the fallback failed; the causes of this error say why")
    return ModelError(name, f"the answer can't be used ({type(error).__name__}); the cause of this error says why")


def ends_run(error: BaseException) -> bool:
    """Whether no other attempt could do better: a model can't be reached, or the program is set up wrongly.

    Such an error is known by its cause, too, where an agent or a tool has raised one of its own from it.
    """
    return any(
        isinstance(one, UnreachableModelError | ConfigError)
        or (isinstance(one, ProviderError) and isinstance(model_error("", one), UnreachableModelError))
        for one in _causes(error)
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    for _ in range(_MOST_CHAINED):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__


def key_refused(error: BaseException) -> str:
    """What to tell where a call, or whatever it was made for, failed because a provider doesn't take the API key.

    "" where that isn't why. An agent's or a tool's own error may quote a prompt, so it isn't told.
    """
    said = "a provider refused the API key"
    for cause in _causes(error):
        if isinstance(cause, ModelError):
            said = str(cause)
        if isinstance(cause, ModelHTTPError):
            return said if cause.status_code == _KEY_REFUSED else ""
    return ""
