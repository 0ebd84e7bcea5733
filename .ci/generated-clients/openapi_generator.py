"""Uses the client that OpenAPI Generator generates for Python: see .ci/generated-clients.mjs."""

import json
import os

import openapi_client as api

name = os.environ["CLIENT"]
configuration = api.Configuration(host=os.environ["BASE_URL"], access_token=os.environ["API_KEY"])
with api.ApiClient(configuration) as client:
    shipments = api.ShipmentsApi(client)
    for n in (2, 1):
        fields = {"external_id": f"{name}-{n}", "booking_number": name, "mode": "ocean"}
        written = shipments.upsert_shipment(api.ShipmentFields.from_dict(fields))
    milestone = api.MilestoneFields(code="vessel_departed", occurred_at="2026-11-02T00:00:00Z")
    api.MilestonesApi(client).record_milestone(written.id, milestone)
    shipment = shipments.get_shipment(written.id)
    print(shipment.external_id, shipment.status.value)
    file = ("bl.pdf", b"%PDF-1.7\n%%EOF\n")
    document = api.DocumentsApi(client).add_document(written.id, "bill_of_lading", file)
    print(document.file_name, document.status.value)
    cursor = None
    while True:
        page = shipments.list_shipments(limit=1, booking_number=name, cursor=cursor)
        for each in page.data:
            print(each.external_id)
        cursor = page.next_cursor
        if cursor is None:
            break
    # The generated classes refuse empty text themselves.
    try:
        shipments.upsert_shipment(api.ShipmentFields(house_bill=" "))
    except api.ApiException as failure:
        error = api.ErrorResponse.from_dict(json.loads(failure.body)).error
        print(error.code.value)
        for detail in error.details:
            print(detail.param, detail.code.value)
