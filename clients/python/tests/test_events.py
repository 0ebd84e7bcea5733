"""An event stream from a server that ends connections, breaks them, or sends nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from hostile_server import Answer, Handler, HostileServer, fail, raw, reset

from tracking_client import ApiConnectionError, ApiError

Connect = Callable[..., Any]
HEADERS = {"content-type": "text/event-stream"}


def event(number: int) -> str:
    return f'id: evt_{number}\ndata: {{"id":"evt_{number}","type":"shipment.created","data":{{}}}}\n\n'


def stream(text: str, *, is_broken: bool = False) -> Answer:
    return raw(f"retry: 1\n\n{text}".encode(), HEADERS, is_broken=is_broken)


def silent(text: str, closed: threading.Event | None = None) -> Answer:
    """Sends the text, and then nothing until the client ends the connection."""

    def send(handler: Handler) -> None:
        handler.send_response_only(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(f"retry: 1\n\n{text}".encode())
        handler.connection.settimeout(30)
        handler.rfile.read(1)
        handler.close_connection = True
        if closed is not None:
            closed.set()

    return send


def test_continues_after_its_last_event(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(
        stream("id: evt_0\n\n"),
        stream(event(1) + event(2) + 'id: evt_3\ndata: {"cut', is_broken=True),
        fail(429, "rate_limit", "too_many_streams", {"retry-after": "0"}),
        reset,
        silent(event(3)),
        silent(event(4)),
    )
    seen = []
    connections: list[bool] = []
    following = connect().events.stream(
        type=["shipment.created", "shipment.updated"], idle=0.2, on_connection=connections.append
    )
    for each in following:
        seen.append(each["id"])
        assert following.last_event_id == each["id"]
        if each["id"] == "evt_4":
            break
    following.close() if hasattr(following, "close") else following.aclose()
    assert seen == ["evt_1", "evt_2", "evt_3", "evt_4"]
    places = [request.headers.get("last-event-id") for request in hostile_server.requests]
    assert places == [None, "evt_0", "evt_2", "evt_2", "evt_2", "evt_3"]
    assert connections == [True, False] * 4
    first = hostile_server.requests[0]
    assert first.url == "/v1/events/stream?type=shipment.created%2Cshipment.updated"
    assert first.headers["accept"] == "text/event-stream"
    assert first.headers["authorization"] == "Bearer sk_test_1"


def test_raises_errors_of_the_api(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(fail(400, "invalid_request", "validation_failed"))
    with pytest.raises(ApiError) as caught:
        next(iter(connect().events.stream(last_event_id="evt_gone")))
    assert caught.value.code == "validation_failed"
    assert hostile_server.requests[0].headers["last-event-id"] == "evt_gone"


def test_fails_if_no_server_responds_for_long(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(reset)
    with pytest.raises(ApiConnectionError):
        next(iter(connect().events.stream()))
    assert len(hostile_server.requests) == 21


def test_closes_its_connection_when_the_loop_is_left(hostile_server: HostileServer, connect: Connect) -> None:
    closed = threading.Event()
    hostile_server.answer(silent(event(1), closed))
    for each in connect().events.stream():
        assert each["id"] == "evt_1"
        break
    assert closed.wait(30)
