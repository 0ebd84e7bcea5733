import { entry } from './code-entry.ts';

/** Codes of single faulty fields, in `details`. */
export const OF_FIELDS = {
  required: entry('The field is missing.', '{"occurred_at": "…"} as a milestone', 'Is required.', 'Send it.'),
  invalid_type: entry(
    'It is of another JSON type than is expected.',
    '{"mode": 5}',
    'Must be a string.',
    'Send the type that the message names: numbers without quotation marks, text with them.',
  ),
  invalid_value: entry(
    'It is none of the values that are possible; the message tells which are.',
    '{"mode": "ship"}',
    'Must be one of ocean, air, road, rail, barge, courier, multimodal.',
    'Send one of them.',
  ),
  too_long: entry(
    'The text is longer than is possible; the message tells how long it may be.',
    '{"seal_number": "…"} of 200 characters',
    'Must have at most 100 characters.',
    'Shorten it. Longer texts belong into a document.',
  ),
  too_many: entry(
    'The list has more elements than are possible; the message tells how many it may have.',
    '{"container_numbers": […]} with 600 of them',
    'At most 500 are possible; there are 600.',
    'Send fewer; make several shipments of it.',
  ),
  unknown_field: entry(
    'The operation has no field of that name. Refused only under Prefer: handling=strict, else a warning.',
    '{"externalid": "PO-1"}',
    'Is not known here.',
    'Correct the name, or leave it out.',
  ),
  read_only_field: entry(
    'Only answers have the field; the service sets it. Refused only under Prefer: handling=strict, else a warning.',
    '{"status": "delivered"}',
    'Is set by the service.',
    'Leave it out. A status comes of milestones.',
  ),
  unknown_parameter: entry(
    'The operation has no query parameter of that name.',
    '?stauts=open',
    'Is not a parameter of this operation: as_of, carrier_scac, …',
    'Correct the name: the message tells which there are.',
  ),
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
  invalid_timestamp: entry(
    'It is no time of RFC 3339 with an offset, in the years 1900 to 2999.',
    '{"etd": "2026-11-02T10:30:00"}',
    'Has no offset: end it with Z for UTC, or with one as +08:00.',
    'Send the offset of the place, or UTC with Z.',
  ),
  invalid_date: entry(
    'It is no day as 2026-12-24.',
    '{"last_free_day": "24.12.2026"}',
    'Must be a date alone, as 2026-11-21.',
    'Send year, month and day, without a time.',
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
  unknown_document: entry(
    'The shipment has no such document, or it cannot be replaced: it has no bytes.',
    '{"replaces_document_id": "doc_…"}',
    'doc_… is no document of this shipment that could be replaced.',
    'Name one that is uploaded, approved or rejected, or leave it out.',
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
    'Send one of them.',
  ),
  limit_exceeded: entry(
    'There are as many of these as are possible.',
    'The 51st webhook endpoint',
    'At most 50 are possible; there are 50.',
    'Remove what is not needed any more.',
  ),
  invalid_cursor: entry(
    'The cursor is not one of this list with these filters.',
    '?cursor=abc',
    'Must be a next_cursor of this list, sent with the same filters and sort.',
    'Send next_cursor back as it came, or begin at the first page.',
  ),
} as const;
