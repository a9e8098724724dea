"""A model provider that isn't one: OpenAI-compatible over HTTP, counts each call, and answers what it is told to."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast


@dataclass(slots=True, kw_only=True)
class ProviderCall:
    """One request."""

    prompt: str
    """The last user message."""
    asked: str
    """All that was sent, the same for the same call."""
    at: float
    """When it came, on `time.monotonic`."""
    answer: str = ""
    """What was answered."""
    answered: float | None = None
    """When the answer was handed to the network; `None` where it wasn't, or nobody was there to take it."""


@dataclass(slots=True)
class _Book:
    calls: list[ProviderCall] = field(default_factory=list[ProviderCall])
    running: int = 0
    most_running: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class FakeProvider:
    """Serves on a free port of the loopback device while it is entered; the model's name is `model`.

    Args:
        answer: Gives the reply to a prompt, the last user message; called in the request's own thread. What it raises
            is answered with status 500, and `PermissionError` with 401, as for a key that is wrong.
        seconds: How long each answer takes.
    """

    def __init__(self, answer: Callable[[str], str] = lambda _: "an answer", *, seconds: float = 0.0) -> None:
        self._answer = answer
        self._seconds = seconds
        self._book = _Book()
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> Self:
        """Start to serve."""
        provider = self

        class Handler(_Handler):
            def do_POST(self) -> None:
                provider.serve(self)

        server = _Server(("127.0.0.1", 0), Handler)
        self._server = server
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    @property
    def url(self) -> str:
        """The address, up to the version."""
        port = 0 if self._server is None else self._server.server_address[1]
        return f"http://127.0.0.1:{port}/v1"

    @property
    def model(self) -> str:
        """The name by which wisen finds it."""
        return f"openai-compatible:{self.url}#fake"

    @property
    def calls(self) -> list[ProviderCall]:
        """All calls so far, in the order in which they came."""
        with self._book.lock:
            return list(self._book.calls)

    @property
    def most_running(self) -> int:
        """The most calls that were being answered at a time."""
        return self._book.most_running

    def repeated(self) -> dict[str, int]:
        """How often the same call was made, for those that were made more than once; by all that was sent."""
        counts = Counter(call.asked for call in self.calls)
        return {asked: count for asked, count in counts.items() if count > 1}

    def serve(self, request: "_Handler") -> None:
        """Answer one request; for the server only."""
        asked = request.rfile.read(int(request.headers.get("content-length", "0"))).decode()
        sent = cast("Mapping[str, Any]", json.loads(asked))
        messages = cast("list[Mapping[str, Any]]", sent.get("messages", []))
        users = [_text(one.get("content")) for one in messages if one.get("role") == "user"]
        call = ProviderCall(prompt=users[-1] if users else "", asked=asked, at=time.monotonic())
        book = self._book
        with book.lock:
            book.calls.append(call)
            book.running += 1
            book.most_running = max(book.most_running, book.running)
        try:
            time.sleep(self._seconds)
            call.answer = self._answer(call.prompt)
            request.reply(200, _completion(call.answer))
            call.answered = time.monotonic()
        except PermissionError as error:
            request.reply(401, {"error": {"message": str(error), "type": "invalid_request_error"}})
        except OSError:
            pass  # whoever asked is gone
        except Exception as error:  # noqa: BLE001 - the answering function is the test's
            request.reply(500, {"error": {"message": str(error), "type": "server_error"}})
        finally:
            with book.lock:
                book.running -= 1


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that are gone: they are killed on purpose."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status: int, body: Mapping[str, object]) -> None:
        """Send a JSON answer."""
        said = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name for it
        """Say nothing."""


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = cast("list[Mapping[str, Any]]", content) if isinstance(content, list) else []
    return "".join(str(part.get("text", "")) for part in parts)


def _completion(text: str) -> dict[str, object]:
    return {
        "id": "call",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
    }
