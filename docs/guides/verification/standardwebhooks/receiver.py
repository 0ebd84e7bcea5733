"""A webhook receiver with the package standardwebhooks:

pip install standardwebhooks, then WEBHOOK_SECRET=whsec_... python3 receiver.py
"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

if not os.environ.get("WEBHOOK_SECRET"):
    raise SystemExit("set WEBHOOK_SECRET")
webhook = Webhook(os.environ["WEBHOOK_SECRET"])

# Ids of received events. In production, use a table with the event id as its key: it must outlive the process.
seen = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            event = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):  # the package throws ValueError for invalid base64 or UTF-8
            return self.answer(400, "not signed with our secret")
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


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Receiver).serve_forever()
