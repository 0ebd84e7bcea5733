"""Client of the shipment tracking API, synchronous and asynchronous."""

from . import types
from ._async.client import AsyncClient
from ._async.documents import AsyncDownload
from ._async.events import AsyncEventStream
from ._async.resource import AsyncPaginator
from ._errors import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    AuthenticationError,
    ConflictError,
    InternalError,
    InvalidRequestError,
    NotFoundError,
    NotModifiedError,
    PermissionDeniedError,
    RateLimitError,
    TrackingError,
)
from ._options import (
    Page,
    PostOptions,
    ReadOptions,
    RequestOptions,
    Response,
    UpsertOptions,
    WriteOptions,
    response_of,
)
from ._sync.client import Client
from ._sync.documents import Download
from ._sync.events import EventStream
from ._sync.resource import Paginator
from ._version import __version__
from ._webhooks import (
    EndpointVerification,
    WebhookEvent,
    WebhookFormError,
    WebhookSignatureError,
    WebhookTimestampError,
    WebhookVerificationError,
    verify_webhook,
)

__all__ = [
    "ApiConnectionError",
    "ApiError",
    "ApiTimeoutError",
    "AsyncClient",
    "AsyncDownload",
    "AsyncEventStream",
    "AsyncPaginator",
    "AuthenticationError",
    "Client",
    "ConflictError",
    "Download",
    "EndpointVerification",
    "EventStream",
    "InternalError",
    "InvalidRequestError",
    "NotFoundError",
    "NotModifiedError",
    "Page",
    "Paginator",
    "PermissionDeniedError",
    "PostOptions",
    "RateLimitError",
    "ReadOptions",
    "RequestOptions",
    "Response",
    "TrackingError",
    "UpsertOptions",
    "WebhookEvent",
    "WebhookFormError",
    "WebhookSignatureError",
    "WebhookTimestampError",
    "WebhookVerificationError",
    "WriteOptions",
    "__version__",
    "response_of",
    "types",
    "verify_webhook",
]
