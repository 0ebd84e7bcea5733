from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from hostile_server import Blocking, HostileServer

from tracking_client import AsyncClient, Client

Connect = Callable[..., Any]


@pytest.fixture(scope="session")
def hostile_server() -> Iterator[HostileServer]:
    server = HostileServer()
    yield server
    server.close()


@pytest.fixture(params=["sync", "async"])
def open_client(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Opens clients: each test runs once with `Client` and once with `AsyncClient`."""
    opened: list[Any] = []

    def connect(url: str, api_key: str | None = None, **options: Any) -> Any:
        if request.param == "sync":
            client: Any = Client(url, api_key, **options)
        else:
            client = Blocking(portal, AsyncClient(url, api_key, **options))
        opened.append(client)
        return client

    with start_blocking_portal() as portal:
        yield connect
        for each in opened:
            each.close() if isinstance(each, Client) else each.aclose()


@pytest.fixture
def connect(open_client: Connect, hostile_server: HostileServer) -> Connect:
    """Opens clients of the hostile server that wait only briefly."""

    def connect_with(**options: Any) -> Any:
        return open_client(hostile_server.url, **{"api_key": "sk_test_1", "backoff": (0.001, 0.002), **options})

    return connect_with
