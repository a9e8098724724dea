"""A local server that answers as OpenAI's chat completions and responses do."""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@contextmanager
def chat_server(answer: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Generator[str]:
    """Serve at the URL that it gives. `answer` makes the message of a request's body; for `None` nothing is sent."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = answer(body)
            if message is None:
                return
            made = _response if self.path.endswith("/responses") else _completion
            said = json.dumps(made(body["model"], message)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class has it so
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _completion(model: str, message: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": None} | message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
    }


def _response(model: str, message: dict[str, Any]) -> dict[str, Any]:
    text: dict[str, Any] = {"type": "output_text", "text": message.get("content"), "annotations": []}
    said: dict[str, Any] = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}
    calls = [
        {"type": "function_call", "id": call["id"], "call_id": call["id"], "status": "completed", **call["function"]}
        for call in message.get("tool_calls", ())
    ]
    return {
        "id": "1",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": model,
        "output": calls or [said],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 5,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 2,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 7,
        },
    }
