"""The event stream."""

from __future__ import annotations

import codecs
import json
import random
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import httpx
from anyio import sleep
from typing_extensions import Unpack

from .. import types as t
from .._server_sent_events import ServerSentEvent, ServerSentEvents
from .requester import ApiRequest, AsyncRequester
from .resource import AsyncResource, split_arguments

_IDLE_TIMEOUT_S = 45.0
#: Seconds before reconnecting. A time that the API sends takes precedence.
_RECONNECT_DELAY_S = 2.0
#: Maximum number of consecutive attempts to reconnect. With the longest pauses, the attempts take some minutes.
_MAX_RECONNECTS = 20


class AsyncEventStream:
    """A stream of events.

    Iteration connects, and reconnects after the last received event, so that no event is missed or repeated. The stream
    ends when you leave the loop or a ``with`` statement, or call `aclose`. Iteration raises the errors of the API, or
    ``ApiConnectionError`` if the API is unavailable for minutes.
    """

    def __init__(
        self,
        requester: AsyncRequester,
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

    async def __aiter__(self) -> AsyncIterator[t.Event]:
        while not self._is_closed:
            response = self._response = await self._open()
            self._on_connection(True)
            try:
                async for event in self._read(response):
                    yield event
            finally:
                await response.aclose()
                self._on_connection(False)
            if not self._is_closed:
                await sleep(self._retry_s * (1 + random.random() / 10))

    async def aclose(self) -> None:
        """Ends the stream and its connection."""
        self._is_closed = True
        if self._response is not None:
            await self._response.aclose()

    async def __aenter__(self) -> AsyncEventStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _read(self, response: httpx.Response) -> AsyncIterator[t.Event]:
        """Reads one connection until it ends, breaks or sends nothing for too long."""
        events = ServerSentEvents()
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        chunks = response.aiter_bytes()
        while True:
            try:
                chunk = await chunks.__anext__()
            except (StopAsyncIteration, httpx.RequestError, httpx.StreamError):
                return
            for event in events.read(decoder.decode(chunk)):
                self.last_event_id = event.id
                if event.data:
                    yield _parse(event)
            self._retry_s = self._retry_s if events.retry is None else events.retry

    async def _open(self) -> httpx.Response:
        place = {} if self.last_event_id is None else {"Last-Event-ID": self.last_event_id}
        headers = {"Accept": "text/event-stream", **self._options.get("headers", {}), **place}
        options = {"retries": _MAX_RECONNECTS, **self._options, "headers": headers}
        options.update(timeout=self._idle, deadline=None)
        return await self._requester.open(ApiRequest("GET", "/v1/events/stream", options, self._query))


def _parse(event: ServerSentEvent) -> t.Event:
    parsed: t.Event = json.loads(event.data)
    return parsed


class AsyncEventStreams(AsyncResource):
    """The event stream, beside the methods that are generated from the description."""

    def stream(
        self,
        *,
        last_event_id: str | None = None,
        idle: float = _IDLE_TIMEOUT_S,
        on_connection: Callable[[bool], None] | None = None,
        **filters: Unpack[t.StreamEventsQuery],
    ) -> AsyncEventStream:
        """Streams events as they happen.

        :param last_event_id: ID of the event after which the stream continues. If it is absent, the stream starts with
            the next event; ``beginning`` starts with the first stored event.
        :param idle: Seconds without data before reconnecting. The API sends a heartbeat every 15 s.
        :param on_connection: Called with true when a connection opens, and with false when a connection ends.
        """
        return AsyncEventStream(self._requester, filters, last_event_id, idle, on_connection)
