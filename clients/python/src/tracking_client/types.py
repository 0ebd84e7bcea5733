# Made from docs/openapi.json by `npm run client-types`: not to be edited.
"""Types of the API: bodies of requests and responses, events, and parameters of methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from typing_extensions import NotRequired, TypedDict

from ._options import ReadOptions, RequestOptions

AuditType: TypeAlias = Literal["api_key.created", "api_key.rotated", "api_key.revoked", "document.deleted", "service_account.created", "service_account.changed", "service_account.deactivated", "service_account.reactivated", "session.ended", "session.refused", "session.started", "settings.changed", "user.created", "user.invited", "user.joined", "user.changed", "user.deactivated", "user.reactivated", "user.password_reset_requested", "user.password_changed", "webhook_dead_letters.discarded", "webhook_dead_letters.replayed", "webhook_delivery.discarded", "webhook_endpoint.created", "webhook_endpoint.changed", "webhook_endpoint.deleted", "webhook_endpoint.enabled", "webhook_endpoint.disabled", "webhook_endpoint.replayed", "webhook_endpoint.secret_rotated", "webhook_endpoint.secret_revealed", "webhook_endpoint.verified", "webhook_replay.canceled", "webhook_replay.resumed"]

AutomaticExceptionType: TypeAlias = Literal["eta_slip", "departure_overdue", "arrival_overdue", "no_update", "missed_connection", "customs_hold", "terminal_hold", "freight_hold", "off_route", "demurrage_risk", "detention_risk", "missing_document", "document_rejected", "delivery_failed", "return_to_sender", "milestone_conflict", "movement_after_cancel", "invalid_container_number"]

CanonicalMilestoneCode: TypeAlias = Literal["booking_confirmed", "booking_cancelled", "empty_picked_up", "cargo_stuffed", "picked_up", "received_at_origin", "gated_in", "export_customs_cleared", "loaded_on_vessel", "vessel_departed", "flight_departed", "rail_loaded", "rail_departed", "transshipment_arrived", "transshipment_discharged", "transshipment_loaded", "transshipment_departed", "border_crossed", "in_transit_checkpoint", "status_note", "vessel_arrived", "vessel_berthed", "flight_arrived", "discharged", "rail_arrived", "rail_unloaded", "arrived_at_destination", "customs_hold", "customs_inspection", "terminal_hold", "terminal_released", "import_customs_cleared", "freight_hold", "freight_released", "carrier_released", "arrival_notice_issued", "available_for_pickup", "unavailable_for_pickup", "gated_out", "out_for_delivery", "delivery_attempted", "return_started", "delivered", "cargo_stripped", "empty_returned", "empty_loaded", "empty_discharged", "returned_to_shipper"]

Classifier: TypeAlias = Literal["actual", "estimated", "planned"]

DeliveryStatus: TypeAlias = Literal["pending", "retrying", "succeeded", "dead_lettered", "discarded"]

DocumentContentType: TypeAlias = Literal["application/pdf", "image/png", "image/jpeg", "image/tiff", "image/heic", "image/webp", "text/csv", "text/plain", "application/xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "message/rfc822", "application/vnd.ms-outlook"]

DocumentStatus: TypeAlias = Literal["pending_upload", "uploaded", "approved", "rejected", "expired", "deleted"]

DocumentType: TypeAlias = Literal["bill_of_lading", "house_bill", "sea_waybill", "air_waybill", "commercial_invoice", "packing_list", "certificate_of_origin", "booking_confirmation", "shipping_instructions", "arrival_notice", "delivery_order", "proof_of_delivery", "customs_entry", "verified_gross_mass", "dangerous_goods_declaration", "inspection_certificate", "phytosanitary_certificate", "insurance_certificate", "freight_invoice", "photo", "other"]

Environment: TypeAlias = Literal["live", "test"]

ErrorCode: TypeAlias = Literal["validation_failed", "unknown_parameter", "malformed_json", "body_too_large", "storage_quota_exceeded", "unsupported_media_type", "invalid_cursor", "external_id_immutable", "reference_required", "limit_exceeded", "size_mismatch", "checksum_mismatch", "unsupported_document_type", "empty_file", "malformed_multipart", "range_not_satisfiable", "invalid_consistency_token", "method_not_allowed", "method_not_implemented", "request_timeout", "expectation_failed", "headers_too_large", "missing_api_key", "invalid_api_key", "invalid_credentials", "invalid_session", "permission_denied", "invalid_upload_url", "csrf", "not_found", "no_open_shipment", "ambiguous_shipment", "already_delivered", "cancelled_by_milestone", "milestone_retracted", "milestone_exists", "exception_resolved", "document_not_pending", "document_not_uploaded", "document_damaged", "document_reviewed", "document_replaced", "upload_missing", "workspace_exists", "user_exists", "user_not_active", "last_admin", "key_not_active", "too_many_keys", "idempotency_key_reused", "idempotency_in_progress", "endpoint_not_verified", "endpoint_not_enabled", "secret_unreadable", "delivery_succeeded", "replay_running", "replay_completed", "precondition_failed", "rate_limited", "too_many_streams", "storage_full", "busy", "unavailable", "read_model_behind", "internal_error"]

ErrorType: TypeAlias = Literal["invalid_request", "authentication", "permission", "not_found", "conflict", "rate_limit", "internal"]

EventTypeName: TypeAlias = Literal["shipment.created", "shipment.updated", "milestone.recorded", "exception.opened", "exception.resolved", "document.approved", "milestone.retracted", "document.uploaded", "document.rejected", "exception.updated", "webhook_endpoint.failing", "webhook_delivery.dead_lettered"]

ExceptionStatus: TypeAlias = Literal["open", "acknowledged", "resolved"]

ExceptionType: TypeAlias = Literal["eta_slip", "departure_overdue", "arrival_overdue", "no_update", "missed_connection", "customs_hold", "terminal_hold", "freight_hold", "off_route", "demurrage_risk", "detention_risk", "missing_document", "document_rejected", "delivery_failed", "return_to_sender", "milestone_conflict", "movement_after_cancel", "invalid_container_number", "container_damage", "cargo_damage", "shortage", "temperature_excursion", "seal_broken", "delivery_refused", "lost", "other"]

FieldErrorCode: TypeAlias = Literal["required", "invalid_type", "invalid_value", "too_long", "too_many", "unknown_field", "read_only_field", "unknown_parameter", "invalid_container_number", "invalid_scac", "invalid_port", "invalid_timestamp", "invalid_date", "timestamp_in_future", "timestamp_out_of_range", "unknown_timezone", "unknown_code", "unknown_container", "unknown_milestone", "unknown_document", "source_not_allowed", "external_id_immutable", "reference_required", "limit_exceeded", "invalid_cursor"]

HistoryType: TypeAlias = Literal["shipment.created", "shipment.updated", "shipment.cancelled", "shipment.reopened", "milestone.recorded", "milestone.corrected", "milestone.retracted", "exception.opened", "exception.updated", "exception.resolved", "document.requested", "document.uploaded", "document.approved", "document.rejected", "document.expired", "document.deleted"]

Incoterm: TypeAlias = Literal["EXW", "FCA", "CPT", "CIP", "DAP", "DPU", "DDP", "FAS", "FOB", "CFR", "CIF", "DAT"]

LoadType: TypeAlias = Literal["fcl", "lcl", "ftl", "ltl", "air_loose", "bulk"]

ManualResolutionCode: TypeAlias = Literal["fixed", "waived", "false_positive", "duplicate"]

MilestoneSource: TypeAlias = Literal["manual", "carrier", "terminal", "rail", "ais", "edi", "customs", "iot", "partner", "system"]

Mode: TypeAlias = Literal["ocean", "air", "road", "rail", "barge", "courier", "multimodal"]

ModeInput: TypeAlias = Literal["ocean", "air", "road", "rail", "barge", "courier", "multimodal", "sea", "vessel", "truck"]

PayloadForm: TypeAlias = Literal["full", "thin"]

Permission: TypeAlias = Literal["shipments:read", "shipments:write", "milestones:write", "milestones:feed", "documents:read", "documents:write", "documents:approve", "exceptions:write", "webhooks:manage", "keys:manage", "workspace:admin"]

ReasonCode: TypeAlias = Literal["carrier_feed_unavailable", "carrier_feed_delayed", "carrier_data_incorrect", "confirmed_by_carrier", "confirmed_by_agent", "document_evidence", "backfill", "manual_other", "vessel_mechanical", "route_deviation", "blank_sailing", "port_omitted", "rolled", "missed_connection", "carrier_other", "port_congestion", "terminal_congestion", "labor_shortage", "equipment_shortage", "shore_other", "customs_exam", "customs_documents", "missing_documents", "misdeclared_weight", "dangerous_goods", "reefer_malfunction", "cargo_damage", "cargo_other", "shipper_not_ready", "consignee_unavailable", "delivery_refused", "appointment_missed", "payment_hold", "party_other", "weather", "strike", "holiday", "road_conditions", "border_delay", "force_majeure", "external_other"]

ResolutionCode: TypeAlias = Literal["fixed", "waived", "false_positive", "duplicate", "auto_cleared", "shipment_cancelled"]

Role: TypeAlias = Literal["viewer", "operator", "feed", "developer", "admin"]

Severity: TypeAlias = Literal["low", "medium", "high", "critical"]

ShipmentEventType: TypeAlias = Literal["shipment.created", "shipment.updated", "milestone.recorded", "exception.opened", "exception.resolved", "document.approved", "milestone.retracted", "document.uploaded", "document.rejected", "exception.updated"]

ShipmentStatus: TypeAlias = Literal["pending", "booked", "at_origin", "in_transit", "arrived", "available_for_pickup", "out_for_delivery", "delivered", "completed", "returned", "cancelled"]

SubscribableEventType: TypeAlias = Literal["*", "shipment.created", "shipment.updated", "milestone.recorded", "exception.opened", "exception.resolved", "document.approved", "milestone.retracted", "document.uploaded", "document.rejected", "exception.updated", "webhook_endpoint.failing", "webhook_delivery.dead_lettered"]

TimePrecision: TypeAlias = Literal["time", "day"]

WarningCode: TypeAlias = Literal["unknown_field", "read_only_field", "header_dropped", "invalid_container_number", "unknown_port", "eta_before_etd", "possible_duplicate", "code_unusual_for_mode", "shipment_cancelled", "overridden_by_user", "outdated_report"]



class PartyFields(TypedDict):
    name: NotRequired[str | None]
    """Name of the party."""
    external_id: NotRequired[str | None]
    """Your own reference of the party."""


class Reference(TypedDict):
    type: str
    """Type of the reference."""
    value: str
    """Value of the reference."""


class LegFields(TypedDict):
    carrier_scac: NotRequired[str | None]
    """Carrier: SCAC, or the two-character IATA code for air and courier."""
    origin_port: NotRequired[str | None]
    """UN/LOCODE, or IATA airport code where the mode allows it."""
    destination_port: NotRequired[str | None]
    """UN/LOCODE, or IATA airport code where the mode allows it."""
    etd: NotRequired[str | None]
    """Estimated departure. A date is the whole day."""
    eta: NotRequired[str | None]
    """Estimated arrival. A date is the whole day."""
    mode: NotRequired[ModeInput | None]
    """Transport mode of the leg."""
    vessel: NotRequired[str | None]
    """Name of the vessel."""
    voyage: NotRequired[str | None]
    """Voyage, flight, train or trip number."""


class ShipmentFields(TypedDict):
    carrier_scac: NotRequired[str | None]
    """Carrier: SCAC, or the two-character IATA code for air and courier."""
    origin_port: NotRequired[str | None]
    """UN/LOCODE, or IATA airport code where the mode allows it."""
    destination_port: NotRequired[str | None]
    """UN/LOCODE, or IATA airport code where the mode allows it."""
    etd: NotRequired[str | None]
    """Estimated departure. A date is the whole day."""
    eta: NotRequired[str | None]
    """Estimated arrival. A date is the whole day."""
    external_id: NotRequired[str | None]
    """Your own reference, unique per workspace and environment. A shipment sent again with the same reference is
    updated.
    """
    mode: NotRequired[ModeInput | None]
    """Transport mode; `sea`, `vessel` and `truck` are normalised."""
    load_type: NotRequired[LoadType | None]
    """Load type of the cargo."""
    house_bill: NotRequired[str | None]
    """House bill reference."""
    master_bill: NotRequired[str | None]
    """Master bill or air waybill."""
    booking_number: NotRequired[str | None]
    """Booking number of the carrier."""
    incoterm: NotRequired[Incoterm | None]
    """Rule of Incoterms 2020 or 2010, which divides costs and risks between seller and buyer."""
    container_numbers: NotRequired[list[str] | None]
    """Container (ISO 6346), swap body (EN 13044) or ULD numbers; at most 200 different ones."""
    shipper: NotRequired[PartyFields | None]
    """Shipper."""
    consignee: NotRequired[PartyFields | None]
    """Consignee."""
    references: NotRequired[list[Reference] | None]
    """Additional references."""
    metadata: NotRequired[dict[str, str] | None]
    """Custom fields: your own strings by name."""
    legs: NotRequired[list[LegFields] | None]
    """Legs in order; if empty, the shipment has one leg from origin to destination. Ports and times that the
    shipment itself does not have come from the first and last leg.
    """


class BulkShipments(TypedDict):
    shipments: list[ShipmentFields]
    """Shipments, each like the body of `POST /v1/shipments`."""


class Warning(TypedDict):
    code: WarningCode
    """Stable code."""
    param: str | None
    """Name of the field that the warning is about."""
    message: str
    """Human-readable text."""


class FieldError(TypedDict):
    param: str
    """Name of the invalid field."""
    code: FieldErrorCode
    """Stable code."""
    message: str
    """Human-readable explanation."""


class ErrorDetail(TypedDict):
    type: ErrorType
    """Category of the error."""
    code: ErrorCode
    """Stable error code; see /docs/errors."""
    message: str
    """Human-readable explanation."""
    param: str | None
    """The first invalid field, if the error is about fields."""
    details: list[FieldError]
    """All invalid fields."""
    request_id: str
    """Id of the request, as in the `Request-Id` header."""


class LastMilestone(TypedDict):
    id: str
    """Id of the milestone."""
    code: CanonicalMilestoneCode
    """Code of the catalog."""
    label: str
    """Label of the code for people."""
    occurred_at: str
    """Time of the milestone. UTC with milliseconds."""
    location: str | None
    """Place of the milestone."""


class Container(TypedDict):
    number: str
    """Normalised container number."""
    valid_check_digit: bool | None
    """True if the check digit is correct; null if this kind of number has none."""
    size_type: str | None
    """Size and type code of ISO 6346: four letters or digits."""
    seal_number: str | None
    """Seal number, or several ones."""
    status: ShipmentStatus
    """Status of the container."""
    status_milestone_id: str | None
    """Milestone that set the status."""
    last_milestone: LastMilestone | None
    """Latest actual milestone of the container."""
    discharged_at: str | None
    """Time of discharge. UTC with milliseconds."""
    available_at: str | None
    """Time from which the container is available for pickup. UTC with milliseconds."""
    gated_out_at: str | None
    """Time of gate-out. UTC with milliseconds."""
    delivered_at: str | None
    """Time of delivery. UTC with milliseconds."""
    empty_returned_at: str | None
    """Time of the empty return. UTC with milliseconds."""
    last_free_day: str | None
    """Last day without demurrage, as a local date of the place."""
    empty_return_by: str | None
    """Last day for returning the empty container, as a local date of the place."""


class Party(TypedDict):
    name: str | None
    """Name of the party."""
    external_id: str | None
    """Your own reference of the party."""


class Leg(TypedDict):
    carrier_scac: str | None
    """Carrier: SCAC, or the two-character IATA code for air and courier."""
    origin_port: str | None
    """UN/LOCODE, or IATA airport code where the mode allows it."""
    destination_port: str | None
    """UN/LOCODE, or IATA airport code where the mode allows it."""
    etd: str | None
    """Estimated departure. UTC with milliseconds."""
    etd_precision: TimePrecision
    """Precision of `etd`."""
    eta: str | None
    """Estimated arrival. UTC with milliseconds."""
    eta_precision: TimePrecision
    """Precision of `eta`."""
    atd: str | None
    """Actual departure. UTC with milliseconds."""
    ata: str | None
    """Actual arrival. UTC with milliseconds."""
    mode: Mode | None
    """Transport mode of the leg."""
    vessel: str | None
    """Name of the vessel."""
    voyage: str | None
    """Voyage, flight, train or trip number."""


class ShipmentWritten(TypedDict):
    carrier_scac: str | None
    """Carrier: SCAC, or the two-character IATA code for air and courier."""
    origin_port: str | None
    """UN/LOCODE, or IATA airport code where the mode allows it."""
    destination_port: str | None
    """UN/LOCODE, or IATA airport code where the mode allows it."""
    etd: str | None
    """Estimated departure. UTC with milliseconds."""
    etd_precision: TimePrecision
    """Precision of `etd`."""
    eta: str | None
    """Estimated arrival. UTC with milliseconds."""
    eta_precision: TimePrecision
    """Precision of `eta`."""
    atd: str | None
    """Actual departure. UTC with milliseconds."""
    ata: str | None
    """Actual arrival. UTC with milliseconds."""
    id: str
    """Service-assigned identifier."""
    external_id: str | None
    """Your own reference, unique per workspace and environment. A shipment sent again with the same reference is
    updated.
    """
    status: ShipmentStatus
    """Status, derived from the milestones regardless of the order in which they arrive."""
    status_milestone_id: str | None
    """Milestone that set the status; null if the shipment is pending or was cancelled by the client."""
    mode: Mode | None
    """Transport mode; `sea`, `vessel` and `truck` are normalised."""
    load_type: LoadType | None
    """Load type of the cargo."""
    house_bill: str | None
    """House bill reference."""
    master_bill: str | None
    """Master bill or air waybill."""
    booking_number: str | None
    """Booking number of the carrier."""
    incoterm: Incoterm | None
    """Rule of Incoterms 2020 or 2010, which divides costs and risks between seller and buyer."""
    container_numbers: list[str]
    """Container (ISO 6346), swap body (EN 13044) or ULD numbers; at most 200 different ones."""
    containers: list[Container]
    """Containers with their status and times."""
    original_eta: str | None
    """First known estimated arrival. In a patch, null sets it to the present estimate. UTC with milliseconds."""
    original_eta_precision: TimePrecision
    """Precision of `original_eta`."""
    shipper: Party | None
    """Shipper."""
    consignee: Party | None
    """Consignee."""
    references: list[Reference]
    """Additional references."""
    metadata: dict[str, str] | None
    """Custom fields: your own strings by name."""
    legs: list[Leg]
    """Legs in order; if empty, the shipment has one leg from origin to destination. Ports and times that the
    shipment itself does not have come from the first and last leg.
    """
    last_milestone: LastMilestone | None
    """Latest actual milestone."""
    open_exceptions_count: int
    """Number of unresolved exceptions."""
    documents_count: int
    """Number of documents that are uploaded, approved or rejected."""
    created_at: str
    """Time of creation. UTC with milliseconds."""
    updated_at: str
    """Time of the last change of any part of the shipment. UTC with milliseconds."""
    version: int
    """Version number, which grows with every change."""
    url: str
    """URL of the shipment in the web application."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""


class BulkShipmentItem(TypedDict):
    index: int
    """Index of the item in the request, starting at 0."""
    status: int
    """HTTP status that a single call would return."""
    error: NotRequired[ErrorDetail]
    """Error of a refused item."""
    shipment: NotRequired[ShipmentWritten]
    """Result of a processed item."""


class BulkShipmentsWritten(TypedDict):
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""
    data: list[BulkShipmentItem]
    """One result for each item, in the order of the request."""


class ErrorResponse(TypedDict):
    error: ErrorDetail
    """The error."""


class BulkMilestone(TypedDict):
    code: CanonicalMilestoneCode
    """Milestone code; see GET /v1/milestone_codes."""
    occurred_at: str
    """Time of the milestone. With `timezone`, it needs no offset. A date is allowed if the milestone is not actual."""
    source: NotRequired[MilestoneSource | None]
    """Source of the milestone; `manual` unless the key may record milestones for feeds."""
    reason_code: NotRequired[ReasonCode | None]
    """Reason for the milestone."""
    location: NotRequired[str | None]
    """Place as free text; a UN/LOCODE is recognised."""
    classifier: NotRequired[Classifier | None]
    """Certainty of the milestone: `actual`, `estimated` or `planned`; `actual` by default."""
    vessel: NotRequired[str | None]
    """Name of the vessel."""
    voyage: NotRequired[str | None]
    """Voyage, flight, train or trip number."""
    note: NotRequired[str | None]
    """Free-text note."""
    timezone: NotRequired[str | None]
    """IANA time zone of the place. In requests, `location` stands for that of the location."""
    latitude: NotRequired[float | None]
    """Latitude of the goods in degrees, WGS 84; requires `longitude`."""
    longitude: NotRequired[float | None]
    """Longitude of the goods in degrees, WGS 84; requires `latitude`."""
    terminal: NotRequired[str | None]
    """Name or code of the terminal."""
    imo: NotRequired[str | None]
    """IMO number of the vessel: seven digits with the check digit."""
    pieces: NotRequired[int | None]
    """Number of pieces that the milestone concerns."""
    temperature_celsius: NotRequired[float | None]
    """Measured temperature of the goods in degrees Celsius."""
    reported_at: NotRequired[str | None]
    """Time when the source stated the milestone; by default the time of recording."""
    external_id: NotRequired[str | None]
    """Your own reference of the shipment."""
    container_number: NotRequired[str | None]
    """The container that the milestone is about. If no other field identifies the shipment, the shipment with this
    container.
    """
    shipment_id: NotRequired[str | None]
    """Id of the shipment, `shp_…`."""
    master_bill: NotRequired[str | None]
    """Master bill or air waybill of the shipment."""
    booking_number: NotRequired[str | None]
    """Booking number of the shipment."""
    milestone_external_id: NotRequired[str | None]
    """Your own reference of the milestone. A milestone sent again with the same reference is corrected."""


class BulkMilestones(TypedDict):
    milestones: list[BulkMilestone]
    """Milestones, each like the body of `POST /v1/shipments/{id}/milestones`, with a field that identifies the
    shipment.
    """


class Actor(TypedDict):
    type: Literal["user", "service_account", "system"]
    """Kind of actor."""
    id: str
    """Id of the actor."""


class MilestoneWritten(TypedDict):
    id: str
    """Service-assigned identifier."""
    shipment_id: str
    """Id of the shipment."""
    code: CanonicalMilestoneCode
    """Milestone code; see GET /v1/milestone_codes."""
    label: str
    """Label of the code for people."""
    sequence: int
    """Position in the catalog."""
    occurred_at: str
    """Time of the milestone, actual or expected. UTC with milliseconds."""
    occurred_at_precision: TimePrecision
    """Precision of `occurred_at`."""
    source: MilestoneSource
    """Source of the milestone; `manual` unless the key may record milestones for feeds."""
    reason_code: ReasonCode | None
    """Reason for the milestone."""
    location: str | None
    """Place as free text; a UN/LOCODE is recognised."""
    classifier: Classifier
    """Certainty of the milestone: `actual`, `estimated` or `planned`; `actual` by default."""
    external_id: str | None
    """Your own reference. A milestone sent again with the same reference is corrected."""
    container_number: str | None
    """Container of the shipment; null if the milestone applies to all containers."""
    vessel: str | None
    """Name of the vessel."""
    voyage: str | None
    """Voyage, flight, train or trip number."""
    note: str | None
    """Free-text note."""
    timezone: str | None
    """IANA time zone of the place. In requests, `location` stands for that of the location."""
    latitude: float | None
    """Latitude of the goods in degrees, WGS 84; requires `longitude`."""
    longitude: float | None
    """Longitude of the goods in degrees, WGS 84; requires `latitude`."""
    terminal: str | None
    """Name or code of the terminal."""
    imo: str | None
    """IMO number of the vessel: seven digits with the check digit."""
    pieces: int | None
    """Number of pieces that the milestone concerns."""
    temperature_celsius: float | None
    """Measured temperature of the goods in degrees Celsius."""
    reported_at: str
    """Time when the source stated the milestone; by default the time of recording. UTC with milliseconds."""
    recorded_at: str
    """Time of recording. UTC with milliseconds."""
    recorded_by: Actor
    """Actor that recorded the milestone."""
    retracted_at: str | None
    """Time of the retraction. UTC with milliseconds."""
    superseded_at: str | None
    """Time at which a later report replaced the milestone. UTC with milliseconds."""
    revision: int
    """Revision number: 1 when recorded, plus one with each correction."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""


class BulkMilestoneItem(TypedDict):
    index: int
    """Index of the item in the request, starting at 0."""
    status: int
    """HTTP status that a single call would return."""
    error: NotRequired[ErrorDetail]
    """Error of a refused item."""
    milestone: NotRequired[MilestoneWritten]
    """Result of a processed item."""


class BulkMilestonesWritten(TypedDict):
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""
    data: list[BulkMilestoneItem]
    """One result for each item, in the order of the request."""


class Shipment(TypedDict):
    carrier_scac: str | None
    """Carrier: SCAC, or the two-character IATA code for air and courier."""
    origin_port: str | None
    """UN/LOCODE, or IATA airport code where the mode allows it."""
    destination_port: str | None
    """UN/LOCODE, or IATA airport code where the mode allows it."""
    etd: str | None
    """Estimated departure. UTC with milliseconds."""
    etd_precision: TimePrecision
    """Precision of `etd`."""
    eta: str | None
    """Estimated arrival. UTC with milliseconds."""
    eta_precision: TimePrecision
    """Precision of `eta`."""
    atd: str | None
    """Actual departure. UTC with milliseconds."""
    ata: str | None
    """Actual arrival. UTC with milliseconds."""
    id: str
    """Service-assigned identifier."""
    external_id: str | None
    """Your own reference, unique per workspace and environment. A shipment sent again with the same reference is
    updated.
    """
    status: ShipmentStatus
    """Status, derived from the milestones regardless of the order in which they arrive."""
    status_milestone_id: str | None
    """Milestone that set the status; null if the shipment is pending or was cancelled by the client."""
    mode: Mode | None
    """Transport mode; `sea`, `vessel` and `truck` are normalised."""
    load_type: LoadType | None
    """Load type of the cargo."""
    house_bill: str | None
    """House bill reference."""
    master_bill: str | None
    """Master bill or air waybill."""
    booking_number: str | None
    """Booking number of the carrier."""
    incoterm: Incoterm | None
    """Rule of Incoterms 2020 or 2010, which divides costs and risks between seller and buyer."""
    container_numbers: list[str]
    """Container (ISO 6346), swap body (EN 13044) or ULD numbers; at most 200 different ones."""
    containers: list[Container]
    """Containers with their status and times."""
    original_eta: str | None
    """First known estimated arrival. In a patch, null sets it to the present estimate. UTC with milliseconds."""
    original_eta_precision: TimePrecision
    """Precision of `original_eta`."""
    shipper: Party | None
    """Shipper."""
    consignee: Party | None
    """Consignee."""
    references: list[Reference]
    """Additional references."""
    metadata: dict[str, str] | None
    """Custom fields: your own strings by name."""
    legs: list[Leg]
    """Legs in order; if empty, the shipment has one leg from origin to destination. Ports and times that the
    shipment itself does not have come from the first and last leg.
    """
    last_milestone: LastMilestone | None
    """Latest actual milestone."""
    open_exceptions_count: int
    """Number of unresolved exceptions."""
    documents_count: int
    """Number of documents that are uploaded, approved or rejected."""
    created_at: str
    """Time of creation. UTC with milliseconds."""
    updated_at: str
    """Time of the last change of any part of the shipment. UTC with milliseconds."""
    version: int
    """Version number, which grows with every change."""
    url: str
    """URL of the shipment in the web application."""


class ShipmentPage(TypedDict):
    data: list[Shipment]
    """The shipments of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor` with the same filters."""
    has_more: bool
    """True if there is a next page."""


class ShipmentPatch(TypedDict):
    carrier_scac: NotRequired[str | None]
    """Carrier: SCAC, or the two-character IATA code for air and courier."""
    origin_port: NotRequired[str | None]
    """UN/LOCODE, or IATA airport code where the mode allows it."""
    destination_port: NotRequired[str | None]
    """UN/LOCODE, or IATA airport code where the mode allows it."""
    etd: NotRequired[str | None]
    """Estimated departure. A date is the whole day."""
    eta: NotRequired[str | None]
    """Estimated arrival. A date is the whole day."""
    external_id: NotRequired[str | None]
    """Your own reference, unique per workspace and environment. A shipment sent again with the same reference is
    updated.
    """
    mode: NotRequired[ModeInput | None]
    """Transport mode; `sea`, `vessel` and `truck` are normalised."""
    load_type: NotRequired[LoadType | None]
    """Load type of the cargo."""
    house_bill: NotRequired[str | None]
    """House bill reference."""
    master_bill: NotRequired[str | None]
    """Master bill or air waybill."""
    booking_number: NotRequired[str | None]
    """Booking number of the carrier."""
    incoterm: NotRequired[Incoterm | None]
    """Rule of Incoterms 2020 or 2010, which divides costs and risks between seller and buyer."""
    container_numbers: NotRequired[list[str] | None]
    """Container (ISO 6346), swap body (EN 13044) or ULD numbers; at most 200 different ones."""
    original_eta: NotRequired[str | None]
    """First known estimated arrival. In a patch, null sets it to the present estimate. A date is the whole day."""
    shipper: NotRequired[PartyFields | None]
    """Shipper."""
    consignee: NotRequired[PartyFields | None]
    """Consignee."""
    references: NotRequired[list[Reference] | None]
    """Additional references."""
    legs: NotRequired[list[LegFields] | None]
    """Legs in order; if empty, the shipment has one leg from origin to destination. Ports and times that the
    shipment itself does not have come from the first and last leg.
    """
    metadata: NotRequired[dict[str, str | None] | None]
    """Custom fields: your own strings by name; null removes one."""


class ContainerPatch(TypedDict):
    size_type: NotRequired[str | None]
    """Size and type code of ISO 6346: four letters or digits."""
    seal_number: NotRequired[str | None]
    """Seal number, or several ones."""
    last_free_day: NotRequired[str | None]
    """Last day without demurrage, as a local date of the place."""
    empty_return_by: NotRequired[str | None]
    """Last day for returning the empty container, as a local date of the place."""


class ContainerWritten(TypedDict):
    number: str
    """Normalised container number."""
    valid_check_digit: bool | None
    """True if the check digit is correct; null if this kind of number has none."""
    size_type: str | None
    """Size and type code of ISO 6346: four letters or digits."""
    seal_number: str | None
    """Seal number, or several ones."""
    status: ShipmentStatus
    """Status of the container."""
    status_milestone_id: str | None
    """Milestone that set the status."""
    last_milestone: LastMilestone | None
    """Latest actual milestone of the container."""
    discharged_at: str | None
    """Time of discharge. UTC with milliseconds."""
    available_at: str | None
    """Time from which the container is available for pickup. UTC with milliseconds."""
    gated_out_at: str | None
    """Time of gate-out. UTC with milliseconds."""
    delivered_at: str | None
    """Time of delivery. UTC with milliseconds."""
    empty_returned_at: str | None
    """Time of the empty return. UTC with milliseconds."""
    last_free_day: str | None
    """Last day without demurrage, as a local date of the place."""
    empty_return_by: str | None
    """Last day for returning the empty container, as a local date of the place."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""


class HistoryActor(TypedDict):
    type: Literal["user", "service_account", "system"]
    """Kind of actor."""
    id: str
    """Id of the actor."""
    name: str | None
    """Current name of the actor."""


class HistoryEntryChangesValue(TypedDict):
    from_: NotRequired[Any]
    to: NotRequired[Any]


class HistoryEntry(TypedDict):
    id: str
    """Id of the event that announced the entry; otherwise the id of the entry itself."""
    type: HistoryType
    """Type of the entry."""
    at: str
    """Time at which the change was accepted. UTC with milliseconds."""
    actor: HistoryActor
    """Actor of the change."""
    changes: dict[str, HistoryEntryChangesValue]
    """Old and new value (`from`, `to`) of each changed field."""
    version: int
    """Version of the shipment after the change."""


class HistoryPage(TypedDict):
    data: list[HistoryEntry]
    """The entries of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor`."""
    has_more: bool
    """True if there is a next page."""


class EtaChange(TypedDict):
    eta: str | None
    """New ETA. UTC with milliseconds."""
    eta_precision: TimePrecision
    """Precision of `eta`."""
    previous_eta: str | None
    """Former ETA. UTC with milliseconds."""
    slip_hours: float | None
    """Hours by which the arrival moved, rounded to 0.01; negative if earlier."""
    reported_at: str
    """Time of recording. UTC with milliseconds."""
    source: Literal["manual", "carrier", "terminal", "rail", "ais", "edi", "customs", "iot", "partner", "system", "client"]
    """Source of the new estimate; `client` if it was set on the shipment."""
    milestone_id: str | None
    """Milestone with the new estimate."""
    reason_code: ReasonCode | None
    """Reason for the new estimate."""


class EtaHistoryPage(TypedDict):
    data: list[EtaChange]
    """The changes of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor`."""
    has_more: bool
    """True if there is a next page."""


class ExplainedStatus(TypedDict):
    value: ShipmentStatus
    """Status."""
    rule: Literal["no_milestone", "highest_rank", "not_all_delivered", "lowest_of_delivered", "cancelled_by_client", "cancelled_by_milestone", "earlier_rules"]
    """Rule that determined the value."""
    milestone_id: str | None
    """Milestone that set the value."""


class ExplainedTime(TypedDict):
    value: str | None
    """Time. UTC with milliseconds."""
    rule: Literal["unknown", "set_by_client", "newest_estimate", "of_leg", "actual_time_known", "at_port", "earliest", "earlier_rules"]
    """Rule that determined the value."""
    milestone_id: str | None
    """Milestone that set the time, or that prevents a change."""


class ExplainedContainer(TypedDict):
    number: str
    """Number of the container."""
    status: ExplainedStatus
    """Status."""


class MilestoneEffectOnContainer(TypedDict):
    result: Literal["counted", "demoted", "superseded", "ignored"]
    """Effect of the milestone."""
    rule: Literal["status_of_code", "status_of_mode", "leaves_status", "arrival_on_the_way", "departed_again", "rail_departed_again", "not_at_destination", "part_load", "unavailable_again", "available_again", "return_started", "cancellation_taken_back", "delivered_before", "sailing_on", "already_discharged", "late_repeat", "previous_trip", "next_trip", "container_not_used", "newer_report", "newest_estimate", "newer_estimate", "later_estimate", "destination_estimated", "set_by_client", "actual_time_known", "estimates_nothing", "estimated_elsewhere", "planned", "container_not_on_shipment", "retracted"]
    """Rule that determined the effect."""
    counts_as: ShipmentStatus | None
    """Status that the milestone stands for; null if it does not affect the status."""
    container_number: str
    """Number of the container."""


class ExplainedMilestone(TypedDict):
    result: Literal["counted", "demoted", "superseded", "ignored"]
    """Effect of the milestone."""
    rule: Literal["status_of_code", "status_of_mode", "leaves_status", "arrival_on_the_way", "departed_again", "rail_departed_again", "not_at_destination", "part_load", "unavailable_again", "available_again", "return_started", "cancellation_taken_back", "delivered_before", "sailing_on", "already_discharged", "late_repeat", "previous_trip", "next_trip", "container_not_used", "newer_report", "newest_estimate", "newer_estimate", "later_estimate", "destination_estimated", "set_by_client", "actual_time_known", "estimates_nothing", "estimated_elsewhere", "planned", "container_not_on_shipment", "retracted"]
    """Rule that determined the effect."""
    counts_as: ShipmentStatus | None
    """Status that the milestone stands for; null if it does not affect the status."""
    milestone_id: str
    """Id of the milestone."""
    code: CanonicalMilestoneCode
    """Code of the catalog."""
    classifier: Classifier
    """Certainty of the milestone: `actual`, `estimated` or `planned`."""
    occurred_at: str
    """Time of the milestone, actual or expected. UTC with milliseconds."""
    location: str | None
    """Place of the milestone."""
    container_number: str | None
    """Container of the milestone; null for all containers."""
    sets: list[str]
    """Fields of the shipment whose value comes from the milestone, such as `status`, `ata`, `legs[1].eta`."""
    containers: list[MilestoneEffectOnContainer]
    """Containers for which the effect differs, with that effect."""


class ResolvedBy(TypedDict):
    document_types: list[DocumentType]
    """Required document types: one document of each resolves the exception."""
    by: Literal["milestone", "correction", "field_changed", "news", "cancellation_taken_back", "container_taken_off", "document_uploaded", "document_approved"]
    """Kind of change that resolves the exception: a milestone with one of `codes`, a correction or retraction of one
    of `milestone_ids`, a new value of one of `fields`, and others.
    """
    codes: list[CanonicalMilestoneCode]
    """Milestone codes, each of which resolves the exception, for the same container."""
    occurred_from: str | None
    """Earliest time of the resolving milestone; null if its time does not matter. UTC with milliseconds."""
    milestone_ids: list[str]
    """Milestones whose correction resolves the exception."""
    fields: list[str]
    """Fields of the shipment, or of the exception's container, such as `eta`, `legs[1].etd`, `last_free_day`."""


class ExplainedException(TypedDict):
    exception_id: str | None
    """Id of the exception; null until it opens."""
    type: ExceptionType
    """Type of the exception."""
    container_number: str | None
    """Container that the exception concerns; null for the whole shipment."""
    status: Literal["open", "acknowledged", "expected", "suppressed"]
    """Status. `expected`: the exception will open; `suppressed`: a person resolved it, and its cause has not ended
    since.
    """
    rule: AutomaticExceptionType | None
    """Rule that opened or will open the exception; null if a person opened it."""
    because: str | None
    """Human-readable reason."""
    milestone_id: str | None
    """Milestone that shows the cause."""
    opens_at: str | None
    """Time at which the exception will open; null if it is open, or opens with the next write. UTC with
    milliseconds.
    """
    resolved_by: list[ResolvedBy]
    """Changes that resolve the exception or prevent it, each on its own. Cancelling the shipment does so too."""


class ShipmentExplanation(TypedDict):
    shipment_id: str
    """Id of the shipment."""
    version: int
    """Version of the explained shipment."""
    status: ExplainedStatus
    """Status."""
    etd: ExplainedTime
    """Estimated departure."""
    eta: ExplainedTime
    """Estimated arrival."""
    atd: ExplainedTime
    """Actual departure."""
    ata: ExplainedTime
    """Actual arrival."""
    containers: list[ExplainedContainer]
    """Containers of the shipment."""
    milestones: list[ExplainedMilestone]
    """All milestones of the shipment, in list order."""
    exceptions: list[ExplainedException]
    """Unresolved exceptions, expected ones, and those that a person resolved while their cause continues."""


class Milestone(TypedDict):
    id: str
    """Service-assigned identifier."""
    shipment_id: str
    """Id of the shipment."""
    code: CanonicalMilestoneCode
    """Milestone code; see GET /v1/milestone_codes."""
    label: str
    """Label of the code for people."""
    sequence: int
    """Position in the catalog."""
    occurred_at: str
    """Time of the milestone, actual or expected. UTC with milliseconds."""
    occurred_at_precision: TimePrecision
    """Precision of `occurred_at`."""
    source: MilestoneSource
    """Source of the milestone; `manual` unless the key may record milestones for feeds."""
    reason_code: ReasonCode | None
    """Reason for the milestone."""
    location: str | None
    """Place as free text; a UN/LOCODE is recognised."""
    classifier: Classifier
    """Certainty of the milestone: `actual`, `estimated` or `planned`; `actual` by default."""
    external_id: str | None
    """Your own reference. A milestone sent again with the same reference is corrected."""
    container_number: str | None
    """Container of the shipment; null if the milestone applies to all containers."""
    vessel: str | None
    """Name of the vessel."""
    voyage: str | None
    """Voyage, flight, train or trip number."""
    note: str | None
    """Free-text note."""
    timezone: str | None
    """IANA time zone of the place. In requests, `location` stands for that of the location."""
    latitude: float | None
    """Latitude of the goods in degrees, WGS 84; requires `longitude`."""
    longitude: float | None
    """Longitude of the goods in degrees, WGS 84; requires `latitude`."""
    terminal: str | None
    """Name or code of the terminal."""
    imo: str | None
    """IMO number of the vessel: seven digits with the check digit."""
    pieces: int | None
    """Number of pieces that the milestone concerns."""
    temperature_celsius: float | None
    """Measured temperature of the goods in degrees Celsius."""
    reported_at: str
    """Time when the source stated the milestone; by default the time of recording. UTC with milliseconds."""
    recorded_at: str
    """Time of recording. UTC with milliseconds."""
    recorded_by: Actor
    """Actor that recorded the milestone."""
    retracted_at: str | None
    """Time of the retraction. UTC with milliseconds."""
    superseded_at: str | None
    """Time at which a later report replaced the milestone. UTC with milliseconds."""
    revision: int
    """Revision number: 1 when recorded, plus one with each correction."""


class MilestonePage(TypedDict):
    data: list[Milestone]
    """The milestones of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor` with the same filters."""
    has_more: bool
    """True if there is a next page."""


class MilestoneFields(TypedDict):
    code: CanonicalMilestoneCode
    """Milestone code; see GET /v1/milestone_codes."""
    occurred_at: str
    """Time of the milestone. With `timezone`, it needs no offset. A date is allowed if the milestone is not actual."""
    source: NotRequired[MilestoneSource | None]
    """Source of the milestone; `manual` unless the key may record milestones for feeds."""
    reason_code: NotRequired[ReasonCode | None]
    """Reason for the milestone."""
    location: NotRequired[str | None]
    """Place as free text; a UN/LOCODE is recognised."""
    classifier: NotRequired[Classifier | None]
    """Certainty of the milestone: `actual`, `estimated` or `planned`; `actual` by default."""
    external_id: NotRequired[str | None]
    """Your own reference. A milestone sent again with the same reference is corrected."""
    container_number: NotRequired[str | None]
    """Container of the shipment; null if the milestone applies to all containers."""
    vessel: NotRequired[str | None]
    """Name of the vessel."""
    voyage: NotRequired[str | None]
    """Voyage, flight, train or trip number."""
    note: NotRequired[str | None]
    """Free-text note."""
    timezone: NotRequired[str | None]
    """IANA time zone of the place. In requests, `location` stands for that of the location."""
    latitude: NotRequired[float | None]
    """Latitude of the goods in degrees, WGS 84; requires `longitude`."""
    longitude: NotRequired[float | None]
    """Longitude of the goods in degrees, WGS 84; requires `latitude`."""
    terminal: NotRequired[str | None]
    """Name or code of the terminal."""
    imo: NotRequired[str | None]
    """IMO number of the vessel: seven digits with the check digit."""
    pieces: NotRequired[int | None]
    """Number of pieces that the milestone concerns."""
    temperature_celsius: NotRequired[float | None]
    """Measured temperature of the goods in degrees Celsius."""
    reported_at: NotRequired[str | None]
    """Time when the source stated the milestone; by default the time of recording."""


class MilestoneChanges(TypedDict):
    code: NotRequired[CanonicalMilestoneCode]
    """Milestone code; see GET /v1/milestone_codes."""
    occurred_at: NotRequired[str]
    """Time of the milestone. With `timezone`, it needs no offset. A date is allowed if the milestone is not actual."""
    reason_code: NotRequired[ReasonCode | None]
    """Reason for the milestone."""
    location: NotRequired[str | None]
    """Place as free text; a UN/LOCODE is recognised."""
    classifier: NotRequired[Classifier | None]
    """Certainty of the milestone: `actual`, `estimated` or `planned`; `actual` by default."""
    external_id: NotRequired[str | None]
    """Your own reference. A milestone sent again with the same reference is corrected."""
    container_number: NotRequired[str | None]
    """Container of the shipment; null if the milestone applies to all containers."""
    vessel: NotRequired[str | None]
    """Name of the vessel."""
    voyage: NotRequired[str | None]
    """Voyage, flight, train or trip number."""
    note: NotRequired[str | None]
    """Free-text note."""
    timezone: NotRequired[str | None]
    """IANA time zone of the place. In requests, `location` stands for that of the location."""
    latitude: NotRequired[float | None]
    """Latitude of the goods in degrees, WGS 84; requires `longitude`."""
    longitude: NotRequired[float | None]
    """Longitude of the goods in degrees, WGS 84; requires `latitude`."""
    terminal: NotRequired[str | None]
    """Name or code of the terminal."""
    imo: NotRequired[str | None]
    """IMO number of the vessel: seven digits with the check digit."""
    pieces: NotRequired[int | None]
    """Number of pieces that the milestone concerns."""
    temperature_celsius: NotRequired[float | None]
    """Measured temperature of the goods in degrees Celsius."""
    reported_at: NotRequired[str | None]
    """Time when the source stated the milestone; by default the time of recording."""


class MilestoneCodeStandards(TypedDict):
    dcsa: list[str]
    """Event codes of DCSA Track & Trace 2.2 and 3.0, with what distinguishes their meanings."""
    x12_315: list[str]
    """Status codes of X12 315 (element 157)."""
    x12_214: list[str]
    """Status codes of X12 214 (element 1650)."""
    iftsta: list[str]
    """Status codes of EDIFACT IFTSTA (UN/ECE Recommendation 24)."""
    iata_fsu: list[str]
    """Status codes of IATA FSU (Cargo-IMP)."""


class MilestoneCode(TypedDict):
    code: CanonicalMilestoneCode
    """Canonical code."""
    label: str
    """Label of the code for people."""
    description: str
    """Meaning of the code."""
    sequence: int
    """Position in the usual course of a shipment."""
    modes: list[Mode]
    """Transport modes in which the milestone is usual."""
    status: ShipmentStatus | None
    """Status of a shipment after an actual milestone with this code; null if the status does not change."""
    opens_exception: ExceptionType | None
    """Type of the exception that the milestone opens."""
    once_per_visit: bool
    """True if the event happens once per visit of a place, so that the last report counts."""
    dcsa: str | None
    """DCSA Track & Trace code."""
    x12_315: str | None
    """X12 315 code."""
    x12_214: str | None
    """X12 214 code."""
    rec24: str | None
    """UN/ECE Recommendation 24 code."""
    standards: MilestoneCodeStandards
    """All codes of other standards that can mean this code."""


class MilestoneCodeList(TypedDict):
    data: list[MilestoneCode]
    """Codes in catalog order. Without `limit`, the whole catalog."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor`."""
    has_more: bool
    """True if there is a next page."""


class ExceptionResolution(TypedDict):
    code: ResolutionCode
    """Reason for the resolution."""
    note: str | None
    """Free-text note."""
    by: Actor
    """Actor of the resolution; `system` for an automatic resolution."""


class ShipmentException(TypedDict):
    id: str
    """Service-assigned identifier."""
    shipment_id: str
    """Id of the shipment."""
    container_number: str | None
    """Container that the exception concerns; null if it concerns the whole shipment."""
    type: ExceptionType
    """Type of the exception."""
    severity: Severity
    """Severity; `medium` by default."""
    status: ExceptionStatus
    """Processing status of the exception."""
    title: str
    """Title; by default the label of the type."""
    detail: str | None
    """Human-readable description of the problem."""
    detected_by: Literal["system", "manual", "carrier"]
    """Origin of the exception."""
    rule: AutomaticExceptionType | None
    """Rule that opened the exception; null if a person opened it."""
    milestone_id: str | None
    """Milestone of the shipment that shows the problem."""
    reason_code: ReasonCode | None
    """Reason given by the milestone or by the person who opened the exception."""
    assignee: str | None
    """Person responsible, as your system names them."""
    metrics: dict[str, Any]
    """Values measured by the rule."""
    resolution: ExceptionResolution | None
    """Resolution of the exception; null while it is unresolved."""
    opened_at: str
    """Time of opening. UTC with milliseconds."""
    acknowledged_at: str | None
    """Time of the first acknowledgement. UTC with milliseconds."""
    resolved_at: str | None
    """Time of the resolution. UTC with milliseconds."""


class ExceptionPage(TypedDict):
    data: list[ShipmentException]
    """The exceptions of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor` with the same filters and sort order."""
    has_more: bool
    """True if there is a next page."""


class ExceptionFields(TypedDict):
    container_number: NotRequired[str | None]
    """Container that the exception concerns; null if it concerns the whole shipment."""
    type: ExceptionType
    """Type of the exception."""
    severity: NotRequired[Severity | None]
    """Severity; `medium` by default."""
    title: NotRequired[str | None]
    """Title; by default the label of the type."""
    detail: NotRequired[str | None]
    """Human-readable description of the problem."""
    milestone_id: NotRequired[str | None]
    """Milestone of the shipment that shows the problem."""
    reason_code: NotRequired[ReasonCode | None]
    """Reason given by the milestone or by the person who opened the exception."""
    assignee: NotRequired[str | None]
    """Person responsible, as your system names them."""


class ExceptionWritten(TypedDict):
    id: str
    """Service-assigned identifier."""
    shipment_id: str
    """Id of the shipment."""
    container_number: str | None
    """Container that the exception concerns; null if it concerns the whole shipment."""
    type: ExceptionType
    """Type of the exception."""
    severity: Severity
    """Severity; `medium` by default."""
    status: ExceptionStatus
    """Processing status of the exception."""
    title: str
    """Title; by default the label of the type."""
    detail: str | None
    """Human-readable description of the problem."""
    detected_by: Literal["system", "manual", "carrier"]
    """Origin of the exception."""
    rule: AutomaticExceptionType | None
    """Rule that opened the exception; null if a person opened it."""
    milestone_id: str | None
    """Milestone of the shipment that shows the problem."""
    reason_code: ReasonCode | None
    """Reason given by the milestone or by the person who opened the exception."""
    assignee: str | None
    """Person responsible, as your system names them."""
    metrics: dict[str, Any]
    """Values measured by the rule."""
    resolution: ExceptionResolution | None
    """Resolution of the exception; null while it is unresolved."""
    opened_at: str
    """Time of opening. UTC with milliseconds."""
    acknowledged_at: str | None
    """Time of the first acknowledgement. UTC with milliseconds."""
    resolved_at: str | None
    """Time of the resolution. UTC with milliseconds."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""


class ExceptionAcknowledgement(TypedDict):
    assignee: NotRequired[str | None]
    """Person responsible. If omitted, the assignee stays unchanged."""
    note: NotRequired[str | None]
    """Note for the history of the shipment."""


class ExceptionResolutionFields(TypedDict):
    code: NotRequired[ManualResolutionCode | None]
    """Reason for the resolution; `fixed` by default."""
    note: NotRequired[str | None]
    """Free-text note."""


class DocumentForm(TypedDict):
    type: DocumentType
    """Type of the document."""
    replaces_document_id: NotRequired[str | None]
    """Document of the shipment that this one replaces once its file is complete."""
    file: bytes
    """The file with its name. The parts of the form may have any order."""


class DocumentWritten(TypedDict):
    id: str
    """Service-assigned identifier."""
    shipment_id: str
    """Id of the shipment."""
    type: DocumentType
    """Type of the document."""
    status: DocumentStatus
    """`pending_upload` until the file is complete; `expired` if it was never uploaded; `deleted` if its file is
    destroyed.
    """
    file_name: str
    """File name, in any script. A leading path is removed."""
    content_type: DocumentContentType
    """Media type of the file, determined from its content."""
    size_bytes: int
    """Size of the file in bytes."""
    checksum_sha256: str
    """SHA-256 of the file, in hexadecimal digits; lower case in responses."""
    uploaded_by: Actor
    """Actor that uploaded the file or requested the upload URL."""
    created_at: str
    """Time of creation. UTC with milliseconds."""
    uploaded_at: str | None
    """Time at which the file was complete. UTC with milliseconds."""
    reviewed_by: Actor | None
    """Actor that approved or rejected the document."""
    reviewed_at: str | None
    """Time of the approval or rejection. UTC with milliseconds."""
    rejection_reason: str | None
    """Reason for the rejection."""
    replaces_document_id: str | None
    """Document of the shipment that this one replaces once its file is complete."""
    replaced_by_document_id: str | None
    """Document that replaces this one. A replaced document satisfies no requirement."""
    download_url: str | None
    """URL of the file; null while there is no file, and after its deletion."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""


class DocumentUploadFields(TypedDict):
    type: DocumentType
    """Type of the document."""
    file_name: str
    """File name, in any script. A leading path is removed."""
    content_type: DocumentContentType
    """Media type of the file, determined from its content."""
    size_bytes: int
    """Size of the file in bytes."""
    checksum_sha256: str
    """SHA-256 of the file, in hexadecimal digits; lower case in responses."""
    replaces_document_id: NotRequired[str | None]
    """Document of the shipment that this one replaces once its file is complete."""


class Upload(TypedDict):
    method: Literal["PUT"]
    """Upload request for the file."""
    url: str
    """Upload URL, which needs no key. It allows its holder to upload the file of this document, and nothing else."""
    headers: dict[str, str]
    """Headers that the upload must have."""
    expires_at: str
    """Time at which the URL expires. UTC with milliseconds."""


class DocumentUpload(TypedDict):
    id: str
    """Service-assigned identifier."""
    shipment_id: str
    """Id of the shipment."""
    type: DocumentType
    """Type of the document."""
    status: DocumentStatus
    """`pending_upload` until the file is complete; `expired` if it was never uploaded; `deleted` if its file is
    destroyed.
    """
    file_name: str
    """File name, in any script. A leading path is removed."""
    content_type: DocumentContentType
    """Media type of the file, determined from its content."""
    size_bytes: int
    """Size of the file in bytes."""
    checksum_sha256: str
    """SHA-256 of the file, in hexadecimal digits; lower case in responses."""
    uploaded_by: Actor
    """Actor that uploaded the file or requested the upload URL."""
    created_at: str
    """Time of creation. UTC with milliseconds."""
    uploaded_at: str | None
    """Time at which the file was complete. UTC with milliseconds."""
    reviewed_by: Actor | None
    """Actor that approved or rejected the document."""
    reviewed_at: str | None
    """Time of the approval or rejection. UTC with milliseconds."""
    rejection_reason: str | None
    """Reason for the rejection."""
    replaces_document_id: str | None
    """Document of the shipment that this one replaces once its file is complete."""
    replaced_by_document_id: str | None
    """Document that replaces this one. A replaced document satisfies no requirement."""
    download_url: str | None
    """URL of the file; null while there is no file, and after its deletion."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""
    upload: Upload
    """Upload request for the file."""


class Document(TypedDict):
    id: str
    """Service-assigned identifier."""
    shipment_id: str
    """Id of the shipment."""
    type: DocumentType
    """Type of the document."""
    status: DocumentStatus
    """`pending_upload` until the file is complete; `expired` if it was never uploaded; `deleted` if its file is
    destroyed.
    """
    file_name: str
    """File name, in any script. A leading path is removed."""
    content_type: DocumentContentType
    """Media type of the file, determined from its content."""
    size_bytes: int
    """Size of the file in bytes."""
    checksum_sha256: str
    """SHA-256 of the file, in hexadecimal digits; lower case in responses."""
    uploaded_by: Actor
    """Actor that uploaded the file or requested the upload URL."""
    created_at: str
    """Time of creation. UTC with milliseconds."""
    uploaded_at: str | None
    """Time at which the file was complete. UTC with milliseconds."""
    reviewed_by: Actor | None
    """Actor that approved or rejected the document."""
    reviewed_at: str | None
    """Time of the approval or rejection. UTC with milliseconds."""
    rejection_reason: str | None
    """Reason for the rejection."""
    replaces_document_id: str | None
    """Document of the shipment that this one replaces once its file is complete."""
    replaced_by_document_id: str | None
    """Document that replaces this one. A replaced document satisfies no requirement."""
    download_url: str | None
    """URL of the file; null while there is no file, and after its deletion."""


class DocumentPage(TypedDict):
    data: list[Document]
    """The documents of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor`."""
    has_more: bool
    """True if there is a next page."""


class DocumentRejection(TypedDict):
    reason: str
    """Reason for the rejection, for the person who uploads a better document."""


class Storage(TypedDict):
    used_bytes: int
    """Bytes of the documents of the workspace, in both environments. Pending uploads count with their announced
    size.
    """
    limit_bytes: int
    """Maximum number of bytes."""


class Place(TypedDict):
    code: str
    """UN/LOCODE or IATA airport code."""
    name: str | None
    """Name of the place; null if unknown."""
    country: str
    """ISO 3166-1 alpha-2."""
    latitude: float | None
    """Latitude in degrees north."""
    longitude: float | None
    """Longitude in degrees east."""
    timezone: str | None
    """IANA time zone."""


class PlaceList(TypedDict):
    data: list[Place]
    """Places, best match first, or in the order of the requested codes."""
    next_cursor: str | None
    """Always null: refine `q` to find other places."""
    has_more: bool
    """Always false."""


class EventPage(TypedDict):
    data: list[Event]
    """The events of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor` with the same filters."""
    has_more: bool
    """True if there is a next page."""


class WebhookEndpointFields(TypedDict):
    url: str
    """URL that events are sent to: https, without credentials or a fragment. A new URL has to be verified."""
    event_types: list[SubscribableEventType]
    """Subscribed event types. `*` includes the six standard types."""
    description: NotRequired[str | None]
    """Free-text description of the endpoint, for people."""
    api_version: NotRequired[Literal["2026-11-01"] | None]
    """Version of the payloads. Defaults to the newest version when the endpoint is created."""
    payload: NotRequired[PayloadForm | None]
    """Form of the payloads. `full` (default): `data` has a snapshot of the resource. `thin`: without the snapshot,
    for receivers with small limits; ids, versions, `changes` and the main fields of milestones remain.
    """
    headers: NotRequired[dict[str, str] | None]
    """Custom headers sent with every delivery. They cannot replace headers of the service. Values are masked in
    responses; to keep a value, send its mask. If scheme, host or port of `url` changes, only headers with values
    in the same request are kept.
    """
    max_concurrency: NotRequired[int | None]
    """Maximum number of concurrent attempts. Defaults to 16."""


class WebhookError(TypedDict):
    code: str
    """Stable error code."""
    message: str
    """Human-readable message."""


class WebhookVerification(TypedDict):
    at: str
    """Time at which the challenge was sent. UTC with milliseconds."""
    ok: bool
    """True if the endpoint answered with the token."""
    error: WebhookError | None
    """Error of the verification; null if it succeeded."""


class WebhookEndpointCreated(TypedDict):
    id: str
    """Service-assigned identifier."""
    url: str
    """URL that events are sent to: https, without credentials or a fragment. A new URL has to be verified."""
    event_types: list[SubscribableEventType]
    """Subscribed event types. `*` includes the six standard types."""
    description: str | None
    """Free-text description of the endpoint, for people."""
    api_version: Literal["2026-11-01"]
    """Version of the payloads. Defaults to the newest version when the endpoint is created."""
    payload: PayloadForm
    """Form of the payloads. `full` (default): `data` has a snapshot of the resource. `thin`: without the snapshot,
    for receivers with small limits; ids, versions, `changes` and the main fields of milestones remain.
    """
    environment: Environment
    """Environment whose events the endpoint receives."""
    status: Literal["pending_verification", "verified", "enabled", "disabled"]
    """Status of the endpoint. Only an `enabled` endpoint receives live events."""
    disabled_reason: Literal["manual", "gone"] | None
    """Reason for the status `disabled`: `manual`, or `gone` if the endpoint answered 410."""
    last_verification: WebhookVerification | None
    """Result of the last challenge to the current URL."""
    headers: dict[str, str]
    """Custom headers sent with every delivery. They cannot replace headers of the service. Values are masked in
    responses; to keep a value, send its mask. If scheme, host or port of `url` changes, only headers with values
    in the same request are kept.
    """
    max_concurrency: int
    """Maximum number of concurrent attempts. Defaults to 16."""
    created_at: str
    """Time at which the endpoint was created. UTC with milliseconds."""
    updated_at: str
    """Time of the last change. UTC with milliseconds."""
    version: int
    """Increases with every change."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""
    secret: str
    """Secret that signs every request to the endpoint. The whole string is the HMAC key. Reads never return it."""


class WebhookEndpoint(TypedDict):
    id: str
    """Service-assigned identifier."""
    url: str
    """URL that events are sent to: https, without credentials or a fragment. A new URL has to be verified."""
    event_types: list[SubscribableEventType]
    """Subscribed event types. `*` includes the six standard types."""
    description: str | None
    """Free-text description of the endpoint, for people."""
    api_version: Literal["2026-11-01"]
    """Version of the payloads. Defaults to the newest version when the endpoint is created."""
    payload: PayloadForm
    """Form of the payloads. `full` (default): `data` has a snapshot of the resource. `thin`: without the snapshot,
    for receivers with small limits; ids, versions, `changes` and the main fields of milestones remain.
    """
    environment: Environment
    """Environment whose events the endpoint receives."""
    status: Literal["pending_verification", "verified", "enabled", "disabled"]
    """Status of the endpoint. Only an `enabled` endpoint receives live events."""
    disabled_reason: Literal["manual", "gone"] | None
    """Reason for the status `disabled`: `manual`, or `gone` if the endpoint answered 410."""
    last_verification: WebhookVerification | None
    """Result of the last challenge to the current URL."""
    headers: dict[str, str]
    """Custom headers sent with every delivery. They cannot replace headers of the service. Values are masked in
    responses; to keep a value, send its mask. If scheme, host or port of `url` changes, only headers with values
    in the same request are kept.
    """
    max_concurrency: int
    """Maximum number of concurrent attempts. Defaults to 16."""
    created_at: str
    """Time at which the endpoint was created. UTC with milliseconds."""
    updated_at: str
    """Time of the last change. UTC with milliseconds."""
    version: int
    """Increases with every change."""


class WebhookEndpointPage(TypedDict):
    data: list[WebhookEndpoint]
    """Endpoints of this page."""
    next_cursor: str | None
    """Cursor of the next page. Send it as `cursor`."""
    has_more: bool
    """True if there is a next page."""


class WebhookHourAttempts(TypedDict):
    succeeded: int
    """Attempts that were answered with a 2xx status."""
    failed: int
    """Attempts that did not succeed."""


class WebhookHourDeliveries(TypedDict):
    succeeded: int
    """Deliveries that succeeded by an attempt of the hour."""
    dead_lettered: int
    """Deliveries that became dead letters by an attempt of the hour."""
    discarded: int
    """Deliveries that a person discarded within the hour."""


class WebhookLatency(TypedDict):
    p50: int | None
    """50th percentile (median)."""
    p95: int | None
    """95th percentile."""
    p99: int | None
    """99th percentile."""
    max: int | None
    """Longest duration."""


class WebhookHour(TypedDict):
    hour: str
    """Start of the hour. UTC with milliseconds."""
    attempts: WebhookHourAttempts
    """Attempts that started within the hour."""
    deliveries: WebhookHourDeliveries
    """Deliveries that ended within the hour."""
    latency_ms: WebhookLatency
    """Duration of attempts, in milliseconds. Percentiles are at most 12.5% too high; `max` is exact."""
    is_exact: bool
    """False if some attempts or discards may be missing from the counts until the hour is recounted from the log."""


class WebhookWaiting(TypedDict):
    count: int
    """Number of deliveries whose schedule has attempts left, counted up to 1,000."""
    is_at_least: bool
    """True if counting stopped at 1,000, so there may be more deliveries."""
    oldest_at: str | None
    """Time at which the oldest pending delivery was recorded. UTC with milliseconds."""


class WebhookLastError(TypedDict):
    code: str
    """Stable error code."""
    message: str
    """Human-readable message."""
    at: str
    """Start of the attempt. UTC with milliseconds."""
    status_code: int | None
    """Status code of the response; null without a response."""


class WebhookEndpointStats(TypedDict):
    endpoint_id: str
    """Id of the endpoint."""
    since: str
    """Start of the requested period. UTC with milliseconds."""
    until: str
    """End of the requested period. UTC with milliseconds."""
    hours: list[WebhookHour]
    """Hours with attempts or discards, oldest first."""
    waiting: WebhookWaiting
    """Pending deliveries."""
    last_success_at: str | None
    """Start of the last successful attempt, even if it was before `since`. UTC with milliseconds."""
    last_error: WebhookLastError | None
    """Last failed attempt, even if it was before `since`."""


class WebhookEndpointChanges(TypedDict):
    url: NotRequired[str]
    """URL that events are sent to: https, without credentials or a fragment. A new URL has to be verified."""
    event_types: NotRequired[list[SubscribableEventType]]
    """Subscribed event types. `*` includes the six standard types."""
    description: NotRequired[str | None]
    """Free-text description of the endpoint, for people."""
    api_version: NotRequired[Literal["2026-11-01"] | None]
    """Version of the payloads. Defaults to the newest version when the endpoint is created."""
    payload: NotRequired[PayloadForm | None]
    """Form of the payloads. `full` (default): `data` has a snapshot of the resource. `thin`: without the snapshot,
    for receivers with small limits; ids, versions, `changes` and the main fields of milestones remain.
    """
    headers: NotRequired[dict[str, str] | None]
    """Custom headers sent with every delivery. They cannot replace headers of the service. Values are masked in
    responses; to keep a value, send its mask. If scheme, host or port of `url` changes, only headers with values
    in the same request are kept.
    """
    max_concurrency: NotRequired[int | None]
    """Maximum number of concurrent attempts. Defaults to 16."""


class WebhookEndpointWritten(TypedDict):
    id: str
    """Service-assigned identifier."""
    url: str
    """URL that events are sent to: https, without credentials or a fragment. A new URL has to be verified."""
    event_types: list[SubscribableEventType]
    """Subscribed event types. `*` includes the six standard types."""
    description: str | None
    """Free-text description of the endpoint, for people."""
    api_version: Literal["2026-11-01"]
    """Version of the payloads. Defaults to the newest version when the endpoint is created."""
    payload: PayloadForm
    """Form of the payloads. `full` (default): `data` has a snapshot of the resource. `thin`: without the snapshot,
    for receivers with small limits; ids, versions, `changes` and the main fields of milestones remain.
    """
    environment: Environment
    """Environment whose events the endpoint receives."""
    status: Literal["pending_verification", "verified", "enabled", "disabled"]
    """Status of the endpoint. Only an `enabled` endpoint receives live events."""
    disabled_reason: Literal["manual", "gone"] | None
    """Reason for the status `disabled`: `manual`, or `gone` if the endpoint answered 410."""
    last_verification: WebhookVerification | None
    """Result of the last challenge to the current URL."""
    headers: dict[str, str]
    """Custom headers sent with every delivery. They cannot replace headers of the service. Values are masked in
    responses; to keep a value, send its mask. If scheme, host or port of `url` changes, only headers with values
    in the same request are kept.
    """
    max_concurrency: int
    """Maximum number of concurrent attempts. Defaults to 16."""
    created_at: str
    """Time at which the endpoint was created. UTC with milliseconds."""
    updated_at: str
    """Time of the last change. UTC with milliseconds."""
    version: int
    """Increases with every change."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""


class WebhookEndpointDeleted(TypedDict):
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""
    id: str
    """Id of the deleted endpoint."""
    deleted: bool
    """Always true."""


class WebhookEndpointTest(TypedDict):
    type: EventTypeName
    """Type of the sandbox event."""


class WebhookDeliveryWritten(TypedDict):
    id: str
    """Service-assigned identifier. An event has one delivery for each endpoint."""
    endpoint_id: str
    """Id of the endpoint."""
    event_id: str
    """Id of the event."""
    event_type: EventTypeName
    """Type of the event."""
    status: DeliveryStatus
    """Status of the delivery."""
    sandbox: bool
    """True if the event is a sandbox event, which the test operation sends."""
    created_at: str
    """Time at which the delivery was recorded. UTC with milliseconds."""
    next_attempt_at: str | None
    """Time of the next scheduled attempt. UTC with milliseconds."""
    completed_at: str | None
    """Time at which the delivery ended. UTC with milliseconds."""
    attempts_count: int
    """Number of attempts made."""
    last_error: WebhookError | None
    """Error of the last attempt; null if it succeeded."""
    version: int
    """Increases with every change, including attempts."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""


class WebhookSecretRotation(TypedDict):
    expires_in_seconds: NotRequired[int | None]
    """Seconds for which the old secret signs in addition to the new one. Defaults to 86,400 (one day)."""


class WebhookPreviousSecret(TypedDict):
    secret: str
    """Secret that signs requests in addition to the newest one."""
    expires_at: str
    """Time at which the secret stops signing. UTC with milliseconds."""


class WebhookSecrets(TypedDict):
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""
    id: str
    """Id of the endpoint."""
    secret: str
    """Newest secret. The whole string is the HMAC key."""
    previous_secrets: list[WebhookPreviousSecret]
    """Older secrets that are still valid after rotations, newest first; at most four."""


class WebhookDelivery(TypedDict):
    id: str
    """Service-assigned identifier. An event has one delivery for each endpoint."""
    endpoint_id: str
    """Id of the endpoint."""
    event_id: str
    """Id of the event."""
    event_type: EventTypeName
    """Type of the event."""
    status: DeliveryStatus
    """Status of the delivery."""
    sandbox: bool
    """True if the event is a sandbox event, which the test operation sends."""
    created_at: str
    """Time at which the delivery was recorded. UTC with milliseconds."""
    next_attempt_at: str | None
    """Time of the next scheduled attempt. UTC with milliseconds."""
    completed_at: str | None
    """Time at which the delivery ended. UTC with milliseconds."""
    attempts_count: int
    """Number of attempts made."""
    last_error: WebhookError | None
    """Error of the last attempt; null if it succeeded."""
    version: int
    """Increases with every change, including attempts."""


class WebhookDeliveryPage(TypedDict):
    data: list[WebhookDelivery]
    """Deliveries of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor` with the same filters."""
    has_more: bool
    """True if there is a next page."""


class WebhookResponse(TypedDict):
    headers: dict[str, str]
    """Response headers, with names in lower case."""
    body: str
    """Response body, cut to 16 KiB."""


class WebhookAttempt(TypedDict):
    number: int
    """Number of the attempt, from 1. The first 50 and the latest 50 attempts are kept."""
    at: str
    """Start of the attempt. UTC with milliseconds."""
    duration_ms: int
    """Duration in milliseconds, from name resolution to the last byte."""
    status_code: int | None
    """Status code of the response; null without a response."""
    error: WebhookError | None
    """Error of the attempt; null if it succeeded."""
    response: WebhookResponse | None
    """Response of the endpoint; null without a response."""
    manual: bool
    """True if a person requested the attempt."""
    resent: NotRequired[bool]
    """Present if the receiver had closed the kept-alive connection, so the request was sent again on a new
    connection.
    """


class WebhookDeliveryDetail(TypedDict):
    id: str
    """Service-assigned identifier. An event has one delivery for each endpoint."""
    endpoint_id: str
    """Id of the endpoint."""
    event_id: str
    """Id of the event."""
    event_type: EventTypeName
    """Type of the event."""
    status: DeliveryStatus
    """Status of the delivery."""
    sandbox: bool
    """True if the event is a sandbox event, which the test operation sends."""
    created_at: str
    """Time at which the delivery was recorded. UTC with milliseconds."""
    next_attempt_at: str | None
    """Time of the next scheduled attempt. UTC with milliseconds."""
    completed_at: str | None
    """Time at which the delivery ended. UTC with milliseconds."""
    attempts_count: int
    """Number of attempts made."""
    last_error: WebhookError | None
    """Error of the last attempt; null if it succeeded."""
    version: int
    """Increases with every change, including attempts."""
    payload: WebhookPayload | None
    """Body of the request, the same for every attempt. After a 413 to an endpoint with `payload: "thin"`, it changes
    to the thin form.
    """
    attempts: list[WebhookAttempt]
    """Attempts made, oldest first."""


class WebhookDeadLettersByReason(TypedDict):
    count: int
    """Number of dead letters."""
    is_exact: bool
    """True if `count` is exact. False if counting stopped at a limit, so there may be more dead letters."""
    reason: Literal["unexpected_status", "redirect_not_followed", "timeout", "dns_failed", "connection_refused", "connection_failed", "connection_reset", "tls_failed", "address_not_allowed", "url_not_allowed", "invalid_response", "unknown"]
    """Error code of the dead letters (`last_error.code`)."""


class WebhookDeadLettersByEndpoint(TypedDict):
    count: int
    """Number of dead letters."""
    is_exact: bool
    """True if `count` is exact. False if counting stopped at a limit, so there may be more dead letters."""
    endpoint_id: str
    """Endpoint of the dead letters."""
    url: str | None
    """Current URL of the endpoint; null if the endpoint is no longer stored."""
    status: Literal["pending_verification", "verified", "enabled", "disabled", "deleted"]
    """Status of the endpoint. Dead letters can only be delivered again to an `enabled` endpoint."""


class WebhookDeadLettersByEventType(TypedDict):
    count: int
    """Number of dead letters."""
    is_exact: bool
    """True if `count` is exact. False if counting stopped at a limit, so there may be more dead letters."""
    event_type: EventTypeName
    """Event type of the dead letters."""


class WebhookDeadLetterSummary(TypedDict):
    count: int
    """Number of dead letters."""
    is_exact: bool
    """True if `count` is exact. False if counting stopped at a limit, so there may be more dead letters."""
    by_reason: list[WebhookDeadLettersByReason]
    """Counts by error code, largest first."""
    by_endpoint: list[WebhookDeadLettersByEndpoint]
    """Counts by endpoint, including deleted endpoints, largest first."""
    by_event_type: list[WebhookDeadLettersByEventType]
    """Counts by event type, largest first."""


class WebhookDeadLetters(TypedDict):
    endpoint_id: NotRequired[str | None]
    """Only dead letters of this endpoint."""
    event_types: NotRequired[list[EventTypeName] | None]
    """Only dead letters of these event types."""
    reasons: NotRequired[list[Literal["unexpected_status", "redirect_not_followed", "timeout", "dns_failed", "connection_refused", "connection_failed", "connection_reset", "tls_failed", "address_not_allowed", "url_not_allowed", "invalid_response"]] | None]
    """Only dead letters with one of these error codes (`last_error.code`)."""
    since: NotRequired[str | None]
    """Only events created at this time or later."""
    until: NotRequired[str | None]
    """Only events created at this time or earlier. Defaults to the time of the request."""
    delivery_ids: NotRequired[list[str] | None]
    """Only the deliveries with these ids."""


class WebhookReplay(TypedDict):
    id: str
    """Service-assigned identifier."""
    endpoint_id: str
    """Id of the endpoint."""
    action: Literal["replay", "discard"]
    """`replay` sends deliveries again; `discard` discards them."""
    since: str | None
    """Only events created at this time or later. If null, the replay starts at the first stored event. UTC with
    milliseconds.
    """
    until: str
    """Only events created at this time or earlier. Defaults to the time of the request, which is also the maximum.
    UTC with milliseconds.
    """
    event_types: list[EventTypeName] | None
    """Only events of these types. If null, all types that the endpoint subscribes to."""
    statuses: list[Literal["dead_lettered", "discarded", "succeeded", "missed"]]
    """Statuses of deliveries to include. `missed` stands for events that were never recorded for the endpoint,
    including events from before its creation. Defaults to dead_lettered and missed.
    """
    reasons: list[str] | None
    """Only deliveries with one of these error codes (`last_error.code`), which excludes missed events. If null, all
    deliveries.
    """
    delivery_ids: list[str] | None
    """Ids of the deliveries to include. Null if the other fields of the filter select the deliveries."""
    status: Literal["running", "completed", "canceled"]
    """Status of the replay."""
    matched: int
    """Number of deliveries found so far. Final when the replay is completed."""
    done: int
    """Number of found deliveries that the replay delivered or discarded."""
    failed: int
    """Number of found deliveries whose first attempt failed again. These deliveries continue on their new schedule."""
    created_at: str
    """Time at which the replay was requested. UTC with milliseconds."""
    completed_at: str | None
    """Time at which the replay was completed or canceled. UTC with milliseconds."""
    version: int
    """Increases with every change, including progress."""


class WebhookDeadLettersRefused(TypedDict):
    endpoint_id: str
    """Id of the endpoint."""
    code: str
    """Stable error code."""
    message: str
    """Human-readable message."""


class WebhookReplaysBegun(TypedDict):
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""
    data: list[WebhookReplay]
    """Started replays, one for each endpoint with matching dead letters. Get a replay to see its progress."""
    refused: list[WebhookDeadLettersRefused]
    """Endpoints with matching dead letters for which no replay was started, and the reason."""


class WebhookReplayFilter(TypedDict):
    since: NotRequired[str | None]
    """Only events created at this time or later. If null, the replay starts at the first stored event."""
    until: NotRequired[str | None]
    """Only events created at this time or earlier. Defaults to the time of the request, which is also the maximum."""
    event_types: NotRequired[list[EventTypeName] | None]
    """Only events of these types. If null, all types that the endpoint subscribes to."""
    statuses: NotRequired[list[Literal["dead_lettered", "discarded", "succeeded", "missed"]] | None]
    """Statuses of deliveries to include. `missed` stands for events that were never recorded for the endpoint,
    including events from before its creation. Defaults to dead_lettered and missed.
    """
    reasons: NotRequired[list[str] | None]
    """Only deliveries with one of these error codes (`last_error.code`), which excludes missed events. If null, all
    deliveries.
    """


class WebhookReplayWritten(TypedDict):
    id: str
    """Service-assigned identifier."""
    endpoint_id: str
    """Id of the endpoint."""
    action: Literal["replay", "discard"]
    """`replay` sends deliveries again; `discard` discards them."""
    since: str | None
    """Only events created at this time or later. If null, the replay starts at the first stored event. UTC with
    milliseconds.
    """
    until: str
    """Only events created at this time or earlier. Defaults to the time of the request, which is also the maximum.
    UTC with milliseconds.
    """
    event_types: list[EventTypeName] | None
    """Only events of these types. If null, all types that the endpoint subscribes to."""
    statuses: list[Literal["dead_lettered", "discarded", "succeeded", "missed"]]
    """Statuses of deliveries to include. `missed` stands for events that were never recorded for the endpoint,
    including events from before its creation. Defaults to dead_lettered and missed.
    """
    reasons: list[str] | None
    """Only deliveries with one of these error codes (`last_error.code`), which excludes missed events. If null, all
    deliveries.
    """
    delivery_ids: list[str] | None
    """Ids of the deliveries to include. Null if the other fields of the filter select the deliveries."""
    status: Literal["running", "completed", "canceled"]
    """Status of the replay."""
    matched: int
    """Number of deliveries found so far. Final when the replay is completed."""
    done: int
    """Number of found deliveries that the replay delivered or discarded."""
    failed: int
    """Number of found deliveries whose first attempt failed again. These deliveries continue on their new schedule."""
    created_at: str
    """Time at which the replay was requested. UTC with milliseconds."""
    completed_at: str | None
    """Time at which the replay was completed or canceled. UTC with milliseconds."""
    version: int
    """Increases with every change, including progress."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""


class WebhookReplayPage(TypedDict):
    data: list[WebhookReplay]
    """Replays of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor` with the same filters."""
    has_more: bool
    """True if there is a next page."""


class ServiceAccountFields(TypedDict):
    name: str
    """Name of the system that uses the account."""
    role: Role
    """Role of the account, which applies to all its keys."""


class ServiceAccountWritten(TypedDict):
    id: str
    """Service-assigned identifier."""
    workspace_id: str
    """Id of the workspace."""
    name: str
    """Name of the system that uses the account."""
    role: Role
    """Role of the account, which applies to all its keys."""
    status: Literal["active", "deactivated"]
    """Status of the account. Its keys are valid only while it is `active`."""
    created_by: Actor
    """User or service account that created this service account."""
    created_at: str
    """Time of creation. UTC with milliseconds."""
    version: int
    """Version number, which grows with every change."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""


class ServiceAccount(TypedDict):
    id: str
    """Service-assigned identifier."""
    workspace_id: str
    """Id of the workspace."""
    name: str
    """Name of the system that uses the account."""
    role: Role
    """Role of the account, which applies to all its keys."""
    status: Literal["active", "deactivated"]
    """Status of the account. Its keys are valid only while it is `active`."""
    created_by: Actor
    """User or service account that created this service account."""
    created_at: str
    """Time of creation. UTC with milliseconds."""
    version: int
    """Version number, which grows with every change."""


class ServiceAccountPage(TypedDict):
    data: list[ServiceAccount]
    """The service accounts of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor`."""
    has_more: bool
    """True if there is a next page."""


class ServiceAccountChanges(TypedDict):
    name: NotRequired[str]
    """Name of the system that uses the account."""
    role: NotRequired[Role]
    """Role of the account, which applies to all its keys."""


class ApiKeyFields(TypedDict):
    name: str
    """Purpose of the key, in your words."""
    environment: Environment
    """Environment whose data the key can access."""
    expires_at: NotRequired[str | None]
    """Time at which the key expires; null if it never expires."""
    service_account_id: NotRequired[str | None]
    """Service account that owns the key. By default the key is your own."""


class ApiKeyOwner(TypedDict):
    type: Literal["service_account", "user"]
    """Kind of owner."""
    id: str
    """Id of the user or service account."""


class ApiKeyCreated(TypedDict):
    id: str
    """Service-assigned identifier."""
    workspace_id: str
    """Id of the workspace."""
    name: str
    """Purpose of the key, in your words."""
    environment: Environment
    """Environment whose data the key can access."""
    prefix: str
    """First characters of the key."""
    last_four: str
    """Last characters of the key."""
    owner: ApiKeyOwner
    """User or service account whose permissions the key has."""
    role: Role
    """Current role of the owner."""
    max_role: Role | None
    """Role that also limits the key: `developer` for a key of a service account that a developer created, so that a
    later role of the account gives the key no further permissions. Null for no limit.
    """
    created_by: Actor
    """User or service account that created the key."""
    created_at: str
    """Time of creation. UTC with milliseconds."""
    expires_at: str | None
    """Time at which the key expires; null if it never expires. UTC with milliseconds."""
    last_used_at: str | None
    """Time of the last use, to the minute; null if the key was never used. UTC with milliseconds."""
    revoked_at: str | None
    """Time at which the key was revoked; null if it was not revoked. UTC with milliseconds."""
    rotated_to: str | None
    """Id of the key that replaced this one."""
    version: int
    """Version number, which grows with every change."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""
    key: str
    """The key itself. Returned only once, in this response."""


class ApiKey(TypedDict):
    id: str
    """Service-assigned identifier."""
    workspace_id: str
    """Id of the workspace."""
    name: str
    """Purpose of the key, in your words."""
    environment: Environment
    """Environment whose data the key can access."""
    prefix: str
    """First characters of the key."""
    last_four: str
    """Last characters of the key."""
    owner: ApiKeyOwner
    """User or service account whose permissions the key has."""
    role: Role
    """Current role of the owner."""
    max_role: Role | None
    """Role that also limits the key: `developer` for a key of a service account that a developer created, so that a
    later role of the account gives the key no further permissions. Null for no limit.
    """
    created_by: Actor
    """User or service account that created the key."""
    created_at: str
    """Time of creation. UTC with milliseconds."""
    expires_at: str | None
    """Time at which the key expires; null if it never expires. UTC with milliseconds."""
    last_used_at: str | None
    """Time of the last use, to the minute; null if the key was never used. UTC with milliseconds."""
    revoked_at: str | None
    """Time at which the key was revoked; null if it was not revoked. UTC with milliseconds."""
    rotated_to: str | None
    """Id of the key that replaced this one."""
    version: int
    """Version number, which grows with every change."""


class ApiKeyPage(TypedDict):
    data: list[ApiKey]
    """The keys of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor`."""
    has_more: bool
    """True if there is a next page."""


class ApiKeyRotation(TypedDict):
    grace_seconds: NotRequired[int | None]
    """Seconds for which the old key stays valid next to the new one; 0 by default."""


class ApiKeyWritten(TypedDict):
    id: str
    """Service-assigned identifier."""
    workspace_id: str
    """Id of the workspace."""
    name: str
    """Purpose of the key, in your words."""
    environment: Environment
    """Environment whose data the key can access."""
    prefix: str
    """First characters of the key."""
    last_four: str
    """Last characters of the key."""
    owner: ApiKeyOwner
    """User or service account whose permissions the key has."""
    role: Role
    """Current role of the owner."""
    max_role: Role | None
    """Role that also limits the key: `developer` for a key of a service account that a developer created, so that a
    later role of the account gives the key no further permissions. Null for no limit.
    """
    created_by: Actor
    """User or service account that created the key."""
    created_at: str
    """Time of creation. UTC with milliseconds."""
    expires_at: str | None
    """Time at which the key expires; null if it never expires. UTC with milliseconds."""
    last_used_at: str | None
    """Time of the last use, to the minute; null if the key was never used. UTC with milliseconds."""
    revoked_at: str | None
    """Time at which the key was revoked; null if it was not revoked. UTC with milliseconds."""
    rotated_to: str | None
    """Id of the key that replaced this one."""
    version: int
    """Version number, which grows with every change."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""


class UserInvitation(TypedDict):
    email: str
    """E-mail address used to sign in. Unique in the workspace, regardless of case."""
    role: Role
    """Role of the user, which applies to all sessions and keys."""


class UserInvited(TypedDict):
    id: str
    """Service-assigned identifier."""
    workspace_id: str
    """Id of the workspace."""
    name: str | None
    """Name of the user; null until the invitation is accepted."""
    email: str
    """E-mail address used to sign in. Unique in the workspace, regardless of case."""
    role: Role
    """Role of the user, which applies to all sessions and keys."""
    status: Literal["invited", "active", "deactivated"]
    """`invited` until the one-time link is used. Only an `active` user can sign in and has valid keys."""
    created_by: Actor
    """Actor that invited the user."""
    created_at: str
    """Time of the invitation. UTC with milliseconds."""
    last_seen_at: str | None
    """Time of the last use of a session, to the minute; null if never. UTC with milliseconds."""
    version: int
    """Version number, which grows with every change."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""
    invitation_url: str
    """One-time link with which the user sets a name and a password. Returned only once, in this response."""
    invitation_expires_at: str
    """Time at which the link expires. UTC with milliseconds."""


class User(TypedDict):
    id: str
    """Service-assigned identifier."""
    workspace_id: str
    """Id of the workspace."""
    name: str | None
    """Name of the user; null until the invitation is accepted."""
    email: str
    """E-mail address used to sign in. Unique in the workspace, regardless of case."""
    role: Role
    """Role of the user, which applies to all sessions and keys."""
    status: Literal["invited", "active", "deactivated"]
    """`invited` until the one-time link is used. Only an `active` user can sign in and has valid keys."""
    created_by: Actor
    """Actor that invited the user."""
    created_at: str
    """Time of the invitation. UTC with milliseconds."""
    last_seen_at: str | None
    """Time of the last use of a session, to the minute; null if never. UTC with milliseconds."""
    version: int
    """Version number, which grows with every change."""


class UserPage(TypedDict):
    data: list[User]
    """The users of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor`."""
    has_more: bool
    """True if there is a next page."""


class UserChanges(TypedDict):
    role: NotRequired[Role]
    """Role of the user, which applies to all sessions and keys."""
    name: NotRequired[str]
    """Name of the user."""


class UserWritten(TypedDict):
    id: str
    """Service-assigned identifier."""
    workspace_id: str
    """Id of the workspace."""
    name: str | None
    """Name of the user; null until the invitation is accepted."""
    email: str
    """E-mail address used to sign in. Unique in the workspace, regardless of case."""
    role: Role
    """Role of the user, which applies to all sessions and keys."""
    status: Literal["invited", "active", "deactivated"]
    """`invited` until the one-time link is used. Only an `active` user can sign in and has valid keys."""
    created_by: Actor
    """Actor that invited the user."""
    created_at: str
    """Time of the invitation. UTC with milliseconds."""
    last_seen_at: str | None
    """Time of the last use of a session, to the minute; null if never. UTC with milliseconds."""
    version: int
    """Version number, which grows with every change."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""


class UserReactivated(TypedDict):
    id: str
    """Service-assigned identifier."""
    workspace_id: str
    """Id of the workspace."""
    name: str | None
    """Name of the user; null until the invitation is accepted."""
    email: str
    """E-mail address used to sign in. Unique in the workspace, regardless of case."""
    role: Role
    """Role of the user, which applies to all sessions and keys."""
    status: Literal["invited", "active", "deactivated"]
    """`invited` until the one-time link is used. Only an `active` user can sign in and has valid keys."""
    created_by: Actor
    """Actor that invited the user."""
    created_at: str
    """Time of the invitation. UTC with milliseconds."""
    last_seen_at: str | None
    """Time of the last use of a session, to the minute; null if never. UTC with milliseconds."""
    version: int
    """Version number, which grows with every change."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""
    invitation_url: str | None
    """One-time link if the user never set a password; otherwise null. Returned only once, in this response."""
    invitation_expires_at: str | None
    """Time at which the link expires; null without a link. UTC with milliseconds."""


class PasswordResetFields(TypedDict):
    revoke_api_keys: NotRequired[bool | None]
    """True to also revoke all valid API keys of the user, in both environments. False by default."""


class PasswordReset(TypedDict):
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""
    reset_url: str
    """One-time link with which the user sets a new password. Returned only once, in this response."""
    expires_at: str
    """Time at which the link expires. UTC with milliseconds."""
    revoked_api_keys_count: int
    """Number of API keys that the request revoked."""


class InvitingWorkspace(TypedDict):
    id: str
    """Service-assigned identifier."""
    name: str
    """Name of the workspace."""


class Invitation(TypedDict):
    purpose: Literal["invitation", "first_admin", "password_reset"]
    """Purpose of the link."""
    email: str | None
    """E-mail address of the user; null for the first admin, who enters one."""
    workspace: InvitingWorkspace
    """Workspace of the user."""
    role: Role
    """Role of the user in the workspace."""
    expires_at: str
    """Time at which the link expires. UTC with milliseconds."""


class LinkUse(TypedDict):
    name: NotRequired[str | None]
    """The name of the user. Required, except for a password reset."""
    password: str
    """Password of 10 to 200 characters. Must not be the e-mail address or one of the most common passwords."""
    email: NotRequired[str | None]
    """E-mail address of the first admin, used to sign in. Ignored for other users."""


class SignIn(TypedDict):
    email: str
    """E-mail address of the user, in any case."""
    password: str
    """Password of the user."""
    workspace: NotRequired[str | None]
    """Name or id of the workspace, for users of several workspaces. By default, the oldest user with this e-mail
    address and password is signed in.
    """


class HoldingUser(TypedDict):
    id: str
    """Service-assigned identifier."""
    name: str | None
    """Name of the user."""
    email: str
    """E-mail address of the user."""


class HoldingServiceAccount(TypedDict):
    id: str
    """Service-assigned identifier."""
    name: str
    """Name."""


class HoldingWorkspace(TypedDict):
    id: str
    """Service-assigned identifier."""
    name: str
    """Name."""


class SignedIn(TypedDict):
    user: HoldingUser | None
    """The signed-in user, or the user that owns the key; otherwise null."""
    service_account: HoldingServiceAccount | None
    """The service account that owns the key; otherwise null."""
    workspace: HoldingWorkspace
    """Workspace of the session or key."""
    role: Role
    """Current role."""
    permissions: list[Permission]
    """Permissions of the role in this environment."""
    environment: Environment
    """Environment of the key; for a session, the value of the header Environment."""
    expires_at: str | None
    """Latest end of the session or key; null if it never ends. UTC with milliseconds."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""


class CredentialsHolder(TypedDict):
    user: HoldingUser | None
    """The signed-in user, or the user that owns the key; otherwise null."""
    service_account: HoldingServiceAccount | None
    """The service account that owns the key; otherwise null."""
    workspace: HoldingWorkspace
    """Workspace of the session or key."""
    role: Role
    """Current role."""
    permissions: list[Permission]
    """Permissions of the role in this environment."""
    environment: Environment
    """Environment of the key; for a session, the value of the header Environment."""
    expires_at: str | None
    """Latest end of the session or key; null if it never ends. UTC with milliseconds."""


class OwnName(TypedDict):
    name: str
    """Your name."""


class SessionEnded(TypedDict):
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""
    id: str
    """Id of the ended session."""
    deleted: bool
    """Always true."""


class PasswordChange(TypedDict):
    current_password: str
    """The current password."""
    new_password: str
    """Password of 10 to 200 characters. Must not be the e-mail address or one of the most common passwords."""


class PasswordChanged(TypedDict):
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""
    changed_at: str
    """Time of the change, when all other sessions and the former cookie ended. UTC with milliseconds."""


class UserSession(TypedDict):
    id: str
    """Service-assigned identifier."""
    device: str
    """Browser and operating system, if known."""
    address: str
    """IP address at sign-in."""
    created_at: str
    """Time of the sign-in. UTC with milliseconds."""
    last_seen_at: str
    """Time of the last use, to the minute. UTC with milliseconds."""
    expires_at: str
    """Latest end of the session. UTC with milliseconds."""
    current: bool
    """True for the session of this request."""


class SessionPage(TypedDict):
    data: list[UserSession]
    """The sessions of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor`."""
    has_more: bool
    """True if there is a next page."""


class AuditActor(TypedDict):
    type: Literal["user", "service_account", "system"]
    """Kind of actor."""
    id: str
    """Id of the actor; `administration` for the command line."""
    name: str | None
    """Current name of the actor."""


class AuditTarget(TypedDict):
    type: str
    """Kind of the changed resource."""
    id: str | None
    """Id of the changed resource. Null if the change concerns several resources, or if the outcome of a creation is
    unknown.
    """


class AuditEntryChangesValue(TypedDict):
    from_: NotRequired[Any]
    to: NotRequired[Any]


class AuditEntry(TypedDict):
    id: str
    """Service-assigned identifier."""
    at: str
    """Time at which the change was accepted. UTC with milliseconds."""
    actor: AuditActor
    """Actor of the change; for `session.refused`, the user with the e-mail address of the refused sign-in. The
    sender of the request may be another person.
    """
    type: AuditType
    """Type of the change."""
    target: AuditTarget
    """Changed resource."""
    changes: dict[str, AuditEntryChangesValue]
    """Old and new value (`from`, `to`) of each changed field, without secrets."""
    outcome: Literal["done", "unknown"]
    """`unknown`: the process ended before the outcome of the change was recorded."""
    request_id: str
    """Id of the request that made the change."""
    address: str | None
    """IP address of the client; null for the command line."""


class AuditLogPage(TypedDict):
    data: list[AuditEntry]
    """The entries of this page."""
    next_cursor: str | None
    """Cursor of the next page: send it as `cursor` with the same filters."""
    has_more: bool
    """True if there is a next page."""


class ExceptionSettings(TypedDict):
    enabled: bool
    """True if exceptions of this type open automatically."""
    after_hours: float | None
    """Hours after which the exception opens; null if the type has no such time."""
    by_mode: dict[str, float]
    """Hours that replace `after_hours` for a transport mode: ocean, air, road, rail, barge, courier, multimodal."""
    before_hours: float | None
    """Hours before a given day or time at which the exception opens; null if the type has no such time."""
    severity: Severity
    """Severity of the opened exception."""


class ExceptionSettingsByType(TypedDict):
    eta_slip: ExceptionSettings
    """Settings for exceptions of type `eta_slip`."""
    departure_overdue: ExceptionSettings
    """Settings for exceptions of type `departure_overdue`."""
    arrival_overdue: ExceptionSettings
    """Settings for exceptions of type `arrival_overdue`."""
    no_update: ExceptionSettings
    """Settings for exceptions of type `no_update`."""
    missed_connection: ExceptionSettings
    """Settings for exceptions of type `missed_connection`."""
    customs_hold: ExceptionSettings
    """Settings for exceptions of type `customs_hold`."""
    terminal_hold: ExceptionSettings
    """Settings for exceptions of type `terminal_hold`."""
    freight_hold: ExceptionSettings
    """Settings for exceptions of type `freight_hold`."""
    off_route: ExceptionSettings
    """Settings for exceptions of type `off_route`."""
    demurrage_risk: ExceptionSettings
    """Settings for exceptions of type `demurrage_risk`."""
    detention_risk: ExceptionSettings
    """Settings for exceptions of type `detention_risk`."""
    missing_document: ExceptionSettings
    """Settings for exceptions of type `missing_document`."""
    document_rejected: ExceptionSettings
    """Settings for exceptions of type `document_rejected`."""
    delivery_failed: ExceptionSettings
    """Settings for exceptions of type `delivery_failed`."""
    return_to_sender: ExceptionSettings
    """Settings for exceptions of type `return_to_sender`."""
    milestone_conflict: ExceptionSettings
    """Settings for exceptions of type `milestone_conflict`."""
    movement_after_cancel: ExceptionSettings
    """Settings for exceptions of type `movement_after_cancel`."""
    invalid_container_number: ExceptionSettings
    """Settings for exceptions of type `invalid_container_number`."""


class SettingsRecheck(TypedDict):
    state: Literal["pending", "running", "done"]
    """State of the check. `pending` until every replica applies the settings."""
    checked: int
    """Number of shipments checked so far, in both environments."""
    started_at: str | None
    """Start of the check. UTC with milliseconds."""
    finished_at: str | None
    """Time at which the last shipment was checked. UTC with milliseconds."""


class DefaultSettings(TypedDict):
    exceptions: ExceptionSettingsByType
    """Rules for opening exceptions automatically, by exception type."""
    required_documents: dict[str, list[DocumentType]]
    """Required document types by transport mode. A change replaces the whole list of a mode."""


class WorkspaceSettings(TypedDict):
    exceptions: ExceptionSettingsByType
    """Rules for opening exceptions automatically, by exception type."""
    required_documents: dict[str, list[DocumentType]]
    """Required document types by transport mode. A change replaces the whole list of a mode."""
    version: int
    """Version number, which grows with every change; 1 before the first change."""
    updated_at: str | None
    """Time of the last change. UTC with milliseconds."""
    updated_by: Actor | None
    """Actor of the last change."""
    recheck: SettingsRecheck | None
    """Check of all open shipments with the latest settings; null before the first change. Does not affect `version`
    or `ETag`.
    """
    defaults: DefaultSettings
    """Default values of the settings. Setting a field to null restores its default."""


class ExceptionSettingsChanges(TypedDict):
    enabled: NotRequired[bool | None]
    """True if exceptions of this type open automatically."""
    after_hours: NotRequired[float | None]
    """Hours after which the exception opens; null if the type has no such time."""
    by_mode: NotRequired[dict[str, float | None] | None]
    """Hours that replace `after_hours` for a transport mode: ocean, air, road, rail, barge, courier, multimodal."""
    before_hours: NotRequired[float | None]
    """Hours before a given day or time at which the exception opens; null if the type has no such time."""
    severity: NotRequired[Severity | None]
    """Severity of the opened exception."""


class ExceptionSettingsChangesByType(TypedDict):
    eta_slip: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `eta_slip`."""
    departure_overdue: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `departure_overdue`."""
    arrival_overdue: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `arrival_overdue`."""
    no_update: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `no_update`."""
    missed_connection: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `missed_connection`."""
    customs_hold: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `customs_hold`."""
    terminal_hold: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `terminal_hold`."""
    freight_hold: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `freight_hold`."""
    off_route: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `off_route`."""
    demurrage_risk: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `demurrage_risk`."""
    detention_risk: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `detention_risk`."""
    missing_document: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `missing_document`."""
    document_rejected: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `document_rejected`."""
    delivery_failed: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `delivery_failed`."""
    return_to_sender: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `return_to_sender`."""
    milestone_conflict: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `milestone_conflict`."""
    movement_after_cancel: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `movement_after_cancel`."""
    invalid_container_number: NotRequired[ExceptionSettingsChanges | None]
    """Settings for exceptions of type `invalid_container_number`."""


class WorkspaceSettingsChanges(TypedDict):
    exceptions: NotRequired[ExceptionSettingsChangesByType | None]
    """Rules for opening exceptions automatically, by exception type."""
    required_documents: NotRequired[dict[str, list[DocumentType] | None] | None]
    """Required document types by transport mode. A change replaces the whole list of a mode."""


class WorkspaceSettingsWritten(TypedDict):
    exceptions: ExceptionSettingsByType
    """Rules for opening exceptions automatically, by exception type."""
    required_documents: dict[str, list[DocumentType]]
    """Required document types by transport mode. A change replaces the whole list of a mode."""
    version: int
    """Version number, which grows with every change; 1 before the first change."""
    updated_at: str | None
    """Time of the last change. UTC with milliseconds."""
    updated_by: Actor | None
    """Actor of the last change."""
    recheck: SettingsRecheck | None
    """Check of all open shipments with the latest settings; null before the first change. Does not affect `version`
    or `ETag`.
    """
    defaults: DefaultSettings
    """Default values of the settings. Setting a field to null restores its default."""
    warnings: list[Warning]
    """Problems that did not prevent the write, including fields that were ignored. Only in responses to writes."""


class RequiredDocuments(TypedDict):
    required_documents: dict[str, list[DocumentType]]
    """Required document types by transport mode. A change replaces the whole list of a mode."""
    version: int
    """Version number of the settings, which grows with every change; 1 before the first change."""


class Liveness(TypedDict):
    status: Literal["live"]
    """Always `live`."""


class Readiness(TypedDict):
    status: Literal["starting", "ready", "degraded", "draining"]
    """`degraded`: a storage engine is unavailable, and operations that do not need this engine still work."""
    engines: dict[str, str]
    """Status of each engine: `ok`, or the reason why it does not respond."""


class Problem(TypedDict):
    type: str
    """URL of the code's documentation."""
    title: str
    """Standard phrase of the HTTP status."""
    status: int
    """HTTP status of the response."""
    detail: str
    """Human-readable explanation."""
    error_type: ErrorType
    """Category of the error."""
    code: ErrorCode
    """Stable error code; see /docs/errors."""
    param: str | None
    """The first invalid field, if the error is about fields."""
    details: list[FieldError]
    """All invalid fields."""
    request_id: str
    """Id of the request, as in the `Request-Id` header."""


class ShipmentCreatedEventData(TypedDict):
    shipment_id: str
    """Id of the shipment."""
    external_id: str | None
    """Your own reference of the shipment."""
    shipment_version: int
    """Version of the shipment after the event. It orders the events of a shipment."""
    shipment: Shipment
    """The resource after the event."""


class ShipmentCreatedEvent(TypedDict):
    id: str
    """Id of the event, the same in every delivery. Use it to ignore duplicates."""
    type: Literal["shipment.created"]
    """Type of the event."""
    created_at: str
    """Time of the event. UTC with milliseconds."""
    api_version: Literal["2026-11-01"]
    """Version of the event format."""
    environment: Environment
    """Environment of the event."""
    workspace_id: str
    """Id of the workspace."""
    sandbox: NotRequired[bool]
    """True for a test event; absent for other events."""
    data: ShipmentCreatedEventData


class ShipmentUpdatedEventDataChangesValue(TypedDict):
    from_: NotRequired[Any]
    to: NotRequired[Any]


class ShipmentUpdatedEventData(TypedDict):
    shipment_id: str
    """Id of the shipment."""
    external_id: str | None
    """Your own reference of the shipment."""
    shipment_version: int
    """Version of the shipment after the event. It orders the events of a shipment."""
    shipment: Shipment
    """The resource after the event."""
    changes: dict[str, ShipmentUpdatedEventDataChangesValue]
    """Old and new value (`from`, `to`) of each changed field of the shipment."""


class ShipmentUpdatedEvent(TypedDict):
    id: str
    """Id of the event, the same in every delivery. Use it to ignore duplicates."""
    type: Literal["shipment.updated"]
    """Type of the event."""
    created_at: str
    """Time of the event. UTC with milliseconds."""
    api_version: Literal["2026-11-01"]
    """Version of the event format."""
    environment: Environment
    """Environment of the event."""
    workspace_id: str
    """Id of the workspace."""
    sandbox: NotRequired[bool]
    """True for a test event; absent for other events."""
    data: ShipmentUpdatedEventData


class MilestoneRecordedEventData(TypedDict):
    shipment_id: str
    """Id of the shipment."""
    external_id: str | None
    """Your own reference of the shipment."""
    shipment_version: int
    """Version of the shipment after the event. It orders the events of a shipment."""
    milestone: Milestone
    """The resource after the event."""


class MilestoneRecordedEvent(TypedDict):
    id: str
    """Id of the event, the same in every delivery. Use it to ignore duplicates."""
    type: Literal["milestone.recorded"]
    """Type of the event."""
    created_at: str
    """Time of the event. UTC with milliseconds."""
    api_version: Literal["2026-11-01"]
    """Version of the event format."""
    environment: Environment
    """Environment of the event."""
    workspace_id: str
    """Id of the workspace."""
    sandbox: NotRequired[bool]
    """True for a test event; absent for other events."""
    data: MilestoneRecordedEventData


class ExceptionOpenedEventData(TypedDict):
    shipment_id: str
    """Id of the shipment."""
    external_id: str | None
    """Your own reference of the shipment."""
    shipment_version: int
    """Version of the shipment after the event. It orders the events of a shipment."""
    exception: ShipmentException
    """The resource after the event."""


class ExceptionOpenedEvent(TypedDict):
    id: str
    """Id of the event, the same in every delivery. Use it to ignore duplicates."""
    type: Literal["exception.opened"]
    """Type of the event."""
    created_at: str
    """Time of the event. UTC with milliseconds."""
    api_version: Literal["2026-11-01"]
    """Version of the event format."""
    environment: Environment
    """Environment of the event."""
    workspace_id: str
    """Id of the workspace."""
    sandbox: NotRequired[bool]
    """True for a test event; absent for other events."""
    data: ExceptionOpenedEventData


class ExceptionResolvedEventData(TypedDict):
    shipment_id: str
    """Id of the shipment."""
    external_id: str | None
    """Your own reference of the shipment."""
    shipment_version: int
    """Version of the shipment after the event. It orders the events of a shipment."""
    exception: ShipmentException
    """The resource after the event."""


class ExceptionResolvedEvent(TypedDict):
    id: str
    """Id of the event, the same in every delivery. Use it to ignore duplicates."""
    type: Literal["exception.resolved"]
    """Type of the event."""
    created_at: str
    """Time of the event. UTC with milliseconds."""
    api_version: Literal["2026-11-01"]
    """Version of the event format."""
    environment: Environment
    """Environment of the event."""
    workspace_id: str
    """Id of the workspace."""
    sandbox: NotRequired[bool]
    """True for a test event; absent for other events."""
    data: ExceptionResolvedEventData


class DocumentApprovedEventData(TypedDict):
    shipment_id: str
    """Id of the shipment."""
    external_id: str | None
    """Your own reference of the shipment."""
    shipment_version: int
    """Version of the shipment after the event. It orders the events of a shipment."""
    document: Document
    """The resource after the event."""


class DocumentApprovedEvent(TypedDict):
    id: str
    """Id of the event, the same in every delivery. Use it to ignore duplicates."""
    type: Literal["document.approved"]
    """Type of the event."""
    created_at: str
    """Time of the event. UTC with milliseconds."""
    api_version: Literal["2026-11-01"]
    """Version of the event format."""
    environment: Environment
    """Environment of the event."""
    workspace_id: str
    """Id of the workspace."""
    sandbox: NotRequired[bool]
    """True for a test event; absent for other events."""
    data: DocumentApprovedEventData


class MilestoneRetractedEventData(TypedDict):
    shipment_id: str
    """Id of the shipment."""
    external_id: str | None
    """Your own reference of the shipment."""
    shipment_version: int
    """Version of the shipment after the event. It orders the events of a shipment."""
    milestone: Milestone
    """The resource after the event."""


class MilestoneRetractedEvent(TypedDict):
    id: str
    """Id of the event, the same in every delivery. Use it to ignore duplicates."""
    type: Literal["milestone.retracted"]
    """Type of the event."""
    created_at: str
    """Time of the event. UTC with milliseconds."""
    api_version: Literal["2026-11-01"]
    """Version of the event format."""
    environment: Environment
    """Environment of the event."""
    workspace_id: str
    """Id of the workspace."""
    sandbox: NotRequired[bool]
    """True for a test event; absent for other events."""
    data: MilestoneRetractedEventData


class DocumentUploadedEventData(TypedDict):
    shipment_id: str
    """Id of the shipment."""
    external_id: str | None
    """Your own reference of the shipment."""
    shipment_version: int
    """Version of the shipment after the event. It orders the events of a shipment."""
    document: Document
    """The resource after the event."""


class DocumentUploadedEvent(TypedDict):
    id: str
    """Id of the event, the same in every delivery. Use it to ignore duplicates."""
    type: Literal["document.uploaded"]
    """Type of the event."""
    created_at: str
    """Time of the event. UTC with milliseconds."""
    api_version: Literal["2026-11-01"]
    """Version of the event format."""
    environment: Environment
    """Environment of the event."""
    workspace_id: str
    """Id of the workspace."""
    sandbox: NotRequired[bool]
    """True for a test event; absent for other events."""
    data: DocumentUploadedEventData


class DocumentRejectedEventData(TypedDict):
    shipment_id: str
    """Id of the shipment."""
    external_id: str | None
    """Your own reference of the shipment."""
    shipment_version: int
    """Version of the shipment after the event. It orders the events of a shipment."""
    document: Document
    """The resource after the event."""


class DocumentRejectedEvent(TypedDict):
    id: str
    """Id of the event, the same in every delivery. Use it to ignore duplicates."""
    type: Literal["document.rejected"]
    """Type of the event."""
    created_at: str
    """Time of the event. UTC with milliseconds."""
    api_version: Literal["2026-11-01"]
    """Version of the event format."""
    environment: Environment
    """Environment of the event."""
    workspace_id: str
    """Id of the workspace."""
    sandbox: NotRequired[bool]
    """True for a test event; absent for other events."""
    data: DocumentRejectedEventData


class ExceptionUpdatedEventData(TypedDict):
    shipment_id: str
    """Id of the shipment."""
    external_id: str | None
    """Your own reference of the shipment."""
    shipment_version: int
    """Version of the shipment after the event. It orders the events of a shipment."""
    exception: ShipmentException
    """The resource after the event."""


class ExceptionUpdatedEvent(TypedDict):
    id: str
    """Id of the event, the same in every delivery. Use it to ignore duplicates."""
    type: Literal["exception.updated"]
    """Type of the event."""
    created_at: str
    """Time of the event. UTC with milliseconds."""
    api_version: Literal["2026-11-01"]
    """Version of the event format."""
    environment: Environment
    """Environment of the event."""
    workspace_id: str
    """Id of the workspace."""
    sandbox: NotRequired[bool]
    """True for a test event; absent for other events."""
    data: ExceptionUpdatedEventData


class WebhookEndpointFailingEventData(TypedDict):
    endpoint: WebhookEndpoint
    """The webhook endpoint that the event is about, at the time of the event."""
    failing_since: str
    """Time of the first failed attempt."""
    reason: WebhookError
    """Reason for the failure of the latest attempt."""


class WebhookEndpointFailingEvent(TypedDict):
    id: str
    """Id of the event, the same in every delivery. Use it to ignore duplicates."""
    type: Literal["webhook_endpoint.failing"]
    """Type of the event."""
    created_at: str
    """Time of the event. UTC with milliseconds."""
    api_version: Literal["2026-11-01"]
    """Version of the event format."""
    environment: Environment
    """Environment of the event."""
    workspace_id: str
    """Id of the workspace."""
    sandbox: NotRequired[bool]
    """True for a test event; absent for other events."""
    data: WebhookEndpointFailingEventData


class WebhookDeliveryDeadLetteredEventData(TypedDict):
    endpoint: WebhookEndpoint
    """The webhook endpoint that the event is about, at the time of the event."""
    delivery: WebhookDelivery
    """The delivery that failed permanently."""
    reason: WebhookError
    """Reason for the failure of the latest attempt."""


class WebhookDeliveryDeadLetteredEvent(TypedDict):
    id: str
    """Id of the event, the same in every delivery. Use it to ignore duplicates."""
    type: Literal["webhook_delivery.dead_lettered"]
    """Type of the event."""
    created_at: str
    """Time of the event. UTC with milliseconds."""
    api_version: Literal["2026-11-01"]
    """Version of the event format."""
    environment: Environment
    """Environment of the event."""
    workspace_id: str
    """Id of the workspace."""
    sandbox: NotRequired[bool]
    """True for a test event; absent for other events."""
    data: WebhookDeliveryDeadLetteredEventData


class WebhookPayload(TypedDict):
    """An event as an endpoint received it, full or thin."""
    id: str
    """Id of the event."""
    type: EventTypeName
    """Type of the event."""
    created_at: str
    """Time of the event. UTC with milliseconds."""
    api_version: str
    """Version of the event format."""
    environment: Environment
    """Environment of the event."""
    workspace_id: str
    """Id of the workspace."""
    sandbox: NotRequired[bool]
    """True for a test event; absent for other events."""
    data: dict[str, Any]
    """Data of the event, as in the requests to endpoints. With `payload: "thin"`, it has only ids, versions,
    `changes`, and `id`, `code`, `occurred_at`, `location` and `source` of a milestone.
    """

Event: TypeAlias = "ShipmentCreatedEvent | ShipmentUpdatedEvent | MilestoneRecordedEvent | ExceptionOpenedEvent | ExceptionResolvedEvent | DocumentApprovedEvent | MilestoneRetractedEvent | DocumentUploadedEvent | DocumentRejectedEvent | ExceptionUpdatedEvent"
"""An event of a shipment, as receivers get it."""


class ListShipmentsQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""
    id: str | Sequence[str]
    """Only shipments with one of these ids: 1 to 100, separated by commas."""
    status: ShipmentStatus | Sequence[ShipmentStatus]
    """One or more of pending, booked, at_origin, in_transit, arrived, available_for_pickup, out_for_delivery,
    delivered, completed, returned, cancelled, separated by commas. Example: `in_transit`.
    """
    active: bool
    """True: only shipments that are not delivered, completed, returned or cancelled. False: only shipments with one
    of these statuses.
    """
    has_open_exceptions: bool
    """True: only shipments with an open or acknowledged exception. False: only shipments without one."""
    mode: ModeInput | Sequence[ModeInput]
    """Only shipments with one of these transport modes, separated by commas. Example: `ocean`."""
    incoterm: Incoterm | Sequence[Incoterm]
    """Only shipments with one of these Incoterms rules, separated by commas. Example: `FOB`."""
    external_id: str
    """Only shipments with this `external_id`, ignoring case, spaces and hyphens. Example: `TMS-2026-000181`."""
    house_bill: str
    """Only shipments with this house bill, ignoring case, spaces and hyphens. Example: `HBL-77120`."""
    master_bill: str
    """Only shipments with this master bill or air waybill, ignoring case, spaces and hyphens. Example:
    `MAEU912345678`.
    """
    booking_number: str
    """Only shipments with this booking number, ignoring case, spaces and hyphens. Example: `BKG-55012`."""
    reference: str
    """Only shipments with this value in `references`, of any type, ignoring case, spaces and hyphens. Example:
    `PO-88213`.
    """
    shipper: str
    """Only shipments whose shipper has this external_id. Example: `CUST-1042`."""
    consignee: str
    """Only shipments whose consignee has this external_id. Example: `CUST-1042`."""
    container_number: str
    """Only shipments with this container. Example: `CSQU3054383`."""
    carrier_scac: str
    """Only shipments of this carrier: SCAC or IATA code. Example: `MAEU`."""
    origin_port: str
    """Only shipments from this port: UN/LOCODE or IATA airport code. Example: `CNSHA`."""
    destination_port: str
    """Only shipments to this port: UN/LOCODE or IATA airport code. Example: `NLRTM`."""
    eta_from: str
    """Only shipments whose eta is at or after this time. Example: `2026-12-01T00:00:00Z`."""
    eta_to: str
    """Only shipments whose eta is at or before this time. Example: `2026-12-31T23:59:59Z`."""
    created_from: str
    """Only shipments created at or after this time. Example: `2026-11-01T00:00:00Z`."""
    created_to: str
    """Only shipments created at or before this time. Example: `2026-11-30T23:59:59Z`."""
    updated_since: str
    """Only shipments changed at or after this time. Example: `2026-11-21T09:30:00Z`."""
    q: str
    """At most 10 words. A shipment matches if each is the beginning of a word in its references, containers, parties
    or vessels. Hyphens do not matter, nor do spaces in references. Example: `honam po-88`.
    """
    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at", "eta", "-eta"]
    """Field to sort by, with `-` for descending order; `-created_at` by default. Shipments without an ETA come last.
    Example: `-updated_at`.
    """


class GetShipmentQuery(ReadOptions, total=False):
    as_of: str
    """State as recorded at this time, to the millisecond. The time must not be in the future. Example:
    `2026-11-21T09:30:00Z`.
    """


class ListShipmentHistoryQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""


class ListEtaHistoryQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""


class ListMilestonesQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""
    classifier: Literal["actual", "estimated", "planned", "all"] | Sequence[Literal["actual", "estimated", "planned", "all"]]
    """One or more of actual, estimated, planned, separated by commas, or all; actual by default. Example:
    `actual,estimated`.
    """
    container_number: str
    """Only milestones that name this container. Example: `CSQU3054383`."""
    include_superseded: bool
    """True to include milestones that a later report replaced."""
    include_retracted: bool
    """True to include retracted milestones."""
    as_of: str
    """State as recorded at this time, to the millisecond. The time must not be in the future. Example:
    `2026-11-21T09:30:00Z`.
    """


class ListMilestoneCodesQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""


class ListExceptionsQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""
    status: ExceptionStatus | Sequence[ExceptionStatus]
    """One or more of open, acknowledged, resolved, separated by commas. Example: `open,acknowledged`."""
    type: ExceptionType | Sequence[ExceptionType]
    """One or more of eta_slip, departure_overdue, arrival_overdue, no_update, missed_connection, customs_hold,
    terminal_hold, freight_hold, off_route, demurrage_risk, detention_risk, missing_document, document_rejected,
    delivery_failed, return_to_sender, milestone_conflict, movement_after_cancel, invalid_container_number,
    container_damage, cargo_damage, shortage, temperature_excursion, seal_broken, delivery_refused, lost, other,
    separated by commas. Example: `customs_hold,demurrage_risk`.
    """
    severity: Severity | Sequence[Severity]
    """One or more of low, medium, high, critical, separated by commas. Example: `high,critical`."""
    shipment_id: str
    """Only exceptions of this shipment."""
    assignee: str
    """Only exceptions with exactly this assignee. Example: `ann@example.com`."""
    unassigned: bool
    """True: only exceptions without an assignee. False: only exceptions with an assignee."""
    opened_from: str
    """Only exceptions opened at this time or later. Example: `2026-11-01T00:00:00Z`."""
    opened_to: str
    """Only exceptions opened at this time or earlier. Example: `2026-11-30T23:59:59Z`."""
    sort: Literal["-opened_at", "opened_at", "-severity"]
    """Order of the list: `-opened_at` (default) is newest first; `-severity` is most severe first, and oldest first
    within a severity. Example: `-severity`.
    """


class ListShipmentExceptionsQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""


class ListDocumentsQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""


class ListPlacesQuery(RequestOptions, total=False):
    q: str
    """Words of a name, or a code. Each word must be the beginning of a word of the name, or of the code. Example:
    `rotter`.
    """
    code: str | Sequence[str]
    """Places with these codes, separated by commas; at most 200. Example: `NLRTM,CNSHA`."""
    limit: int
    """Maximum number of items per page."""


class StreamEventsQuery(RequestOptions, total=False):
    type: ShipmentEventType | Sequence[ShipmentEventType]
    """One or more of shipment.created, shipment.updated, milestone.recorded, exception.opened, exception.resolved,
    document.approved, milestone.retracted, document.uploaded, document.rejected, exception.updated, separated by
    commas. Example: `milestone.recorded`.
    """
    shipment_id: str
    """Only events of this shipment."""


class ListEventsQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""
    type: ShipmentEventType | Sequence[ShipmentEventType]
    """One or more of shipment.created, shipment.updated, milestone.recorded, exception.opened, exception.resolved,
    document.approved, milestone.retracted, document.uploaded, document.rejected, exception.updated, separated by
    commas. Example: `milestone.recorded`.
    """
    shipment_id: str
    """Only events of this shipment."""
    since: str
    """Only events created at this time or later. Example: `2026-11-21T09:30:00Z`."""
    until: str
    """Only events created at this time or earlier. Example: `2026-11-22T09:30:00Z`."""
    after: str
    """Only events after this one, for example the last one that a receiver processed."""
    sort: Literal["published", "-published"]
    """Order of the events: `published` (default) is the order of publication, `-published` the reverse."""


class ListWebhookEndpointsQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""


class GetWebhookEndpointStatsQuery(RequestOptions, total=False):
    since: str
    """Start of the period, rounded down to the hour. Defaults to one day before `until`. At most 30 days before
    `until`. Example: `2026-11-21T09:30:00Z`.
    """
    until: str
    """End of the period. Hours that begin before this time are included. Defaults to the current time. Example:
    `2026-11-22T09:30:00Z`.
    """


class ListWebhookDeliveriesQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""
    endpoint_id: str
    """Only deliveries to this endpoint."""
    event_id: str
    """Only deliveries of this event."""
    event_type: EventTypeName | Sequence[EventTypeName]
    """Only deliveries of events of these types, separated by commas. Example: `milestone.recorded`."""
    status: DeliveryStatus | Sequence[DeliveryStatus]
    """One or more statuses, separated by commas: pending, retrying, succeeded, dead_lettered, discarded. Example:
    `retrying`.
    """
    reason: Literal["unexpected_status", "redirect_not_followed", "timeout", "dns_failed", "connection_refused", "connection_failed", "connection_reset", "tls_failed", "address_not_allowed", "url_not_allowed", "invalid_response"] | Sequence[Literal["unexpected_status", "redirect_not_followed", "timeout", "dns_failed", "connection_refused", "connection_failed", "connection_reset", "tls_failed", "address_not_allowed", "url_not_allowed", "invalid_response"]]
    """Only dead letters with one of these error codes (`last_error.code`), separated by commas. Example: `timeout`."""
    since: str
    """Only events created at this time or later."""
    until: str
    """Only events created at this time or earlier."""


class SummarizeWebhookDeadLettersQuery(RequestOptions, total=False):
    endpoint_id: str
    """Only dead letters of this endpoint."""
    event_type: EventTypeName | Sequence[EventTypeName]
    """Only dead letters of these event types, separated by commas."""
    reason: Literal["unexpected_status", "redirect_not_followed", "timeout", "dns_failed", "connection_refused", "connection_failed", "connection_reset", "tls_failed", "address_not_allowed", "url_not_allowed", "invalid_response"] | Sequence[Literal["unexpected_status", "redirect_not_followed", "timeout", "dns_failed", "connection_refused", "connection_failed", "connection_reset", "tls_failed", "address_not_allowed", "url_not_allowed", "invalid_response"]]
    """Only dead letters with one of these error codes (`last_error.code`), separated by commas. Example: `timeout`."""
    since: str
    """Only events created at this time or later."""
    until: str
    """Only events created at this time or earlier."""


class ListWebhookReplaysQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""
    endpoint_id: str
    """Only replays of this endpoint."""


class ListApiKeysQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""


class ListServiceAccountsQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""


class ListUsersQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""


class ListSessionsQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""


class ListAuditLogQuery(RequestOptions, total=False):
    limit: int
    """Maximum number of items per page."""
    cursor: str
    """`next_cursor` of the previous page, sent with the same filters."""
    actor: str
    """Only changes by the user or service account with this id; `administration` stands for the command line.
    Example: `usr_5f3c2k7qv3n5xw6yz2aabbccdd`.
    """
    type: AuditType | Sequence[AuditType]
    """Only changes of these types, separated by commas. Example: `api_key.revoked`."""
    from_: str
    """Only changes at this time or later."""
    to: str
    """Only changes at this time or earlier."""
