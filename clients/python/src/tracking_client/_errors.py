"""Errors of the client."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from .types import ErrorCode, ErrorType, FieldError


class TrackingError(Exception):
    """Base class of all errors of requests."""

    #: Number of times the request was sent.
    attempts: int = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ApiError(TrackingError):
    """The API rejected the request, or failed while handling it."""

    type: ErrorType
    #: Stable error code. ``unexpected_answer`` if the response is from another server, such as a proxy.
    code: ErrorCode | str
    status: int
    #: All invalid fields of the request.
    details: list[FieldError]
    #: First invalid field or parameter of the request.
    param: str | None
    #: ID of the request. Include it in questions to the operator.
    request_id: str | None
    #: Seconds to wait before the next attempt; ``None`` if the API sets none.
    retry_after: float | None
    #: Response headers, with names in lower case.
    headers: Mapping[str, str]

    def __init__(self, status: int, headers: Mapping[str, str], error: Mapping[str, Any]) -> None:
        super().__init__(error.get("message") or f"The response had status {status}.")
        self.type = error["type"]
        self.code = error.get("code") or "unexpected_answer"
        self.status = status
        self.details = error.get("details") or []
        self.param = error.get("param")
        self.request_id = error.get("request_id") or headers.get("request-id")
        self.retry_after = _parse_retry_after(headers.get("retry-after"))
        self.headers = headers

    def __str__(self) -> str:
        fields = "".join(f"\n  {each['param']}: {each['message']} ({each['code']})" for each in self.details)
        return f"{self.status} {self.code}: {self.message} (request {self.request_id}){fields}"

    def __reduce__(self) -> tuple[Any, ...]:
        error = {
            "type": self.type,
            "code": self.code,
            "message": self.message,
            "details": self.details,
            "param": self.param,
            "request_id": self.request_id,
        }
        return (type(self), (self.status, dict(self.headers), error), {"attempts": self.attempts})


class InvalidRequestError(ApiError):
    """400, 405, 408, 413, 415, 416, 417, 431: the request is invalid."""


class AuthenticationError(ApiError):
    """401: the API key or session is missing or invalid."""


class PermissionDeniedError(ApiError):
    """403: the API key or user lacks the permission."""


class NotFoundError(ApiError):
    """404: the resource does not exist in this workspace and environment."""


class ConflictError(ApiError):
    """409: the state of the resource forbids the request. 412: a precondition such as ``if_match`` failed."""


class RateLimitError(ApiError):
    """429: too many requests."""


class InternalError(ApiError):
    """500, 503, 507: an error of the service, or the service is temporarily unavailable."""


class NotModifiedError(TrackingError):
    """304: the resource still has the ETag of ``if_none_match``."""

    def __init__(self, etag: str | None = None) -> None:
        super().__init__("The resource has not changed.")
        self.etag = etag


class ApiConnectionError(TrackingError):
    """The client received no complete response."""

    def __init__(self, message: str, outcome_unknown: bool = True) -> None:
        super().__init__(message)
        #: True if an attempt of the request may have been carried out despite the error.
        self.outcome_unknown = outcome_unknown


class ApiTimeoutError(ApiConnectionError):
    """No response arrived before the timeout or the deadline."""


_CLASSES: Mapping[str, type[ApiError]] = {
    "invalid_request": InvalidRequestError,
    "authentication": AuthenticationError,
    "permission": PermissionDeniedError,
    "not_found": NotFoundError,
    "conflict": ConflictError,
    "rate_limit": RateLimitError,
    "internal": InternalError,
}

_TYPES_BY_STATUS: Mapping[int, ErrorType] = {
    401: "authentication",
    403: "permission",
    404: "not_found",
    409: "conflict",
    412: "conflict",
    429: "rate_limit",
}


def create_api_error(status: int, headers: Mapping[str, str], body: object) -> ApiError:
    """Creates the error for a failed response. The body may have any form if another server sent it."""
    given = body.get("error") if isinstance(body, dict) else None
    error: dict[str, Any] = dict(given) if isinstance(given, dict) and _is_api_error(given) else {}
    if error.get("type") not in _CLASSES:
        other: ErrorType = "invalid_request" if 400 <= status < 500 else "internal"
        error["type"] = _TYPES_BY_STATUS.get(status, other)
    return _CLASSES[error["type"]](status, headers, error)


def _is_api_error(error: Mapping[str, Any]) -> bool:
    """Returns true if the fields have the types of the API. Gateways use the same names for other values."""
    details = error.get("details", [])
    has_details = isinstance(details, list) and all(
        isinstance(each, dict) and {"param", "code", "message"} <= each.keys() for each in details
    )
    return has_details and all(isinstance(error.get(name, ""), str) for name in ("type", "code", "message"))


def _parse_retry_after(value: str | None) -> float | None:
    """Parses ``Retry-After``, which is in seconds or a date."""
    if value is None:
        return None
    if value.strip().isascii() and value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
