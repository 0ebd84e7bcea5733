# Made from _async by `npm run client-types`: not to be edited.
"""The client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import httpx

from .._options import Settings
from .._retries import ConsistencyTokens
from .._version import __version__
from .requester import Requester
from .resources import Resources


class Client(Resources):
    """Client of the shipment tracking API.

    The client retries requests that are safe to repeat, its reads include its own writes, and it raises a class of
    error for each error type. One client can make any number of concurrent calls. Close it, or use it in a ``with``
    statement.

    :param base_url: Address of the API, for example ``https://tracking.example.com``.
    :param api_key: API key, ``sk_live_…`` or ``sk_test_…``.
    :param session: True for a user who signs in with ``session.sign_in`` instead of an API key.
    :param environment: Environment in which a session acts. A key always has its own environment.
    :param timeout: Longest time in seconds without progress while the client connects, sends or receives. ``None``
        means no limit. Uploads have no timeout.
    :param deadline: Longest time of a call in seconds, with all its attempts and pauses. ``None`` means no limit.
    :param retries: Maximum number of retries of a request that is safe to repeat.
    :param backoff: Pause in seconds before the first retry, and the longest pause, if the API does not set one.
    :param consistency_token: The `consistency_token` of another client. Reads then include the other client's writes.
    :param headers: Headers of every request, for example ``User-Agent``.
    :param http_client: Client of httpx with a proxy, certificates or a transport. Closing it remains your task.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        session: bool = False,
        environment: Literal["live", "test"] = "live",
        timeout: float | None = Settings.timeout,
        deadline: float | None = Settings.deadline,
        retries: int = Settings.retries,
        backoff: tuple[float, float] = Settings.backoff,
        consistency_token: str | None = None,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        if api_key is not None and session:
            raise TypeError("Specify either api_key or session, not both.")
        if not base_url.startswith(("https://", "http://")):
            raise TypeError("base_url must start with https:// or http://.")
        credentials = {"User-Agent": f"tracking-client-python/{__version__}", **(headers or {})}
        if api_key is not None:
            credentials["Authorization"] = f"Bearer {api_key}"
        if session:
            # Pages of other sites cannot send this header, so it protects against cross-site requests.
            credentials.update({"X-Requested-With": "tracking-client", "Environment": environment})
        self._tokens = ConsistencyTokens(consistency_token)
        self._own_http = httpx.Client() if http_client is None else None
        http = http_client or self._own_http
        assert http is not None
        settings = Settings(timeout, deadline, retries, backoff)
        super().__init__(Requester(http, base_url, credentials, settings, self._tokens))

    @property
    def consistency_token(self) -> str | None:
        """Position of this client's last writes, which another client can use. ``None`` before the first write."""
        return self._tokens.header

    def see(self, consistency_token: str) -> None:
        """Makes later reads include the writes of the client with this `consistency_token`."""
        self._tokens.add(consistency_token)

    def close(self) -> None:
        """Closes the connections of the client."""
        if self._own_http is not None:
            self._own_http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
