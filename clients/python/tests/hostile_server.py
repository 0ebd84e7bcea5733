"""A server that fails in every possible way, and a blocking form of the asynchronous client."""

from __future__ import annotations

import inspect
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from anyio.from_thread import BlockingPortal


@dataclass(frozen=True)
class Request:
    method: str
    #: Path with query.
    url: str
    #: Headers, with names in lower case.
    headers: Mapping[str, str]
    body: bytes


class Handler(BaseHTTPRequestHandler):
    """One request, with methods for responses."""

    protocol_version = "HTTP/1.1"
    server: HostileHttpServer

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def do_any(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", "0")))
        self.server.owner.requests.append(Request(self.command, self.path, headers, body))
        self.server.owner.take()(self)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_any

    def send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response_only(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


Answer = Callable[[Handler], None]


class HostileHttpServer(ThreadingHTTPServer):
    daemon_threads = True
    owner: HostileServer


class HostileServer:
    """Handles each request with the next of the given answers, and repeats the last answer."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._answers: list[Answer] = []
        self._lock = threading.Lock()
        self._http = HostileHttpServer(("127.0.0.1", 0), Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def answer(self, *answers: Answer) -> None:
        """Sets the answers, and forgets the received requests."""
        self.requests.clear()
        self._answers = list(answers)

    def take(self) -> Answer:
        with self._lock:
            return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def respond(status: int, body: object, headers: Mapping[str, str] | None = None) -> Answer:
    content = json.dumps(body).encode()
    return lambda handler: handler.send(status, content, {"content-type": "application/json", **(headers or {})})


def ok(body: object = None, headers: Mapping[str, str] | None = None) -> Answer:
    return respond(200, {} if body is None else body, headers)


def fail(status: int, type: str, code: str, headers: Mapping[str, str] | None = None) -> Answer:
    """Responds with an error in the API's format."""
    error: dict[str, object] = {"type": type, "code": code, "message": f"It is {code}.", "param": None, "details": []}
    return respond(status, {"error": {**error, "request_id": "req_1"}}, headers)


def raw(content: bytes, headers: Mapping[str, str], *, is_broken: bool = False) -> Answer:
    """Sends a body without its length, then ends the connection, or resets it."""

    def send(handler: Handler) -> None:
        handler.send_response_only(200)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("connection", "close")
        handler.end_headers()
        handler.wfile.write(content)
        handler.close_connection = True
        if is_broken:
            reset(handler)

    return send


def reset(handler: Handler) -> None:
    """Ends the connection without a response."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def break_off(handler: Handler) -> None:
    """Ends the connection in the middle of a response."""
    handler.send_response_only(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"id":')
    reset(handler)


def never(handler: Handler) -> None:
    """Sends nothing until the client ends the connection."""
    handler.connection.settimeout(30)
    handler.rfile.read(1)
    handler.close_connection = True


class Blocking:
    """The asynchronous client, an iterator of it, or another of its values, with blocking methods."""

    def __init__(self, portal: BlockingPortal, value: Any) -> None:
        self._portal = portal
        self._value = value

    def __getattr__(self, name: str) -> Any:
        return self._wrap(getattr(self._value, name))

    def __iter__(self) -> Iterator[Any]:
        iterator = aiter(self._value)
        try:
            while True:
                try:
                    value = self._portal.call(iterator.__anext__)
                except StopAsyncIteration:
                    return
                yield value
        finally:
            self._portal.call(iterator.aclose)

    def _wrap(self, value: Any) -> Any:
        if inspect.ismethod(value):
            return lambda *positional, **named: self._call(value, *positional, **named)
        is_ours = type(value).__module__.startswith("tracking_client._async")
        return Blocking(self._portal, value) if is_ours or inspect.isasyncgen(value) else value

    def _call(self, method: Any, *positional: Any, **named: Any) -> Any:
        async def call() -> Any:
            value = method(*positional, **named)
            return await value if inspect.isawaitable(value) else value

        return self._wrap(self._portal.call(call))
