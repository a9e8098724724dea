"""Finds the model that a name means, when a run needs it."""

import os
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from urllib.parse import urlsplit

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model, known_model_names, parse_model_id

from wisen.errors import MissingExtraError, ModelError, UnknownModelError, UnreachableModelError
from wisen.models.failures import model_error
from wisen.models.local import LocalModel

FORMS = '"local", "local:/path/to/model.gguf", "provider:name", "openai-compatible:http://host:port/v1#name"'
"""The forms of a model's name, for messages and help."""
_SUGGESTED, _ALIKE, _CONTAINED = 3, 0.6, 0.85

_FAMILIES = (
    (r"claude", "anthropic"),
    (r"gpt-(?!oss)|chatgpt-|o\d(-|$)", "openai"),
    (r"gemini-", "google"),
    (r"(mistral|ministral|magistral|codestral|devstral)-", "mistral"),
    (r"grok-", "xai"),
    (r"deepseek-(chat|reasoner)", "deepseek"),
    (r"command-", "cohere"),
    (r"kimi-", "moonshotai"),
    (r"glm-", "zai"),
)
"""Beginnings of model names that only one provider gives its own models."""

_EXTRAS = {"openai": "openai", "anthropic": "anthropic"}
_VENDOR_SDK = re.compile(r"pydantic-ai-slim\[([\w-]+)\]")


def resolve_model(model: Model | str | None) -> Model:
    """The model that is meant; a `Model` is itself, and `None` the bundled local one.

    Call it when a run begins, not when an agent is made: it may import a provider's SDK, and needs the provider's key.

    Args:
        model: One of the forms in `FORMS`, or a bare name that only one provider uses, such as "claude-opus-4-7".

    Raises:
        UnknownModelError: The name means no model, or several.
        MissingExtraError: The provider's SDK isn't installed.
        ModelError: A key or another setting is missing.
    """
    if isinstance(model, Model):
        return model
    if model is None or model == "local":
        return LocalModel()
    kind, name = parse_model_id(_checked(model))
    if kind == "local":
        return LocalModel(name)
    if kind == "openai-compatible":
        url, _, served = name.partition("#")
        return endpoint(url, served)
    return _provided(model if kind else _with_provider(model))


def _checked(name: object) -> str:
    if not isinstance(name, str):
        raise UnknownModelError(repr(name), "is neither a model nor a name; pass one of these")
    return name


def endpoint(url: str, model: str, *, api_key_env: str | None = None) -> Model:
    """A model behind an OpenAI-compatible server.

    Args:
        url: The server's address, such as `http://127.0.0.1:8080/v1`.
        model: The name that the server gives the model.
        api_key_env: The environment variable that holds the key; `None` for a server that needs none.
    """
    name = f"openai-compatible:{url}#{model}"
    if urlsplit(url).scheme not in ("http", "https") or not model:
        raise UnknownModelError(name, 'write it as "openai-compatible:http://host:port/v1#name"')
    key = os.environ.get(api_key_env) if api_key_env else "none"
    if not key:
        raise UnreachableModelError(name, f"set the environment variable {api_key_env} to the server's key")
    try:
        from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - optional extra
        from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - optional extra
    except ImportError as error:
        raise MissingExtraError(_quoted(name), "pip install 'wisen[openai]'") from error
    return OpenAIChatModel(model, provider=OpenAIProvider(base_url=url, api_key=key))


def _provided(name: str) -> Model:
    try:
        return infer_model(name)
    except ImportError as error:
        raise MissingExtraError(_quoted(name), _install(str(error))) from error
    except UserError as error:
        if error.message.startswith("Unknown model"):
            raise UnknownModelError(name, _hint(name)) from error
        raise _setting_missing(name, error, error.message) from error
    except Exception as error:  # each provider's SDK has errors of its own, such as for a key that is empty
        raise _setting_missing(name, error, str(error)) from error


def _quoted(name: str) -> str:
    return f"model {name!r}"


def _install(problem: str) -> str:
    found = _VENDOR_SDK.search(problem)
    extra = found.group(1) if found else ""
    if extra in _EXTRAS:
        return f"pip install 'wisen[{_EXTRAS[extra]}]'"
    return (
        f"pip install 'pydantic-ai-slim[{extra}]'"
        if extra
        else "pip install pydantic-ai-slim with this provider's extra"
    )


def _setting_missing(name: str, error: Exception, said: str) -> ModelError:
    variables = re.findall(r"`([A-Z][A-Z0-9_]+)`", said)
    if not variables:
        return model_error(name, error)
    return UnreachableModelError(name, f"set the environment variable {' or '.join(dict.fromkeys(variables))}")


def _with_provider(name: str) -> str:
    for pattern, provider in _FAMILIES:
        if re.match(pattern, name):
            return f"{provider}:{name}"
    raise UnknownModelError(name, _hint(name))


def _hint(name: str) -> str:
    known = [known for known in known_model_names() if ":" in known and not known.startswith("gateway/")]
    bare = name.rpartition(":")[2]
    exact = [entry for entry in known if entry.partition(":")[2] == bare]
    close = exact or _closest(name, ["local", *known])
    if exact and ":" not in name:
        return f"several providers may serve it; say which, for example {' or '.join(map(repr, exact))}"
    meant = f"did you mean {' or '.join(map(repr, close))}? T" if close else "t"
    return f"no such model; {meant}he forms are {FORMS}"


def _closest(name: str, known: Sequence[str]) -> list[str]:
    """The names that are most like it, with their provider or without; those of the usual providers first."""
    wanted = {_letters(name), _letters(name.rpartition(":")[2])} - {""}
    usual = {provider for _, provider in _FAMILIES}

    def likeness(entry: str) -> float:
        own = {_letters(entry), _letters(entry.partition(":")[2])} - {""}
        return max(_CONTAINED if one in other else _ratio(one, other) for one in wanted for other in own)

    found = [(likeness(entry), entry) for entry in known] if wanted else []
    found.sort(key=lambda one: (-one[0], one[1].partition(":")[0] not in usual, len(one[1]), one[1]))
    return [entry for like, entry in found[:_SUGGESTED] if like >= _ALIKE]


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()
