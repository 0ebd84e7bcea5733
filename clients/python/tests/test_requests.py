"""A client with a server that fails in every possible way."""

from __future__ import annotations

import copy
import json
import pickle
import time
from collections.abc import Callable
from typing import Any, get_args

import httpx
import pytest
from hostile_server import Answer, HostileServer, break_off, fail, never, ok, raw, reset, respond

from tracking_client import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    AuthenticationError,
    Client,
    ConflictError,
    InternalError,
    InvalidRequestError,
    NotModifiedError,
    PermissionDeniedError,
    RateLimitError,
    response_of,
    types,
)
from tracking_client._errors import create_api_error

Connect = Callable[..., Any]
SHIPMENT = {"external_id": "PO-1"}
SOON = {"retry-after": "0"}


@pytest.mark.parametrize(
    "answer",
    [
        fail(429, "rate_limit", "rate_limited", SOON),
        fail(503, "internal", "unavailable", SOON),
        respond(502, "Bad Gateway"),
        respond(504, {}),
        reset,
        break_off,
        fail(409, "conflict", "idempotency_in_progress", SOON),
    ],
    ids=["429", "503", "502 of a proxy", "504 of a proxy", "no response", "half a response", "still in progress"],
)
def test_repeats_a_post_with_its_key(hostile_server: HostileServer, connect: Connect, answer: Answer) -> None:
    hostile_server.answer(answer, answer, ok({"id": "shp_1"}, {"idempotency-replayed": "true"}))
    written = connect().shipments.upsert(SHIPMENT)
    assert written == {"id": "shp_1"}
    assert response_of(written).replayed
    assert [json.loads(request.body) for request in hostile_server.requests] == [SHIPMENT] * 3
    keys = {request.headers["idempotency-key"] for request in hostile_server.requests}
    assert len(keys) == 1
    assert len(keys.pop()) == 32


def test_uses_a_new_key_for_each_call_or_the_given_key(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(ok())
    client = connect()
    client.shipments.upsert(SHIPMENT)
    client.shipments.upsert(SHIPMENT)
    client.shipments.upsert(SHIPMENT, idempotency_key="mine")
    client.health.live()
    keys = [request.headers.get("idempotency-key") for request in hostile_server.requests]
    assert len(set(keys[:2])) == 2
    assert keys[2:] == ["mine", None]


def test_fails_with_the_last_error_after_the_maximum_number_of_retries(
    hostile_server: HostileServer, connect: Connect
) -> None:
    hostile_server.answer(fail(503, "internal", "busy", SOON))
    with pytest.raises(InternalError) as caught:
        connect(retries=2).shipments.get("shp_1")
    error = caught.value
    assert (error.code, error.status, error.attempts, error.retry_after) == ("busy", 503, 3, 0)
    assert error.request_id == "req_1"
    assert len(hostile_server.requests) == 3
    hostile_server.answer(reset)
    with pytest.raises(ApiConnectionError):
        connect(retries=1).shipments.get("shp_1")
    assert len(hostile_server.requests) == 2
    with pytest.raises(ApiConnectionError) as lost:
        connect().shipments.get("shp_1", retries=0)
    assert lost.value.attempts == 1


@pytest.mark.parametrize(
    ("status", "type", "code"),
    [
        (400, "invalid_request", "validation_failed"),
        (404, "not_found", "not_found"),
        (409, "conflict", "already_delivered"),
        (500, "internal", "internal_error"),
    ],
)
def test_does_not_retry_if_a_retry_cannot_help(
    hostile_server: HostileServer, connect: Connect, status: int, type: str, code: str
) -> None:
    hostile_server.answer(fail(status, type, code))
    with pytest.raises(ApiError) as caught:
        connect().shipments.cancel("shp_1")
    assert (caught.value.status, caught.value.type, caught.value.code) == (status, type, code)
    assert len(hostile_server.requests) == 1


def test_does_not_retry_after_the_deadline(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(fail(429, "rate_limit", "rate_limited", {"retry-after": "3600"}))
    with pytest.raises(RateLimitError) as caught:
        connect().shipments.get("shp_1")
    assert (caught.value.retry_after, caught.value.attempts) == (3_600, 1)


def test_repeats_patch_and_delete(hostile_server: HostileServer, connect: Connect) -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda client: client.shipments.patch("shp_1", {}),
        lambda client: client.webhook_endpoints.delete("whe_1"),
    ]
    for call in calls:
        hostile_server.answer(reset, ok({"id": "x"}))
        assert call(connect()) == {"id": "x"}
        assert len(hostile_server.requests) == 2


def test_a_delete_succeeds_if_its_repeat_finds_nothing(hostile_server: HostileServer, connect: Connect) -> None:
    deleted = {"id": "x", "deleted": True, "warnings": []}
    not_found = fail(404, "not_found", "not_found")
    limited = fail(429, "rate_limit", "rate_limited", SOON)
    calls: list[Callable[[Any], Any]] = [
        lambda client: client.webhook_endpoints.delete("x"),
        lambda client: client.session.end("x"),
    ]
    for call in calls:
        for lost in [reset, respond(504, {}), fail(503, "internal", "unavailable", SOON)]:
            hostile_server.answer(lost, limited, not_found)
            assert call(connect()) == deleted
        for untouched in [[], [fail(503, "internal", "busy", SOON)]]:
            hostile_server.answer(*untouched, not_found)
            with pytest.raises(ApiError) as caught:
                call(connect())
            assert (caught.value.status, caught.value.attempts) == (404, len(untouched) + 1)


def test_a_sign_out_succeeds_if_its_repeat_finds_no_session(hostile_server: HostileServer, connect: Connect) -> None:
    signed_out = fail(401, "authentication", "invalid_session")
    hostile_server.answer(reset, signed_out)
    assert connect().session.sign_out() == {"id": "", "deleted": True, "warnings": []}
    hostile_server.answer(signed_out)
    with pytest.raises(AuthenticationError):
        connect().session.sign_out()
    hostile_server.answer(reset, signed_out)
    with pytest.raises(AuthenticationError):
        connect().webhook_endpoints.delete("x")


def test_repeats_a_conditional_write_only_if_it_was_not_carried_out(
    hostile_server: HostileServer, connect: Connect
) -> None:
    for answer in [reset, respond(504, {}), fail(503, "internal", "unavailable", SOON)]:
        hostile_server.answer(answer, ok())
        with pytest.raises((ApiConnectionError, InternalError)) as caught:
            connect().shipments.patch("shp_1", {}, if_match='"3"')
        assert caught.value.attempts == 1
    hostile_server.answer(
        fail(429, "rate_limit", "rate_limited", SOON), fail(503, "internal", "busy", SOON), ok({"id": "x"})
    )
    assert connect().shipments.patch("shp_1", {}, if_match='"3"') == {"id": "x"}
    assert [request.headers["if-match"] for request in hostile_server.requests] == ['"3"'] * 3
    hostile_server.answer(fail(412, "conflict", "precondition_failed"))
    with pytest.raises(ConflictError):
        connect().shipments.patch("shp_1", {}, if_match='"3"')


def test_repeats_a_conditional_write_that_could_not_connect(open_client: Connect) -> None:
    client = open_client("http://127.0.0.1:1", retries=1, backoff=(0.001, 0.001))
    with pytest.raises(ApiConnectionError) as caught:
        client.shipments.patch("shp_1", {}, if_match='"3"')
    assert (caught.value.attempts, caught.value.outcome_unknown) == (2, False)


def test_has_an_unknown_outcome_if_an_earlier_attempt_may_have_been_carried_out(open_client: Connect) -> None:
    stopping = HostileServer()

    def stop(handler: Any) -> None:
        handler.server.socket.close()
        reset(handler)

    stopping.answer(stop)
    with pytest.raises(ApiConnectionError) as caught:
        open_client(stopping.url, retries=2, backoff=(0.001, 0.002)).shipments.upsert(SHIPMENT)
    assert (caught.value.attempts, caught.value.outcome_unknown) == (3, True)
    stopping.close()


@pytest.mark.parametrize("wait", ["99999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_does_not_wait_for_days(hostile_server: HostileServer, connect: Connect, wait: str) -> None:
    hostile_server.answer(fail(429, "rate_limit", "rate_limited", {"retry-after": wait}))
    with pytest.raises(RateLimitError) as caught:
        connect(deadline=None).shipments.get("shp_1")
    assert caught.value.attempts == 1


def test_repeats_after_a_response_with_broken_compression(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(raw(b"not gzip", {"content-encoding": "gzip"}), ok({"id": "shp_1"}))
    assert connect().shipments.upsert(SHIPMENT) == {"id": "shp_1"}
    hostile_server.answer(raw(b"not gzip", {"content-encoding": "gzip"}))
    with pytest.raises(ApiConnectionError):
        connect().documents.download("doc_1").read()


@pytest.mark.parametrize(
    "other",
    [
        {"type": ["x"], "code": "x", "message": "No.", "details": []},
        {"code": 403, "message": "No.", "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo"}]},
        {"type": "permission", "code": "x", "message": "No.", "details": "x"},
    ],
)
def test_describes_an_error_of_another_server(other: object) -> None:
    error = create_api_error(403, {}, {"error": other})
    assert isinstance(error, PermissionDeniedError)
    assert str(error) == "403 unexpected_answer: The response had status 403. (request None)"


def test_times_out_per_attempt_and_in_total(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(never, ok({"id": "shp_1"}))
    assert connect(timeout=0.05).shipments.get("shp_1") == {"id": "shp_1"}
    hostile_server.answer(never)
    with pytest.raises(ApiTimeoutError):
        connect(timeout=0.05, retries=1).shipments.get("shp_1")
    with pytest.raises(ApiTimeoutError):
        connect(deadline=0.05).shipments.get("shp_1")


def test_the_deadline_ends_a_response_that_arrives_too_slowly(hostile_server: HostileServer, connect: Connect) -> None:
    def trickle(handler: Any) -> None:
        handler.send_response_only(200)
        handler.send_header("content-length", "1000000")
        handler.end_headers()
        while True:
            handler.wfile.write(b" ")
            time.sleep(0.01)

    hostile_server.answer(trickle)
    with pytest.raises(ApiTimeoutError):
        connect(deadline=0.2).shipments.get("shp_1")


def test_raises_the_class_code_and_fields_of_the_error(hostile_server: HostileServer, connect: Connect) -> None:
    details = [{"param": "etd", "code": "invalid_timestamp", "message": "Has no offset."}]
    error = {"type": "invalid_request", "code": "validation_failed", "message": "etd", "param": "etd"}
    hostile_server.answer(respond(400, {"error": {**error, "details": details, "request_id": "req_7"}}))
    with pytest.raises(InvalidRequestError) as caught:
        connect().shipments.upsert(SHIPMENT)
    raised = caught.value
    assert (raised.code, raised.param, raised.details, raised.request_id) == (
        "validation_failed",
        "etd",
        details,
        "req_7",
    )
    assert str(raised) == "400 validation_failed: etd (request req_7)\n  etd: Has no offset. (invalid_timestamp)"
    for kept in (pickle.loads(pickle.dumps(raised)), copy.copy(raised)):
        assert (type(kept), str(kept), kept.attempts) == (InvalidRequestError, str(raised), 1)


def test_every_type_of_error_has_a_class() -> None:
    body: Callable[[str], object] = lambda type: {"error": {"type": type}}  # noqa: E731
    classes = {type(create_api_error(400, {}, body(each))) for each in get_args(types.ErrorType)}
    assert len(classes) == len(get_args(types.ErrorType))
    assert isinstance(create_api_error(400, {}, body("of_a_newer_service")), InvalidRequestError)


def test_reports_answers_of_other_servers(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(respond(403, "<html>"))
    with pytest.raises(PermissionDeniedError) as caught:
        connect().shipments.get("shp_1")
    assert caught.value.code == "unexpected_answer"
    hostile_server.answer(lambda handler: handler.send(200, b"<html>Sign in", {"content-type": "text/html"}))
    with pytest.raises(ApiError) as signed_in:
        connect().shipments.get("shp_1")
    assert (signed_in.value.code, signed_in.value.status) == ("unexpected_answer", 200)
    hostile_server.answer(lambda handler: handler.send(302, b"", {"location": "http://127.0.0.1:1"}))
    with pytest.raises(ApiError) as moved:
        connect().shipments.get("shp_1")
    assert (moved.value.code, moved.value.status) == ("unexpected_answer", 302)


def test_raises_not_modified(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(lambda handler: handler.send(304, b"", {"etag": '"3"'}))
    with pytest.raises(NotModifiedError) as caught:
        connect().shipments.get("shp_1", if_none_match='"3"')
    assert caught.value.etag == '"3"'
    assert hostile_server.requests[0].headers["if-none-match"] == '"3"'


def test_rejects_values_that_would_form_another_request(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(ok())
    for id in ("", ".", "..", None):
        with pytest.raises(TypeError):
            connect().shipments.get(id)
    with pytest.raises(TypeError):
        connect().shipments.list(status={"booked": 1}).page()
    assert hostile_server.requests == []
    connect().shipments.get("a/b?c#d")
    assert [request.url for request in hostile_server.requests] == ["/v1/shipments/a%2Fb%3Fc%23d"]
    with pytest.raises(TypeError):
        connect(session=True)
    for url in ("ftp://x", "x"):
        with pytest.raises(TypeError):
            Client(url)


def test_sends_filters_options_and_headers(hostile_server: HostileServer, connect: Connect) -> None:
    page: dict[str, object] = {"data": [], "next_cursor": None, "has_more": False}
    hostile_server.answer(ok(page))
    client = connect(headers={"X-Team": "tms"})
    client.shipments.list(status=["booked", "in_transit"], active=True, limit=5, headers={"X-Call": "1"}).page()
    client.audit_log.list(from_="2026-01-01T00:00:00Z").page()
    client.shipments.upsert(SHIPMENT, strict=True, if_none_match="*")
    listed, audited, written = hostile_server.requests
    assert listed.url == "/v1/shipments?status=booked%2Cin_transit&active=true&limit=5"
    assert (listed.headers["x-team"], listed.headers["x-call"]) == ("tms", "1")
    assert listed.headers["authorization"] == "Bearer sk_test_1"
    assert listed.headers["user-agent"].startswith("tracking-client-python/")
    assert audited.url == "/v1/audit_log?from=2026-01-01T00%3A00%3A00Z"
    assert (written.headers["prefer"], written.headers["if-none-match"]) == ("handling=strict", "*")


def test_iterates_over_pages_even_if_one_is_empty(hostile_server: HostileServer, connect: Connect) -> None:
    def page(data: list[object], cursor: str | None) -> Answer:
        return ok({"data": data, "next_cursor": cursor, "has_more": cursor is not None})

    pages = [page([{"id": 1}], "a"), page([], "b"), page([{"id": 2}], None)]
    client = connect()
    hostile_server.answer(*pages)
    assert [shipment["id"] for shipment in client.shipments.list(limit=1)] == [1, 2]
    assert [request.url for request in hostile_server.requests] == [
        "/v1/shipments?limit=1",
        "/v1/shipments?limit=1&cursor=a",
        "/v1/shipments?limit=1&cursor=b",
    ]
    hostile_server.answer(*pages)
    assert [len(each.data) for each in client.shipments.list().pages()] == [1, 0, 1]
    hostile_server.answer(*pages)
    assert client.shipments.list().to_list() == [{"id": 1}, {"id": 2}]
    hostile_server.answer(pages[2])
    assert client.shipments.list().page("b").has_more is False


def test_requests_a_page_only_when_it_is_needed(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(ok({"data": [{"id": 1}], "next_cursor": "a", "has_more": True}))
    for _shipment in connect().shipments.list():
        break
    assert len(hostile_server.requests) == 1


def test_reads_include_the_writes_of_the_client(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(ok({}, {"consistency-token": "a"}), ok())
    client = connect()
    assert client.consistency_token is None
    assert response_of(client.shipments.upsert(SHIPMENT)).consistency_token == "a"
    client.shipments.get("shp_1")
    client.shipments.get("shp_1", consistency_token="other")
    client.see("b")
    client.shipments.get("shp_1")
    tokens = [request.headers.get("consistency-token") for request in hostile_server.requests]
    assert tokens == [None, "a", "other", "a, b"]
    assert client.consistency_token == "a, b"
    hostile_server.answer(fail(400, "invalid_request", "invalid_consistency_token"), ok())
    client.shipments.get("shp_1")
    assert [request.headers.get("consistency-token") for request in hostile_server.requests] == ["a, b", None]
    assert client.consistency_token is None


def test_a_session_keeps_its_cookie_and_names_its_environment(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(ok({}, {"set-cookie": "session=abc; Path=/; HttpOnly"}), ok())
    client = connect(api_key=None, session=True, environment="test")
    client.session.sign_in({"email": "ann@example.com", "password": "x"})
    client.session.get()
    first, second = hostile_server.requests
    assert (first.headers["environment"], first.headers["x-requested-with"]) == ("test", "tracking-client")
    assert "authorization" not in first.headers
    assert second.headers["cookie"] == "session=abc"


def test_response_of_a_copy_is_an_error(hostile_server: HostileServer, connect: Connect) -> None:
    hostile_server.answer(ok({"id": "shp_1"}, {"etag": '"3"', "request-id": "req_9"}))
    shipment = connect().shipments.get("shp_1")
    response = response_of(shipment)
    assert (response.status, response.etag, response.request_id) == (200, '"3"', "req_9")
    with pytest.raises(TypeError):
        response_of(dict(shipment))


def test_does_not_close_the_given_http_client(hostile_server: HostileServer) -> None:
    hostile_server.answer(ok())
    with httpx.Client(headers={"X-Own": "1"}) as http:
        with Client(hostile_server.url, "sk_test_1", http_client=http) as client:
            client.health.live()
        assert not http.is_closed
    assert hostile_server.requests[0].headers["x-own"] == "1"
