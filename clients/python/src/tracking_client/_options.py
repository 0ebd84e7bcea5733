"""Options of clients and calls, and the response behind a returned value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from typing_extensions import TypedDict

Item = TypeVar("Item")


class RequestOptions(TypedDict, total=False):
    """Options of one call. Times are in seconds."""

    #: Longest time without progress while the client connects, sends or receives. ``None`` means no limit.
    timeout: float | None
    #: Longest time of the call with all its attempts and pauses. ``None`` means no limit.
    deadline: float | None
    #: Maximum number of retries of a request that is safe to repeat.
    retries: int
    #: Headers of the request.
    headers: Mapping[str, str]
    #: Consistency token of the writes that reads must include. By default, reads include the client's own writes.
    consistency_token: str


class ReadOptions(RequestOptions, total=False):
    #: ETag of your copy. The call raises ``NotModifiedError`` if the resource still has this ETag.
    if_none_match: str


class WriteOptions(RequestOptions, total=False):
    #: ETag that the resource must still have. Otherwise the call raises ``ConflictError`` `precondition_failed`.
    if_match: str
    #: True to reject unknown fields and wrong check digits. By default, the response contains warnings instead.
    strict: bool


class PostOptions(WriteOptions, total=False):
    #: Key that identifies the operation, so that it is carried out once even if another process repeats the request.
    #: Random by default.
    idempotency_key: str


class UpsertOptions(PostOptions, total=False):
    #: ``*`` allows the write only if the resource does not exist.
    if_none_match: Literal["*"]


OPTION_NAMES = frozenset(RequestOptions.__annotations__) | {"if_none_match", "if_match", "strict", "idempotency_key"}


@dataclass(frozen=True)
class Settings:
    """Defaults of the calls of a client. Times are in seconds."""

    timeout: float | None = 30.0
    deadline: float | None = 120.0
    retries: int = 4
    #: Pause before the first retry, and the longest pause, if the API does not set one.
    backoff: tuple[float, float] = (0.25, 10.0)


@dataclass(frozen=True)
class Response:
    """Status and headers of a response."""

    #: HTTP status: 200, or 201 if the request created a resource.
    status: int
    #: Response headers, with names in lower case.
    headers: Mapping[str, str]

    @property
    def request_id(self) -> str | None:
        """ID of the request. Include it in questions to the operator."""
        return self.headers.get("request-id")

    @property
    def etag(self) -> str | None:
        """ETag of the resource, for ``if_match``."""
        return self.headers.get("etag")

    @property
    def consistency_token(self) -> str | None:
        """Consistency token of the write, for reads that must include the write."""
        return self.headers.get("consistency-token")

    @property
    def replayed(self) -> bool:
        """True if this is the stored response to an earlier request with the same ``Idempotency-Key``."""
        return self.headers.get("idempotency-replayed") == "true"


@dataclass(frozen=True)
class Page(Generic[Item]):
    """A page of a list."""

    #: The items. A page may have fewer items than ``limit``, even none, although other pages follow.
    data: list[Item]
    #: Value of ``cursor`` for the next page; ``None`` on the last page.
    next_cursor: str | None
    has_more: bool


class Body(dict[str, Any]):
    """The JSON object of a response, which remembers its response."""

    __slots__ = ("response",)
    response: Response


def response_of(value: Mapping[str, Any]) -> Response:
    """Returns the response of a value that a method of the client returned.

    Copies of the value, and the items of a list, have no response: for these, the function raises ``TypeError``.
    """
    if not isinstance(value, Body):
        raise TypeError("response_of requires the value that a method of the client returned.")
    return value.response
