"""A name means one model, or the error says what to write or install."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot
from pydantic_ai.models.openai import OpenAIChatModel

from wisen.errors import ConfigError, MissingExtraError, ModelError, UnknownModelError
from wisen.models.local import LocalModel
from wisen.models.names import endpoint, resolve_model
from wisen.models.scripted import ScriptedModel

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY", "MOONSHOTAI_API_KEY", "ZAI_API_KEY")


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)


@pytest.fixture
def some_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in KEYS:
        monkeypatch.setenv(key, "k")


def test_a_model_is_itself() -> None:
    model = ScriptedModel([])
    assert resolve_model(model) is model


def test_the_default_is_local() -> None:
    for name in (None, "local", "local:smollm2"):
        model = resolve_model(name)
        assert isinstance(model, LocalModel)
        assert model.model_id == "local:smollm2"
    assert resolve_model("local:gemma3").model_name == "gemma3"
    assert resolve_model("local:/models/tiny-chat.gguf").model_name == "tiny-chat"


@pytest.mark.usefixtures("some_keys")
@pytest.mark.parametrize(
    ("name", "model_id"),
    [
        ("openai:gpt-5", "openai:gpt-5"),
        ("gpt-5", "openai:gpt-5"),
        ("o3", "openai:o3"),
        ("o4-mini", "openai:o4-mini"),
        ("claude-opus-4-7", "anthropic:claude-opus-4-7"),
        ("deepseek-chat", "deepseek:deepseek-chat"),
        ("kimi-k2", "moonshotai:kimi-k2"),
    ],
)
def test_names_with_a_provider_and_names_of_one_provider(name: str, model_id: str) -> None:
    assert resolve_model(name).model_id == model_id


@pytest.mark.usefixtures("no_keys")
def test_a_missing_key_is_named() -> None:
    with pytest.raises(ModelError) as caught:
        resolve_model("claude-opus-4-7")
    assert str(caught.value) == snapshot(
        "model 'anthropic:claude-opus-4-7': set the environment variable ANTHROPIC_API_KEY"
    )


def test_an_empty_key_is_a_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, variable in (("openai:gpt-5", "OPENAI_API_KEY"), ("claude-opus-4-7", "ANTHROPIC_API_KEY")):
        monkeypatch.setenv(variable, "")
        with pytest.raises(ModelError, match=f"set the environment variable {variable}"):
            resolve_model(name)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("gemini-2.5-pro", "pip install 'pydantic-ai-slim[google]'"),
        ("mistral-large-latest", "pip install 'pydantic-ai-slim[mistral]'"),
        ("command-r", "pip install 'pydantic-ai-slim[cohere]'"),
    ],
)
def test_a_missing_sdk_is_named_with_the_command(name: str, command: str) -> None:
    with pytest.raises(MissingExtraError) as caught:
        resolve_model(name)
    assert caught.value.install == command


@pytest.mark.parametrize(
    "name", ["gpt-oss-120b", "claud-opus", "foo:bar", "opnai:gpt-5", "", "openai-compatible:host", "no such thing"]
)
def test_unknown_and_ambiguous_names(name: str) -> None:
    with pytest.raises(UnknownModelError) as caught:
        resolve_model(name)
    assert isinstance(caught.value, ConfigError)
    assert "\n" not in str(caught.value)


def test_unknown_names_get_hints() -> None:
    said: list[str] = []
    for name in ("gpt-oss-120b", "foo:bar"):
        with pytest.raises(UnknownModelError) as caught:
            resolve_model(name)
        said.append(str(caught.value))
    assert "several providers may serve it; say which, for example 'cerebras:gpt-oss-120b'" in said[0]
    assert '"local", "local:/path/to/model.gguf", "provider:name"' in said[1]
    with pytest.raises(UnknownModelError, match="did you mean 'anthropic:claude"):
        resolve_model("anthropicc:claude-sonnet-4-6")


def test_any_openai_compatible_server(monkeypatch: pytest.MonkeyPatch) -> None:
    model = resolve_model("openai-compatible:http://127.0.0.1:9/v1#tiny")
    assert isinstance(model, OpenAIChatModel)
    assert (model.model_name, model.base_url) == ("tiny", "http://127.0.0.1:9/v1/")
    monkeypatch.setenv("MY_KEY", "k")
    assert endpoint("https://llm.example/v1", "big", api_key_env="MY_KEY").model_name == "big"
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(ModelError, match="set the environment variable MY_KEY"):
        endpoint("https://llm.example/v1", "big", api_key_env="MY_KEY")


def test_resolving_touches_no_weights(tmp_path: Path) -> None:
    assert isinstance(resolve_model(f"local:{tmp_path / 'missing.gguf'}"), LocalModel)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("gpt5", "openai:gpt-5"), ("opus", "anthropic:claude-opus-"), ("lokal", "local"), ("gemini", "google:gemini-")],
)
def test_a_name_that_means_nothing_gets_the_one_that_is_most_like_it(name: str, meant: str) -> None:
    with pytest.raises(UnknownModelError, match=f"no such model; did you mean '{meant}"):
        resolve_model(name)


@pytest.mark.parametrize("name", ["xyzzy", ":", "-"])
def test_a_name_like_no_other_gets_none(name: str) -> None:
    with pytest.raises(UnknownModelError, match="no such model; the forms are"):
        resolve_model(name)
