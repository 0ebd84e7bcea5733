"""A webhook receiver on Python 3.9 or newer, without packages: WEBHOOK_SECRET=whsec_... python3 receiver.py"""

import hashlib
import hmac
import json
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_AGE_SECONDS = 300


def verify(header: str, body: bytes, secret: str, now: float) -> bool:
    """Reports whether a request was signed with the endpoint's secret, at most five minutes ago.

    header: the Service-Signature header. body: the raw body, byte for byte.
    secret: the whole whsec_... string. now: epoch seconds.
    """
    parts = [part.strip().partition("=") for part in header.split(",")]
    timestamp = next((value for name, _, value in parts if name == "t"), "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or now - int(timestamp) > MAX_AGE_SECONDS:
        return False
    expected = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(
        name == "v1" and hmac.compare_digest(value.encode(), expected.encode()) for name, _, value in parts
    )


# Ids of received events. In production, use a table with the event id as its key: it must outlive the process.
seen = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        header = self.headers.get("Service-Signature") or ""
        if not verify(header, body, os.environ["WEBHOOK_SECRET"], time.time()):
            return self.answer(400, "not signed with our secret")
        event = json.loads(body)
        if event["type"] == "endpoint.verification":
            return self.answer(200, event["data"]["challenge"])
        if event["id"] not in seen:
            seen.add(event["id"])
            print(event["type"], event["id"], "shipment_version", event["data"].get("shipment_version", ""), flush=True)
        return self.answer(200, "")

    def answer(self, status: int, text: str):
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    if not os.environ.get("WEBHOOK_SECRET"):
        raise SystemExit("set WEBHOOK_SECRET")
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Receiver).serve_forever()
