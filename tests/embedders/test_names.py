"""Names of embedders: each means one embedder, or gives one clear line."""

import pytest

from wisen.embedders.hashing import HashEmbedder
from wisen.embedders.local import LocalEmbedder, local_embedder_missing
from wisen.embedders.names import explain_embedder, resolve_embedder
from wisen.embedders.remote import RemoteEmbedder
from wisen.errors import ConfigError


def test_nothing_and_hash_are_the_hash_embedder():
    assert resolve_embedder(None).name == resolve_embedder("hash").name == "hash-384-v1"
    assert resolve_embedder("hash:512").dimension == 512
    assert explain_embedder(None)[1] == "the default, which needs no extra"


def test_an_object_is_itself():
    embedder = HashEmbedder(64)

    assert explain_embedder(embedder) == (embedder, "it was passed as an object")


@pytest.mark.skipif(bool(local_embedder_missing()), reason="the extra `local` isn't installed")
def test_local_and_auto_are_the_local_embedder_where_it_is_installed():
    assert isinstance(resolve_embedder("local"), LocalEmbedder)
    embedder, why = explain_embedder("auto")
    assert isinstance(embedder, LocalEmbedder)
    assert why == "the local embedder's packages are installed"


@pytest.mark.parametrize(
    ("name", "called", "dimension"),
    [
        ("openai:text-embedding-3-small", "openai:text-embedding-3-small", 1536),
        ("openai:text-embedding-3-small@256", "openai:text-embedding-3-small", 256),
        ("ollama:nomic-embed-text@768", "ollama:nomic-embed-text", 768),
        ("openai-compatible:http://127.0.0.1:1/v1#m@384", "openai-compatible:http://127.0.0.1:1/v1#m", 384),
    ],
)
def test_providers_are_remote(name: str, called: str, dimension: int):
    embedder = resolve_embedder(name)

    assert isinstance(embedder, RemoteEmbedder)
    assert (embedder.name, embedder.dimension) == (called, dimension)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("hsah", "did you mean 'hash'"),
        ("", "no embedder is called ''"),
        ("hash:", "write a number after the colon"),
        ("hash:many", "write a number after the colon"),
        ("hash:8", "must be 16 or more"),
        ("opnai:text-embedding-3-small", "did you mean 'openai'"),
        ("zzz:model", "no embedder is called"),
        ("openai:unheard-of", "length isn't known"),
        ("openai-compatible:127.0.0.1#m@8", "openai-compatible:http://host:port/v1#name"),
    ],
)
def test_names_that_mean_nothing_are_one_line(name: str, problem: str):
    with pytest.raises(ConfigError, match=problem) as caught:
        resolve_embedder(name)

    assert "\n" not in str(caught.value)
