"""Verification of webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias, cast

from typing_extensions import TypedDict

from . import types as t

_SECRET_PREFIX = "whsec_"


class EndpointVerificationData(TypedDict):
    challenge: str


class EndpointVerification(TypedDict):
    """Request that ``webhook_endpoints.verify`` sends. Respond with 2xx and the challenge as the body."""

    id: str
    type: Literal["endpoint.verification"]
    created_at: str
    api_version: str
    data: EndpointVerificationData


WebhookEvent: TypeAlias = (
    "t.Event | t.WebhookEndpointFailingEvent | t.WebhookDeliveryDeadLetteredEvent | EndpointVerification"
)
"""Body of a webhook; its ``type`` determines its ``data``. Handle unknown types, which a newer service may send."""


class WebhookVerificationError(Exception):
    """Base class of verification errors. Ignore the request and respond with 400."""


class WebhookFormError(WebhookVerificationError):
    """The signature is missing or malformed, or the body is not an event."""


class WebhookSignatureError(WebhookVerificationError):
    """The signature matches none of the secrets. Another party may have sent the request."""


class WebhookTimestampError(WebhookVerificationError):
    """The signature is too old or in the future. Another party may have repeated the request."""


def verify_webhook(
    raw_body: bytes | str,
    headers: Mapping[str, str] | Iterable[tuple[str, str]],
    secret: str | Sequence[str],
    *,
    tolerance: float = 300,
    now: float | None = None,
) -> WebhookEvent:
    """Verifies that the service sent a delivery recently, and returns its event.

    Checks ``Service-Signature``; if this header is missing, checks the headers of Standard Webhooks. The comparison
    takes constant time. Events are delivered at least once, so ignore IDs that you have processed.
    An endpoint with `payload: "thin"` receives a `WebhookPayload`, whose `data` contains no snapshots.

    :param raw_body: Request body as received, byte for byte. A body that was parsed and serialized again has another
        signature.
    :param headers: Request headers. Names can have any case.
    :param secret: Signing secret of the endpoint, ``whsec_…``. Pass several secrets during a rotation.
    :param tolerance: Maximum age of the signature in seconds, including clock differences.
    :param now: Current time in Unix seconds. Set it only in tests.
    :raises WebhookFormError: The request is not a delivery.
    :raises WebhookSignatureError: The signature is wrong.
    :raises WebhookTimestampError: The request was signed too long ago.
    """
    if not isinstance(raw_body, bytes | bytearray | memoryview | str):
        raise TypeError("raw_body must be the received text or bytes, not a parsed value.")
    body = _encode(raw_body) if isinstance(raw_body, str) else bytes(raw_body)
    secrets = [each for each in ([secret] if isinstance(secret, str) else secret or []) if each]
    # Anyone could forge signatures with an empty secret.
    if not secrets:
        raise TypeError("verify_webhook requires the secret of the endpoint.")
    signed = _read_signature(_by_lower_name(headers))
    if not _is_signed(signed, body, secrets):
        raise WebhookSignatureError("The signature does not match any secret of the endpoint.")
    if abs((time.time() if now is None else now) - signed.timestamp) > tolerance:
        raise WebhookTimestampError(
            f"The request was signed at {signed.timestamp}, which differs too much from the current time."
        )
    return _parse_event(body)


class _Signature(NamedTuple):
    """The signature fields of a request."""

    #: Time of the signature in Unix seconds.
    timestamp: int
    #: Text before the body in the signed content.
    prefix: str
    signatures: list[bytes]
    #: True if the key is the decoded secret, false if it is the text of the whole secret.
    is_key_decoded: bool


def _by_lower_name(headers: Mapping[str, str] | Iterable[tuple[str, str]]) -> dict[str, str]:
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    by_name: dict[str, str] = {}
    for name, value in pairs:
        before = by_name.get(name.lower())
        by_name[name.lower()] = value if before is None else f"{before}, {value}"
    return by_name


def _read_signature(headers: Mapping[str, str]) -> _Signature:
    """Reads ``Service-Signature: t=<unix seconds>,v1=<hex>``, or the headers of Standard Webhooks."""
    service = headers.get("service-signature")
    if service is not None:
        parts = [part.strip().partition("=") for part in service.split(",")]
        t = next((value for name, _, value in parts if name == "t"), "")
        signatures = [_from_hex(value) for name, _, value in parts if name == "v1"]
        return _check_form(t, f"{t}.", signatures, is_key_decoded=False)
    if not any(name in headers for name in ("webhook-signature", "webhook-id", "webhook-timestamp")):
        raise WebhookFormError("The request has no signature.")
    t = headers.get("webhook-timestamp", "")
    parts = [part.rstrip(",").partition(",") for part in headers.get("webhook-signature", "").split()]
    signatures = [_from_base64(value) for name, _, value in parts if name == "v1"]
    return _check_form(t, f"{headers.get('webhook-id', '')}.{t}.", signatures, is_key_decoded=True)


def _check_form(t: str, prefix: str, signatures: list[bytes | None], *, is_key_decoded: bool) -> _Signature:
    if not re.fullmatch(r"[0-9]{1,12}", t):
        raise WebhookFormError("The signature has no timestamp.")
    valid = [each for each in signatures if each is not None]
    if not valid:
        raise WebhookFormError("The signature contains no valid value.")
    return _Signature(int(t), prefix, valid, is_key_decoded)


def _is_signed(signed: _Signature, body: bytes, secrets: list[str]) -> bool:
    content = _encode(signed.prefix) + body
    results = []
    for secret in secrets:
        key = _from_base64(secret.removeprefix(_SECRET_PREFIX)) if signed.is_key_decoded else secret.encode()
        if key is None:
            continue
        expected = hmac.new(key, content, hashlib.sha256).digest()
        results += [hmac.compare_digest(expected, signature) for signature in signed.signatures]
    return any(results)


def _parse_event(body: bytes) -> WebhookEvent:
    try:
        event = json.loads(body.decode())
    except ValueError as error:
        raise WebhookFormError("The body is not JSON.") from error
    is_event = isinstance(event, dict) and isinstance(event.get("type"), str) and isinstance(event.get("data"), dict)
    if not is_event:
        raise WebhookFormError("The body is not an event.")
    return cast(WebhookEvent, event)


def _encode(text: str) -> bytes:
    """Encodes received text. Some frameworks decode invalid bytes to surrogates, which UTF-8 cannot encode."""
    return text.encode(errors="replace")


def _from_hex(text: str) -> bytes | None:
    return bytes.fromhex(text) if re.fullmatch(r"([0-9a-fA-F]{2})+", text) else None


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True) or None
    except (binascii.Error, ValueError):
        return None
