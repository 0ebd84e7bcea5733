from __future__ import annotations

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from tracking_client import (
    WebhookFormError,
    WebhookSignatureError,
    WebhookTimestampError,
    WebhookVerificationError,
    verify_webhook,
)

KEY = bytes([3]) * 32
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"
BODY = '{"id":"evt_1","type":"shipment.created","data":{"shipment_id":"shp_1","note":"größer 港"}}'
T = 1_793_000_000


def sign(secret: str = SECRET, at: int = T, body: str = BODY) -> str:
    return hmac.new(secret.encode(), f"{at}.{body}".encode(), hashlib.sha256).hexdigest()


def ours(value: str | None = None, at: int = T) -> dict[str, str]:
    return {"service-signature": f"t={at},v1={value or sign()}"}


def standard(key: bytes = KEY, at: int = T) -> dict[str, str]:
    digest = hmac.new(key, f"evt_1.{at}.{BODY}".encode(), hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(digest).decode()}"
    return {"webhook-id": "evt_1", "webhook-timestamp": str(at), "webhook-signature": signature}


def verify(**differing: Any) -> Any:
    arguments = {"raw_body": BODY, "headers": ours(), "secret": SECRET, "now": T, **differing}
    return verify_webhook(**arguments)


@pytest.mark.parametrize(
    "differing",
    [
        pytest.param({}, id="our signature"),
        pytest.param({"headers": standard()}, id="the signature of Standard Webhooks"),
        pytest.param({"raw_body": BODY.encode()}, id="bytes"),
        pytest.param({"headers": {"Service-Signature": ours()["service-signature"]}}, id="names in another case"),
        pytest.param({"headers": list(ours().items())}, id="headers as pairs"),
        pytest.param(
            {
                "headers": [
                    ("Service-Signature", f"t={T},v1={sign()}"),
                    ("service-signature", f"v1={sign('whsec_old')}"),
                ]
            },
            id="a repeated header",
        ),
        pytest.param(
            {"headers": [*standard().items(), ("Webhook-Signature", standard(bytes([4]) * 32)["webhook-signature"])]},
            id="a repeated header of Standard Webhooks",
        ),
        pytest.param({"headers": ours(f"{sign('whsec_old')},v1={sign()}")}, id="one of several signatures"),
        pytest.param(
            {"headers": {**standard(), "webhook-signature": f"v1a,x {standard()['webhook-signature']}"}},
            id="one of several signatures of Standard Webhooks",
        ),
        pytest.param({"secret": ["whsec_other", SECRET]}, id="one of several secrets"),
        pytest.param({"headers": standard(), "secret": SECRET.rstrip("=")}, id="a secret without padding"),
        pytest.param({"headers": ours(sign(at=T - 300), T - 300)}, id="the last second of the tolerance"),
        pytest.param({"headers": ours(sign(at=T - 900), T - 900), "tolerance": 900}, id="a longer tolerance"),
    ],
)
def test_accepts(differing: dict[str, Any]) -> None:
    event = verify(**differing)
    assert event == json.loads(BODY)


@pytest.mark.parametrize(
    "differing",
    [
        pytest.param({"secret": "whsec_other"}, id="another secret"),
        pytest.param({"raw_body": BODY.replace("shp_1", "shp_2")}, id="another body"),
        pytest.param({"raw_body": json.dumps(json.loads(BODY))}, id="a body that was serialized again"),
        pytest.param({"headers": ours(at=T + 1)}, id="another time than was signed"),
        pytest.param({"headers": ours(sign()[:32])}, id="half a signature"),
        pytest.param({"headers": standard(bytes([4]) * 32)}, id="another key"),
        pytest.param({"headers": {**standard(), "webhook-id": "evt_2"}}, id="another id"),
        pytest.param({"headers": {**standard(), "webhook-id": "\udcff"}}, id="an id that is not UTF-8"),
        pytest.param({"raw_body": BODY + "\udcff"}, id="a body that is not UTF-8"),
        pytest.param({"headers": standard(SECRET.encode())}, id="the text of the secret as key"),
        pytest.param({"headers": standard(), "secret": "whsec_!"}, id="a secret that is not base64"),
        pytest.param({"headers": {**standard(), **ours(sign("whsec_other"))}}, id="our signature takes precedence"),
    ],
)
def test_rejects(differing: dict[str, Any]) -> None:
    with pytest.raises(WebhookSignatureError):
        verify(**differing)


@pytest.mark.parametrize("seconds", [-301, 301, -86_400])
def test_rejects_an_old_or_future_signature(seconds: int) -> None:
    at = T + seconds
    for headers in (ours(sign(at=at), at), standard(at=at)):
        with pytest.raises(WebhookTimestampError):
            verify(headers=headers)


@pytest.mark.parametrize("header", ["", "t=,v1=", "v1=00", f"t={T}", "t=abc,v1=00", f"t={T},v1=zz", "t=१,v1=00", "x"])
def test_reports_a_malformed_signature(header: str) -> None:
    with pytest.raises(WebhookFormError):
        verify(headers={"service-signature": header})


def test_reports_a_missing_signature_and_a_body_that_is_not_an_event() -> None:
    with pytest.raises(WebhookFormError):
        verify(headers={})
    for body in ("", "not JSON", "null", "[]", '"text"', '{"type":"x"}', '{"type":"x","data":null}'):
        with pytest.raises(WebhookFormError):
            verify(raw_body=body, headers=ours(sign(body=body)))
    invalid = b"\xff"
    with pytest.raises(WebhookVerificationError):
        verify(raw_body=invalid)


@pytest.mark.parametrize("secret", ["", [], None, [""]])
def test_requires_a_secret(secret: Any) -> None:
    with pytest.raises(TypeError):
        verify(secret=secret)


def test_requires_the_received_body() -> None:
    with pytest.raises(TypeError):
        verify(raw_body=json.loads(BODY))


VECTORS = Path(__file__).parents[3] / "docs/guides/verification/vectors.tsv"


@pytest.mark.skipif(not VECTORS.exists(), reason="the vectors are only in the repository")
def test_agrees_with_the_vectors_of_all_languages() -> None:
    lines = VECTORS.read_text(encoding="utf-8").splitlines()[1:]
    assert len(lines) > 10
    for name, valid, now, secret, header, body in (line.split("\t") for line in lines):
        try:
            verify_webhook(base64.b64decode(body), {"Service-Signature": header}, secret, now=float(now))
            accepted = True
        except WebhookVerificationError as error:
            # Some vectors sign a body that is not an event.
            accepted = str(error).startswith("The body")
        assert (name, accepted) == (name, valid == "yes")
