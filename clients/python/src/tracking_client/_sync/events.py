# Made from _async by `npm run client-types`: not to be edited.
"""The event stream."""

from __future__ import annotations

import codecs
import json
import random
from collections.abc import Iterator, Callable, Mapping
from typing import Any

import httpx
from time import sleep
from typing_extensions import Unpack

from .. import types as t
from .._server_sent_events import ServerSentEvent, ServerSentEvents
from .requester import ApiRequest, Requester
from .resource import Resource, split_arguments

_IDLE_TIMEOUT_S = 45.0
#: Seconds before reconnecting. A time that the API sends takes precedence.
_RECONNECT_DELAY_S = 2.0
#: Maximum number of consecutive attempts to reconnect. With the longest pauses, the attempts take some minutes.
_MAX_RECONNECTS = 20


class EventStream:
    """A stream of events.

    Iteration connects, and reconnects after the last received event, so that no event is missed or repeated. The stream
    ends when you leave the loop or a ``with`` statement, or call `close`. Iteration raises the errors of the API, or
    ``ApiConnectionError`` if the API is unavailable for minutes.
    """

    def __init__(
        self,
        requester: Requester,
        arguments: Mapping[str, Any],
        last_event_id: str | None,
        idle: float,
        on_connection: Callable[[bool], None] | None,
    ) -> None:
        #: ID of the last event that the stream returned. To continue in another process, store the ``id`` of the last
        #: event that you have processed.
        self.last_event_id = last_event_id
        self._requester = requester
        self._options, self._query = split_arguments(arguments)
        self._idle = idle
        self._on_connection = on_connection or (lambda is_open: None)
        self._retry_s = _RECONNECT_DELAY_S
        self._response: httpx.Response | None = None
        self._is_closed = False

    def __iter__(self) -> Iterator[t.Event]:
        while not self._is_closed:
            response = self._response = self._open()
            self._on_connection(True)
            try:
                for event in self._read(response):
                    yield event
            finally:
                response.close()
                self._on_connection(False)
            if not self._is_closed:
                sleep(self._retry_s * (1 + random.random() / 10))

    def close(self) -> None:
        """Ends the stream and its connection."""
        self._is_closed = True
        if self._response is not None:
            self._response.close()

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, response: httpx.Response) -> Iterator[t.Event]:
        """Reads one connection until it ends, breaks or sends nothing for too long."""
        events = ServerSentEvents()
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        chunks = response.iter_bytes()
        while True:
            try:
                chunk = chunks.__next__()
            except (StopIteration, httpx.RequestError, httpx.StreamError):
                return
            for event in events.read(decoder.decode(chunk)):
                self.last_event_id = event.id
                if event.data:
                    yield _parse(event)
            self._retry_s = self._retry_s if events.retry is None else events.retry

    def _open(self) -> httpx.Response:
        place = {} if self.last_event_id is None else {"Last-Event-ID": self.last_event_id}
        headers = {"Accept": "text/event-stream", **self._options.get("headers", {}), **place}
        options = {"retries": _MAX_RECONNECTS, **self._options, "headers": headers}
        options.update(timeout=self._idle, deadline=None)
        return self._requester.open(ApiRequest("GET", "/v1/events/stream", options, self._query))


def _parse(event: ServerSentEvent) -> t.Event:
    parsed: t.Event = json.loads(event.data)
    return parsed


class EventStreams(Resource):
    """The event stream, beside the methods that are generated from the description."""

    def stream(
        self,
        *,
        last_event_id: str | None = None,
        idle: float = _IDLE_TIMEOUT_S,
        on_connection: Callable[[bool], None] | None = None,
        **filters: Unpack[t.StreamEventsQuery],
    ) -> EventStream:
        """Streams events as they happen.

        :param last_event_id: ID of the event after which the stream continues. If it is absent, the stream starts with
            the next event; ``beginning`` starts with the first stored event.
        :param idle: Seconds without data before reconnecting. The API sends a heartbeat every 15 s.
        :param on_connection: Called with true when a connection opens, and with false when a connection ends.
        """
        return EventStream(self._requester, filters, last_event_id, idle, on_connection)
