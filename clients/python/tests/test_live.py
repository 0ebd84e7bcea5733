"""The client with a running service: set TRACKING_URL, and TRACKING_API_KEY to a key of the test environment."""

from __future__ import annotations

import os
import queue
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import pytest

from tracking_client import (
    AsyncClient,
    AuthenticationError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    NotModifiedError,
    WebhookEvent,
    WebhookSignatureError,
    WebhookVerificationError,
    response_of,
    verify_webhook,
)

Connect = Callable[..., Any]
URL = os.environ.get("TRACKING_URL", "")
KEY = os.environ.get("TRACKING_API_KEY", "")
PDF = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n"
WAIT_S = 30

pytestmark = pytest.mark.skipif(not URL, reason="TRACKING_URL is not set")


@pytest.fixture
def client(open_client: Connect) -> Any:
    return open_client(URL, KEY)


@pytest.fixture
def reference() -> str:
    return f"PY-{uuid.uuid4().hex[:12]}"


def fields(reference: str) -> dict[str, object]:
    return {"external_id": reference, "mode": "ocean", "origin_port": "CNSHA", "destination_port": "NLRTM"}


def test_creates_reads_and_changes_a_shipment(client: Any, reference: str) -> None:
    created = client.shipments.upsert(fields(reference))
    assert response_of(created).status == 201
    again = client.shipments.upsert(fields(reference))
    assert (response_of(again).status, again["id"]) == (200, created["id"])
    read = client.shipments.get(created["id"])
    etag = response_of(read).etag
    with pytest.raises(NotModifiedError):
        client.shipments.get(created["id"], if_none_match=etag)
    patched = client.shipments.patch(created["id"], {"booking_number": "B-1"}, if_match=etag)
    assert response_of(patched).etag != etag
    with pytest.raises(ConflictError) as caught:
        client.shipments.patch(created["id"], {"booking_number": "B-2"}, if_match=etag)
    assert caught.value.code == "precondition_failed"
    assert client.shipments.get(created["id"])["booking_number"] == "B-1"


def test_pages_through_its_own_writes(client: Any, reference: str) -> None:
    items = [{"external_id": f"{reference}-{n}", "booking_number": reference} for n in range(5)]
    result = client.shipments.upsert_many(items)
    assert [item["status"] for item in result["data"]] == [201] * 5
    listed = client.shipments.list(booking_number=reference, limit=2)
    assert [len(page.data) for page in listed.pages()] == [2, 2, 1]
    assert {shipment["external_id"] for shipment in listed} == {item["external_id"] for item in items}


def test_records_a_milestone(client: Any, reference: str) -> None:
    shipment = client.shipments.upsert(fields(reference))
    milestone = {"code": "vessel_departed", "occurred_at": "2026-11-02T10:30:00+08:00", "location": "CNSHA"}
    client.milestones.record(shipment["id"], milestone)
    read = client.shipments.get(shipment["id"])
    assert (read["status"], read["atd"]) == ("in_transit", "2026-11-02T02:30:00.000Z")
    assert [each["code"] for each in client.milestones.list(shipment["id"])] == ["vessel_departed"]
    assert "vessel_departed" in [code["code"] for code in client.milestones.codes()["data"]]
    types = [event["type"] for event in client.events.list(shipment_id=shipment["id"])]
    assert types[:2] == ["shipment.created", "milestone.recorded"]


@pytest.mark.parametrize("presigned_above", [25 * 1_024 * 1_024, 0], ids=["in one request", "by URL"])
def test_uploads_and_downloads_a_document(client: Any, reference: str, presigned_above: int) -> None:
    shipment = client.shipments.upsert(fields(reference))
    document = client.documents.upload(
        shipment["id"], type="bill_of_lading", file=PDF, file_name="港.pdf", presigned_above=presigned_above
    )
    download = client.documents.download(document["id"])
    assert (download.file_name, download.content_type) == ("港.pdf", "application/pdf")
    assert download.read() == PDF
    assert client.documents.download(document["id"], range=(0, 3)).read() == b"%PDF"
    assert client.documents.get(document["id"])["status"] == "uploaded"


def test_raises_the_fields_of_an_error(client: Any, open_client: Connect) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        client.shipments.upsert({"mode": "teleport", "etd": "tomorrow"})
    error = caught.value
    assert (error.code, error.status) == ("validation_failed", 400)
    assert {detail["param"] for detail in error.details} == {"mode", "etd"}
    assert (error.request_id or "").startswith("req_")
    with pytest.raises(NotFoundError):
        client.shipments.get("shp_unknown")
    with pytest.raises(AuthenticationError):
        open_client(URL, "sk_test_wrong").shipments.list().page()


class Receiver:
    """A webhook receiver that verifies each delivery and responds to the challenge."""

    def __init__(self) -> None:
        self.secret = ""
        self.events: queue.Queue[WebhookEvent] = queue.Queue()
        self.rejections: queue.Queue[WebhookVerificationError] = queue.Queue()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                try:
                    event = verify_webhook(body, self.headers.items(), receiver.secret)
                except WebhookVerificationError as error:
                    self.send_response(400)
                    self.end_headers()
                    receiver.rejections.put(error)
                    return
                answer = event["data"]["challenge"] if event["type"] == "endpoint.verification" else ""
                self.send_response(200)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer.encode())
                receiver.events.put(event)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}/webhooks"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


def test_verifies_webhooks_of_the_service(client: Any, receiver: Receiver, reference: str) -> None:
    endpoint = client.webhook_endpoints.create({"url": receiver.url, "event_types": ["shipment.created"]})
    receiver.secret = endpoint["secret"]
    try:
        assert client.webhook_endpoints.verify(endpoint["id"])["status"] == "verified"
        assert receiver.events.get(timeout=WAIT_S)["type"] == "endpoint.verification"
        client.webhook_endpoints.enable(endpoint["id"])
        shipment = client.shipments.upsert({**fields(reference), "house_bill": "Göteborg 上海"})
        event = receiver.events.get(timeout=WAIT_S)
        assert event["type"] == "shipment.created"
        assert event["data"]["shipment"]["id"] == shipment["id"]
        receiver.secret = "whsec_d3Jvbmc="
        client.webhook_endpoints.test(endpoint["id"], "shipment.created")
        assert isinstance(receiver.rejections.get(timeout=WAIT_S), WebhookSignatureError)
    finally:
        assert client.webhook_endpoints.delete(endpoint["id"])["deleted"] is True


class CuttingProxy:
    """Forwards connections to the service, and drops the response of the first one."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._forward, args=(connection, self.connections == 1), daemon=True).start()

    def _forward(self, connection: socket.socket, is_cut: bool) -> None:
        with connection, socket.create_connection(self._target) as service:
            threading.Thread(target=self._copy, args=(connection, service), daemon=True).start()
            if is_cut:
                service.recv(65_536)
                connection.shutdown(socket.SHUT_RDWR)
            else:
                self._copy(service, connection)

    @staticmethod
    def _copy(source: socket.socket, target: socket.socket) -> None:
        try:
            while piece := source.recv(65_536):
                target.sendall(piece)
        except OSError:
            pass

    def close(self) -> None:
        self._listener.close()


def test_repeats_a_write_whose_response_was_lost_once(open_client: Connect, client: Any, reference: str) -> None:
    host, _, port = URL.removeprefix("http://").partition(":")
    proxy = CuttingProxy(host, int(port))
    try:
        written = open_client(proxy.url, KEY, backoff=(0.01, 0.1)).shipments.upsert(fields(reference))
        assert response_of(written).replayed
        assert response_of(written).status == 201
        assert proxy.connections == 2
        assert [event["type"] for event in client.events.list(shipment_id=written["id"])] == ["shipment.created"]
    finally:
        proxy.close()


def test_streams_events(client: Any, reference: str) -> None:
    first = client.shipments.upsert(fields(f"{reference}-1"))
    second = client.shipments.upsert(fields(f"{reference}-2"))
    place = next(iter(client.events.list(shipment_id=first["id"])))["id"]
    for event in client.events.stream(last_event_id=place, shipment_id=second["id"]):
        assert event["data"]["shipment"]["external_id"] == f"{reference}-2"
        break


def test_makes_concurrent_calls(reference: str) -> None:
    async def run() -> None:
        async def write(client: AsyncClient, number: int) -> None:
            await client.shipments.upsert({"external_id": f"{reference}-{number}", "mode": "ocean"})

        async with AsyncClient(URL, KEY) as client, anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(write, client, number)
        async with AsyncClient(URL, KEY, consistency_token=client.consistency_token) as other:
            listed = [shipment async for shipment in other.shipments.list(q=reference)]
        assert len(listed) == 20

    anyio.run(run)
