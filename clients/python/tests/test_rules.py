"""Rules without input and output: pauses, consistency tokens, and server-sent events."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from tracking_client import ApiConnectionError, RateLimitError
from tracking_client._retries import Backoff, ConsistencyTokens
from tracking_client._server_sent_events import ServerSentEvent, ServerSentEvents

BACKOFF = Backoff(0.25, 10.0)


def limited(value: str) -> RateLimitError:
    return RateLimitError(429, {"retry-after": value}, {"type": "rate_limit"})


def test_doubles_the_pause_up_to_a_maximum_and_randomizes_half_of_it() -> None:
    broken = ApiConnectionError("")
    bounds = [
        [BACKOFF.compute_delay(attempt, broken, random) for random in (0, 1)] for attempt in (1, 2, 3, 6, 7, 5_000)
    ]
    assert bounds == [[0.125, 0.25], [0.25, 0.5], [0.5, 1.0], [4.0, 8.0], [5.0, 10.0], [5.0, 10.0]]


def test_waits_at_least_the_requested_time() -> None:
    assert [BACKOFF.compute_delay(1, limited("30"), random) for random in (0, 1)] == [30.0, pytest.approx(33.0)]
    assert BACKOFF.compute_delay(1, limited("Thu, 01 Jan 1970 00:00:00 GMT"), 1) == 0
    in_a_minute = limited(formatdate(time.time() + 60, usegmt=True)).retry_after
    assert in_a_minute is not None
    assert in_a_minute > 30
    assert limited("soon").retry_after is None


def test_is_one_token_after_sequential_writes() -> None:
    tokens = ConsistencyTokens()
    assert tokens.header is None
    tokens.record_write("a", None)
    tokens.record_write("b", "a")
    tokens.record_write("b", "b")
    assert tokens.header == "b"


def test_keeps_the_tokens_of_concurrent_writes_until_a_write_includes_them() -> None:
    tokens = ConsistencyTokens("a")
    tokens.record_write("c", "a")
    tokens.record_write("b", "a")
    assert tokens.header == "c, b"
    tokens.record_write("d", "c, b")
    tokens.add("x, d")
    assert tokens.header == "x, d"
    tokens.remove("x")
    assert tokens.header == "d"


def test_keeps_at_most_16_tokens() -> None:
    tokens = ConsistencyTokens()
    for number in range(1_000):
        tokens.record_write(f"t{number}", None)
    header = tokens.header or ""
    assert len(header.split(", ")) == 16
    assert header.endswith("t999")


def test_reads_server_sent_events_however_they_are_cut() -> None:
    stream = (
        'retry: 1500\n\nid: evt_0\n\n: heartbeat\n\nid: evt_1\r\ndata: {"a":\r\ndata:1}\r\n\r\n'
        "data: x\r\revent: other\nid: evt_2\n\ndata: cut off"
    )
    expected = [
        ServerSentEvent("", "evt_0"),
        ServerSentEvent('{"a":\n1}', "evt_1"),
        ServerSentEvent("x", "evt_1"),
        ServerSentEvent("", "evt_2"),
    ]
    for first in range(len(stream)):
        for second in range(first, len(stream)):
            events = ServerSentEvents()
            pieces = [stream[:first], stream[first:second], stream[second:]]
            assert [event for piece in pieces for event in events.read(piece)] == expected
            assert events.retry == 1.5
