"""Uses the client that openapi-python-client generates: see .ci/generated-clients.mjs."""

import os
from io import BytesIO

from shipment_tracking_api_client import AuthenticatedClient
from shipment_tracking_api_client.api.documents import add_document
from shipment_tracking_api_client.api.milestones import record_milestone
from shipment_tracking_api_client.api.shipments import get_shipment, list_shipments, upsert_shipment
from shipment_tracking_api_client.models import (
    CanonicalMilestoneCode,
    DocumentForm,
    DocumentType,
    ErrorResponse,
    MilestoneFields,
    ModeInput,
    ShipmentFields,
)
from shipment_tracking_api_client.types import UNSET, File

name = os.environ["CLIENT"]
with AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"]) as client:
    for n in (2, 1):
        fields = ShipmentFields(external_id=f"{name}-{n}", booking_number=name, mode=ModeInput.OCEAN)
        written = upsert_shipment.sync(client=client, body=fields)
    milestone = MilestoneFields(
        code=CanonicalMilestoneCode.VESSEL_DEPARTED, occurred_at="2026-11-02T00:00:00Z"
    )
    record_milestone.sync(written.id, client=client, body=milestone)
    shipment = get_shipment.sync(written.id, client=client)
    print(shipment.external_id, shipment.status.value)
    file = File(payload=BytesIO(b"%PDF-1.7\n%%EOF\n"), file_name="bl.pdf", mime_type="application/pdf")
    document = add_document.sync(
        written.id, client=client, body=DocumentForm(type_=DocumentType.BILL_OF_LADING, file=file)
    )
    print(document.file_name, document.status.value)
    cursor = UNSET
    while cursor is not None:
        page = list_shipments.sync(client=client, limit=1, booking_number=name, cursor=cursor)
        for each in page.data:
            print(each.external_id)
        cursor = page.next_cursor
    refused = upsert_shipment.sync(client=client, body=ShipmentFields(house_bill=""))
    assert isinstance(refused, ErrorResponse)
    print(refused.error.code.value)
    for detail in refused.error.details:
        print(detail.param, detail.code.value)
