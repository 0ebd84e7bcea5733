"""Rules of retries and consistency tokens, without input and output."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from ._errors import ApiConnectionError, ApiError, TrackingError

#: Maximum seconds between two attempts of a call without a deadline.
MAX_WAIT_S = 86_400.0
#: Statuses that a proxy returns for a broken connection.
_BROKEN_CONNECTION_STATUSES = frozenset({502, 504})
#: Error codes of 503 responses to requests that the service did not start to execute.
_NOT_STARTED_CODES = frozenset({"busy", "read_model_behind"})
#: Maximum number of tokens in a header. Older tokens are dropped, because all read models include their writes by then.
_MAX_CONSISTENCY_TOKENS = 16


def can_retry(method: str, conditional: bool, error: TrackingError) -> bool:
    """Returns true if a retry may help and is safe.

    A POST has an ``Idempotency-Key``, and GET, PUT, PATCH and DELETE are idempotent. A conditional request is not
    idempotent: if an attempt changed the resource, its retry fails the precondition. Such a request is not retried if
    its outcome is unknown.
    """
    is_safe = method in ("GET", "POST") or not conditional
    if isinstance(error, ApiConnectionError):
        return is_safe or not error.outcome_unknown
    if not isinstance(error, ApiError):
        return False
    if error.status == 429 or error.code == "idempotency_in_progress":
        return True
    if error.status == 503:
        return is_safe or error.code in _NOT_STARTED_CODES
    return error.status in _BROKEN_CONNECTION_STATUSES and is_safe


def is_outcome_unknown(error: TrackingError) -> bool:
    """Returns true if the request may have been carried out although it failed."""
    if isinstance(error, ApiConnectionError):
        return error.outcome_unknown
    if not isinstance(error, ApiError):
        return False
    is_unavailable = error.status == 503 and error.code not in _NOT_STARTED_CODES
    return error.status in _BROKEN_CONNECTION_STATUSES or is_unavailable


@dataclass(frozen=True)
class Backoff:
    """Pauses between attempts in seconds: the first one and the longest one."""

    first: float
    most: float

    def compute_delay(self, attempt: int, error: TrackingError, random: float) -> float:
        """Returns the seconds before the next attempt.

        If the API requests a time, the result is that time plus up to 10 %. Otherwise the time grows exponentially and
        up to half of it is random, so that clients that failed together do not retry together. `attempt` is the number
        of attempts so far, and `random` is from 0 to 1.
        """
        if isinstance(error, ApiError) and error.retry_after is not None:
            return error.retry_after * (1 + random / 10)
        grown = min(self.most, self.first * 2.0 ** min(attempt - 1, 60))
        return grown * (0.5 + random / 2)


class ConsistencyTokens:
    """Consistency tokens of a client's writes, which the client's reads must include.

    The token in the response to a write includes the tokens sent with the write, and replaces them. There are several
    tokens only during concurrent writes. All threads of a client share them.
    """

    def __init__(self, first: str | None = None) -> None:
        self._tokens = _split(first)
        self._lock = threading.Lock()

    @property
    def header(self) -> str | None:
        """Value of the ``Consistency-Token`` header; ``None`` before the first write."""
        return ", ".join(self._tokens) or None

    def record_write(self, token: str, sent: str | None) -> None:
        """Records the token of a write. `sent` is the value of the header in the request of the write."""
        superseded = {token, *_split(sent)}
        with self._lock:
            kept = [each for each in self._tokens if each not in superseded]
            self._tokens = [*kept, token][-_MAX_CONSISTENCY_TOKENS:]

    def add(self, header: str) -> None:
        """Adds the tokens of another client's writes, so that reads include these writes."""
        for token in _split(header):
            self.record_write(token, None)

    def remove(self, header: str) -> None:
        """Removes tokens of writes that the service does not know."""
        refused = set(_split(header))
        with self._lock:
            self._tokens = [each for each in self._tokens if each not in refused]


def _split(header: str | None) -> list[str]:
    return [part.strip() for part in (header or "").split(",") if part.strip()]
