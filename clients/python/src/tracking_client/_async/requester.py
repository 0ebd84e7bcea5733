"""Requests with retries, idempotency keys and consistency tokens."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import httpx
from anyio import sleep

from .._errors import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    AuthenticationError,
    NotFoundError,
    NotModifiedError,
    TrackingError,
    create_api_error,
)
from .._options import Body, Response, Settings
from .._retries import MAX_WAIT_S, Backoff, ConsistencyTokens, can_retry, is_outcome_unknown

#: Errors of connections that failed before anything was sent.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


@dataclass(frozen=True)
class ApiRequest:
    """A request to the API. All its attempts are equal."""

    method: str
    #: Path below the base URL, or an absolute URL, which is requested without credentials.
    path: str
    #: Options of the call: see `RequestOptions` and its subclasses.
    options: Mapping[str, Any]
    query: Mapping[str, Any] | None = None
    #: JSON value of the body.
    json: object = None
    #: Returns the arguments of httpx for the body of an upload. Called for every attempt.
    upload: Callable[[], Mapping[str, Any]] | None = None
    #: Result of a DELETE whose retry finds nothing. An earlier attempt may have deleted the resource.
    result_if_deleted: Mapping[str, Any] | None = None
    #: True for a sign-out. Its retry finds no session and therefore gets 401 instead of 404.
    ends_own_session: bool = False


class AsyncRequester:
    """Sends requests, retries requests that are safe to repeat, and adds idempotency keys and consistency tokens."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        base_url: str,
        credentials: Mapping[str, str],
        settings: Settings,
        tokens: ConsistencyTokens,
    ) -> None:
        self.http = http
        self.tokens = tokens
        self.settings = settings
        self._base_url = base_url.rstrip("/")
        self._credentials = credentials

    async def request(self, request: ApiRequest) -> Any:
        """Sends a request and returns the JSON value of its response; ``None`` for a response without a body."""
        return await self._with_retries(request, self._send_whole)

    async def open(self, request: ApiRequest) -> httpx.Response:
        """Sends a request and returns its response before the body is read. The caller closes the response."""
        response: httpx.Response = await self._with_retries(request, self._send_open)
        return response

    async def _with_retries(self, request: ApiRequest, send: Callable[..., Any]) -> Any:
        key = request.options.get("idempotency_key") or uuid.uuid4().hex if request.method == "POST" else None
        retries = request.options.get("retries", self.settings.retries)
        deadline = request.options.get("deadline", self.settings.deadline)
        due_at = None if deadline is None else time.monotonic() + deadline
        backoff = Backoff(*self.settings.backoff)
        conditional = "if_match" in request.options
        may_have_succeeded = False
        attempt = 1
        while True:
            try:
                return await self._attempt(request, send, key, due_at)
            except TrackingError as error:
                error.attempts = attempt
                gone = AuthenticationError if request.ends_own_session else NotFoundError
                if may_have_succeeded and request.result_if_deleted is not None and isinstance(error, gone):
                    return _to_body(200, error.headers, dict(request.result_if_deleted))
                may_have_succeeded = may_have_succeeded or is_outcome_unknown(error)
                if isinstance(error, ApiConnectionError):
                    # The last attempt may have failed to connect after an earlier one was carried out.
                    error.outcome_unknown = may_have_succeeded
                if attempt > retries or not can_retry(request.method, conditional, error):
                    raise
                wait = backoff.compute_delay(attempt, error, random.random())
                # The call fails now if the next attempt would start after the deadline.
                if wait > MAX_WAIT_S or (due_at is not None and time.monotonic() + wait >= due_at):
                    raise
            await sleep(wait)
            attempt += 1

    async def _attempt(
        self, request: ApiRequest, send: Callable[..., Any], key: str | None, due_at: float | None
    ) -> Any:
        is_api_path = request.path.startswith("/")
        given = request.options.get("consistency_token")
        token = (given or self.tokens.header) if is_api_path else None
        try:
            value, headers = await send(request, key, token, due_at)
        except ApiError as error:
            if error.code != "invalid_consistency_token" or token is None or given is not None:
                raise
            # A service whose data was lost or replaced does not know the writes of the token.
            self.tokens.remove(token)
            return await self._attempt(request, send, key, due_at)
        if "consistency-token" in headers:
            self.tokens.record_write(headers["consistency-token"], token)
        return value

    async def _send_whole(
        self, request: ApiRequest, key: str | None, token: str | None, due_at: float | None
    ) -> tuple[Any, Mapping[str, str]]:
        response, content = await self._send(request, key, token, due_at)
        headers = _lower(response.headers)
        if response.status_code == 304:
            raise NotModifiedError(headers.get("etag"))
        if response.status_code == 204:
            return None, headers
        value = _parse_json(content)
        if 200 <= response.status_code < 300 and isinstance(value, dict):
            return _to_body(response.status_code, headers, value), headers
        raise create_api_error(response.status_code, headers, value)

    async def _send(
        self, request: ApiRequest, key: str | None, token: str | None, due_at: float | None
    ) -> tuple[httpx.Response, bytes]:
        timeout = _limit(request.options.get("timeout", self.settings.timeout), due_at)
        try:
            response = await self.http.send(self._build(request, key, token, timeout), stream=True)
            try:
                return response, await _read_all(response, due_at)
            finally:
                await response.aclose()
        except httpx.RequestError as error:
            raise _to_connection_error(error, timeout) from error

    async def _send_open(
        self, request: ApiRequest, key: str | None, token: str | None, due_at: float | None
    ) -> tuple[httpx.Response, Mapping[str, str]]:
        timeout = _limit(request.options.get("timeout", self.settings.timeout), due_at)
        try:
            response = await self.http.send(self._build(request, key, token, timeout), stream=True)
            if response.is_success:
                return response, _lower(response.headers)
            try:
                content = await _read_all(response, due_at)
            finally:
                await response.aclose()
        except httpx.RequestError as error:
            raise _to_connection_error(error, timeout) from error
        headers = _lower(response.headers)
        if response.status_code == 304:
            raise NotModifiedError(headers.get("etag"))
        raise create_api_error(response.status_code, headers, _parse_json(content))

    def _build(self, request: ApiRequest, key: str | None, token: str | None, timeout: float | None) -> httpx.Request:
        options = request.options
        is_api_path = request.path.startswith("/")
        headers = {
            "Accept": "application/json",
            **(self._credentials if is_api_path else {}),
            **({"Consistency-Token": token} if token else {}),
            **({"Idempotency-Key": key} if key else {}),
            **({"If-Match": options["if_match"]} if "if_match" in options else {}),
            **({"If-None-Match": options["if_none_match"]} if "if_none_match" in options else {}),
            **({"Prefer": "handling=strict"} if options.get("strict") else {}),
            **options.get("headers", {}),
        }
        url = f"{self._base_url if is_api_path else ''}{request.path}{_query_string(request.query or {})}"
        body = request.upload() if request.upload is not None else {}
        if request.json is not None:
            body = {"content": json.dumps(request.json, ensure_ascii=False, allow_nan=False).encode()}
            headers.setdefault("Content-Type", "application/json")
        return self.http.build_request(request.method, url, headers=headers, timeout=timeout, **body)


def fill_path(template: str, **values: str) -> str:
    """Fills the placeholders of a path."""
    for name, value in values.items():
        # An empty value or dots would form the path of another operation.
        if not isinstance(value, str) or value in ("", ".", ".."):
            raise TypeError(f"{name} is not a valid ID: {value!r}")
        template = template.replace(f"{{{name}}}", quote(value, safe=""))
    return template


async def _read_all(response: httpx.Response, due_at: float | None) -> bytes:
    chunks = []
    async for chunk in response.aiter_bytes():
        chunks.append(chunk)
        if due_at is not None and time.monotonic() >= due_at:
            raise ApiTimeoutError("No complete response arrived before the deadline.")
    return b"".join(chunks)


def _limit(timeout: float | None, due_at: float | None) -> float | None:
    """Returns the timeout of an attempt, which ends at the deadline at the latest."""
    if due_at is None:
        return timeout
    rest = max(0.001, due_at - time.monotonic())
    return rest if timeout is None else min(timeout, rest)


def _to_connection_error(error: httpx.RequestError, timeout: float | None) -> ApiConnectionError:
    outcome_unknown = not isinstance(error, _NOT_SENT)
    if isinstance(error, httpx.TimeoutException):
        return ApiTimeoutError(f"No response arrived within {timeout} s.", outcome_unknown)
    return ApiConnectionError(f"No response arrived: {error or type(error).__name__}", outcome_unknown)


def _lower(headers: httpx.Headers) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _to_body(status: int, headers: Mapping[str, str], value: dict[str, Any]) -> Body:
    body = Body(value)
    body.response = Response(status, headers)
    return body


def _parse_json(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _query_string(query: Mapping[str, Any]) -> str:
    given = {name.rstrip("_"): _query_value(value) for name, value in query.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def _query_value(value: object) -> str:
    """Returns the text of a value. Several values are separated by commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(_query_value(each) for each in value)
    raise TypeError(f"A filter must be a string, a number, a boolean, or a list of these, not {value!r}.")
