"""The remote embedder against a real server on this machine, and against the provider library's test model."""

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, cast

import numpy as np
import pytest
from pydantic_ai.embeddings import TestEmbeddingModel

from wisen.embedders.remote import RemoteEmbedder
from wisen.errors import ConfigError, EmbedderError

pytestmark = pytest.mark.anyio


@dataclass
class Served:
    """What the server shall answer, and what it was asked."""

    url: str = ""
    status: int = 200
    dimension: int = 8
    drop: int = 0
    fill: float | None = None
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(request)
        texts: list[str] = request["input"]
        if self.status != 200:
            return {"error": {"message": f"refused: {texts[0]}", "type": "x", "code": "y"}}
        vectors = [
            [self.fill if self.fill is not None else float(len(text) + place) for place in range(self.dimension)]
            for text in texts[self.drop :]
        ]
        data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        return {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: ClassVar[Served]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps(self.served.answer(body)).encode()
        self.send_response(self.served.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server gives it
        """Keep quiet."""


@pytest.fixture
def served() -> Iterator[Served]:
    state = Served()
    handler = cast("type[Handler]", type("BoundHandler", (Handler,), {"served": state}))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        state.url = f"openai-compatible:http://127.0.0.1:{server.server_address[1]}/v1#m"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield state
        server.shutdown()
        thread.join()


async def test_rows_come_in_order_and_blank_texts_stay_at_home(served: Served):
    embedder = RemoteEmbedder(served.url, dimension=8, batch=2)

    rows = await embedder.embed(["a", "", "bbbb", "  ", "cc"])

    assert rows.shape == (5, 8)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1).round(5).tolist() == [1, 0, 1, 0, 1]
    expected = np.arange(4, 12) / np.linalg.norm(np.arange(4, 12))
    assert np.allclose(rows[2], expected, atol=1e-6)
    assert [request["input"] for request in served.requests] == [["a", "bbbb"], ["cc"]]
    assert "dimensions" not in served.requests[0]


async def test_long_texts_are_cut_and_spread_over_requests(served: Served):
    embedder = RemoteEmbedder(served.url, dimension=8, max_characters=90_000)

    await embedder.embed(["x" * 100_000, "y" * 90_000, "z" * 90_000])

    assert [[len(text) for text in request["input"]] for request in served.requests] == [[90_000, 90_000], [90_000]]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"status": 401}, "HTTP status 401; check the key"),
        ({"status": 404}, "HTTP status 404; check the name"),
        ({"status": 400}, "HTTP status 400"),
        ({"dimension": 5}, "vectors of length 5, not 8"),
        ({"drop": 1}, "1 vectors for 2 texts"),
        ({"fill": 0.0}, "has no direction"),
        ({"fill": float("nan")}, "isn't finite"),
    ],
)
async def test_failures_are_one_line_without_the_text(served: Served, change: dict[str, Any], problem: str):
    for name, value in change.items():
        setattr(served, name, value)

    with pytest.raises(EmbedderError, match=problem) as caught:
        await RemoteEmbedder(served.url, dimension=8).embed(["secret lesson", "other"])

    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_embedder_serves_one_event_loop_after_another(served: Served):
    embedder = RemoteEmbedder(served.url, dimension=8)

    first = asyncio.run(embedder.embed(["a"]))
    second = asyncio.run(embedder.embed(["a"]))

    assert np.array_equal(first, second)


async def test_known_model_is_asked_for_shorter_vectors_only_when_they_differ():
    model = TestEmbeddingModel("text-embedding-3-small", provider_name="openai", dimensions=1536)

    await RemoteEmbedder(model).embed(["a"])
    assert model.last_settings == {}
    rows = await RemoteEmbedder(model, dimension=256).embed(["a"])

    assert rows.shape == (1, 256)
    assert model.last_settings == {"dimensions": 256}


async def test_provider_without_a_key_says_which_variable_to_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    with pytest.raises(EmbedderError, match="set the environment variable OPENAI_API_KEY"):
        await RemoteEmbedder("openai:text-embedding-3-small").embed(["a"])


async def test_unknown_provider_is_a_config_error():
    with pytest.raises(ConfigError, match="Unknown provider: nope"):
        await RemoteEmbedder("nope:model", dimension=8).embed(["a"])


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("bare-name", {}, "provider:name"),
        ("openai:unheard-of", {}, "length isn't known"),
        ("openai-compatible:somewhere", {"dimension": 8}, "http://host:port/v1#name"),
        ("openai:m", {"dimension": 0}, "dimension=0"),
        ("openai:m", {"dimension": 8, "batch": 0}, "batch=0"),
        ("openai:m", {"dimension": 8, "max_characters": 0}, "max_characters=0"),
        ("openai:m", {"dimension": 8, "floor": -2}, "floor=-2"),
    ],
)
def test_options_out_of_range_are_refused(name: str, options: dict[str, Any], problem: str):
    with pytest.raises(ConfigError, match=problem):
        RemoteEmbedder(name, **options)
