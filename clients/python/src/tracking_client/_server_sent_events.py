"""Parser of server-sent events (WHATWG HTML, 9.2.6)."""

from __future__ import annotations

import re
from typing import NamedTuple


class ServerSentEvent(NamedTuple):
    """One message of the stream: an event with its data, or only a position."""

    #: Data of the event; empty if the message contains only a position.
    data: str
    #: Position in the stream after the message.
    id: str


class ServerSentEvents:
    """Parses server-sent events from pieces of any size."""

    def __init__(self) -> None:
        #: Seconds before reconnecting that the server requested.
        self.retry: float | None = None
        self._rest = ""
        self._data: list[str] = []
        self._id = ""
        self._has_position = False

    def read(self, text: str) -> list[ServerSentEvent]:
        """Returns the messages that this piece completes."""
        # A CR at the end of a piece may be the first half of a CRLF.
        *lines, self._rest = re.split(r"\r\n|\n|\r(?!\Z)", self._rest + text)
        return [event for line in lines for event in self._read_line(line)]

    def _read_line(self, line: str) -> list[ServerSentEvent]:
        if line == "":
            return self._take()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "id" and "\0" not in value:
            self._id, self._has_position = value, True
        elif field == "retry" and value.isascii() and value.isdigit():
            self.retry = int(value) / 1_000
        return []

    def _take(self) -> list[ServerSentEvent]:
        if not self._data and not self._has_position:
            return []
        event = ServerSentEvent("\n".join(self._data), self._id)
        self._data, self._has_position = [], False
        return [event]
