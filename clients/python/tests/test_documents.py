from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hostile_server import Answer, Handler, HostileServer, fail, ok, reset, respond

from tracking_client import ApiConnectionError, ApiError

Connect = Callable[..., Any]
TEXT = "bytes of 港.pdf".encode() * 10_000
PDF = "application/pdf"


@pytest.fixture
def documents(connect: Connect) -> Any:
    return connect().documents


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "港 1.pdf"
    path.write_bytes(TEXT)
    return path


def requested(server: HostileServer) -> Answer:
    url = f"{server.url}/content?token=x"
    upload = {"method": "PUT", "url": url, "headers": {"content-type": PDF}, "expires_at": ""}
    return respond(201, {"id": "doc_1", "upload": upload})


def stored(handler: Handler) -> None:
    handler.send_response_only(204)
    handler.end_headers()


def asked(server: HostileServer) -> list[str]:
    return [f"{request.method} {request.url}" for request in server.requests]


def test_uploads_in_one_request_and_again_if_it_breaks(
    hostile_server: HostileServer, documents: Any, file: Path
) -> None:
    hostile_server.answer(reset, respond(201, {"id": "doc_1"}))
    progress: list[tuple[int, int | None]] = []
    written = documents.upload(
        "shp_1",
        type="bill_of_lading",
        file=file,
        replaces_document_id="doc_0",
        on_progress=lambda loaded, total: progress.append((loaded, total)),
    )
    assert written == {"id": "doc_1"}
    assert asked(hostile_server) == ["POST /v1/shipments/shp_1/documents"] * 2
    first, second = hostile_server.requests
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert second.headers["content-type"].startswith("multipart/form-data; boundary=")
    names = re.findall(r' name="([^"]+)"(?:; filename="([^"]+)")?', second.body.decode())
    assert names == [("type", ""), ("replaces_document_id", ""), ("file", "港 1.pdf")]
    assert f"Content-Type: {PDF}\r\n\r\n".encode() + TEXT + b"\r\n" in second.body
    assert progress[-1] == (len(TEXT), len(TEXT))


def test_uploads_bytes_and_the_rest_of_an_open_file(hostile_server: HostileServer, documents: Any) -> None:
    opened = io.BytesIO(b"head" + TEXT)
    opened.seek(4)
    for given in (TEXT, opened):
        hostile_server.answer(reset, respond(201, {"id": "doc_1"}))
        documents.upload("shp_1", type="photo", file=given, file_name="a.png", content_type="image/png")
        for request in hostile_server.requests[1:]:
            assert b"Content-Type: image/png\r\n\r\n" + TEXT + b"\r\n" in request.body
    assert not opened.closed


def test_uploads_a_large_file_by_url_without_credentials(
    hostile_server: HostileServer, documents: Any, file: Path
) -> None:
    hostile_server.answer(requested(hostile_server), reset, stored, ok({"id": "doc_1"}))
    progress: list[tuple[int, int | None]] = []
    written = documents.upload(
        "shp_1",
        type="photo",
        file=file,
        presigned_above=10,
        on_progress=lambda loaded, total: progress.append((loaded, total)),
    )
    assert written == {"id": "doc_1"}
    assert asked(hostile_server) == [
        "POST /v1/shipments/shp_1/documents/uploads",
        "PUT /content?token=x",
        "PUT /content?token=x",
        "POST /v1/documents/doc_1/complete",
    ]
    assert json.loads(hostile_server.requests[0].body) == {
        "type": "photo",
        "file_name": "港 1.pdf",
        "content_type": PDF,
        "size_bytes": len(TEXT),
        "checksum_sha256": hashlib.sha256(TEXT).hexdigest(),
    }
    put = hostile_server.requests[2]
    assert put.body == TEXT
    assert (put.headers["content-type"], put.headers["content-length"]) == (PDF, str(len(TEXT)))
    assert "transfer-encoding" not in put.headers
    assert not {"authorization", "consistency-token", "idempotency-key", "cookie"} & set(put.headers)
    assert progress[-1] == (len(TEXT), len(TEXT))


def test_gets_another_url_if_it_expired_and_returns_a_complete_upload(
    hostile_server: HostileServer, documents: Any, file: Path
) -> None:
    def upload(**options: Any) -> Any:
        return documents.upload("shp_1", type="photo", file=file, presigned_above=10, **options)

    expired = fail(403, "permission", "invalid_upload_url")
    hostile_server.answer(requested(hostile_server), expired, requested(hostile_server), stored, ok({"id": "doc_1"}))
    assert upload() == {"id": "doc_1"}
    first, _, third, *_ = hostile_server.requests
    assert third.headers["idempotency-key"] == first.headers["idempotency-key"]
    not_pending = fail(409, "conflict", "document_not_pending")
    hostile_server.answer(requested(hostile_server), not_pending, ok({"id": "doc_1"}))
    assert upload() == {"id": "doc_1"}
    hostile_server.answer(requested(hostile_server), not_pending)
    with pytest.raises(ApiError) as caught:
        upload()
    assert caught.value.code == "document_not_pending"
    hostile_server.answer(requested(hostile_server), ok({"status": "uploaded"}), ok({"id": "doc_1"}))
    assert upload(idempotency_key="mine") == {"id": "doc_1"}
    assert [request.method for request in hostile_server.requests] == ["POST", "GET", "POST"]


def test_puts_bytes_to_the_url_of_another_client(hostile_server: HostileServer, documents: Any) -> None:
    hostile_server.answer(stored)
    upload = {"method": "PUT", "url": f"{hostile_server.url}/content", "headers": {"x-a": "1"}, "expires_at": ""}
    documents.put(upload, TEXT)
    assert hostile_server.requests[0].body == TEXT
    assert hostile_server.requests[0].headers["x-a"] == "1"


def test_requires_a_name(documents: Any) -> None:
    with pytest.raises(TypeError):
        documents.upload("shp_1", type="photo", file=b"abc")


def content(handler: Handler) -> None:
    """Sends the file, or the range of the request."""
    found = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("range", ""))
    start, end = (int(found[1]), int(found[2] or len(TEXT) - 1)) if found else (0, len(TEXT) - 1)
    part = TEXT[start : end + 1]
    name = quote('港 "1".pdf')
    headers = {
        "content-type": PDF,
        "content-disposition": f"attachment; filename=\"_.pdf\"; filename*=UTF-8''{name}",
        "etag": '"x"',
        **({"content-range": f"bytes {start}-{end}/{len(TEXT)}"} if found else {}),
    }
    handler.send(206 if found else 200, part, headers)


def test_downloads_a_file_with_its_name(hostile_server: HostileServer, documents: Any, tmp_path: Path) -> None:
    hostile_server.answer(reset, content)
    progress: list[tuple[int, int | None]] = []
    download = documents.download("doc_1", on_progress=lambda loaded, total: progress.append((loaded, total)))
    assert (download.content_type, download.file_name, download.etag) == (PDF, '港 "1".pdf', '"x"')
    assert (download.range, download.size) == (None, len(TEXT))
    assert download.read() == TEXT
    assert progress[-1] == (len(TEXT), len(TEXT))
    documents.download("doc_1").save(tmp_path / "saved.pdf")
    assert (tmp_path / "saved.pdf").read_bytes() == TEXT


def test_downloads_a_range(hostile_server: HostileServer, documents: Any) -> None:
    hostile_server.answer(content)
    part = documents.download("doc_1", range=(0, 4), if_range='"x"')
    assert part.range == (0, 4, len(TEXT))
    assert b"".join(part) == b"bytes"
    rest = documents.download("doc_1", range=(len(TEXT) - 3, None))
    assert rest.read() == b"pdf"
    request = hostile_server.requests[0]
    assert (request.headers["range"], request.headers["if-range"]) == ("bytes=0-4", '"x"')
    hostile_server.answer(fail(416, "invalid_request", "range_not_satisfiable"))
    with pytest.raises(ApiError) as caught:
        documents.download("doc_1", range=(1_000_000_000, None))
    assert (caught.value.status, caught.value.code) == (416, "range_not_satisfiable")


def test_a_download_that_breaks_raises(hostile_server: HostileServer, documents: Any) -> None:
    def half(handler: Handler) -> None:
        handler.send_response_only(200)
        handler.send_header("content-length", "1000")
        handler.end_headers()
        handler.wfile.write(b"half")
        reset(handler)

    hostile_server.answer(half)
    with pytest.raises(ApiConnectionError):
        documents.download("doc_1").read()
