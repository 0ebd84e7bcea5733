import { entry } from '@tracking/http';
import type { FeatureDocs } from '@tracking/http';

/** Error codes of shipments, milestones, exceptions and events. */
export const ERRORS = {
  external_id_immutable: entry(
    'The external_id of a shipment never changes and cannot be set later.',
    'PATCH /v1/shipments/shp_… {"external_id": "PO-2"}',
    'external_id: The external_id of a shipment is set when it is created, and never changes.',
    'Leave it out. For another reference make another shipment, or put it into references.',
  ),
  reference_required: entry(
    'A shipment needs an external_id, a house_bill or container_numbers: by these it is found again.',
    'POST /v1/shipments {"mode": "ocean"}',
    'A shipment needs at least one of external_id, house_bill and container_numbers.',
    'Send one of them; best an external_id, which makes the request safe to repeat.',
  ),
  too_many_streams: entry(
    'The key or session has as many event streams open as it may.',
    'GET /v1/events/stream, the 21st',
    'There are 20 streams of this key or session already: end one of them first.',
    'Close those that are not read. One stream with several types does for many.',
  ),
  ambiguous_shipment: entry(
    'Several shipments have the reference.',
    'POST /v1/milestones/bulk {"milestones": [{"container_number": "MSKU1234565", …}]}',
    'Several shipments have this container_number, shp_…, shp_…',
    'Name the shipment by its shipment_id or external_id. Cancelled and old ones count too.',
  ),
  already_delivered: entry(
    'It is delivered already, and what is delivered is not cancelled.',
    'POST /v1/shipments/shp_…/cancel',
    'The shipment is delivered; it can no longer be cancelled.',
    'Nothing. If the delivery is wrong, retract its milestone first.',
  ),
  cancelled_by_milestone: entry(
    'A milestone cancels the shipment; only what takes that one back reopens it.',
    'POST /v1/shipments/shp_…/reopen',
    'Milestone mst_… cancels the shipment; its correction or a later booking_confirmed takes that back.',
    'Retract or correct the booking_cancelled, or post a later-dated booking_confirmed.',
  ),
  milestone_retracted: entry(
    'The milestone was taken back; what is retracted is not corrected.',
    'PATCH /v1/shipments/shp_…/milestones/mst_… {"note": "late"}',
    'The milestone was retracted. Post it again if it happened after all.',
    'Post it anew, or leave it.',
  ),
  milestone_exists: entry(
    'Another milestone of the shipment has this external_id.',
    'PATCH /v1/shipments/shp_…/milestones/mst_… {"external_id": "EV-7"}',
    'Milestone mst_… of the shipment has this external_id.',
    'Correct that one instead, or give yours a reference of its own.',
  ),
  exception_resolved: entry(
    'The exception is resolved; what is resolved is not acknowledged.',
    'POST /v1/exceptions/exc_…/acknowledge',
    'The exception is resolved.',
    'Nothing: it is over. Read it again to see how.',
  ),
} as const satisfies FeatureDocs['errors'];

/** Codes of single faulty fields, in `details`. */
export const FIELDS = {
  invalid_container_number: entry(
    'It is no number of a container, unit load device or swap body. A wrong check digit is refused only under Prefer: handling=strict.',
    '{"container_numbers": ["MSKU12345"]}',
    'Must be a container number of ISO 6346 as MSCU1234566, or for air a ULD number as AKE12345LH.',
    'Look at the papers: mostly a character is missing or mistyped.',
  ),
  invalid_scac: entry(
    'It is no SCAC or airline code.',
    '{"carrier_scac": "MAERSK"}',
    'Must be a SCAC of two to four letters, or for air and courier an IATA airline code.',
    'Send the SCAC, as MAEU, or for air the airline’s code.',
  ),
  invalid_port: entry(
    'It is no UN/LOCODE and no airport code.',
    '{"origin_port": "Shanghai"}',
    'Must be a UN/LOCODE as CNSHA, or for air, courier and multimodal an IATA airport code as FRA.',
    'Send five letters, country first; for air an IATA code does too.',
  ),
  timestamp_in_future: entry(
    'What has happened lies more than 15 minutes ahead; or a look at the past asks for the future.',
    '{"code": "delivered", "occurred_at": "2027-01-01T00:00:00Z"}',
    'An actual milestone cannot lie in the future; send the classifier estimated or planned.',
    'Send it as estimated, or look at the clock and the offset.',
  ),
  unknown_code: entry(
    'It is no code of the list that the message names. Of DCSA and X12 the message tells those of ours.',
    '{"code": "GTIN"}',
    'Must be a code of GET /v1/milestone_codes. Here GTIN is gated_in or empty_returned (DCSA).',
    'Map it: one of theirs can mean several of ours.',
  ),
  unknown_container: entry(
    'The shipment has no such container.',
    '{"container_number": "TCLU4242420"} of a milestone',
    'Must be the number of a container of this shipment.',
    'Add it to container_numbers first, or post the milestone to its shipment.',
  ),
  unknown_milestone: entry(
    'The shipment has no such milestone, or it was retracted.',
    '{"milestone_id": "mst_…"} of an exception',
    'mst_… is no milestone of this shipment.',
    'Take the id of one of its milestones.',
  ),
  source_not_allowed: entry(
    'The key may not post milestones of this source.',
    '{"source": "carrier"} with a key of the role operator',
    'Needs the permission milestones:feed.',
    'Leave source out, or use a key of the role feed.',
  ),
  external_id_immutable: entry(
    'The external_id of a shipment never changes.',
    '{"external_id": "PO-2"} in a PATCH',
    'The external_id of a shipment is set when it is created, and never changes.',
    'Leave it out.',
  ),
  reference_required: entry(
    'A shipment needs an external_id, a house_bill or container_numbers.',
    '{"mode": "ocean"}',
    'A shipment needs at least one of external_id, house_bill and container_numbers.',
    'Send one of the allowed values.',
  ),
} as const satisfies FeatureDocs['fields'];

/** Codes of warnings: the write was carried out. */
export const WARNINGS = {
  invalid_container_number: entry(
    'The check digit of a container number is wrong. It was stored as it is.',
    '{"container_numbers": ["MSKU1234567"]}',
    'MSKU1234567 has a wrong check digit.',
    'Compare it with the papers. Under Prefer: handling=strict it is refused.',
  ),
  unknown_port: entry(
    'No place is known by this code. It was stored as it is.',
    '{"origin_port": "CNXXX"}',
    'CNXXX is not a known UN/LOCODE.',
    'Look whether it is mistyped. Of unknown places no time zone is known.',
  ),
  eta_before_etd: entry(
    'The arrival is expected before the departure, of the shipment or a leg.',
    '{"etd": "2026-12-09T…", "eta": "2026-11-02T…"}',
    'The estimated arrival lies before the estimated departure.',
    'Look whether they were mixed up.',
  ),
  possible_duplicate: entry(
    'Another shipment that is on its way has the same house bill or container.',
    '{"house_bill": "HBL123"}',
    'shp_… has this house_bill too.',
    'Look whether it is the same: then use its external_id. Consolidated ones may share a container.',
  ),
  code_unusual_for_mode: entry(
    'The milestone is unusual for the mode of the shipment. It counts all the same.',
    '{"code": "vessel_departed"} by air',
    'vessel_departed is unusual for air.',
    'Look at your mapping, or at the mode of the shipment.',
  ),
  shipment_cancelled: entry(
    'The shipment is cancelled. The write was stored, and changes no status.',
    'A milestone of a cancelled shipment',
    'The shipment is cancelled.',
    'Reopen it, if it is moving after all.',
  ),
  overridden_by_user: entry(
    'A person corrected or retracted the milestone, and their word stands against what the feed sent again.',
    'A milestone of a feed that was corrected',
    'Corrected by a user: occurred_at stays.',
    'Nothing. A value that is new for the feed counts again.',
  ),
} as const satisfies FeatureDocs['warnings'];

/** Codes with which operations refuse by rules of their own. */
export const REFUSALS = {
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
