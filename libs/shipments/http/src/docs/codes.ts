import { createErrorCodeDocs } from '@tracking/http';
import type { FeatureDocs } from '@tracking/http';

/** Error codes of shipments, milestones, exceptions and events. */
export const SHIPMENT_ERROR_DOCS = {
  external_id_immutable: {
    ...createErrorCodeDocs(
      'The external_id of a shipment never changes and cannot be set later.',
      'PATCH /v1/shipments/shp_… {"external_id": "PO-2"}',
      'external_id can only be set when the shipment is created, and cannot be changed.',
      'Omit the field. To use another reference, create another shipment or add it to references.',
    ),
    details: [
      {
        param: 'external_id',
        code: 'external_id_immutable',
        message: 'external_id can only be set when the shipment is created, and cannot be changed.',
      },
    ],
  },
  reference_required: {
    ...createErrorCodeDocs(
      'A shipment needs an external_id, a house_bill or container_numbers, so that it can be found again.',
      'POST /v1/shipments {"mode": "ocean"}',
      'A shipment needs at least one of external_id, house_bill and container_numbers.',
      'Send at least one of them, preferably an external_id, which makes the request safe to repeat.',
    ),
    details: [
      {
        param: 'external_id',
        code: 'reference_required',
        message: 'A shipment needs at least one of external_id, house_bill and container_numbers.',
      },
    ],
  },
  too_many_streams: createErrorCodeDocs(
    'The key or session, its user or service account, or the workspace has the maximum number of open event streams. The message states which.',
    'GET /v1/events/stream, the 21st',
    'This key or session has 20 open event streams already. Close one first.',
    'Close streams that are not read. One stream can cover several event types.',
  ),
  ambiguous_shipment: createErrorCodeDocs(
    'Several shipments have the reference.',
    'POST /v1/milestones/bulk {"milestones": [{"container_number": "MSKU1234565", …}]}',
    'Several shipments have this container_number, including shp_… and shp_…. Identify the shipment by shipment_id.',
    'Identify the shipment by its shipment_id or external_id. For a container, finished shipments count only for milestones up to their end, and of several open ones, the one under way at that time.',
  ),
  no_open_shipment: createErrorCodeDocs(
    'No shipment has the container, or those that have it were completed, returned or cancelled before the milestone.',
    'POST /v1/milestones/bulk {"milestones": [{"container_number": "MSKU1234565", …}]}',
    'No open shipment has the container MSKU1234565, and no completed one had it at 2026-11-21T09:30:00.000Z.',
    'Create the shipment of the next trip of the container first, or identify the shipment by shipment_id.',
  ),
  already_delivered: createErrorCodeDocs(
    'The shipment is already delivered. A delivered shipment cannot be cancelled.',
    'POST /v1/shipments/shp_…/cancel',
    'The shipment is delivered; it can no longer be cancelled.',
    'No action is needed. If the delivery is wrong, retract its milestone first.',
  ),
  cancelled_by_milestone: createErrorCodeDocs(
    'A milestone cancels the shipment. Only a change of that milestone, or a later one, can reopen it.',
    'POST /v1/shipments/shp_…/reopen',
    'Milestone mst_… cancels the shipment. Correct or retract it, or post a later booking_confirmed.',
    'Retract or correct the booking_cancelled, or post a later-dated booking_confirmed.',
  ),
  milestone_retracted: createErrorCodeDocs(
    'The milestone was retracted. A retracted milestone cannot be corrected.',
    'PATCH /v1/shipments/shp_…/milestones/mst_… {"note": "late"}',
    'The milestone was retracted. To restore it, post it again.',
    'Record the milestone again if it is needed.',
  ),
  milestone_exists: createErrorCodeDocs(
    'Another milestone of the shipment has this external_id.',
    'PATCH /v1/shipments/shp_…/milestones/mst_… {"external_id": "EV-7"}',
    'Milestone mst_… of the shipment already has this external_id for this container.',
    'Correct that milestone instead, or use another external_id.',
  ),
  exception_resolved: createErrorCodeDocs(
    'The exception is resolved. A resolved exception cannot be acknowledged.',
    'POST /v1/exceptions/exc_…/acknowledge',
    'The exception is resolved. If the problem persists, open a new exception.',
    'No action is needed. Read the exception to see how it was resolved.',
  ),
} as const satisfies FeatureDocs['errors'];

/** Codes of single invalid fields, which errors list in `details`. */
export const FIELD_ERROR_DOCS = {
  invalid_container_number: {
    ...createErrorCodeDocs(
      'The value is not a container, unit load device or swap body number. A wrong check digit is refused only with Prefer: handling=strict.',
      '{"container_numbers": ["MSKU12345"]}',
      'Must be a container number of ISO 6346 such as MSCU1234566, or for air a ULD number such as AKE12345LH.',
      'Check the shipping documents. In most cases a character is missing or mistyped.',
    ),
    param: 'container_numbers[0]',
  },
  invalid_scac: {
    ...createErrorCodeDocs(
      'The value is not a SCAC or airline code.',
      '{"carrier_scac": "MAERSK"}',
      'Must be a SCAC of 2 to 4 letters, or for air and courier an IATA airline code.',
      'Send the SCAC, such as MAEU, or for air the airline code.',
    ),
    param: 'carrier_scac',
  },
  invalid_port: {
    ...createErrorCodeDocs(
      'The value is not a UN/LOCODE or airport code.',
      '{"origin_port": "Shanghai"}',
      'Must be a UN/LOCODE such as CNSHA, or for air, courier and multimodal an IATA airport code such as FRA.',
      'Send the five letters of the UN/LOCODE, which start with the country. For air, an IATA airport code is accepted too.',
    ),
    param: 'origin_port',
  },
  timestamp_in_future: {
    ...createErrorCodeDocs(
      'The time of an actual milestone is more than 15 minutes in the future, or as_of is in the future.',
      '{"code": "delivered", "occurred_at": "2027-01-01T00:00:00Z"}',
      'An actual milestone cannot be in the future. Send the classifier estimated or planned.',
      'Send the classifier estimated, or check the clock and the offset.',
    ),
    param: 'occurred_at',
  },
  unknown_timezone: {
    ...createErrorCodeDocs(
      'The request has timezone: location, but the time zone of the location is not known.',
      '{"occurred_at": "2026-11-21T09:30:00", "location": "Depot 7", "timezone": "location"}',
      'The time zone of the location is not known. Send an IANA name such as Europe/Amsterdam, or times with an offset.',
      'Send the IANA name of the time zone, a location with a known code, or times with an offset.',
    ),
    param: 'timezone',
  },
  timestamp_out_of_range: {
    ...createErrorCodeDocs(
      'The time is before 2000. Other systems send such times as default values.',
      '{"code": "delivered", "occurred_at": "1900-01-01T00:00:00Z"}',
      'Must not be before 2000. An earlier time is the default value of another system.',
      'Send the time of the event, or omit the time if it is optional.',
    ),
    param: 'occurred_at',
  },
  unknown_code: {
    ...createErrorCodeDocs(
      'The value is not a code in the list that the message names. For a DCSA or X12 code, the message names the matching codes.',
      '{"code": "GTIN"}',
      'Must be a milestone code, see GET /v1/milestone_codes. Here GTIN is gated_in or empty_returned (DCSA Track & Trace).',
      'Map the code. A code of another standard can match several codes.',
    ),
    param: 'code',
  },
  unknown_container: {
    ...createErrorCodeDocs(
      'The shipment has no such container.',
      'A milestone with {"container_number": "TCLU4242420"}',
      'The shipment has no container TCLU4242420.',
      'Add the container to container_numbers first, or record the milestone on its own shipment.',
    ),
    param: 'container_number',
  },
  unknown_milestone: {
    ...createErrorCodeDocs(
      'The shipment has no such milestone, or it was retracted.',
      'An exception with {"milestone_id": "mst_…"}',
      'The shipment has no milestone mst_….',
      'Send the id of a milestone of this shipment.',
    ),
    param: 'milestone_id',
  },
  source_not_allowed: {
    ...createErrorCodeDocs(
      'No longer sent. A key that may not record milestones of this source gets 403 permission_denied.',
      '{"source": "carrier"} with a key that has the role operator',
      'Needs the permission milestones:feed.',
      'Omit source, or use a key with the role feed.',
    ),
    param: 'source',
  },
  external_id_immutable: {
    ...createErrorCodeDocs(
      'The external_id of a shipment never changes.',
      '{"external_id": "PO-2"} in a PATCH',
      'external_id can only be set when the shipment is created, and cannot be changed.',
      'Omit the field.',
    ),
    param: 'external_id',
  },
  reference_required: {
    ...createErrorCodeDocs(
      'A shipment needs an external_id, a house_bill or container_numbers.',
      '{"mode": "ocean"}',
      'A shipment needs at least one of external_id, house_bill and container_numbers.',
      'Send one of the allowed values.',
    ),
    param: 'external_id',
  },
} as const satisfies FeatureDocs['fields'];

/** Codes of warnings. A write with a warning was accepted. */
export const WARNING_DOCS = {
  invalid_container_number: {
    ...createErrorCodeDocs(
      'The check digit of a container number is wrong. The number was stored unchanged.',
      '{"container_numbers": ["MSKU1234567"]}',
      'MSKU1234567 has a wrong check digit.',
      'Compare the number with the shipping documents. With Prefer: handling=strict it is refused.',
    ),
    param: 'container_numbers[0]',
  },
  unknown_port: {
    ...createErrorCodeDocs(
      'The code of the place is unknown. It was stored unchanged.',
      '{"origin_port": "UKLON"}',
      'UKLON is not a known UN/LOCODE.',
      'Check the code for typing errors. The time zone of an unknown place is unknown too.',
    ),
    param: 'origin_port',
  },
  eta_before_etd: {
    ...createErrorCodeDocs(
      'The estimated arrival of the shipment or a leg is before its departure.',
      '{"etd": "2026-12-09T…", "eta": "2026-11-02T…"}',
      'The estimated arrival is before the estimated departure.',
      'Check whether the two times were swapped.',
    ),
    param: 'eta',
  },
  possible_duplicate: {
    ...createErrorCodeDocs(
      'Another open shipment has the same house bill or container.',
      '{"house_bill": "HBL123"}',
      'shp_… has the same house bill.',
      'Check whether it is the same shipment. If so, use its external_id. Consolidated shipments may share a container.',
    ),
    param: 'house_bill',
  },
  code_unusual_for_mode: {
    ...createErrorCodeDocs(
      'The milestone is unusual for the transport mode of the shipment. It still takes effect.',
      '{"code": "vessel_departed"} on an air shipment',
      'vessel_departed is unusual for shipments with mode air.',
      'Check your mapping of codes, or the mode of the shipment.',
    ),
    param: 'code',
  },
  shipment_cancelled: createErrorCodeDocs(
    'The shipment is cancelled. The write was stored, but does not change the status.',
    'A milestone on a cancelled shipment',
    'The shipment is cancelled.',
    'Reopen the shipment if it is moving after all.',
  ),
  outdated_report: createErrorCodeDocs(
    'The source stated another report of the same milestone later. That report counts.',
    '{"code": "vessel_arrived", "classifier": "estimated", "reported_at": "2026-11-20T01:00:00Z", …} after a report of 02:00',
    'A report that the source stated later is already recorded. It counts instead of this one.',
    'No action is needed. An estimate, and an actual milestone without an external_id, is listed with include_superseded=true.',
  ),
  overridden_by_user: createErrorCodeDocs(
    'A user corrected or retracted the milestone. The values of the user take precedence over the values of the feed.',
    'A milestone that a user corrected, sent again by a feed',
    'Milestone mst_… was corrected by hand. Your values for occurred_at do not replace the correction.',
    'No action is needed. A new value of the feed takes effect.',
  ),
} as const satisfies FeatureDocs['warnings'];

/** Error codes that rules cause and that the declaration of an operation does not show. */
export const REFUSAL_CODES_BY_OPERATION = {
  upsertShipment: ['reference_required', 'limit_exceeded'],
  upsertShipments: ['limit_exceeded'],
  listShipments: ['read_model_behind'],
  changeShipment: ['external_id_immutable', 'reference_required', 'limit_exceeded'],
  cancelShipment: ['already_delivered'],
  reopenShipment: ['cancelled_by_milestone', 'limit_exceeded'],
  listMilestones: ['read_model_behind'],
  recordMilestone: ['limit_exceeded'],
  correctMilestone: ['milestone_retracted', 'milestone_exists'],
  recordMilestones: ['limit_exceeded', 'read_model_behind'],
  listExceptions: ['read_model_behind'],
  listShipmentExceptions: ['read_model_behind'],
  openException: ['limit_exceeded'],
  acknowledgeException: ['exception_resolved'],
  listEvents: ['read_model_behind'],
  getEvent: ['read_model_behind'],
  streamEvents: ['too_many_streams', 'read_model_behind'],
} as const satisfies FeatureDocs['refusals'];
